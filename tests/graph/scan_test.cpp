// scan, folds, map_fn: eager and traced, an LSTM against its unrolled form, gradients of both orders.
#include "tandem/graph/control/scan.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::check_close, testing::floats, testing::Floats, testing::List;
using testing::wave;

namespace {

constexpr auto plus = [](const Tensor& a, const Tensor& b) { return a + b; };

struct Lstm {
  Variable kernel{wave({3, 16}, 0.1f) * 0.5f}, recurrent{wave({4, 16}, 0.2f) * 0.5f}, bias{wave({16}, 0.3f) * 0.1f};

  std::pair<Tensor, Tensor> step(const std::pair<Tensor, Tensor>& s, const Tensor& x) const {
    const std::vector<Tensor> z = split(matmul(x, kernel) + matmul(s.first, recurrent) + bias, 4, {.axis = 1});
    const Tensor c = sigmoid(z[1]) * s.second + sigmoid(z[0]) * tanh(z[2]);
    return {sigmoid(z[3]) * tanh(c), c};
  }
  // [time, batch, 3] to [time, batch, 4]
  Tensor scanned(const Tensor& x) const {
    const Tensor zero = matmul(x[0], zeros({3, 4}));
    return scan([&](const std::pair<Tensor, Tensor>& s, const Tensor& row) { return step(s, row); }, x,
                std::pair(zero, zero))
        .first;
  }
  Tensor unrolled(const Tensor& x) const {
    const Tensor zero = matmul(x[0], zeros({3, 4}));
    std::pair<Tensor, Tensor> s(zero, zero);
    List h;
    for (i64 t = 0; t < x.shape()[0]; ++t) h.push_back((s = step(s, x[t])).first);
    return stack(h);
  }
  // Loss, and its gradients to the input and the weights.
  template <class F>
  List gradients(const F& run, const Tensor& x) const {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = run(x), loss = reduce_sum(square(y) * wave({4}, 1));
    List r{y, loss};
    for (const Gradient& g : tape.gradient(loss, {Source(x), Source(kernel), Source(recurrent), Source(bias)}))
      r.push_back(g);
    return r;
  }
};

}  // namespace

TEST_CASE("scan: sums, from a start and without, forward and back") {
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f});
  const auto check = [&](const auto& f, const Floats& expected) {
    CHECK(floats(f(x)) == expected);
    CHECK(floats(function(f)(x)) == expected);
  };
  check([](const Tensor& t) { return scan(plus, t, constant(10.f)); }, {11, 13, 16, 20});
  check([](const Tensor& t) { return scan(plus, t, constant(10.f), {.reverse = true}); }, {20, 19, 17, 14});
  check([](const Tensor& t) { return scan(plus, t); }, {1, 3, 6, 10});
  check([](const Tensor& t) { return scan(plus, t, {.reverse = true}); }, {10, 9, 7, 4});
  const auto minus = [](const Tensor& a, const Tensor& b) { return a - b; };
  check([&](const Tensor& t) { return foldl(minus, t, constant(0.f)); }, {-10});
  check([&](const Tensor& t) { return foldl(minus, t); }, {-8});
  check([&](const Tensor& t) { return foldr(minus, t); }, {-2});
  check([&](const Tensor& t) { return foldr(minus, t, constant(1.f)); }, {-9});
  check([&](const Tensor& t) { return map_fn([](const Tensor& row) { return row * row; }, t); }, {1, 4, 9, 16});
}

TEST_CASE("scan: no rows") {
  const auto sums = [](const Tensor& x) { return scan(plus, x, constant({1.f, 2.f})); };
  CHECK(sums(zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(function(sums)(zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(floats(foldl(plus, zeros({0, 2}), constant({1.f, 2.f}))) == Floats{1, 2});
  CHECK_THROWS_WITH(scan(plus, zeros({0, 2})), ContainsSubstring("at least one row"));
  CHECK_THROWS_WITH(foldl(plus, zeros({0, 2})), ContainsSubstring("at least one row"));
  const auto twice = [](const Tensor& row) { return row * 2; };
  CHECK_THROWS_WITH(map_fn(twice, zeros({0, 2})), ContainsSubstring("fn_output_signature"));
  CHECK(map_fn(twice, zeros({0, 2}), {.fn_output_signature = {{{2}, float32, {}}}}).shape() == Shape{0, 2});
  CHECK(function([&](const Tensor& x) { return map_fn(twice, x); })(zeros({0, 2})).shape() == Shape{0, 2});
  CHECK_THROWS_WITH(map_fn(twice, constant(1.f)), ContainsSubstring("rows"));
}

TEST_CASE("map_fn: structures in and out, other dtypes, strings") {
  const auto f = [](const Tensor& a, const Tensor& b) {
    return map_fn(
        [](const std::pair<Tensor, Tensor>& row) {
          return std::tuple(row.first + row.second, cast(row.first, int32), row.second > 2.f);
        },
        std::pair(a, b));
  };
  const Tensor a = constant({1.5f, 2.5f}), b = constant({1.f, 3.f});
  for (const auto& [sum, whole, large] : {f(a, b), function(f)(a, b)}) {
    CHECK(floats(sum) == Floats{2.5f, 5.5f});
    CHECK(whole.to_vector<int>() == std::vector<int>{1, 2});
    CHECK(large.to_vector<bool>() == std::vector<bool>{false, true});
  }
  const auto names = [](const Tensor& x) { return map_fn([](const Tensor& row) { return row; }, x); };
  const std::vector<std::string> words{"a", "bc", ""};
  CHECK(function(names)(constant(words)).to_vector<std::string>() == words);
  CHECK_THROWS_WITH(f(a, constant({1.f, 2.f, 3.f})), ContainsSubstring("rows"));
  CHECK_THROWS_WITH(function(f)(a, constant({1.f, 2.f, 3.f})), ContainsSubstring("rows"));
}

TEST_CASE("scan: an LSTM equals the unrolled one") {
  const Lstm lstm;
  const Tensor x = wave({7, 2, 3}, 0.7f);
  const auto scanned = [&](const Tensor& t) { return lstm.scanned(t); };
  const auto unrolled = [&](const Tensor& t) { return lstm.unrolled(t); };
  const List expected = lstm.gradients(unrolled, x);
  const auto check = [&](const List& got) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) check_close(floats(got[i]), floats(expected[i]), i < 2 ? 1e-5 : 1e-4);
  };
  check(lstm.gradients(scanned, x));
  check(lstm.gradients(function(scanned), x));
  check(function([&](const Tensor& t) { return lstm.gradients(scanned, t); })(x));
  check(function([&](const Tensor& t) { return lstm.gradients(unrolled, t); })(x));
}

TEST_CASE("scan: an LSTM over an open length and batch") {
  const Lstm lstm;
  const auto f =
      function([&](const Tensor& x) { return lstm.gradients([&](const Tensor& t) { return lstm.scanned(t); }, x); },
               {.input_signature = {{{none, none, 3}, float32, {}}}});
  for (const i64 time : {1, 5, 9})
    for (const i64 batch : {1, 3}) {
      const Tensor x = wave({time, batch, 3}, 0.5f);
      const List expected = lstm.gradients([&](const Tensor&t) { return lstm.unrolled(t); }, x), got = f(x);
      for (std::size_t i = 0; i < got.size(); ++i)
        check_close(floats(got[i]), floats(expected[i]), i < 2 ? 1e-5 : 1e-4);
    }
  CHECK(f.trace_count() == 1);
}

TEST_CASE("scan: second derivatives") {
  const auto second = [](const Tensor& x, const Tensor& w) {
    const auto f = [&] {
      return reduce_sum(scan([&](const Tensor& s, const Tensor& row) { return tanh(s * w + row); }, x, zeros({2})));
    };
    GradientTape outer;
    outer.watch(x), outer.watch(w);
    GradientTape inner;
    inner.watch(x), inner.watch(w);
    const Tensor y = f();
    const List first = inner.gradient(y, {x, w});
    List r{y, first[0], first[1]};
    for (const Gradient& g : outer.gradient(reduce_sum(square(first[0])) + reduce_sum(square(first[1])), {x, w}))
      r.push_back(g);
    return r;
  };
  const Tensor x = wave({5, 2}, 0.2f), w = constant({0.7f, -0.4f});
  const List eager = second(x, w), traced = function(second)(x, w);
  for (std::size_t i = 0; i < eager.size(); ++i) check_close(floats(traced[i]), floats(eager[i]), 1e-5);
}

TEST_CASE("scan: rows of a captured table by index") {
  const Variable table(wave({6, 3}, 0));
  const auto loss = [&](const Tensor& ids) {
    return reduce_sum(
        square(scan([&](const Tensor& s, const Tensor& id) { return s * 0.5f + gather(table, id); }, ids, zeros({3}))));
  };
  const auto step = [&](const Tensor& ids) {
    GradientTape tape;
    const Tensor y = loss(ids);
    return List{y, tape.gradient(y, table)};
  };
  const Tensor ids = constant({1, 4, 1, 5});
  const List eager = step(ids), traced = function(step)(ids);
  check_close(floats(traced[0]), floats(eager[0]));
  check_close(floats(traced[1]), floats(eager[1]));
}

TEST_CASE("scan: the graph does not grow with the number of rows") {
  const auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = scan([](const Tensor& s, const Tensor& row) { return sin(s) + row; }, x, constant(0.f));
    return tape.gradient(y, x);
  });
  const auto nodes = [&](i64 n) { return f.get_concrete_function(TensorSpec{{n}, float32})->graph().nodes.size(); };
  CHECK(nodes(3) == nodes(1000));
}

TEST_CASE("scan: rows are written where they stay") {
  const auto f = function([](const Tensor& x) {
    return scan([](const Tensor& s, const Tensor& row) { return s * 0.5f + row; }, x, zeros({8}));
  });
  const Tensor x = ones({4000, 8});
  f(x);
  const i64 before = memory::info().live;
  memory::reset_peak();
  const Tensor rows = f(x);
  const i64 peak = memory::info().peak - before, bytes = static_cast<i64>(rows.spec().bytes());
  CAPTURE(peak, bytes);
  CHECK(peak >= bytes);
  CHECK(peak < bytes * 3 / 2);  // a copy of the rows in any step would need two
}
