// einsum and tensordot against loops over all labels, in double precision: random equations, gradients to second order,
// tracing with unknown sizes, the number of products, errors with their positions.
#include "tandem/ops/linalg/einsum.hpp"

#include <algorithm>
#include <complex>
#include <map>
#include <random>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/recorder.hpp"

using namespace tandem;
using testing::error_of;

namespace {

using List = std::vector<Tensor>;
using Doubles = std::vector<double>;

struct Equation {
  std::vector<std::string> in;
  std::string out;
  std::string text() const {
    std::string r;
    for (std::size_t i = 0; i < in.size(); ++i) r += (i ? "," : "") + in[i];
    return r + "->" + out;
  }
};

// The sum over all values of all letters, one by one.
Doubles loops(const Equation& e, const std::map<char, i64>& size, const List& operands) {
  std::vector<Doubles> x;
  for (const Tensor& t : operands) x.push_back(cast(t, float64).to_vector<double>());
  std::map<char, i64> at;
  for (const auto& [letter, n] : size) at[letter] = 0;
  const auto place = [&](const std::string& term) {
    i64 p = 0;
    for (const char c : term) p = p * size.at(c) + at[c];
    return static_cast<std::size_t>(p);
  };
  i64 count = 1, all = 1;
  for (const char c : e.out) count *= size.at(c);
  for (const auto& [letter, n] : size) all *= n;
  Doubles r(static_cast<std::size_t>(count));
  for (i64 k = 0; k < all; ++k) {
    i64 rest = k;
    for (auto& [letter, i] : at) i = rest % size.at(letter), rest /= size.at(letter);
    double product = 1;
    for (std::size_t i = 0; i < x.size(); ++i) product *= x[i][place(e.in[i])];
    r[place(e.out)] += product;
  }
  return r;
}
void check_equation(const Equation& e, const std::map<char, i64>& size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> spread(-1, 1);
  List operands;
  for (const std::string& term : e.in) {
    Shape s;
    for (const char c : term) s.push_back(size.at(c));
    Doubles v(static_cast<std::size_t>(s.size()));
    for (double& d : v) d = spread(random);
    operands.push_back(constant(v, {.shape = s}));
  }
  CAPTURE(e.text());
  std::map<char, i64> used;
  for (const std::string& term : e.in)
    for (const char c : term) used[c] = size.at(c);
  const Tensor y = einsum(e.text(), operands);
  const Doubles got = y.to_vector<double>(), want = loops(e, used, operands);
  Shape shape;
  for (const char c : e.out) shape.push_back(size.at(c));
  CHECK(y.shape() == shape);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-12));
}
Tensor reals(const Shape& s, unsigned seed = 3) {
  return random::stateless_uniform(s, constant(std::vector<i64>{static_cast<i64>(seed), 5}),
                                   {.minval = -1, .maxval = 1, .dtype = float64});
}

}  // namespace

TEST_CASE("einsum: random equations equal loops over their letters") {
  std::mt19937 random(17);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (unsigned round = 0; round < 400; ++round) {
    std::map<char, i64> size;
    for (const char c : {'a', 'b', 'c', 'd', 'E'}) size[c] = pick(0, 20) == 0 ? 0 : pick(1, 4);
    Equation e;
    std::string seen;
    for (int n = pick(1, 3); n > 0; --n) {
      std::string term;
      for (int r = pick(0, 4); r > 0; --r) term += "abcdE"[pick(0, 4)];  // with repetitions
      e.in.push_back(term);
      seen += term;
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    std::shuffle(seen.begin(), seen.end(), random);
    e.out = seen.substr(0, static_cast<std::size_t>(pick(0, static_cast<int>(seen.size()))));
    check_equation(e, size, round);
  }
}

TEST_CASE("einsum: the forms that users write") {
  const Tensor a = reals({3, 3}, 1), b = reals({3, 4}, 2), v = reals({3}, 3), batch = reals({5, 2, 3}, 4);
  CHECK(einsum("ii->", a).item<double>() == Approx(linalg::trace(a).item<double>()));
  CHECK(test::max_error(einsum("ii->i", a), linalg::diag_part(a)) == 0);
  CHECK(test::max_error(einsum("ij->ji", a), transpose(a)) == 0);
  CHECK(test::max_error(einsum("ij,jk", a, b), matmul(a, b)) < 1e-15);
  CHECK(test::max_error(einsum("ba", a), transpose(a)) == 0);  // without an arrow: in alphabetical order
  CHECK(test::max_error(einsum("i,j->ij", v, v), tensordot(v, v, 0)) < 1e-15);
  CHECK(test::max_error(einsum(" i j , j k -> i k ", {a, b}), matmul(a, b)) < 1e-15);
  CHECK(test::max_error(einsum("...ij,jk->...ik", batch, b), matmul(batch, b)) < 1e-15);
  CHECK(test::max_error(einsum("...i->...", batch), reduce_sum(batch, -1)) < 1e-15);
  CHECK(test::max_error(einsum("...ij,...jk", batch, reals({5, 3, 2}, 6)), matmul(batch, reals({5, 3, 2}, 6))) < 1e-15);
  CHECK(test::max_error(einsum("i...->...", batch), reduce_sum(batch, 0)) < 1e-15);
  CHECK(test::max_error(einsum("...->", batch), reduce_sum(batch)) < 1e-14);
  CHECK(einsum("->", constant(2.5)).item<float>() == 2.5f);
  // The axes of an ellipsis broadcast.
  const Tensor p = reals({1, 4, 2, 3}, 7), q = reals({6, 1, 3, 2}, 8);
  CHECK(test::max_error(einsum("...ij,...jk->...ik", p, q), matmul(p, q)) < 1e-15);
  CHECK(test::max_error(einsum("...ij,...jk->ik", p, q), reduce_sum(matmul(p, q), {0, 1})) < 1e-14);
  CHECK(test::max_error(einsum("...i,i->...", batch, v), linalg::matvec(batch, v)) < 1e-15);
}

TEST_CASE("einsum: integers and complex numbers") {
  const Tensor a = constant({{1, 2}, {3, 4}});
  for (const DType d : {int8, int16, int32, int64, uint8, uint32, uint64}) {
    CAPTURE(name(d));
    const Tensor y = einsum("ij,kj->ik", cast(a, d), cast(a, d));
    CHECK(y.dtype() == d);
    CHECK(cast(y, int32).to_vector<int>() == std::vector<int>{5, 11, 11, 25});
  }
  const Tensor wrapped = einsum("i,i->", constant({100, 100}, {.dtype = int8}), constant({3, 3}, {.dtype = int8}));
  CHECK(wrapped.item<std::int8_t>() == static_cast<std::int8_t>(600));
  const Tensor z = complex(constant({1.f, 2.f}), constant({1.f, -1.f}));
  CHECK(einsum("i,i->", z, z).item<std::complex<float>>() == std::complex<float>(3, -2));  // nothing is conjugated
}

TEST_CASE("einsum: one batched product for a pair, and nothing is transposed that a flag can say") {
  testing::Recorder recorder;
  const auto trace = [&](std::string_view equation, const List& operands) {
    recorder = {};
    std::vector<Spec> specs;
    for (const Tensor& t : operands) specs.push_back(t.spec());
    recorder.trace(specs, [&](const List& x) { return List{einsum(equation, x)}; });
  };
  for (const char* equation : {"bij,bjk->bik", "bji,bjk->bik", "bij,bkj->bik", "bji,bkj->bik"}) {
    CAPTURE(equation);
    trace(equation, {reals({2, 3, 3}), reals({2, 3, 3})});
    CHECK(recorder.staged(matmul_op) == 1);
    CHECK(recorder.staged(transpose_op) == 0);
  }
  trace("ij,jk,kl->il", {reals({2, 30}), reals({30, 30}), reals({30, 2})});
  CHECK(recorder.staged(matmul_op) == 2);
  trace("bqhd,bkhd->bhqk", {reals({2, 3, 4, 5}), reals({2, 6, 4, 5})});
  CHECK(recorder.staged(matmul_op) == 1);
  CHECK(recorder.staged(transpose_op) == 2);
}

TEST_CASE("einsum: gradients to second order") {
  const auto f = [](const List& x) { return einsum("aij,jk,k->ia", x); };
  const List x{reals({2, 3, 4}, 1), reals({4, 2}, 2), reals({2}, 3)};
  CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-8);
  const auto slope = [&](const List& t) {
    GradientTape tape;
    for (const Tensor& s : t) tape.watch(s);
    const List g = tape.gradient(square(f(t)), t);
    return reduce_sum(g[0] * g[0]) + reduce_sum(g[1]) + reduce_sum(g[2] * 3);
  };
  CHECK(test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-6);
  const auto diagonal = [](const Tensor& t) { return einsum("iji->j", t); };
  CHECK(test::compute_gradient_error(diagonal, reals({3, 2, 3}), {.delta = 1e-5}) < 1e-9);
}

TEST_CASE("einsum: sizes that a trace does not know") {
  const List x{reals({2, 3, 4, 5}, 1), reals({2, 6, 4, 5}, 2)};
  for (const char* equation : {"bqhd,bkhd->bhqk", "bqhd,bkhd->q", "...hd,...hd->...", "bqhd,zkhd->qbzk"}) {
    CAPTURE(equation);
    const List operands = equation[0] == '.' ? List{x[0], x[0] * 2} : x;
    testing::Recorder recorder;
    std::vector<Spec> specs;
    for (const Tensor& t : operands) {
      specs.push_back(t.spec());
      for (int a = 0; a < 4; ++a) specs.back().shape.set(a, none);
    }
    recorder.trace(specs, [&](const List& s) {
      GradientTape tape;
      tape.watch(s[0]);
      const Tensor y = einsum(equation, s);
      return List{y, tape.gradient(y, s[0])};
    });
    const List got = recorder.replay(operands);
    CHECK(test::max_error(got[0], einsum(equation, operands)) < 1e-14);
    GradientTape tape;
    tape.watch(operands[0]);
    CHECK(test::max_error(got[1], tape.gradient(einsum(equation, operands), operands[0])) < 1e-14);
  }
  const auto traced = function([](const Tensor& a) { return einsum("ij,kj->ik", a, a); });
  CHECK(test::max_error(traced(reals({3, 2})), einsum("ij,kj->ik", reals({3, 2}), reals({3, 2}))) == 0);
}

TEST_CASE("einsum: sizes that a trace does not know are compared by each call") {
  const auto traced = [](const char* equation, int operands) {
    return function(
        [equation](const Tensor& a, const Tensor& b, const Tensor& c) {
          const List all{a, b, c};
          const std::size_t n = std::string_view(equation).find(',') == std::string_view::npos ? 1 : 2;
          return einsum(equation, Span(all).first(n)) + 0 * reduce_sum(c);
        },
        {.input_signature = {TensorSpec(operands == 1 ? Shape{none} : Shape{none, none}, float64),
                             TensorSpec(operands == 1 ? Shape{none} : Shape{none, none}, float64),
                             TensorSpec({none}, float64)}});
  };
  struct Bad {
    const char* equation;
    Shape a, b;
  };
  for (const Bad& x : {Bad{"ij,ij->", {2, 3}, {3, 2}}, Bad{"bi,bi->b", {1, 3}, {4, 3}}, Bad{"ii->", {2, 3}, {2, 3}},
                       Bad{"ij,jk->ik", {2, 3}, {2, 3}}, Bad{"i,i->i", {1}, {3}}}) {
    CAPTURE(x.equation);
    auto f = traced(x.equation, x.a.rank());
    const Tensor one = ones({1}, {.dtype = float64});
    CHECK_THAT(error_of<errors::InvalidArgumentError>(
                   [&] { f(ones(x.a, {.dtype = float64}), ones(x.b, {.dtype = float64}), one); }),
               ContainsSubstring("must have the same size"));
    const Tensor a = ones(x.a.rank() == 1 ? Shape{3} : Shape{3, 3}, {.dtype = float64});
    CHECK_NOTHROW(f(a, a, one));
  }
  auto dot = function(
      [](const Tensor& a, const Tensor& b) {
        return tensordot(a, b, {{1}, {0}});
      },
      {.input_signature = {TensorSpec({none, none}), TensorSpec({none, none})}});
  CHECK_THROWS_AS(dot(ones({2, 3}), ones({2, 3})), errors::InvalidArgumentError);
  CHECK(dot(ones({2, 3}), ones({3, 1})).to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("einsum: short sums, eight axes, complex128, the caller's line") {
  const Tensor a = reals({50, 3}, 1), b = reals({50, 3}, 2);
  CHECK(test::max_error(einsum("bi,bi->b", a, b), reduce_sum(a * b, {.axis = 1})) == 0);
  CHECK(test::max_error(einsum("bi,ib->b", a, transpose(b)), reduce_sum(a * b, {.axis = 1})) == 0);
  const Tensor c = reals({1, 2, 1, 2, 1, 2, 1, 17}, 3), d = reals({1, 2, 1, 2, 1, 2, 1, 17}, 4);
  CHECK(test::max_error(einsum("abcdefgh,abcdefgh->abcdefg", c, d), reduce_sum(c * d, {.axis = -1})) < 1e-15);
  using Z = std::complex<double>;
  const Tensor z = constant(std::vector<Z>{{1, 2}, {3, 4}, {5, -6}, {-7, 8}}, {.shape = {2, 2}});
  CHECK(einsum("ij->j", z).to_vector<Z>() == std::vector<Z>{{6, -4}, {-4, 12}});
  CHECK(linalg::trace(z).item<Z>() == Z(-6, 10));
  GradientTape tape;
  tape.watch(z);
  CHECK(tape.gradient(real(reduce_sum(z)), z).to_vector<Z>() == std::vector<Z>(4, 1));
  const std::string line = "einsum_test.cpp:" + std::to_string(__LINE__ + 1);
  CHECK_THAT(error_of([&] { einsum("ij,jk->ik", a, b); }), ContainsSubstring(line));
}

TEST_CASE("einsum: errors say where") {
  const Tensor a = reals({2, 3}), b = reals({3, 4});
  const auto error = [&](const char* equation, const List& x) {
    return error_of<errors::InvalidArgumentError>([&] { einsum(equation, x); });
  };
  CHECK_THAT(error("ij,jk->iz", {a, b}), ContainsSubstring("letter 'z' of the output is in no input") &&
                                             ContainsSubstring("position 7 of \"ij,jk->iz\""));
  CHECK_THAT(error("ij,j1->i", {a, b}), ContainsSubstring("'1' is not a letter at position 4"));
  CHECK_THAT(error("ij,ijk->i", {a, b}),
             ContainsSubstring("\"ijk\" does not fit float64[3,4]") && ContainsSubstring("position 3"));
  CHECK_THAT(error("ij,ik->i", {a, b}), ContainsSubstring("letter 'i' has two sizes, 2 and 3"));
  CHECK_THAT(error("ij,jk->ii", {a, b}), ContainsSubstring("twice") && ContainsSubstring("position 7"));
  CHECK_THAT(error("ij", {a, b}), ContainsSubstring("has 1 operands, given are 2"));
  CHECK_THAT(error("i..,jk->i", {a, b}), ContainsSubstring("position 1"));
  CHECK_THAT(error("...i...,jk->i", {a, b}), ContainsSubstring("a second ellipsis") && ContainsSubstring("position 4"));
  CHECK_THAT(error("ij,jk->...ik", {a, b}), ContainsSubstring("the ellipsis of the output is in no input"));
  CHECK_THAT(error("...i,...j", {a, b}), ContainsSubstring("do not broadcast, 2 and 3"));
  CHECK_THAT(error("ij,jk", {a, cast(b, float32)}), ContainsSubstring("dtypes differ"));
}

TEST_CASE("tensordot: numbers and lists of axes") {
  const Tensor a = reals({2, 3, 4}, 1), b = reals({4, 3, 5}, 2), m = reals({2, 3}, 3), n = reals({3, 4}, 4);
  CHECK(test::max_error(tensordot(m, n, 1), matmul(m, n)) < 1e-15);
  CHECK(test::max_error(tensordot(a, b, {{1, 2}, {1, 0}}), einsum("ijk,kjl->il", a, b)) < 1e-14);
  CHECK(test::max_error(tensordot(a, b, {{-1}, {0}}), einsum("ijk,klm->ijlm", a, b)) < 1e-14);
  CHECK(test::max_error(tensordot(a, b, {2, 0}), einsum("ijk,klm->ijlm", a, b)) < 1e-14);
  CHECK(tensordot(a, b, 0).shape() == Shape{2, 3, 4, 4, 3, 5});
  CHECK(test::max_error(linalg::tensordot(m, m, 2), reduce_sum(m * m)) < 1e-15);
  CHECK(tensordot(zeros({2, 0}), zeros({0, 3}), 1).to_vector<float>() == std::vector<float>(6));
  const auto f = [](const Tensor& x, const Tensor& y) { return tensordot(x, y, {{0, 2}, {2, 0}}); };
  CHECK(test::compute_gradient_error(f, {reals({2, 3, 4}), reals({4, 2, 2})}, {.delta = 1e-5}) < 1e-8);
}

TEST_CASE("tensordot: errors") {
  const Tensor a = reals({2, 3}), b = reals({3, 4});
  CHECK_THAT(error_of([&] {
               tensordot(a, b, {{0}, {0}});
             }),
             ContainsSubstring("axis 0 of a and axis 0 of b have different sizes") &&
                 ContainsSubstring("float64[2,3] x float64[3,4]"));
  CHECK_THAT(error_of([&] { tensordot(a, b, 3); }), ContainsSubstring("cannot sum over 3 axes"));
  CHECK_THAT(error_of([&] { tensordot(a, b, {{0, 1}, {0}}); }), ContainsSubstring("the lists have 2 and 1 axes"));
  CHECK_THAT(error_of([&] { tensordot(a, b, {{}, {0}}); }), ContainsSubstring("the lists have 0 and 1 axes"));
  CHECK_THAT(error_of([&] { tensordot(a, b, {{1, 1}, {0, 0}}); }), ContainsSubstring("axis 1 is given twice"));
  CHECK_THAT(error_of([&] { tensordot(a, b, {{2}, {0}}); }), ContainsSubstring("axis 2 is out of range"));
  CHECK_THAT(error_of([&] { tensordot(a, cast(b, float32), 1); }), ContainsSubstring("dtypes differ"));
  CHECK_THAT(error_of([&] {
               tensordot(zeros({1, 1, 1, 1, 1}), zeros({1, 1, 1, 1}), 0);
             }),
             ContainsSubstring("more than 8 axes"));
}
