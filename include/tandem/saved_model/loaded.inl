// Definitions of saved_model/load.hpp: calls of a loaded model.
#pragma once
#include <algorithm>
#include <optional>
#include <string_view>

#include "tandem/core/assign_all.hpp"
#include "tandem/graph/io/serialize_bytes.hpp"
#include "tandem/saved_model/load.hpp"
#include "tandem/saved_model/model.hpp"

namespace TANDEM_NS::saved_model {

namespace impl {

[[noreturn]] TANDEM_INLINE void refuse_call(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("saved_model::Loaded", what);
}
// Raises unless the inputs are those of the signature.
TANDEM_INLINE void check_inputs(const std::string& name, const Signature& s, const NamedTensors& inputs) {
  std::string missing, surplus, all;
  for (const TensorInfo& t : s.inputs) {
    all += (all.empty() ? "" : ", ") + t.name;
    if (!inputs.contains(t.name)) missing += (missing.empty() ? "" : ", ") + t.name;
  }
  for (const auto& given : inputs)
    if (std::none_of(s.inputs.begin(), s.inputs.end(), [&](const TensorInfo& i) { return i.name == given.first; }))
      surplus += (surplus.empty() ? "" : ", ") + given.first;
  if (!missing.empty() || !surplus.empty())
    refuse_call("the signature '" + name + "' takes {" + all + "}; missing {" + missing + "}, surplus {" + surplus +
                "}");
  for (const TensorInfo& t : s.inputs) {
    const Tensor& x = inputs.at(t.name);
    if (!x.is_set() || x.dtype() != t.spec.dtype || !t.spec.shape.is_compatible_with(x.shape()))
      refuse_call("the input '" + t.name + "' of the signature '" + name + "' is " +
                  (x.is_set() ? to_string(x.spec()) : "unset") + ", it takes " + to_string(t.spec));
  }
}
// What the graph takes: the inputs, or the features of the tf.Examples that are the input.
TANDEM_INLINE std::vector<Tensor> arguments_of(const Signature& s, const io::ExampleParser* examples,
                                               const NamedTensors& inputs) {
  std::vector<Tensor> r;
  if (!examples) {
    for (const TensorInfo& t : s.inputs) r.push_back(inputs.at(t.name));
    return r;
  }
  const Tensor serialized = inputs.at(s.inputs[0].name).cpu();
  const auto* const bytes = static_cast<const Bytes*>(serialized.raw());
  std::vector<std::string_view> records;
  for (i64 i = 0; i < serialized.size(); ++i) records.push_back(bytes[i].view());
  const io::ParsedFeatures features = examples->parse(records);
  for (const auto& [name, config] : s.features) r.push_back(features[name]);
  return r;
}

// A value of a batch of this size.
TANDEM_INLINE Spec with_batch(Spec s, i64 batch) {
  if (s.shape.rank() > 0 && s.shape.dim(0) == none) s.shape.set(0, batch);
  return s;
}

}  // namespace impl

TANDEM_INLINE void Loaded::Model::add(const std::string& name, const Signature& s, const Ref<Graph>& graph) {
  signatures.emplace(name, s);
  callables.emplace(name,
                    Callable{make_ref<ConcreteFunction>(graph),
                             s.features.empty() ? nullptr : std::make_unique<const io::ExampleParser>(s.features)});
}
TANDEM_INLINE const Signature& Loaded::Model::signature(const std::string& name) const {
  const auto at = signatures.find(name);
  if (at != signatures.end()) return at->second;
  std::string all;
  for (const auto& [known, s] : signatures) all += (all.empty() ? "" : ", ") + known;
  impl::refuse_call("Serving signature name: \"" + name + "\" not found in signature def (there are: " + all + ")");
}

TANDEM_INLINE Loaded::Loaded(Ref<Model> model) : model_(model.get()) {}
TANDEM_INLINE const Loaded::Model& Loaded::model() const { return static_cast<const Model&>(*model_); }

TANDEM_INLINE NamedTensors Loaded::operator()(const std::string& name, const NamedTensors& inputs,
                                              const CallOptions& options) const {
  const Signature& s = model().signature(name);
  const Model::Callable& callable = model().callables.at(name);
  impl::check_inputs(name, s, inputs);
  const CallScope scope(options);
  scope.check("saved_model::Loaded", "before the signature '" + name + "' began");
  const std::vector<Tensor> arguments = impl::arguments_of(s, callable.examples.get(), inputs);
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& t : arguments) in.push_back(&t);
  Tensors out = callable.function->call({in.begin(), in.size()});
  NamedTensors r;
  for (std::size_t i = 0; i < s.outputs.size(); ++i) r.emplace(s.outputs[i].name, std::move(out[i]));
  return r;
}
TANDEM_INLINE NamedTensors Loaded::call_or_save(const std::string& name, const NamedTensors& inputs,
                                                const io::FailureOptions& failure) const {
  const Signature& s = model().signature(name);
  if (!s.features.empty()) return (*this)(name, inputs);
  impl::check_inputs(name, s, inputs);
  io::FailureOptions options = failure;
  const std::vector<const OpDef*> core = impl::allowed_ops();
  options.ops = OpLists(core).with(failure.ops);
  const std::vector<Tensor> out = io::call_or_save(function(name), impl::arguments_of(s, nullptr, inputs), options);
  NamedTensors r;
  for (std::size_t i = 0; i < s.outputs.size(); ++i) r.emplace(s.outputs[i].name, out[i]);
  return r;
}
TANDEM_INLINE const std::map<std::string, Signature>& Loaded::signatures() const { return model().signatures; }
TANDEM_INLINE ConcreteFunction& Loaded::function(const std::string& signature) const {
  (void)model().signature(signature);
  return *model().callables.at(signature).function;
}
TANDEM_INLINE const std::vector<std::pair<std::string, Variable>>& Loaded::variables() const {
  return model().variables;
}
TANDEM_INLINE void Loaded::assign(const NamedTensors& values) const {
  std::vector<Variable> replaced;
  std::vector<Tensor> by;
  for (const auto& [name, v] : model().variables)
    if (const auto at = values.find(name); at != values.end()) replaced.push_back(v), by.push_back(at->second);
  if (by.size() != values.size()) {
    std::string unknown;
    for (const auto& given : values)
      if (std::none_of(model().variables.begin(), model().variables.end(),
                       [&](const auto& v) { return v.first == given.first; }))
        unknown += (unknown.empty() ? "" : ", ") + given.first;
    impl::refuse_call("assign: " + directory() + " has no Variables {" + unknown + "}");
  }
  assign_all(replaced, by);
}
TANDEM_INLINE std::string Loaded::file(const std::string& name) const {
  if (!model().manifest.files.contains(name))
    errors::raise<errors::NotFoundError>("saved_model::Loaded", directory() + " has no file " + name);
  return directory() + "/" + name;
}
TANDEM_INLINE const std::string& Loaded::directory() const { return model().directory; }
TANDEM_INLINE const std::string& Loaded::producer() const { return model().manifest.producer; }
TANDEM_INLINE i64 Loaded::bytes() const { return model().bytes; }
TANDEM_INLINE i64 Loaded::memory_for(i64 batch) const {
  i64 most = 0;
  if (batch < 0) impl::refuse_call("memory_for: a batch of " + std::to_string(batch) + " rows");
  for (const auto& [name, callable] : model().callables) {
    const Graph& g = callable.function->graph();
    for (const Spec& s : g.specs)
      if (!tandem::detail::is_storable(impl::with_batch(s, batch).shape))
        impl::refuse_call("memory_for: " + std::to_string(batch) + " rows make a value of the signature '" + name +
                          "' too large, " + to_string(impl::with_batch(s, batch)));
    std::vector<Spec> specs;
    for (const ValueId v : g.arguments) specs.push_back(impl::with_batch(g.spec(v), batch));
    const MemoryUse use = callable.function->memory_for(specs);
    most = std::max(most, use.call() + use.packed);
  }
  return bytes() + most;
}

}  // namespace TANDEM_NS::saved_model
