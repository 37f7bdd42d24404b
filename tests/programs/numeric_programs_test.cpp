// Short programs around derivatives, sequences and dtypes, as a TensorFlow user writes them at the first try.
#include <complex>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

TEST_CASE("program: Hessian, Hessian-vector product, third derivative, gradient penalty") {
  const Tensor x = constant({1., -2., .5}, float64), v = constant({1., 0., 2.}, float64);
  const auto f = [](const Tensor& t) { return reduce_sum(pow(t, 4)); };
  GradientTape outer({.persistent = true});
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor slope = inner.gradient(f(x), x), along = reduce_sum(slope * v);
  const Tensor hessian = outer.jacobian(slope, x), want = linalg::diag(12. * square(x));
  CHECK(reduce_max(abs(hessian - want)).item<double>() < 1e-12);
  CHECK(reduce_max(abs(outer.gradient(along, x) - linalg::diag_part(hessian) * v)).item<double>() < 1e-12);
  CHECK(linalg::trace(hessian).item<double>() == Approx(12 * 5.25));

  const Tensor y = constant(2., float64);
  GradientTape t3;
  t3.watch(y);
  GradientTape t2;
  t2.watch(y);
  GradientTape t1;
  t1.watch(y);
  const Tensor third = t3.gradient(t2.gradient(t1.gradient(pow(y, 5), y), y), y);
  CHECK(third.item<double>() == Approx(60 * 4));

  const Variable w(constant({{1.f, -1.f}, {.5f, 2.f}}));
  const Tensor at = constant({{.3f, -.7f}});
  GradientTape training;
  GradientTape critic;
  critic.watch(at);
  const Tensor g = critic.gradient(tanh(matmul(at, w)), at);
  const Tensor penalty = reduce_mean(square(sqrt(reduce_sum(square(g), 1)) - 1));
  CHECK(training.gradient(penalty, w).shape() == Shape{2, 2});
}

TEST_CASE("program: a bidirectional tagger for rows of different lengths") {
  random::set_seed(7);
  // A token's tag says whether its right neighbour is larger: only the backward direction can know.
  const i64 batch = 32, time = 6;
  const Tensor tokens = random::uniform({batch, time}, 0, 10, int32), lengths = random::uniform({batch}, 3, 7, int32);
  const Tensor next = concat({tokens(Slice(), Slice(1, none)), zeros({batch, 1}, int32)}, 1);
  const Tensor tags = cast(next > tokens, int32), mask = sequence_mask(lengths - 1, time, {.dtype = float32});
  struct Tagger : Model<Tagger> {
    layers::Embedding embedding{10, 8};
    layers::GRU forward{16, {.return_sequences = true}}, backward{16, {.return_sequences = true}};
    layers::Dense out{2};
    Tensor operator()(const Tensor& ids, const Tensor& n) const {
      const Tensor e = embedding(ids);
      const Tensor back = reverse_sequence(backward(reverse_sequence(e, n, 1)), n, 1);
      return out(concat({forward(e), back}, -1));
    }
  } net;
  const optimizers::Adam adam(0.02);
  const auto loss_of = [&] {
    const Tensor each = nn::sparse_softmax_cross_entropy_with_logits(tags, net(tokens, lengths));
    return reduce_sum(each * mask) / reduce_sum(mask);
  };
  net(tokens, lengths);
  const auto step = function([&] { return adam.minimize(loss_of, net.trainable_variables()); });
  for (int i = 0; i < 200; ++i) step();
  const Tensor right = cast(argmax(net(tokens, lengths), -1, {.output_type = int32}) == tags, float32);
  CHECK((reduce_sum(right * mask) / reduce_sum(mask)).item<float>() > 0.95f);
}

TEST_CASE("program: every dtype, half precision, complex numbers and limits") {
  const Tensor half = constant({{1.f, 2.f}, {3.f, 4.f}}, float16);
  CHECK(floats(cast(matmul(half, half), float32)) == Floats{7, 10, 15, 22});
  CHECK(cast(reduce_sum(cast(half, bfloat16)), float32).item<float>() == 10);
  CHECK(cast(reduce_mean(half), float32).item<float>() == 2.5f);
  CHECK(abs(constant(std::complex<float>(3, 4))).item<float>() == 5);
  CHECK(abs(constant(std::complex<double>(3, 4), complex128)).item<double>() == 5);
  CHECK(floats(abs(constant(std::vector<std::complex<float>>{{0, 2}, {-1, 0}}))) == Floats{2, 1});
  for (const DType d :
       {float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    CAPTURE(name(d));
    const Tensor x = cast(constant({{1, 2}, {3, 4}}), d);
    CHECK(cast(reduce_sum(x), int32).item<std::int32_t>() == 10);
    CHECK(cast(reduce_max(x, 0), int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 4});
    CHECK(cast(x + x * 2, int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 6, 9, 12});
    CHECK(argmax(x, 1).to_vector<i64>() == std::vector<i64>{1, 1});
  }
  const Tensor lowest = constant(std::numeric_limits<std::int32_t>::min());
  CHECK(abs(lowest).item<std::int32_t>() == std::numeric_limits<std::int32_t>::min());
  CHECK((constant({"a", "b"}) + constant("c")).to_vector<std::string>() == std::vector<std::string>{"ac", "bc"});
}
