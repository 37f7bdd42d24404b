// Valid calls of every op in the table, made through the public functions: what the generated tests run on.
// Not here: what the calls should give (the tests' business), random shapes.
#pragma once
#include <random>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace samples {

/// Makes operands; the same ones for every dtype of the floating numbers. With complex64, reals are complex numbers.
class Numbers {
 public:
  explicit Numbers(tandem::DType real) : real_(real), random_(1234) {}
  tandem::DType real() const { return real_; }

  /// Evenly spread in [low, high), none within 0.12 of 0 (where many derivatives jump).
  tandem::Tensor reals(const tandem::Shape& shape, double low = -1.5, double high = 1.5);
  /// Of either sign, between 0.001 and 0.01 in size: what an op loses there does not show beside larger numbers.
  tandem::Tensor near_zero(const tandem::Shape& shape);
  tandem::Tensor whole(const tandem::Shape& shape, int low, int high, tandem::DType dtype = tandem::int32);
  tandem::Tensor flags(const tandem::Shape& shape);
  /// A key of the random ops.
  tandem::Tensor key();

 private:
  tandem::DType real_;
  std::mt19937 random_;
};

/// One applied op, as it reached core.
struct Call {
  const tandem::OpDef* op;
  std::vector<tandem::Tensor> in;
  tandem::Attrs attrs;
};

/// The sampled calls of an op with floating operands of that dtype, in a fixed order; empty if nobody wrote any. With
/// complex64: as many of them as the op (and those that its sample calls) takes.
std::vector<Call> calls_of(const tandem::OpDef& op, tandem::DType real);

/// The names that the samples speak of.
std::vector<std::string> sampled_names();

/// Applies the call's op to other inputs.
tandem::Tensors apply_to(const Call& call, const std::vector<tandem::Tensor>& in);

namespace detail {
struct Sample {
  const char* op;
  void (*run)(Numbers&);
};
/// Differentiates the sum of f(x)^2 twice: the ops behind the gradient are called, and those behind its gradient.
template <class F>
void back(const F& f, const tandem::Tensor& x) {
  tandem::GradientTape outer;
  outer.watch(x);
  tandem::GradientTape inner;
  inner.watch(x);
  const tandem::Tensor y = f(x);
  (void)outer.gradient(inner.gradient(tandem::square(y), x), x);
}
std::span<const Sample> pointwise_samples();
std::span<const Sample> shape_samples();
std::span<const Sample> other_samples();
std::span<const Sample> debug_samples();
}  // namespace detail

}  // namespace samples
