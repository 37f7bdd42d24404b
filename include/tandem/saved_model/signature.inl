// Definitions of saved_model/signature.hpp.
#pragma once
#include <algorithm>
#include <string_view>

#include "tandem/saved_model/manifest.hpp"
#include "tandem/saved_model/signature.hpp"

namespace TANDEM_NS::saved_model {

TANDEM_INLINE bool Signature::batch() const {
  const auto is_open = [](const TensorInfo& t) { return t.spec.shape.rank() > 0 && t.spec.shape.dim(0) == none; };
  return std::all_of(inputs.begin(), inputs.end(), is_open) && std::all_of(outputs.begin(), outputs.end(), is_open);
}

namespace impl {

[[noreturn]] TANDEM_INLINE void raise_signature(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("saved_model::Signature", what);
}
TANDEM_INLINE void raise_arity(std::size_t inputs) {
  raise_signature("the function cannot be called with " + std::to_string(inputs) + " tensors (up to " +
                  std::to_string(most_tensors) + ", or one std::vector<Tensor> or std::map<std::string, Tensor>)");
}
TANDEM_INLINE void check_tensor_names(const std::vector<TensorInfo>& list, const char* what) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!is_valid_name(list[i].name))
      raise_signature(std::string("the ") + what + " '" + list[i].name + "' does not have a valid name: " + name_rule);
    for (std::size_t k = 0; k < i; ++k)
      if (list[k].name == list[i].name)
        raise_signature(std::string("two ") + what + "s are named '" + list[i].name + "'");
  }
}

TANDEM_INLINE std::vector<TensorInfo> outputs_of(const Graph& g, const std::vector<std::string>& names) {
  if (!names.empty() && names.size() != g.outputs.size())
    raise_signature("there are " + std::to_string(names.size()) + " names of outputs, the function returns " +
                    std::to_string(g.outputs.size()) + " tensors");
  std::vector<TensorInfo> r;
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    r.push_back({names.empty() ? "output_" + std::to_string(i) : names[i], g.spec(g.outputs[i])});
  check_tensor_names(r, "output");
  return r;
}
TANDEM_INLINE Signature predict_signature(const ConcreteFunction& traced, std::vector<TensorInfo> inputs,
                                          const std::vector<std::string>& outputs) {
  const Graph& g = traced.graph();
  check_tensor_names(inputs, "input");
  if (inputs.size() != g.arguments.size()) raise_arity(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].spec = g.spec(g.arguments[i]);
  return {predict_method, std::move(inputs), outputs_of(g, outputs), g.copy(), {}};
}

TANDEM_INLINE std::vector<TensorInfo> inputs_of(const io::FeatureConfigs& features) {
  std::vector<TensorInfo> r;
  for (const auto& [name, config] : features) {
    if (config.kind != io::FeatureConfig::fixed)
      raise_signature("the feature '" + name + "' is not an io::FixedLenFeature, which alone has a shape");
    Shape shape{none};
    for (const i64 d : config.shape) shape.push_back(d);
    r.push_back({name, {shape, config.dtype, {}}});
  }
  return r;
}
// What TensorFlow Serving's messages can hold.
TANDEM_INLINE void check_example_output(const char* method, const TensorInfo& t) {
  const bool is_regress = std::string_view(method) == regress_method;
  const DType dtype = t.name == "classes" ? DType::string : DType::float32;
  const Shape& s = t.spec.shape;
  const bool fits = is_regress ? t.name == "outputs" && (s.rank() == 1 || (s.rank() == 2 && s.dim(1) == 1))
                               : (t.name == "classes" || t.name == "scores") && s.rank() == 2;
  if (!fits || t.spec.dtype != dtype)
    raise_signature("the output '" + t.name + "' is " + to_string(t.spec) + "; " +
                    (is_regress ? "regress has outputs float32[batch] or [batch,1]"
                                : "classify has classes string[batch,n] and scores float32[batch,n]"));
}
TANDEM_INLINE Signature example_signature(const ConcreteFunction& traced, const char* method,
                                          io::FeatureConfigs features, const std::vector<std::string>& outputs) {
  const io::ExampleParser checked(features);
  const Graph& g = traced.graph();
  std::vector<TensorInfo> out = outputs_of(g, outputs);
  for (const TensorInfo& t : out) check_example_output(method, t);
  return {method, {{"inputs", {{none}, DType::string, {}}}}, std::move(out), g.copy(), std::move(features)};
}

}  // namespace impl

}  // namespace TANDEM_NS::saved_model
