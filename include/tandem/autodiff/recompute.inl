// Definitions of autodiff/recompute.hpp.
#pragma once
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/recompute.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

// Lists the trainable Variables that are read while it lives.
class ReadVariables final : Observer {
 public:
  ReadVariables() { observe(*this); }
  ReadVariables(const ReadVariables&) = delete;
  ReadVariables& operator=(const ReadVariables&) = delete;
  ~ReadVariables() { unobserve(*this); }
  const std::vector<Variable>& list() const { return list_; }

 private:
  void record(const Applied&) override {}
  void read(const Variable& v, const Tensor&) override {
    if (!v.trainable()) return;
    for (const Variable& known : list_)
      if (known.id() == v.id()) return;
    list_.push_back(v);
  }
  std::vector<Variable> list_;
};

// The gradients of f at x, weighted by g, to all of x and to the Variables; unset where there is none.
inline std::vector<Tensor> recomputed_gradients(const Recomputed& f, const std::vector<Tensor>& x,
                                                const std::vector<Variable>& variables, const Tensor& g) {
  GradientTape tape({.watch_accessed_variables = false});
  LeanVector<Source> sources;
  for (const Tensor& t : x)
    if (is_differentiable(t.dtype())) tape.watch(t), sources.emplace_back(t);
  for (const Variable& v : variables) tape.watch(v), sources.emplace_back(v);
  const std::vector<Gradient> found = tape.gradients(f.call(x), sources, {.output_gradients = {g}});
  std::vector<Tensor> r;
  auto next = found.begin();
  for (const Tensor& t : x) r.push_back(is_differentiable(t.dtype()) ? Tensor((next++)->tensor()) : Tensor());
  for (; next != found.end(); ++next) r.push_back(next->tensor());
  return r;
}

TANDEM_INLINE Tensor call_recomputed(const Ref<Recomputed>& f, std::vector<Tensor> x) {
  std::vector<Variable> variables;
  Tensor value;
  {
    const Unobserved quiet;
    const ReadVariables reads;
    value = f->call(x);
    variables = reads.list();
  }
  std::vector<Tensor> in = x;
  for (const Variable& v : variables) in.push_back(v.read_value());  // the tapes' path to the Variable
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  auto backward = [f, x = std::move(x), variables](const Tensor& g) {
    return recomputed_gradients(*f, x, variables, g);
  };
  using Closure = BackwardClosure<decltype(backward)>;
  return apply_custom(value, pointers, Ref<CustomBackward>(new Closure(std::move(backward))));
}

}  // namespace TANDEM_NS::detail
