// check_call: runs a layer's first call without weights, to validate the input before weights are created for it.
// For the definitions of layers.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS::detail {

// While an instance exists, ops only run shape inference: nothing is computed, recorded or added to a trace.
class DryRun final : Stager {
 public:
  DryRun() : stager_(context.stager) { context.stager = this; }
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
  ~DryRun() { context.stager = stager_; }

 private:
  struct Lifted {
    explicit Lifted(DryRun& r) : run(r) { context.stager = r.stager_; }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;
    ~Lifted() { context.stager = &run; }
    DryRun& run;
  };

  Tensors stage(const InferCall&, const Specs& specs) override {
    Tensors out;
    out.reserve(specs.size());
    for (const Spec& s : specs) out.push_back(Tensor::symbol(s));
    return out;
  }
  Tensor read(const Variable& v) override { return Tensor::symbol(v.spec()); }
  void assign(const Variable&, const Tensor&) override {}
  void lift(Callable body) override {  // of a layer inside of a model: its weights are made in earnest
    const Lifted lifted(*this);
    if (stager_) TANDEM_VIRTUAL(*stager_, Stager::lift)(body);
    else body.call(body.self);
  }
  void created(const Variable&) override {}
  std::string origin(const Tensor&) override { return {}; }

  Stager* stager_;
  Unobserved quiet_;
};

/// A placeholder for a weight that does not exist yet.
inline Tensor weight_like(const Shape& shape, DType dtype) { return Tensor::symbol({shape, dtype, current_device()}); }
/// Raises the errors that the ops in f() would raise for the shapes, dtypes and devices of their operands.
template <class F>
void check_call(const F& f) {
  const DryRun dry;
  f();
}
/// The size of the last axis of x, which determines the shapes of a layer's weights.
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
