// reverse_sequence against a loop: axes, dtypes, lengths, gradients, errors.
#include "tandem/ops/index/reverse_sequence.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

TEST_CASE("reverse_sequence: the documented example, by position and by name") {
  const Tensor x = constant({{1, 2, 3, 4}, {5, 6, 7, 8}}), lengths = constant({2, 4});
  const std::vector<std::int32_t> want{2, 1, 3, 4, 8, 7, 6, 5};
  CHECK(reverse_sequence(x, lengths).to_vector<std::int32_t>() == want);
  CHECK(reverse_sequence(x, cast(lengths, int64), 1).to_vector<std::int32_t>() == want);
  CHECK(
      transpose(reverse_sequence(transpose(x), lengths, {.seq_axis = 0, .batch_axis = -1})).to_vector<std::int32_t>() ==
      want);
  CHECK(reverse_sequence(x, constant({0, 1})).to_vector<std::int32_t>() == x.to_vector<std::int32_t>());
}

TEST_CASE("reverse_sequence equals a loop, whatever the axes and the dtype") {
  testing::Shapes random(11);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape(2, 4);
    const int seq = random.pick(0, s.rank() - 1);
    const int batch = (seq + random.pick(1, s.rank() - 1)) % s.rank();
    std::vector<i64> lengths;
    for (i64 b = 0; b < s.dim(batch); ++b) lengths.push_back(random.pick(0, static_cast<int>(s.dim(seq))));
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const Tensor y = reverse_sequence(x, constant(lengths), seq - (round % 2 ? s.rank() : 0), {.batch_axis = batch});
    CHECK(testing::misplaced(y, x, [&](Index at) {
            const i64 length = lengths[static_cast<std::size_t>(at[static_cast<std::size_t>(batch)])];
            i64& t = at[static_cast<std::size_t>(seq)];
            if (t < length) t = length - 1 - t;
            return testing::place(s, at);
          }) == 0);
  }
}

TEST_CASE("reverse_sequence: its gradient is itself; lengths may be computed in a trace") {
  testing::Shapes random(12);
  const Tensor x = random.reals({3, 4, 2}), lengths = constant({4, 0, 3});
  CHECK(test::compute_gradient_error([&](const Tensor& t) { return square(reverse_sequence(t, lengths)); }, x) < 1e-7);
  const auto f = function([](const Tensor& t, const Tensor& n) { return reverse_sequence(t, n + 1, 1); },
                          {.input_signature = {TensorSpec({none, none, 2}, float64), TensorSpec({none}, int32)}});
  CHECK(f(x, lengths - 1).to_vector<double>() == reverse_sequence(x, lengths).to_vector<double>());
  CHECK_THROWS_AS(f(x, constant({4, 0, 3})), errors::InvalidArgumentError);
}

TEST_CASE("reverse_sequence: errors") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(reverse_sequence(x, constant({4, 0})),
                    ContainsSubstring("index 4 at position [0]") && ContainsSubstring("[0, 4)"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({-1, 0})), ContainsSubstring("index -1"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({1, 2, 3})), ContainsSubstring("one element for each of the 2"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({{1, 2}})), ContainsSubstring("rank 1"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({1.f, 2.f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({1, 2}), 0), ContainsSubstring("both axis 0"));
  CHECK_THROWS_WITH(reverse_sequence(x, constant({1, 2}), 2), ContainsSubstring("reverse_sequence"));
}
