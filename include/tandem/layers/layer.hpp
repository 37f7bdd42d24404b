// layers::Layer: the base class of layers, and how a layer makes its weights at its first call.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tandem/core/op.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/layers/constraints.hpp"
#include "tandem/layers/dry_run.hpp"
#include "tandem/layers/initializers.hpp"
#include "tandem/layers/regularizers.hpp"
#include "tandem/module/module.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline i64 positive(const char* layer, const char* what, i64 n) {
  if (n <= 0)
    errors::raise<errors::InvalidArgumentError>(layer,
                                                std::string(what) + " must be positive, not " + std::to_string(n));
  return n;
}
/// A rate of dropout.
///   throws  errors::InvalidArgumentError, in the layer's name, if it is not in [0, 1)
TANDEM_API double checked_rate(const char* layer, double rate);
/// Raises for an input of another dtype than that of the weights.
[[noreturn, gnu::cold]] TANDEM_API void raise_input_dtype(const char* layer, const Tensor& x, DType weights);
/// Warns that a layer infers under a tape, unless it has been said already or the thread's tapes do not record.
TANDEM_API void warn_inference();
/// Whether it has been said.
TANDEM_API std::atomic<bool>& inference_warned();
}  // namespace detail

/// Options of the call of a layer that behaves differently in training.
struct CallOptions {
  std::optional<bool> training = {};  ///< default: whether a training_scope says so

  bool is_training() const { return training.value_or(tandem::is_training()); }
  /// Whether the layer infers because nothing says otherwise, although a tape may record a training step.
  bool may_be_forgotten() const { return context.observers && !training && !tandem::detail::training_is_set; }
  /// is_training() for a layer to which it makes a difference. Warns once where the scope may have been forgotten:
  /// such a loop would train without dropout.
  bool is_training_layer() const {
    if (is_training()) return true;
    if (may_be_forgotten()) [[unlikely]]
      detail::warn_inference();
    return false;
  }
};

namespace detail {
/// Whether a layer that drops or disturbs at a rate does so in this call.
inline bool trains(const CallOptions& call, double rate) { return rate != 0 && call.is_training_layer(); }
}  // namespace detail

/// The base class of layers. A layer owns its Variables and creates them at its first call; copies of a layer share
/// them. A layer of one's own derives from it and says which weights it needs, and what it computes with them:
///
///   struct Scale : layers::Layer {
///     Scale() : Layer("scale") {}  // its name in a Model
///     Tensor operator()(const Tensor& x) const {
///       return run_with_weights(
///           [&] { return Weights{{"scale", {features_of("Scale", x)}, initializers::Ones()}}; },
///           [&](const Tensors& w) { return x * w[0]; });
///     }
///   };
class TANDEM_API Layer : public Module {
 public:
  Layer() = default;

 protected:
  using Module::Module;

  /// What a weight is made from.
  struct Weight {
    const char* name;
    Shape shape;
    Initializer initializer;
    DType dtype = DType::float32;
    Regularizer regularizer = {};
    Constraint constraint = {};
    bool trainable = true;
    Tensor (*adjusted)(const Tensor& initial) = nullptr;  // if set: the initial value, from the initializer's
  };
  using Weights = LeanVector<Weight>;

  /// Returns run(weights), where `weights` are the values of the layer's Variables. The first call makes them:
  /// `weights_for()` lists them, and run() is tried without values first, so that an input which it refuses leaves the
  /// layer unbuilt.
  template <class For, class Run>
  auto run_with_weights(const For& weights_for, const Run& run) const {
    const InCall here(*this);
    if (!is_built()) {
      check_registered();
      const Weights list = weights_for();
      Tensor result;
      tandem::detail::check_call([&] { result = tensor_of(run(placeholders(list))); });
      add_weights(list);
      if (result.is_set()) note_output(*this, result.shape());
    }
    return run(weights());
  }
  /// The values of the weights.
  Tensors weights() const {
    Tensors values;
    for (std::size_t i = 0, n = weight_count(); i < n; ++i) values.push_back(variable(i));
    return values;
  }
  /// Makes the weights, all or none.
  void add_weights(const Weights& weights) const;
  /// The two steps of it, to be called in build_once(): a layer of several parts makes all values before the first
  /// Variable.
  static std::vector<Tensor> initial_values(const Weights& weights);
  void add_weights(const Weights& weights, const std::vector<Tensor>& values) const;
  /// What stands for weights that do not exist yet, when the first call's input is checked.
  static Tensors placeholders(const Weights& weights) {
    Tensors r;
    for (const Weight& w : weights) r.push_back(tandem::detail::weight_like(w.shape, w.dtype));
    return r;
  }
  /// The size of the last axis of x.
  ///   throws  errors::InvalidArgumentError, in the layer's name, if there is none or it is unknown
  static i64 features_of(const char* layer, const Tensor& x) { return tandem::detail::features_of(layer, x); }
  /// Adds `regularizer.of_output(y)` to losses(), if there is a regularizer; returns y.
  const Tensor& penalized(const Tensor& y, const Regularizer& regularizer) const {
    if (regularizer) set_call_loss(regularizer.of_output(y));
    return y;
  }

 private:
  // What a call returns, if that is one tensor.
  template <class Y>
  static Tensor tensor_of(const Y& y) {
    if constexpr (std::is_convertible_v<const Y&, Tensor>) return y;
    else return Tensor();
  }
};

}  // namespace TANDEM_NS::layers
