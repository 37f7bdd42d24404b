// GradientTape: the applied ops in order. gradient() walks them backward and calls the rows' gradient rules, which are
// written in public ops and so can themselves be taped and traced.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "tandem/autodiff/ledger.hpp"
#include "tandem/base/ref.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

/// What the gradient of a source without any path is.
enum class UnconnectedGradients { none, zero, error };

struct TapeOptions {
  bool persistent = false;               ///< gradient() may be called more than once
  bool watch_accessed_variables = true;  ///< trainable Variables are watched when they are read
  bool ledger = false;                   ///< memory() knows source lines and scopes
};
struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  ///< one for each target, of its shape; ones where empty or unset
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
};

/// One or more values to differentiate; their gradients add up.
class Targets {
 public:
  Targets(const Tensor& y) : list_{y} {}
  Targets(std::vector<Tensor> ys) : list_(std::move(ys)) {}
  Targets(std::initializer_list<Tensor> ys) : list_(ys) {}
  std::span<const Tensor> list() const { return list_; }

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
  /// A tensor of the source's shape, for zeros_like; without data where it is a Variable.
  Tensor like() const { return is_variable() ? Tensor::symbol(variable_.spec()) : tensor_; }
  std::string name() const { return is_variable() ? "variable '" + variable_.name() + "'" : to_string(spec()); }

 private:
  Tensor tensor_;
  Variable variable_;
};

/// Records the ops of this thread, while it lives, whose inputs it watches.
///
///   Tensor x = constant(3.f);
///   GradientTape tape;
///   tape.watch(x);
///   Tensor dx = tape.gradient(x * x, x);  // 6
///
/// A source without a path gives an unset tensor whose use raises the reason ('no path ...', 'blocked at ArgMax').
/// Tapes may be nested: an outer tape records what the inner one's gradient() does.
/// It belongs to its thread, but may be destroyed anywhere, also inside a traced function or by another thread while
/// its own runs ops: from then on it records nothing. What it kept is freed at once, or, where another list of
/// observers is in force, when its thread next records an op, makes a tape, ends a trace, or ends itself.
class TANDEM_API GradientTape {
  struct Log;

 public:
  explicit GradientTape(TapeOptions options = {});
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;
  ~GradientTape();

  /// A Variable's reads are watched from now on.
  ///   throws  errors::InvalidArgumentError for dtypes that have no derivative
  void watch(const Tensor& x);
  void watch(const Variable& v);

  /// The gradients of the sum of the targets, each in its source's shape and dtype.
  ///   throws  errors::FailedPreconditionError on a second call without .persistent;
  ///           errors::UnimplementedError naming an op on the path that has no gradient
  template <std::convertible_to<Source> S>  // a template, as are the next: {w, b} is for the braces' own form
  Tensor gradient(const Targets& targets, const S& source, const GradientOptions& options = {}) {
    return gradients(targets, {&static_cast<const Source&>(source), 1}, options)[0].tensor();
  }
  /// Of {w, b}: as many gradients, which destructure: auto [dw, db] = tape.gradient(loss, {w, b}). Here and for
  /// Variables row-sparse gradients stay so until they are read.
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
    const std::vector<Gradient> list = gradients(targets, std::vector<Source>(sources.begin(), sources.end()), options);
    return {list.begin(), list.end()};
  }
  template <std::same_as<Variable> V>
  std::vector<Gradient> gradient(const Targets& targets, const std::vector<V>& sources,
                                 const GradientOptions& options = {}) {
    return gradients(targets, std::vector<Source>(sources.begin(), sources.end()), options);
  }
  /// The same for a list of tensors and Variables.
  std::vector<Gradient> gradients(const Targets& targets, std::span<const Source> sources,
                                  const GradientOptions& options = {});

  /// d target[i] / d source[j], of shape target.shape + source.shape; one backward pass an element of the target.
  /// Needs .persistent. A target element without a path to the source gives zeros.
  Tensor jacobian(const Tensor& target, const Source& source);
  /// d target[b,i] / d source[b,j], of shape [b, i..., j...], for samples that do not mix.
  Tensor batch_jacobian(const Tensor& target, const Tensor& source);

  /// Ops are not recorded while the returned guard lives.
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
  /// What the recorded ops keep alive for the gradient, by op, and by source line if the tape has a .ledger; the
  /// largest first.
  std::vector<TapeMemory> memory() const;
  /// Forgets everything recorded and watched.
  void reset();

 private:
  struct Entry;
  struct Backward;
  void begin(const TapeOptions& options);

  Ref<Log> log_;  // counted by its thread's list of observers, too
};

}  // namespace TANDEM_NS
