// Signature: a traced function with names, as a saved model has it. Part of the component tandem::saved_model. Not
// here: saving (save.hpp), loading (load.hpp).
#pragma once
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/graph/trace/function.hpp"
#include "tandem/io/parse_example.hpp"

namespace TANDEM_NS::saved_model {

/// A named input or output; dimensions may be `none`.
struct TensorInfo {
  std::string name;
  Spec spec;
};

/// The methods of TensorFlow Serving.
inline constexpr const char* predict_method = "tensorflow/serving/predict";
inline constexpr const char* classify_method = "tensorflow/serving/classify";
inline constexpr const char* regress_method = "tensorflow/serving/regress";

/// A function that a saved model offers under a name. Made by predict(), classify() and regress().
struct TANDEM_API Signature {
  std::string method = predict_method;
  std::vector<TensorInfo> inputs, outputs;  ///< what a call takes and returns
  Ref<Graph> graph;                         ///< takes the inputs in their order, or the features if there are any
  /// classify and regress: what is read of the one input, `inputs`: serialized tf.Examples, string [batch].
  io::FeatureConfigs features = {};

  /// Whether rows of several calls can be stacked: the first dimension of every input and output is unknown.
  bool batch() const;
};

struct ExampleOptions {
  io::FeatureConfigs features;  ///< f takes them in this order, with the batch in front; io::FixedLenFeature only
};

namespace impl {

inline constexpr std::size_t most_tensors = 8;  // that a function may take one by one

/// Checks the names, and takes the graph of a trace.
TANDEM_API Signature predict_signature(const ConcreteFunction& traced, std::vector<TensorInfo> inputs,
                                       const std::vector<std::string>& outputs);
TANDEM_API Signature example_signature(const ConcreteFunction& traced, const char* method, io::FeatureConfigs features,
                                       const std::vector<std::string>& outputs);
/// What a function of these features takes: the shapes with the batch in front.
TANDEM_API std::vector<TensorInfo> inputs_of(const io::FeatureConfigs& features);
[[noreturn]] TANDEM_API void raise_arity(std::size_t inputs);

template <class F, class Indices>
inline constexpr bool takes_tensors = false;
template <class F, std::size_t... I>
inline constexpr bool takes_tensors<F, std::index_sequence<I...>> =
    std::is_invocable_v<F&, decltype(static_cast<void>(I), std::declval<const Tensor&>())...>;

inline Tensor symbol_of(const TensorInfo& t) { return Tensor::symbol(t.spec); }

// The trace of a function that takes N tensors, where N is the number of inputs.
template <std::size_t N, class F>
Ref<ConcreteFunction> trace_of_tensors(const Function<F>& f, const std::vector<TensorInfo>& inputs) {
  if constexpr (takes_tensors<F, std::make_index_sequence<N>>) {
    if (inputs.size() == N) return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return f.get_concrete_function(inputs[I].spec...);
      }
    (std::make_index_sequence<N>());
  }
  if constexpr (N > 0) return trace_of_tensors<N - 1>(f, inputs);
  else raise_arity(inputs.size());
}
template <class F>
Ref<ConcreteFunction> trace_of(const Function<F>& f, std::vector<TensorInfo>& inputs) {
  if constexpr (std::is_invocable_v<F&, const std::map<std::string, Tensor>&>) {
    std::map<std::string, Tensor> symbols;  // the trace takes them in the order of their names
    std::map<std::string, TensorInfo> sorted;
    for (const TensorInfo& t : inputs) symbols.emplace(t.name, symbol_of(t)), sorted.emplace(t.name, t);
    if (sorted.size() == inputs.size()) inputs.clear();  // else a name occurs twice, which is refused later
    if (inputs.empty())
      for (const auto& [name, t] : sorted) inputs.push_back(t);
    return f.get_concrete_function(symbols);
  } else if constexpr (std::is_invocable_v<F&, const std::vector<Tensor>&>) {
    std::vector<Tensor> symbols;
    for (const TensorInfo& t : inputs) symbols.push_back(symbol_of(t));
    return f.get_concrete_function(symbols);
  } else {
    return trace_of_tensors<most_tensors>(f, inputs);
  }
}

}  // namespace impl

/// A signature that takes and returns named tensors.
///
///   saved_model::predict(f, {{"x", {{none, 3}, float32}}}, {"y"})
///
///   f        a traced function of up to 8 tensors, which are the inputs in their order; of one std::vector<Tensor> of
///            them; or of one std::map<std::string, Tensor>, which has them by name
///   inputs   their names and specs
///   outputs  the names of the tensors that f returns, in their order; none: "output_0" and so on
///   throws   errors::InvalidArgumentError for another number of inputs or outputs, for names that are not 1 to 255 of
///            the characters A-Z a-z 0-9 _ . - / without "..", or that occur twice; what f throws while it is traced
template <class F>
Signature predict(const Function<F>& f, std::vector<TensorInfo> inputs, const std::vector<std::string>& outputs = {}) {
  const Ref<ConcreteFunction> traced = impl::trace_of(f, inputs);
  return impl::predict_signature(*traced, std::move(inputs), outputs);
}
/// A signature for TensorFlow Serving's Classify: serialized tf.Examples in, `classes` and `scores` out.
///
///   saved_model::classify(f, {.features = {{"x", io::FixedLenFeature{{3}, float32}}}}, {"scores"})
///
///   f        takes one tensor for each feature, [batch, shape of the feature]; returns the outputs in their order
///   outputs  "classes" (string [batch, n]), "scores" (float32 [batch, n]) or both
///   throws   as predict; errors::InvalidArgumentError for other outputs, and for features that are not FixedLenFeature
template <class F>
Signature classify(const Function<F>& f, const ExampleOptions& options, const std::vector<std::string>& outputs) {
  std::vector<TensorInfo> inputs = impl::inputs_of(options.features);
  return impl::example_signature(*impl::trace_of_tensors<impl::most_tensors>(f, inputs), classify_method,
                                 options.features, outputs);
}
/// A signature for TensorFlow Serving's Regress: serialized tf.Examples in, `outputs` (float32 [batch] or [batch, 1])
/// out. Otherwise as classify.
template <class F>
Signature regress(const Function<F>& f, const ExampleOptions& options) {
  std::vector<TensorInfo> inputs = impl::inputs_of(options.features);
  return impl::example_signature(*impl::trace_of_tensors<impl::most_tensors>(f, inputs), regress_method,
                                 options.features, {"outputs"});
}

}  // namespace TANDEM_NS::saved_model
