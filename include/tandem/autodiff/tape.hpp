// GradientTape: records the applied ops in order. gradient() walks them backward and calls the ops' gradient rules.
// The rules are written in public ops, so they can be taped and traced themselves.
#pragma once
#include <concepts>
#include <initializer_list>
#include <vector>

#include "tandem/autodiff/ledger.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // GCC before 13: `none` of a scoped enum hides tandem::none
/// The gradient of a source that has no path to the targets.
enum class UnconnectedGradients { none, zero, error };
#pragma GCC diagnostic pop

struct TapeOptions {
  bool persistent = false;               ///< gradient() may be called more than once, and is itself recorded
  bool watch_accessed_variables = true;  ///< trainable Variables are watched when they are read
  bool ledger = false;                   ///< memory() reports source lines and scopes
};
struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  ///< one for each target, of the target's shape; ones where empty or unset
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
};

/// One or more values to differentiate; the gradients of all of them are summed.
class Targets {
 public:
  Targets(const Tensor& y) : list_{y} {}
  Targets(std::vector<Tensor> ys) : list_(std::move(ys)) {}
  Targets(std::initializer_list<Tensor> ys) : list_(ys) {}
  Span<const Tensor> list() const { return list_; }

 private:
  std::vector<Tensor> list_;
};

/// What to differentiate with respect to: a tensor, or a Variable (summed over all its reads).
class Source {
 public:
  Source(const Tensor& x) : tensor_(x) {}
  Source(const Variable& v) : variable_(v) {}
  bool is_variable() const { return variable_.is_set(); }
  u64 id() const { return is_variable() ? variable_.id() : tensor_.id(); }
  const Spec& spec() const { return is_variable() ? variable_.spec() : tensor_.spec(); }
  /// A tensor of the source's shape, for zeros_like; without data for a Variable.
  Tensor like() const { return is_variable() ? Tensor::symbol(variable_.spec()) : tensor_; }
  bool is_trainable() const { return !is_variable() || variable_.trainable(); }
  std::string name() const { return is_variable() ? "variable '" + variable_.name() + "'" : to_string(spec()); }

 private:
  Tensor tensor_;
  Variable variable_;
};

/// Records the ops of this thread whose inputs are watched, for as long as it lives.
///   Tensor x = constant(3.f);
///   GradientTape tape;
///   tape.watch(x);
///   Tensor dx = tape.gradient(x * x, x);  // 6
///
/// A source without a path gives an unset tensor; using that tensor raises the reason ('no path ...',
/// 'non-differentiable op ArgMax'). Tapes may be nested: an outer tape records what the inner tape's gradient() does.
/// So does a persistent tape of its own: its gradients can be differentiated again, as in TensorFlow.
///   GradientTape tape({.persistent = true});
///   tape.watch(x);
///   Tensor dx = tape.gradient(x * x * x, x), ddx = tape.gradient(dx, x);
/// Where that is not wanted, `auto pause = tape.stop_recording();` around gradient() saves time and memory: otherwise
/// the tape grows with each call. The tape of a training step need not be persistent.
///
/// A tape belongs to its thread, but it may be destroyed anywhere, including inside a traced function or by another
/// thread while its own thread runs ops. From then on it records nothing. Its saved tensors are freed immediately,
/// or, if another observer list is in force, when its thread next records an op, creates a tape, ends a trace, or
/// exits.
class TANDEM_API GradientTape {
  struct Log;

 public:
  explicit GradientTape(TapeOptions options = {});
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;
  ~GradientTape();

  /// Starts watching a tensor, or all reads of a Variable from now on.
  ///   throws  errors::InvalidArgumentError for non-differentiable dtypes
  void watch(const Tensor& x);
  void watch(const Variable& v);

  /// Gradients of the sum of the targets, each with its source's shape and dtype. What no source needs is not computed,
  /// such as the gradients of other Variables.
  ///   throws  errors::FailedPreconditionError on a second call without .persistent; errors::UnimplementedError
  ///           naming an op on the path that has no gradient
  template <std::convertible_to<Source> S>  // a template, like the next: {w, b} must select the array overload
  Tensor gradient(const Targets& targets, const S& source, const GradientOptions& options = {}) {
    return gradients(targets, {&static_cast<const Source&>(source), 1}, options)[0].tensor();
  }
  /// The same for {w, b}: returns as many gradients, which can be destructured: auto [dw, db] = tape.gradient(loss,
  /// {w, b}). Here and for Variables, row-sparse gradients stay row-sparse until they are read.
  template <std::size_t N>
  Gradients<N> gradient(const Targets& targets, const Source (&sources)[N], const GradientOptions& options = {}) {
    std::vector<Gradient> list = gradients(targets, sources, options);
    Gradients<N> r;
    std::move(list.begin(), list.end(), r.begin());
    return r;
  }
  template <std::same_as<Tensor> T>
  std::vector<Tensor> gradient(const Targets& targets, const std::vector<T>& sources,
                               const GradientOptions& options = {}) {
    const std::vector<Gradient> list = gradients(targets, LeanVector<Source>(sources.begin(), sources.end()), options);
    return {list.begin(), list.end()};
  }
  template <std::same_as<Variable> V>
  std::vector<Gradient> gradient(const Targets& targets, const std::vector<V>& sources,
                                 const GradientOptions& options = {}) {
    return gradients(targets, LeanVector<Source>(sources.begin(), sources.end()), options);
  }
  /// The same for a list of tensors and Variables.
  std::vector<Gradient> gradients(const Targets& targets, Span<const Source> sources,
                                  const GradientOptions& options = {});

  /// Jacobian d target[i] / d source[j], of shape target.shape + source.shape; one backward pass per element of the
  /// target, which the tape itself does not record. Needs .persistent. A target element without a path to the source
  /// gives zeros; if the tape does not watch the source at all, the result is unset, as that of gradient().
  Tensor jacobian(const Tensor& target, const Source& source);
  /// Batch Jacobian d target[b,i] / d source[b,j], of shape [b, i..., j...], for samples that do not interact.
  Tensor batch_jacobian(const Tensor& target, const Tensor& source);

  /// Suspends recording for as long as the returned guard lives.
  class TANDEM_API Pause {
   public:
    explicit Pause(GradientTape& t);
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause();

   private:
    Ref<Log> log_;
    bool outer_;
  };
  [[nodiscard]] Pause stop_recording() { return Pause(*this); }
  /// What the recorded ops keep alive for the gradient, grouped by op, and by source line if the tape has a .ledger;
  /// largest first.
  std::vector<TapeMemory> memory() const;
  /// What the tape has recorded, as text: the Variables that it watches, with the values read from them, then one line
  /// for each op in the order in which they ran: "%3 = MatMul(%0, _) transpose_b=1; keeps float32[2,3]  #
  /// model.cpp:12". An input that is not watched is "_". Nothing is run.
  std::string dump() const;
  /// Discards everything recorded and watched.
  void reset();

 private:
  struct Entry;
  struct Backward;
  void begin(const TapeOptions& options);

  Ref<Log> log_;  // also referenced by its thread's observer list
};

}  // namespace TANDEM_NS
