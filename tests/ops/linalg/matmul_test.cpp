// matmul, matvec and dense against triple loops: flags, batches, dtypes, empty sizes, errors, gradients.
#include "tandem/ops/linalg/matmul.hpp"

#include <complex>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {

template <class T>
T conjugate(T x, bool) {
  return x;
}
template <class T>
std::complex<T> conjugate(std::complex<T> x, bool yes) {
  return yes ? std::conj(x) : x;
}
struct Flags {
  bool ta = false, tb = false, ca = false, cb = false;
};
template <class T>
Tensor random_numbers(testing::Shapes& random, const Shape& s) {
  std::vector<T> v(static_cast<std::size_t>(s.size()));
  for (T& x : v) x = static_cast<T>(random.pick(-9, 9));
  if constexpr (!std::is_arithmetic_v<T>)
    for (T& x : v) x += T(0, static_cast<float>(random.pick(-9, 9)));
  return constant(v, {.shape = s});
}
// InlinedVector whole numbers: every order of summation gives the same, so equality is exact.
template <class T>
i64 wrong_products(const Tensor& y, const Tensor& a, const Tensor& b, const Flags& f) {
  i64 wrong = 0;
  const auto *pa = static_cast<const T*>(a.raw()), *pb = static_cast<const T*>(b.raw());
  const i64 k = a.shape().dim(f.ta ? -2 : -1);
  const auto at = [&](const Tensor& x, const Index& i, i64 r, i64 c) {
    Index own;
    const int batch = x.rank() - 2, out_batch = y.rank() - 2;
    for (int d = 0; d < batch; ++d)
      own.push_back(x.shape()[d] == 1 ? 0 : i[static_cast<std::size_t>(out_batch - batch + d)]);
    own.push_back(r), own.push_back(c);
    return testing::place(x.shape(), own);
  };
  testing::for_each_index(y.shape(), [&](const Index& i) {
    const i64 r = i[i.size() - 2], c = i[i.size() - 1];
    T sum{};
    for (i64 p = 0; p < k; ++p)
      sum += conjugate(pa[f.ta ? at(a, i, p, r) : at(a, i, r, p)], f.ca) *
             conjugate(pb[f.tb ? at(b, i, c, p) : at(b, i, p, c)], f.cb);
    wrong += static_cast<const T*>(y.raw())[testing::place(y.shape(), i)] != sum;
  });
  return wrong;
}
template <class T>
void check_random_products(unsigned seed) {
  testing::Shapes random(seed);
  for (int round = 0; round < 60; ++round) {
    const bool ta = random.pick(0, 1), tb = random.pick(0, 1), adjoint = random.pick(0, 1);
    const i64 m = random.pick(0, 20), n = random.pick(1, 20), k = random.pick(0, 20);
    Shape a, b;
    for (int i = random.pick(0, 2); i > 0; --i) {
      const i64 d = random.pick(1, 3);
      a.push_back(random.pick(0, 3) ? d : 1), b.push_back(random.pick(0, 3) ? d : 1);
    }
    if (random.pick(0, 3) == 0) b = Shape{};
    a.push_back(ta ? k : m), a.push_back(ta ? m : k), b.push_back(tb ? n : k), b.push_back(tb ? k : n);
    const Tensor x = random_numbers<T>(random, a), w = random_numbers<T>(random, b);
    const Flags f{ta, tb, ta && adjoint, tb && adjoint};
    const Tensor y = matmul(x, w,
                            {.transpose_a = ta && !adjoint,
                             .transpose_b = tb && !adjoint,
                             .adjoint_a = ta && adjoint,
                             .adjoint_b = tb && adjoint});
    INFO(to_string(x.spec()) << " x " << to_string(w.spec()) << " ta " << ta << " tb " << tb);
    REQUIRE(y.shape().dim(-2) == m);
    REQUIRE(y.shape().dim(-1) == n);
    CHECK(wrong_products<T>(y, x, w, f) == 0);
  }
}

}  // namespace

TEST_CASE("matmul equals a triple loop", "[matmul]") {
  check_random_products<float>(1);
  check_random_products<double>(2);
  check_random_products<std::int32_t>(3);
  check_random_products<i64>(4);
  check_random_products<std::uint32_t>(5);
  check_random_products<std::complex<float>>(6);
}

TEST_CASE("batched products are single products", "[matmul]") {
  testing::Shapes random(7);
  const Tensor a = random_numbers<float>(random, {10, 2, 3}), b = random_numbers<float>(random, {10, 3, 4});
  const Tensor y = matmul(a, b);
  CHECK(y.shape() == Shape{10, 2, 4});
  for (i64 i = 0; i < 10; ++i) CHECK(test::max_error(y[i], matmul(a[i], b[i])) == 0);
  CHECK(matmul(constant({{1., 2.}}, {.dtype = float64}), constant({{3.}, {4.}}, {.dtype = float64})).item<double>() ==
        11);
  const Tensor zero =
      matmul(Tensor::allocate({Shape{2, 0}, float32, {}}), Tensor::allocate({Shape{0, 3}, float32, {}}));
  CHECK(zero.to_vector<float>() == std::vector<float>(6, 0.f));
}

TEST_CASE("matmul's errors say what to do", "[matmul]") {
  const auto zeros = [](std::initializer_list<i64> s, DType d = float32) { return testing::numbered(Shape(s), d); };
  CHECK_THROWS_WITH(matmul(zeros({2, 3}), zeros({4, 5})),
                    Catch::Matchers::StartsWith("matmul: inner dimensions differ: float32[2,3] x float32[4,5] (at "));
  CHECK_THROWS_WITH(
      matmul(zeros({2, 3}), zeros({5, 3})),  // README's example
      Catch::Matchers::StartsWith("matmul: inner dimensions differ: float32[2,3] x float32[5,3] (did you mean "
                                  ".transpose_b = true?) (at "));
  CHECK_THROWS_WITH(matmul(zeros({3, 2}), zeros({3, 5})), ContainsSubstring("did you mean .transpose_a = true?"));
  CHECK_THROWS_WITH(matmul(zeros({2, 3}), zeros({3})), ContainsSubstring("matvec") && ContainsSubstring("float32[3]"));
  CHECK_THROWS_WITH(matmul(zeros({2, 3}), zeros({3, 1}, float64)), ContainsSubstring("dtypes differ"));
  CHECK_THROWS_WITH(matmul(zeros({2, 2, 3}), zeros({3, 3, 1})), ContainsSubstring("do not broadcast"));
  CHECK_THROWS_AS(matmul(zeros({2, 3}, bool_), zeros({3, 1}, bool_)), errors::UnimplementedError);
  CHECK_THROWS_AS(matmul(zeros({2, 2}), zeros({2, 2}), {.transpose_a = true, .adjoint_a = true}),
                  errors::InvalidArgumentError);
}

TEST_CASE("matvec", "[matmul]") {
  const Tensor a = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  CHECK(linalg::matvec(a, constant({1.f, 10.f})).to_vector<float>() == std::vector<float>{21, 43, 65});
  CHECK(linalg::matvec(a, constant({1.f, 1.f, 1.f}), {.transpose_a = true}).to_vector<float>() ==
        std::vector<float>{9, 12});
  CHECK_THROWS_AS(linalg::matvec(a, constant(1.f)), errors::InvalidArgumentError);
}

TEST_CASE("gradients of matmul, by flags and batches", "[matmul]") {
  testing::Shapes random(8);
  const auto check = [&](const Shape& a, const Shape& b, const MatmulOptions& o) {
    const auto f = [&](const Tensor& x, const Tensor& w) { return square(matmul(x, w, o)); };
    return test::compute_gradient_error(f, std::vector<Tensor>{random.reals(a), random.reals(b)}, {.delta = 1e-5});
  };
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      const MatmulOptions o{.transpose_a = ta, .transpose_b = tb};
      const Shape a = ta ? Shape{3, 2} : Shape{2, 3}, b = tb ? Shape{4, 3} : Shape{3, 4};
      CHECK(check(a, b, o) < 1e-7);
      Shape many_a = a, many_b = b;
      many_a.insert(0, 2), many_b.insert(0, 2);
      CHECK(check(many_a, many_b, o) < 1e-7);
      CHECK(check(many_a, b, o) < 1e-7);
      CHECK(check(a, many_b, o) < 1e-7);
      many_a.insert(0, 1), many_b.insert(0, 3);
      CHECK(check(many_a, many_b, o) < 1e-7);
    }
  CHECK(test::compute_gradient_error([](const Tensor& a, const Tensor& v) { return square(linalg::matvec(a, v)); },
                                     std::vector<Tensor>{random.reals({2, 3}), random.reals({3})},
                                     {.delta = 1e-5}) < 1e-7);
}

TEST_CASE("gradients of a complex product are conjugated", "[matmul]") {
  testing::Shapes random(9);
  const Tensor a = random_numbers<std::complex<float>>(random, {2, 3}),
               b = random_numbers<std::complex<float>>(random, {3, 2});
  for (bool adjoint : {false, true}) {
    GradientTape tape({.persistent = true});
    tape.watch(a), tape.watch(b);
    const Tensor y = adjoint ? matmul(b, a, {.adjoint_a = true, .adjoint_b = true}) : matmul(a, b);
    const Tensor g = random_numbers<std::complex<float>>(random, {2, 2});
    const Tensor da = tape.gradient(y, a, {.output_gradients = {g}}),
                 db = tape.gradient(y, b, {.output_gradients = {g}});
    // y = a b: g b^H, a^H g. y = b^H a^H: da = (b g)^H conjugates once more: a gets g^H b^H's, b gets a^H g^H's.
    const Tensor want_a =
        adjoint ? matmul(g, b, {.adjoint_a = true, .adjoint_b = true}) : matmul(g, b, {.adjoint_b = true});
    const Tensor want_b =
        adjoint ? matmul(a, g, {.adjoint_a = true, .adjoint_b = true}) : matmul(a, g, {.adjoint_a = true});
    CHECK(da.to_vector<std::complex<float>>() == want_a.to_vector<std::complex<float>>());
    CHECK(db.to_vector<std::complex<float>>() == want_b.to_vector<std::complex<float>>());
  }
}

TEST_CASE("dense equals its reference, gradients too", "[matmul]") {
  testing::Shapes random(10);
  using A = FusedActivation;
  for (A activation : {A::none, A::relu, A::tanh, A::sigmoid})
    for (const Shape& s : {Shape{5, 3}, Shape{2, 4, 3}, Shape{3}, Shape{0, 3}})
      for (bool bias : {false, true}) {
        std::vector<Tensor> in{random.reals(s), random.reals({3, 2})};
        if (bias) in.push_back(random.reals({2}));
        const auto f = [&](const std::vector<Tensor>& t) {
          return nn::dense(t[0], t[1], bias ? t[2] : Tensor(), {.activation = activation});
        };
        const Tensor want = dense_op.rare.decomposition(in, rules::DenseAttrs{activation})[0];
        CHECK(test::max_error(f(in), want) < 1e-14);
        if (s.size()) CHECK(test::compute_gradient_error(f, in, {.delta = 1e-6}) < 1e-7);
      }
  CHECK_THROWS_WITH(nn::dense(random.reals({2, 3}), random.reals({4, 2}), Tensor()),
                    ContainsSubstring("inner dimensions differ"));
  CHECK_THROWS_WITH(nn::dense(random.reals({2, 3}), random.reals({3, 2}), random.reals({3})),
                    ContainsSubstring("bias"));
}

TEST_CASE("products of open dims", "[matmul]") {
  const Tensor x = Tensor::symbol({Shape{none, none, 3}, float32, {}}), w = testing::numbered({3, 4}, float32);
  const Tensor* const in[] = {&x, &w};
  const Attrs attrs = rules::MatmulAttrs{};
  CHECK(matmul_op.infer({matmul_op, in, attrs, no_options})[0].shape == Shape{none, none, 4});
}
