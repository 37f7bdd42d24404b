// vectorized_map: structures, gradients, captures, no rows, unknown numbers of rows, errors. The rules of the ops:
// tests/ops/table_vectorized_test.cpp.
#include "tandem/graph/control/vectorized_map.hpp"

#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::error_of, testing::floats, testing::Floats, testing::List;
using testing::wave;

namespace {

void close(const Tensor& a, const Tensor& b) { testing::check_close(List{a}, List{b}); }

struct Example {
  Tensor image, label;
};
template <class F, class X>
auto rows_at_once(const F& f, const X& xs) {
  return vectorized_map(f, xs);
}
// Eager, traced, and traced with any number of rows.
template <class F>
void check_rows(const F& f, const Tensor& x, bool bits = true) {
  const Tensor expected = map_fn(f, x);
  const auto all = [&](const Tensor& t) { return rows_at_once(f, t); };
  Spec any = x.spec();
  any.shape.set(0, none);
  for (const Tensor& y : {all(x), function(all)(x), function(all, {.input_signature = {any}})(x)}) {
    CHECK(y.spec() == expected.spec());
    if (bits) CHECK(floats(y) == floats(expected));
    else close(y, expected);
  }
}

}  // namespace

TEST_CASE("vectorized_map: rows of a tensor") {
  const Tensor x = wave({4, 3}, 0.3f), w = wave({3, 5}, 0.7f), b = wave({5}, 0.2f);
  check_rows([](const Tensor& r) { return r * 2; }, x);
  check_rows([](const Tensor& r) { return r - reduce_max(r); }, x);
  check_rows([](const Tensor& r) { return nn::softmax(r); }, x);
  check_rows([](const Tensor& r) { return stack({r[0], r[2] * r[1], constant(3.f)}); }, x);
  check_rows([&](const Tensor& r) { return squeeze(matmul(expand_dims(r, 0), w), {.axis = {0}}) + b; }, x, false);
  check_rows([&](const Tensor& r) { return reshape(r, {3, 1}) * b; }, x);
  check_rows([](const Tensor& r) { return concat({r, constant({7.f}), r(Slice(1, none))}, 0); }, x);
  check_rows([&](const Tensor& r) { return gather(w, cast(r > 0, int64), 1); }, x);
  check_rows([](const Tensor& r) { return where(r > 0, sqrt(abs(r)), r); }, x);
  check_rows([](const Tensor&) { return constant({1.f, 2.f}); }, x);  // the same for all rows
  check_rows([](const Tensor& r) { return fill({2, 2}, r[1]); }, x);
  check_rows([](const Tensor& r) { return r + static_cast<float>(i64{r.shape()[0]}) + zeros_like(r); }, x);
  check_rows([](const Tensor& r) { return r + 1; }, wave({5}, 0.1f));
  check_rows([](const Tensor& r) { return transpose(r)[1] + r[0][0]; }, wave({4, 2, 3}, 0.1f));
}

TEST_CASE("vectorized_map: structures in and out") {
  const Tensor x = wave({3, 2}, 0.3f), y = constant({1.f, 2.f, 3.f});
  const auto [sum, kept] = vectorized_map(
      [](const Tensor& a, const Tensor& b) {
        return std::pair(a + b, std::vector{b, constant(5.f)});
      },
      std::pair(x, y));
  CHECK(floats(sum) == floats(x + expand_dims(y, 1)));
  CHECK(floats(kept.at(0)) == Floats{1, 2, 3});
  CHECK(floats(kept.at(1)) == Floats{5, 5, 5});
  const auto e = vectorized_map([](const Example& r) { return Example{r.image * r.label, r.label}; }, Example{x, y});
  CHECK(floats(e.image) == floats(x * expand_dims(y, 1)));
  const Tensor text = constant(std::vector<std::string>{"a", "b"});
  CHECK(vectorized_map([](const Tensor& t) { return t + constant("!"); }, text).to_vector<std::string>() ==
        std::vector<std::string>{"a!", "b!"});
}

TEST_CASE("vectorized_map: no rows, and one") {
  const auto f = [](const Tensor& r) { return std::pair(reduce_sum(r), reshape(r, {3, 1}) + 1); };
  const auto [sum, other] = vectorized_map(f, zeros({0, 3}));
  CHECK(sum.shape() == Shape{0});
  CHECK(other.shape() == Shape{0, 3, 1});
  CHECK(vectorized_map([](const Tensor&) { return constant({1, 2}); }, zeros({0, 3})).shape() == Shape{0, 2});
  CHECK(floats(vectorized_map(f, ones({1, 3})).first) == Floats{3});
}

TEST_CASE("vectorized_map: gradients to rows, captures and Variables, eager and traced") {
  const Tensor x = wave({4, 3}, 0.3f), c = wave({3}, 0.9f), factor_now = wave({3}, 0.4f);
  const Variable w(wave({3, 2}, 0.5f));
  const auto f = [&](const Tensor& r) {
    return reduce_sum(tanh(matmul(expand_dims(r * c, 0), w)) * r[1]) + reduce_max(r);
  };
  const auto gradients = [&](const auto& map) {
    return [&, map](const Tensor& t, const Tensor& factor) {
      GradientTape tape;
      tape.watch(t), tape.watch(factor);
      const Tensor loss = reduce_sum(square(map([&](const Tensor& r) { return f(r) * reduce_sum(factor); }, t)));
      List r;
      for (const Gradient& g : tape.gradient(loss, {Source(t), Source(factor), Source(w)})) r.push_back(g);
      return r;
    };
  };
  const auto at_once = gradients([](const auto& g, const Tensor& t) { return vectorized_map(g, t); });
  const List expected = gradients([](const auto& g, const Tensor& t) { return map_fn(g, t); })(x, factor_now);
  for (const List& r : {at_once(x, factor_now), function(at_once)(x, factor_now)})
    for (std::size_t i = 0; i < expected.size(); ++i) close(r[i], expected[i]);
}

TEST_CASE("vectorized_map: a gradient for each row") {
  const Variable w(wave({3, 2}, 0.5f));
  const Tensor x = wave({4, 3}, 0.3f), y = constant({0, 1, 1, 0});
  const auto gradient = [&](const Tensor& r, const Tensor& label) {
    GradientTape tape;
    const Tensor logits = matmul(expand_dims(r, 0), w);
    const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(reshape(label, {1}), logits);
    return Tensor(tape.gradient(loss, w));
  };
  const Tensor g = vectorized_map(gradient, std::pair(x, y));
  CHECK(g.shape() == Shape{4, 3, 2});
  for (i64 i = 0; i < 4; ++i) close(g[i], gradient(x[i], y[i]));
}

TEST_CASE("vectorized_map: gradients of rows through broadcasting, also of any number of rows") {
  const Tensor x = wave({4, 3}, 0.3f), wide = wave({2, 1, 3}, 0.2f), scale = constant(1.5f), b = wave({2, 1}, 0.7f);
  const auto gradient_to = [](const Tensor& source, const auto& loss) {
    GradientTape tape;
    tape.watch(source);
    const Tensor y = loss();
    return Tensor(tape.gradient(y, source));
  };
  check_rows([&](const Tensor& r) { return gradient_to(r, [&] { return reduce_sum(square(r * wide)); }); }, x, false);
  check_rows([&](const Tensor& r) { return gradient_to(scale, [&] { return reduce_sum(exp(r * scale)); }); }, x, false);
  check_rows([&](const Tensor& r) { return gradient_to(b, [&] { return reduce_sum(square(r + b)); }); }, x, false);
  check_rows([&](const Tensor& r) { return gradient_to(r, [&] { return reduce_sum(square(r) * (r + 1)); }); }, x,
             false);
}

TEST_CASE("vectorized_map: scatter and segments of ids in any order, each row with its own") {
  const Tensor x = wave({4, 3}, 0.3f), into = wave({5}, 0.8f);
  const Tensor ids = constant({{0, 4, 4}, {1, 1, 2}, {3, -1, 0}, {-1, -2, -1}});
  const auto each = [](const auto& f, const auto& in) {
    const Tensor expected = map_fn([&](const auto& row) { return f(row.first, row.second); }, in);
    const auto at_once = [&](const Tensor& a, const Tensor& b) { return vectorized_map(f, std::pair(a, b)); };
    for (const Tensor& y : {vectorized_map(f, in), function(at_once)(in.first, in.second)}) {
      CHECK(y.spec() == expected.spec());
      CHECK(floats(y) == floats(expected));
    }
  };
  const std::pair rows(x, ids), places(x, abs(ids));
  each([](const Tensor& r, const Tensor& i) { return unsorted_segment_sum(r, i, 5); }, rows);
  each([](const Tensor& r, const Tensor& i) { return unsorted_segment_max(r, i, 5); }, rows);
  each([](const Tensor& r, const Tensor& i) { return unsorted_segment_mean(r, i, 5); }, rows);
  each([](const Tensor& r, const Tensor& i) { return unsorted_segment_prod(r, cast(i, int64), 6); }, rows);
  each([](const Tensor& r, const Tensor& i) { return scatter_nd(expand_dims(i, 1), r, {5}); }, places);
  each([&](const Tensor& r, const Tensor& i) { return tensor_scatter_nd_add(into, expand_dims(i, 1), r); }, places);
  each(
      [](const Tensor& r, const Tensor& i) {
        GradientTape tape;
        tape.watch(r);
        const Tensor y = reduce_sum(square(unsorted_segment_sum(r, i, 5)));
        return Tensor(tape.gradient(y, r));
      },
      rows);
  // An id or an index behind the last is not one of the next row.
  const auto fails = [&](const auto& f) { CHECK_THROWS_AS(vectorized_map(f, rows), errors::InvalidArgumentError); };
  fails([](const Tensor& r, const Tensor& i) { return unsorted_segment_sum(r, i, 4); });
  constexpr i64 most = std::numeric_limits<i64>::max();
  fails([](const Tensor& r, const Tensor& i) {
    return unsorted_segment_sum(r, where(equal(i, 2), most, cast(i, int64)), 5);
  });
  fails([](const Tensor& r, const Tensor& i) { return scatter_nd(expand_dims(abs(i), 1), r, {4}); });
  // Without a number of rows in the trace they raise, as does what has no rule at all.
  const auto error = [&](const auto& f) {
    const auto any = function([&](const Tensor& t) { return vectorized_map(f, t); },
                              {.input_signature = {Spec{{none, 3}, float32}}});
    return error_of<errors::UnimplementedError>([&] { any(x); });
  };
  CHECK_THAT(error([](const Tensor& r) {
               return unsorted_segment_sum(r, constant({0, 1, 0}), 2);
             }),
             ContainsSubstring("there is no rule for unsorted_segment_sum") && ContainsSubstring("use map_fn"));
  CHECK_THAT(error_of<errors::UnimplementedError>([&] {
               vectorized_map([](const Tensor& r) { return segment_sum(r, constant({0, 0, 1})); }, x);
             }),
             ContainsSubstring("there is no rule for segment_sum") && ContainsSubstring("the size of its result"));
}

TEST_CASE("vectorized_map: the gradient of a recurrent op is an error that names it") {
  const Tensor x = wave({2, 3, 1, 2}, 0.3f), w = wave({2, 16}, 0.2f), u = wave({4, 16}, 0.1f), b = wave({16}, 0.4f);
  const auto gradient = [&](const Tensor& r) {
    GradientTape tape;
    tape.watch(r);
    const Tensor y = reduce_sum(nn::lstm(r, {zeros({1, 4}), zeros({1, 4})}, w, u, b).output);
    return Tensor(tape.gradient(y, r));
  };
  CHECK_THAT(error_of<errors::UnimplementedError>([&] { vectorized_map(gradient, x); }),
             ContainsSubstring("there is no rule for lstm") && ContainsSubstring("use map_fn"));
}

TEST_CASE("vectorized_map: within another one and within traced code") {
  const Tensor x = wave({4, 3, 2}, 0.3f);
  const auto row = [](const Tensor& r) { return r - reduce_mean(r); };
  const Tensor twice = vectorized_map([&](const Tensor& m) { return vectorized_map(row, m); }, x);
  close(twice, map_fn([&](const Tensor& m) { return map_fn(row, m); }, x));
  const auto shifted = function([&](const Tensor& t, const Tensor& by) {
    const Tensor later = by * 2;  // of the outer trace
    return vectorized_map([&](const Tensor& m) { return m + later; }, t);
  });
  CHECK(floats(shifted(x, constant(2.f))) == floats(x + 4));
  CHECK(shifted.trace_count() == 1);
}

TEST_CASE("vectorized_map: rows of sizes that are not known while it is traced, right or an error") {
  const auto of_rows = [](const auto& f, Shape shape) {
    return function([f](const Tensor& t) { return vectorized_map(f, t); }, {.input_signature = {Spec{shape, float32}}});
  };
  const Tensor x = wave({3, 4, 5}, 0.3f);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  // What reads the size of a row.
  const auto size_of_row = [](const Tensor& r) { return r * cast(shape(r)[0], float32); };
  CHECK(has(error_of<errors::UnimplementedError>([&] {
              of_rows(size_of_row, {3, none, 5})(x);
            }),
            "the size of a row is not known"));
  CHECK(floats(of_rows(size_of_row, {none, 4, 5})(x)) == floats(x * 4));
  // A check of a shape is made.
  const auto checked = [](const Tensor& r) { return reduce_sum(ensure_shape(r, {4, 5})); };
  close(of_rows(checked, {none, none, none})(x), reduce_sum(x, {1, 2}));
  CHECK_THROWS_AS(of_rows(checked, {none, none, none})(wave({3, 2, 5}, 0.3f)), errors::InvalidArgumentError);
  // A row's last element, and operands of more axes.
  CHECK(floats(of_rows([](const Tensor& r) { return r[-1]; }, {3, none, 5})(x)) ==
        floats(x(Ellipsis, -1, Slice(none, none))));
  const Tensor wider = ones({2, 4, 5});
  const auto more_axes = [&](const Tensor& r) { return reduce_sum(r + wider); };
  close(of_rows(more_axes, {none, none, none})(x), reduce_sum(x, {1, 2}) * 2 + 40);
}

TEST_CASE("vectorized_map: what has no rule is an error that names it") {
  const Tensor x = wave({4, 3}, 0.3f);
  Variable total(constant(0.f));
  const auto error = [&](const auto& f) { return error_of<errors::UnimplementedError>([&] { vectorized_map(f, x); }); };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(has(error([](const Tensor& r) { return r + random::normal({3}); }), "random_normal"));
  CHECK(has(error([](const Tensor& r) { return r + random::normal({3}); }), "pass them as rows"));
  const std::string counted = error([&](const Tensor& r) { return total.assign_add(reduce_sum(r)), r; });
  CHECK(has(counted, "assign_variable"));
  CHECK(has(counted, "use map_fn"));
  CHECK(total.read_value().item<float>() == 0);
  CHECK(has(error([](const Tensor& r) {
              return cond(
                  r[0] > 0, [&] { return r; }, [&] { return -r; });
            }),
            "another way"));
  CHECK(has(error([](const Tensor& r) { return tandem::where(r > 0); }), "size of its result"));
  CHECK(
      has(error([](const Tensor& r) { return quantization::quantize(ones({2}), r[0], r[1] + 9).output; }), "quantize"));
  CHECK(has(error([](const Tensor& r) { return math::segment_sum(r, constant({0, 0, 1})); }), "segment_sum"));
  // What f throws, and values that it cannot read.
  CHECK_THROWS_AS(vectorized_map([](const Tensor& r) { return r.item<float>() > 0 ? r : -r; }, wave({4}, 0.3f)),
                  errors::TraceError);
  CHECK_THROWS_AS(vectorized_map([](const Tensor& r) { return matmul(r, r); }, x), errors::InvalidArgumentError);
  CHECK_THROWS_AS(vectorized_map([](const Tensor& r) -> Tensor { throw std::runtime_error(to_string(r.spec())); }, x),
                  std::runtime_error);
  CHECK_THROWS_AS(vectorized_map([](const Tensor& r) { return r; }, constant(1.f)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(
      vectorized_map([](const Tensor& a, const Tensor& b) { return a + b; }, std::pair(x, constant({1.f, 2.f}))),
      errors::InvalidArgumentError);
  CHECK(floats(vectorized_map([](const Tensor& r) { return r; }, x)) == floats(x));  // no trace is left open
}
