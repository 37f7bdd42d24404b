// Valid calls of every op in the table, made through the public functions: the inputs of the generated tests. Not
// here: the expected results (in the tests), random shapes.
#pragma once
#include <random>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/base/span.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace samples {

/// Generates operands, the same ones for every floating dtype. With complex64, reals() returns complex numbers.
class Numbers {
 public:
  explicit Numbers(tandem::DType real) : real_(real), random_(1234) {}
  tandem::DType real() const { return real_; }

  /// Uniform in [low, high), excluding values within 0.12 of 0 (where many derivatives jump).
  tandem::Tensor reals(const tandem::Shape& shape, double low = -1.5, double high = 1.5);
  /// Values of either sign with magnitudes between 0.001 and 0.01: a loss of accuracy there would be hidden by
  /// larger numbers.
  tandem::Tensor near_zero(const tandem::Shape& shape);
  tandem::Tensor whole(const tandem::Shape& shape, int low, int high, tandem::DType dtype = tandem::int32);
  tandem::Tensor flags(const tandem::Shape& shape);
  /// A key for the random ops.
  tandem::Tensor key();

 private:
  tandem::DType real_;
  std::mt19937 random_;
};

/// One applied op, as received by core.
struct Call {
  const tandem::OpDef* op;
  std::vector<tandem::Tensor> in;
  tandem::Attrs attrs;
};

/// The sampled calls of an op with floating operands of this dtype, in a fixed order; empty if there are no samples.
/// With complex64: only those that the op (and the ops that its sample calls) supports.
std::vector<Call> calls_of(const tandem::OpDef& op, tandem::DType real);

/// The names of the ops that have samples.
std::vector<std::string> sampled_names();

/// Applies the call's op to other inputs.
tandem::Tensors apply_to(const Call& call, const std::vector<tandem::Tensor>& in);

namespace detail {
struct Sample {
  const char* op;
  void (*run)(Numbers&);
};
/// Differentiates the sum of f(x)^2 twice, which calls the ops of the gradient and of the second derivative.
template <class F>
void back(const F& f, const tandem::Tensor& x) {
  tandem::GradientTape outer;
  outer.watch(x);
  tandem::GradientTape inner;
  inner.watch(x);
  const tandem::Tensor y = f(x);
  (void)outer.gradient(inner.gradient(tandem::square(y), x), x);
}
tandem::Span<const Sample> pointwise_samples();
tandem::Span<const Sample> shape_samples();
tandem::Span<const Sample> other_samples();
tandem::Span<const Sample> debug_samples();
tandem::Span<const Sample> norm_samples();
tandem::Span<const Sample> conv_samples();
tandem::Span<const Sample> special_samples();
tandem::Span<const Sample> index_samples();
tandem::Span<const Sample> linalg_samples();  // this and below: of optional components, if they are built
tandem::Span<const Sample> signal_samples();
tandem::Span<const Sample> string_samples();
tandem::Span<const Sample> image_samples();
tandem::Span<const Sample> distribute_samples();
}  // namespace detail

}  // namespace samples
