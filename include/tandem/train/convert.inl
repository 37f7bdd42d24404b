// Definitions of train/convert.hpp.
#pragma once
#include <algorithm>
#include <set>

#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/train/convert.hpp"

namespace TANDEM_NS::train {

namespace impl {

// "a/b/kernel" as the module "a/b" and the leaf "kernel".
struct WeightPath {
  explicit WeightPath(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash != path.npos) module = path.substr(0, slash);
    leaf = path.substr(slash + 1);
  }
  std::string module, leaf;
};
inline std::string join(const std::string& module, const std::string& leaf) {
  return module.empty() ? leaf : module + "/" + leaf;
}

// The tensors of a file by their names with '/', and which of them were used.
class ForeignTensors {
 public:
  explicit ForeignTensors(TensorMap& values) : values_(values) {
    for (const auto& [name, tensor] : values) {
      std::string path = name;
      std::replace(path.begin(), path.end(), '.', '/');
      if (path.ends_with(":0")) path.resize(path.size() - 2);  // of Keras 2
      names_[path] = name;
    }
  }
  /// Unset if there is none.
  Tensor use(const std::string& path) {
    const auto at = names_.find(path);
    if (at == names_.end()) return {};
    used_.insert(at->second);
    return values_.at(at->second);
  }
  /// Replaces the tensors that were used by those that were made of them.
  void replace(TensorMap made) {
    for (const std::string& name : used_) values_.erase(name);
    for (auto& [path, tensor] : made) values_[path] = std::move(tensor);
  }

 private:
  TensorMap& values_;
  std::map<std::string, std::string> names_;  // by path
  std::set<std::string> used_;
};
// Tensors that are not those of the layer keep their shape, which restore() then names.
TANDEM_INLINE Tensor with_shape(const Tensor& t, const Shape& shape) {
  return t.is_set() && shape.known_size() == t.size() ? reshape(t, shape) : t;
}
template <class Convert>
void convert(TensorMap& values, const std::vector<WantedTensor>& wanted, const Convert& convert_one) {
  const tandem::detail::OutsideTrace outside;
  ForeignTensors file(values);
  TensorMap made;
  for (const WantedTensor& w : wanted)
    if (const Tensor t = convert_one(file, WeightPath(w.path), w.spec.shape); t.is_set()) made[w.path] = t;
  file.replace(std::move(made));
}

// [out, in, spatial...] -> [spatial..., in, out]; for a matrix the transpose.
TANDEM_INLINE Tensor channels_last(const Tensor& t, bool depthwise = false) {
  if (!t.is_set() || t.rank() < 2) return t;
  std::vector<i64> perm;
  for (i64 axis = 2; axis < t.rank(); ++axis) perm.push_back(axis);
  perm.push_back(depthwise ? 0 : 1), perm.push_back(depthwise ? 1 : 0);
  return transpose(t, {.perm = perm});
}
// Rows i * n to (i + 1) * n, of `parts` groups of n.
TANDEM_INLINE Tensor rows_of(const Tensor& t, i64 i, i64 parts) {
  const i64 n = t.shape().dim(0) / parts;
  return t(Slice(i * n, (i + 1) * n));
}
TANDEM_INLINE Tensor pytorch_gates(const Tensor& t, i64 gates) {
  if (!t.is_set() || gates != 3 || t.shape().dim(0) % 3) return t;
  return concat({rows_of(t, 1, 3), rows_of(t, 0, 3), rows_of(t, 2, 3)}, 0);  // r, z, n -> z, r, n
}

// A weight of a cell: PyTorch keeps those of all layers and directions in one module, "weight_ih_l0_reverse".
TANDEM_INLINE Tensor pytorch_recurrent(ForeignTensors& file, const WeightPath& path) {
  WeightPath cell(path.module);
  std::string base = path.module, suffix;
  if (cell.leaf.starts_with("cell_")) {
    base = cell.module, suffix = "_l" + cell.leaf.substr(5);
    const WeightPath layer(base);
    const bool backward = layer.leaf.starts_with("backward_");
    if (backward) suffix += "_reverse";
    if (backward || layer.leaf.starts_with("forward_")) base = layer.module;
  }
  const Tensor state = file.use(join(base, "weight_hh" + suffix));
  if (!state.is_set() || state.rank() != 2 || state.shape().dim(1) == 0) return {};
  const i64 gates = state.shape().dim(0) / state.shape().dim(1);
  const auto part = [&](const char* name) { return pytorch_gates(file.use(join(base, name + suffix)), gates); };
  if (path.leaf == "recurrent_kernel") return channels_last(pytorch_gates(state, gates));
  if (path.leaf == "kernel") return channels_last(part("weight_ih"));
  if (path.leaf != "bias") return {};
  const Tensor input = part("bias_ih"), recurrent = part("bias_hh");
  if (!input.is_set() || !recurrent.is_set() || input.shape() != recurrent.shape()) return {};
  return gates == 3 ? stack({input, recurrent}) : input + recurrent;
}
TANDEM_INLINE Tensor pytorch_attention(ForeignTensors& file, const WeightPath& path) {
  if (path.leaf == "attention_output_kernel") return channels_last(file.use(join(path.module, "out_proj/weight")));
  if (path.leaf == "attention_output_bias") return file.use(join(path.module, "out_proj/bias"));
  static constexpr const char* names[] = {"query", "key", "value"};
  for (i64 i = 0; i < 3; ++i) {
    const std::string name = names[i];
    const bool kernel = path.leaf == name + "_kernel";
    if (!kernel && path.leaf != name + "_bias") continue;
    const Tensor all = file.use(join(path.module, kernel ? "in_proj_weight" : "in_proj_bias"));
    if (!all.is_set())
      return kernel ? channels_last(file.use(join(path.module, name.substr(0, 1) + "_proj_weight"))) : all;
    return all.rank() ? channels_last(rows_of(all, i, 3)) : all;
  }
  return {};
}
TANDEM_INLINE Tensor pytorch_weight(ForeignTensors& file, const WeightPath& path, const Shape& shape) {
  static constexpr std::pair<const char*, const char*> names[] = {{"kernel", "weight"},
                                                                  {"depthwise_kernel", "weight"},
                                                                  {"bias", "bias"},
                                                                  {"gamma", "weight"},
                                                                  {"beta", "bias"},
                                                                  {"scale", "weight"},
                                                                  {"embeddings", "weight"},
                                                                  {"moving_mean", "running_mean"},
                                                                  {"moving_variance", "running_var"}};
  if (const Tensor t = pytorch_attention(file, path); t.is_set()) return t;
  if (const Tensor t = pytorch_recurrent(file, path); t.is_set()) return t;
  for (const auto& [here, there] : names) {
    if (path.leaf != here) continue;
    const Tensor t = file.use(join(path.module, there));
    if (path.leaf == "kernel") return channels_last(t);
    if (path.leaf == "depthwise_kernel") return with_shape(channels_last(t, true), shape);
    if (path.leaf == "moving_mean") file.use(join(path.module, "num_batches_tracked"));  // there is nothing like it
    return t;
  }
  return {};
}
TANDEM_INLINE Tensor keras_weight(ForeignTensors& file, const WeightPath& path, const Shape& shape) {
  if (const Tensor t = file.use(join(path.module, path.leaf)); t.is_set()) return t;
  if (path.leaf == "depthwise_kernel") return file.use(join(path.module, "kernel"));  // of Keras 3's DepthwiseConv
  const WeightPath cell(path.module);
  if (cell.leaf == "cell_0")
    for (const char* const name : {"lstm_cell", "gru_cell", "simple_rnn_cell"})
      if (const Tensor t = file.use(join(cell.module, join(name, path.leaf))); t.is_set()) return t;
  const std::size_t last = path.leaf.rfind('_');  // query_kernel: query/kernel [d, heads, key_dim]
  if (last == path.leaf.npos) return {};
  return with_shape(file.use(join(path.module, join(path.leaf.substr(0, last), path.leaf.substr(last + 1)))), shape);
}

}  // namespace impl

TANDEM_INLINE void from_pytorch(TensorMap& values, const std::vector<WantedTensor>& wanted) {
  impl::convert(values, wanted, impl::pytorch_weight);
}
TANDEM_INLINE void from_keras(TensorMap& values, const std::vector<WantedTensor>& wanted) {
  impl::convert(values, wanted, impl::keras_weight);
  std::erase_if(values, [](const auto& v) { return v.first.ends_with("seed_generator_state"); });  // not weights
}

}  // namespace TANDEM_NS::train
