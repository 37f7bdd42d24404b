// Definitions of serving/padding.hpp.
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/serving/padding.hpp"
#include "tandem/serving/warm_up.hpp"

namespace TANDEM_NS::serving::impl {

// A tensor that has so many more elements at the end of an axis.
TANDEM_INLINE Tensor pad_end(const Tensor& t, int axis, i64 more) {
  if (more <= 0) return t;
  std::vector<i64> dims(t.shape().begin(), t.shape().end());
  dims[static_cast<std::size_t>(axis)] = more;
  return concat({t, zeros(dims, {.dtype = t.dtype()})}, axis);
}
// The first elements of an axis.
TANDEM_INLINE Tensor cut_end(const Tensor& t, int axis, i64 size) {
  if (t.shape().dim(axis) <= size) return t;
  std::vector<i64> begin(static_cast<std::size_t>(t.rank()), 0), sizes(t.shape().begin(), t.shape().end());
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(t, begin, sizes);
}

TANDEM_INLINE bool Padding::fits(const NamedTensors& request) const {
  std::map<int, i64> sizes;
  for (const auto& [name, axes] : inputs) {
    const auto at = request.find(name);
    if (at == request.end()) return false;
    for (const Axis& a : axes) {
      if (at->second.rank() <= a.axis) return false;
      const i64 size = at->second.shape().dim(a.axis);
      if (sizes.try_emplace(a.group, size).first->second != size) return false;
    }
  }
  return true;
}

TANDEM_INLINE bool PaddedSizes::add(const NamedTensors& inputs) {
  constexpr double always = 1 << 20, most = 4;
  std::map<std::string, std::vector<i64>> sizes = sizes_;
  const i64 rows = rows_ + inputs.begin()->second.shape().dim(0);
  double bytes = bytes_, padded = 0;
  for (const auto& [name, t] : inputs) {
    double row = static_cast<double>(size_of(t.dtype()));
    const auto at = padding_.inputs.find(name);
    for (int axis = 1; axis < t.rank(); ++axis) {
      i64 size = t.shape().dim(axis);
      if (at != padding_.inputs.end())
        for (std::size_t i = 0; i < at->second.size(); ++i) {
          if (at->second[i].axis != axis) continue;
          std::vector<i64>& longest = sizes[name];
          longest.resize(at->second.size());
          size = longest[i] = std::max(longest[i], size);
        }
      row *= static_cast<double>(size);
    }
    padded += row * static_cast<double>(rows);
    bytes += static_cast<double>(t.spec().bytes());
  }
  if (padded > always && padded > most * bytes) return false;
  sizes_ = std::move(sizes), rows_ = rows, bytes_ = bytes;
  return true;
}
TANDEM_INLINE NamedTensors PaddedSizes::pad(const NamedTensors& inputs) const {
  NamedTensors r = inputs;
  for (auto& [name, t] : r) {
    const auto sizes = sizes_.find(name);
    if (sizes == sizes_.end()) continue;
    const std::vector<Padding::Axis>& axes = padding_.inputs.at(name);
    for (std::size_t i = 0; i < axes.size(); ++i)
      t = pad_end(t, axes[i].axis, sizes->second[i] - t.shape().dim(axes[i].axis));
  }
  return r;
}
TANDEM_INLINE NamedTensors without_padding(NamedTensors outputs, const NamedTensors& inputs, const Padding& padding) {
  for (const auto& [name, cuts] : padding.outputs) {
    const auto at = outputs.find(name);
    if (at == outputs.end()) continue;
    for (const Padding::Cut& cut : cuts)
      at->second = cut_end(at->second, cut.axis, inputs.at(cut.input).shape().dim(cut.input_axis));
  }
  return outputs;
}

// An axis of an input of the trial. Those of a group are padded by the same number, which is another for each group:
// so it is told which of them the sizes of outputs follow.
struct PaddedAxis {
  std::string input;
  int axis;
  i64 size, more;
};
TANDEM_INLINE std::vector<PaddedAxis> group_axes(Padding& padding, const NamedTensors& trial) {
  std::vector<PaddedAxis> r;
  i64 groups = 0;
  for (auto& [name, axes] : padding.inputs)
    for (Padding::Axis& a : axes) {
      const i64 size = trial.at(name).shape().dim(a.axis);
      const auto same = std::find_if(r.begin(), r.end(), [&](const PaddedAxis& other) { return other.size == size; });
      r.push_back({name, a.axis, size, same == r.end() ? ++groups : same->more});
      a.group = static_cast<int>(r.back().more);
    }
  return r;
}
// How an output that grows from one shape to another is cut; false if it grows in another way than inputs do.
TANDEM_INLINE bool find_cuts(const Shape& from, const Shape& to, const std::vector<PaddedAxis>& axes,
                             std::vector<Padding::Cut>& cuts) {
  if (from.rank() != to.rank()) return false;
  for (int i = 0; i < from.rank(); ++i) {
    if (from.dim(i) == to.dim(i)) continue;
    const auto of = std::find_if(axes.begin(), axes.end(), [&](const PaddedAxis& a) {
      return a.size == from.dim(i) && a.size + a.more == to.dim(i);
    });
    if (i == 0 || of == axes.end()) return false;
    cuts.push_back({i, of->input, of->axis});
  }
  return true;
}

TANDEM_INLINE std::optional<Padding> find_padding(const saved_model::Loaded& model, const std::string& name,
                                                  const saved_model::Signature& s, const NamedTensors& trial,
                                                  std::string& why) {
  Padding padding;
  for (const TensorInfo& in : s.inputs)
    for (int axis = 1; axis < in.spec.shape.rank(); ++axis)
      if (in.spec.shape.dim(axis) == none) padding.inputs[in.name].push_back({axis, 0});
  if (padding.inputs.empty()) return std::nullopt;
  const std::vector<PaddedAxis> axes = group_axes(padding, trial);
  NamedTensors padded = trial;
  for (const PaddedAxis& a : axes) padded.at(a.input) = pad_end(padded.at(a.input), a.axis, a.more);
  try {
    const NamedTensors alone = model(name, trial), all = model(name, padded);
    for (const auto& [output, t] : alone) {
      const Tensor& longer = all.at(output);
      if (!find_cuts(t.shape(), longer.shape(), axes, padding.outputs[output])) {
        why = "its output '" + output + "' is " + to_string(t.spec()) + " without padding and " +
              to_string(longer.spec()) + " with it, which is no length of an input";
        return std::nullopt;
      }
    }
    const NamedTensors cut = without_padding(all, trial, padding);
    for (const auto& [output, t] : alone)
      if (!agree(t, cut.at(output))) {
        why = "its output '" + output + "' changes when inputs are padded with zeros";
        return std::nullopt;
      }
  } catch (const errors::CancelledError&) {
    throw;  // the server ends
  } catch (const std::exception& e) {
    why = std::string("it raises for padded inputs: ") + e.what();
    return std::nullopt;
  }
  return padding;
}

}  // namespace TANDEM_NS::serving::impl
