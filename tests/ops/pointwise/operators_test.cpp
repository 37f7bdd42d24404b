// Which classes have the operators of tensors: found by their operands (core/tensor.hpp), and not by other types.
#include <string>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/layers/attention.hpp"
#include "tandem/layers/bidirectional.hpp"
#include "tandem/layers/rnn.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tests/ops/pointwise/values.hpp"

namespace {

using tandem::Tensor, tandem::Variable, tandem::Gradient;

template <class A, class B>
concept Combine = requires(const A& a, const B& b, Tensor x) {
  { a + b } -> std::same_as<Tensor>;
  { a - b } -> std::same_as<Tensor>;
  { (a * b) } -> std::same_as<Tensor>;
  { a / b } -> std::same_as<Tensor>;
  { a % b } -> std::same_as<Tensor>;
  { a == b } -> std::same_as<Tensor>;
  { a != b } -> std::same_as<Tensor>;
  { a < b } -> std::same_as<Tensor>;
  { a >= b } -> std::same_as<Tensor>;
  { (a & b) } -> std::same_as<Tensor>;
  { x += b } -> std::same_as<Tensor&>;
};
// With itself, with a tensor and with numbers, on either side; no name of tandem is visible here.
template <class T>
concept Operand = Combine<T, T> && Combine<T, Tensor> && Combine<Tensor, T> && Combine<T, int> && Combine<double, T> &&
    requires(const T& a) {
  { -a } -> std::same_as<Tensor>;
  { ~a } -> std::same_as<Tensor>;
};
static_assert(Operand<Tensor> && Operand<Variable> && Operand<Gradient>);
static_assert(Combine<Variable, Gradient>);
static_assert(Operand<tandem::layers::AttentionOutput>);
static_assert(Operand<tandem::layers::RnnOutput<Tensor>>);
static_assert(Operand<tandem::layers::BidirectionalOutput<std::vector<Tensor>>>);

// An operand is not larger for being one.
static_assert(sizeof(Tensor) == sizeof(void*) && sizeof(Variable) == sizeof(void*));
static_assert(sizeof(tandem::layers::AttentionOutput) == 2 * sizeof(Tensor));

struct Mine {
  operator Tensor() const { return {}; }
};
using namespace tandem;
static_assert(!Combine<Mine, Mine> && !Combine<Mine, int>, "a user's class declares its own operators");
static_assert(Combine<Mine, Tensor>);

}  // namespace

TEST_CASE("operators: outputs of layers are operands") {
  const layers::AttentionOutput a{constant({1.f, 2.f})};
  const layers::RnnOutput<Tensor> r{constant({3.f, 5.f}), {}};
  CHECK((a * r + 1).to_vector<float>() == std::vector<float>{4, 11});
  CHECK((2 * r == constant({6.f, 1.f})).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(std::string("float") + "32" == name(float32));
}
