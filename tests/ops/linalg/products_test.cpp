// band_part, kron, cross, matrix_power: values, edges, gradients, unknown sizes, errors.
#include "tandem/ops/linalg/products.hpp"

#include <complex>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/recorder.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::error_of;
using testing::Index;

namespace {
using Ints = std::vector<std::int32_t>;
using List = std::vector<Tensor>;
Ints ints(const Tensor& x) { return x.to_vector<std::int32_t>(); }
}  // namespace

TEST_CASE("linalg::band_part: the spec's example, and loops for every dtype and width") {
  Ints v;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) v.push_back(j - i);
  const Tensor x = constant(v, {.shape = {4, 4}});
  CHECK(ints(linalg::band_part(x, 1, -1)(2)) == Ints{0, -1, 0, 1});
  testing::Shapes random(5);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape(2, 4);
    const DType dtypes[] = {float32, float64, int8, int16, int32, int64, uint8, bool_, complex64, complex128, float16};
    const Tensor t = testing::numbered(s, dtypes[round % 11]);
    const i64 lower = random.pick(-1, 6), upper = random.pick(-1, 6);
    CAPTURE(to_string(s), lower, upper);
    CHECK(testing::misplaced(linalg::band_part(t, lower, upper), t, [&](const Index& at) {
            const i64 i = at[at.size() - 2], j = at[at.size() - 1];
            const bool kept = (lower < 0 || i - j <= lower) && (upper < 0 || j - i <= upper);
            return kept ? testing::place(s, at) : -1;
          }) == 0);
  }
  const Tensor nan = fill({2, 2}, constant(float(NAN)));
  CHECK(linalg::band_part(nan, 0, 0).to_vector<float>()[1] == 0);
  CHECK(ints(linalg::band_part(constant({{1, 2}, {3, 4}}), INT64_MAX, INT64_MAX)) == Ints{1, 2, 3, 4});
  CHECK_THAT(error_of([] { linalg::band_part(constant({1, 2}), 0, 0); }), ContainsSubstring("needs a matrix"));
  CHECK_THROWS_AS(linalg::band_part(constant({{"a"}}), 0, 0), errors::UnimplementedError);
}

TEST_CASE("linalg::kron: as NumPy, with broadcasting") {
  const Tensor a = constant({{1, 2}, {3, 4}}), b = constant({{0, 1, 2}});
  CHECK(linalg::kron(a, b).shape() == Shape{2, 6});
  CHECK(ints(linalg::kron(a, b)) == Ints{0, 1, 2, 0, 2, 4, 0, 3, 6, 0, 4, 8});
  const Tensor batch = stack({a, a + 1});
  CHECK(ints(linalg::kron(batch, b)(1)) == ints(linalg::kron(a + 1, b)));
  CHECK(ints(linalg::kron(b, batch)(1)) == ints(linalg::kron(b, a + 1)));
  CHECK(linalg::kron(zeros({2, 0}), zeros({3, 3})).shape() == Shape{6, 0});
  testing::Shapes random(3);
  const auto f = [](const Tensor& x, const Tensor& y) { return linalg::kron(x, y); };
  CHECK(test::compute_gradient_error(f, {random.reals({2, 3}), random.reals({2, 2, 2})}, {.delta = 1e-5}) < 1e-9);
  CHECK_THAT(error_of([&] { linalg::kron(a, constant({1})); }), ContainsSubstring("rank 2 or more"));
}

TEST_CASE("linalg::cross: e1 x e2 = e3, batches, gradients") {
  const Tensor e = eye(3, {.dtype = int32});
  CHECK(ints(linalg::cross(e(0), e(1))) == Ints{0, 0, 1});
  CHECK(ints(linalg::cross(e(1), e(0))) == Ints{0, 0, -1});
  CHECK(ints(linalg::cross(constant({1, 2, 3}), constant({{4, 5, 6}, {1, 2, 3}}))) == Ints{-3, 6, -3, 0, 0, 0});
  testing::Shapes random(4);
  const auto f = [](const Tensor& x, const Tensor& y) { return linalg::cross(x, y); };
  CHECK(test::compute_gradient_error(f, {random.reals({2, 3}), random.reals({3})}, {.delta = 1e-5}) < 1e-9);
  CHECK_THAT(error_of([&] { linalg::cross(constant({1, 2}), constant({1, 2})); }), ContainsSubstring("size 3"));
}

TEST_CASE("linalg::matrix_power: powers of Fibonacci's matrix") {
  const Tensor f = constant({{1, 1}, {1, 0}});
  CHECK(ints(linalg::matrix_power(f, 10)) == Ints{89, 55, 55, 34});
  CHECK(ints(linalg::matrix_power(f, 1)) == Ints{1, 1, 1, 0});
  CHECK(ints(linalg::matrix_power(f, 0)) == Ints{1, 0, 0, 1});
  CHECK(ints(linalg::matrix_power(stack({f, f + 1}), 3)(1)) == ints(matmul(f + 1, matmul(f + 1, f + 1))));
  testing::Shapes random(6);
  const auto g = [](const Tensor& x) { return linalg::matrix_power(x, 5); };
  CHECK(test::compute_gradient_error(g, random.reals({2, 3, 3}), {.delta = 1e-5}) < 1e-8);
  CHECK_THAT(error_of([&] { linalg::matrix_power(f, -1); }), ContainsSubstring("linalg::inv"));
  CHECK_THAT(error_of([&] { linalg::matrix_power(constant({{1, 2}}), 2); }), ContainsSubstring("not square"));
}

TEST_CASE("products: sizes that a trace does not know") {
  testing::Shapes random(7);
  const Tensor a = random.reals({2, 3, 3}), b = random.reals({2, 2});
  testing::Recorder recorder;
  const auto f = [](const List& x) {
    return List{linalg::kron(x[0], x[1]), linalg::cross(x[0], x[0] + 1), linalg::matrix_power(x[0], 3),
                linalg::matrix_power(x[0], 0), linalg::band_part(x[0], 1, 0)};
  };
  recorder.trace({Spec{{none, none, none}, float64, {}}, Spec{{none, none}, float64, {}}}, f);
  const List got = recorder.replay({a, b}), want = f({a, b});
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(test::max_error(got[i], want[i]) == 0);
  for (const i64 power : {0, 1, 2}) {
    testing::Recorder square;
    square.trace({Spec{{none, none}, float64, {}}},
                 [&](const List& x) { return List{linalg::matrix_power(x[0], power)}; });
    CHECK_THROWS_AS(square.replay({random.reals({2, 3})}), errors::InvalidArgumentError);
    CHECK_NOTHROW(square.replay({random.reals({3, 3})}));
  }
  testing::Recorder halves;
  halves.trace({Spec{{none, none, none, none}, float64, {}}},
               [](const List& x) { return List{linalg::tensor_diag_part(x[0])}; });
  CHECK_THROWS_AS(halves.replay({random.reals({2, 3, 3, 2})}), errors::InvalidArgumentError);
}

TEST_CASE("matmul: narrow integers wrap, complex128 is conjugated by flags") {
  for (const DType d : {int8, int16, uint8, uint16}) {
    const Tensor a = cast(constant({{1, 2}, {3, 100}}), d), y = matmul(a, a, {.transpose_b = true});
    CHECK(y.dtype() == d);
    CHECK(ints(cast(y, int32)) == ints(cast(cast(constant({{5, 203}, {203, 10009}}), d), int32)));
  }
  CHECK_THROWS_AS(matmul(constant({{1}}, {.dtype = int8}), constant({{1}})), errors::InvalidArgumentError);
  using Z = std::complex<double>;
  const Tensor z = constant(std::vector<Z>{{1, 2}, {0, -1}}, {.shape = {2, 1}});
  CHECK(matmul(z, z, {.adjoint_a = true}).to_vector<Z>() == std::vector<Z>{{6, 0}});
  CHECK(matmul(z, z, {.transpose_a = true}).to_vector<Z>() == std::vector<Z>{{-4, 4}});
  CHECK(matmul(z, z, {.adjoint_b = true}).to_vector<Z>()[1] == Z(-2, 1));
}

TEST_CASE("matmul of vectors raises and names matvec") {
  CHECK_THAT(error_of([] { matmul(constant({{1.f}}), constant({1.f})); }), ContainsSubstring("linalg::matvec"));
  CHECK(test::max_error(matmul(constant({{1.f, 2.f}, {3.f, 4.f}}), constant({{1.f}, {1.f}})),
                        constant({{3.f}, {7.f}})) == 0);
}
