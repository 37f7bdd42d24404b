// check_call: a layer's first call without weights, to see whether its input fits before weights are made for it. For
// the definitions of layers.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS::detail {

// While it lives ops run their shape rules alone: nothing is computed, recorded or added to a trace.
class DryRun final : Stager {
 public:
  DryRun() : stager_(context.stager) { context.stager = this; }
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
  ~DryRun() { context.stager = stager_; }

 private:
  Tensors stage(const InferCall&, const Specs& specs) override {
    Tensors out;
    out.reserve(specs.size());
    for (const Spec& s : specs) out.push(Tensor::symbol(s));
    return out;
  }
  Tensor read(const Variable& v) override { return Tensor::symbol(v.spec()); }
  void assign(const Variable&, const Tensor&) override {}
  void lift(Callable body) override { body.call(body.self); }
  void created(const Variable&) override {}
  std::string origin(const Tensor&) override { return {}; }

  Stager* stager_;
  Unobserved quiet_;
};

/// A weight that is not there yet.
inline Tensor weight_like(const Shape& shape, DType dtype) { return Tensor::symbol({shape, dtype, current_device()}); }
/// Raises what f(), made of ops, would raise for its tensors' shapes, dtypes and devices.
template <class F>
void check_call(const F& f) {
  const DryRun dry;
  f();
}
/// The size of x's last axis, by which a layer's weights are made.
inline i64 features_of(const char* layer, const Tensor& x) {
  if (x.rank() < 1)
    errors::raise<errors::InvalidArgumentError>(layer, "needs an axis of features, not " + to_string(x.spec()));
  const i64 n = x.shape().dim(-1);
  if (n == none)
    errors::raise<errors::InvalidArgumentError>(
        layer, "the number of features must be known at the first call: " + to_string(x.spec()) + "; call build(n)");
  return n;
}

}  // namespace TANDEM_NS::detail
