// Sizes that are computed: in the shapes of new tensors, in slices and paddings, eagerly and where a trace leaves them
// open.
#include <sstream>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using testing::error_of, testing::floats, testing::Floats;

namespace {

using Rows = std::vector<std::string>;

// What body returns for x, as text: eagerly, traced for this shape, and traced for any number of rows.
template <class F>
Rows three_ways(F body, const Tensor& x) {
  const auto shown = [](const Tensor& t) { return to_string(t.spec()) + " " + to_string(t); };
  Shape open = x.shape();
  open.set(0, none);
  return {shown(body(x)), shown(function(body)(x)),
          shown(function(body, {.input_signature = {TensorSpec(open, x.dtype())}})(x))};
}
// The same in all three.
template <class F, class G>
void check_same(F body, const Tensor& x, G expected) {
  const Tensor want = expected();
  for (const std::string& got : three_ways(body, x)) CHECK(got == to_string(want.spec()) + " " + to_string(want));
}
// The shape of body's result where the number of x's rows is open.
template <class F>
Shape traced_shape(F body, const Tensor& x) {
  Shape seen, open = x.shape();
  open.set(0, none);
  const auto noted = [&](const Tensor& t) {
    const Tensor y = body(t);
    seen = y.shape();
    return y;
  };
  function(noted, {.input_signature = {TensorSpec(open, x.dtype())}})(x);
  return seen;
}

const Tensor rows = reshape(range(6.f), {3, 2});
Tensor count(const Tensor& x) { return shape(x)[0]; }

}  // namespace

TEST_CASE("zeros, ones, fill and eye take computed sizes") {
  check_same([](const Tensor& x) { return zeros({count(x), 5}); }, rows, [] { return zeros({3, 5}); });
  check_same([](const Tensor& x) { return ones({2, count(x)}, int32); }, rows, [] { return ones({2, 3}, int32); });
  check_same([](const Tensor& x) { return zeros(shape(x)); }, rows, [] { return zeros({3, 2}); });
  check_same(
      [](const Tensor& x) {
        return zeros({get_shape(x)[0], 2}, string);
      },
      rows,
      [] {
        return zeros({3, 2}, string);
      });
  check_same([](const Tensor& x) { return fill({count(x), 2}, 7); }, rows, [] { return fill({3, 2}, 7); });
  check_same([](const Tensor& x) { return fill({count(x)}, x[0][1]); }, rows, [] { return fill({3}, 1.f); });
  check_same([](const Tensor& x) { return eye(count(x)); }, rows, [] { return eye(3); });
  check_same([](const Tensor& x) { return eye(count(x), {.num_columns = 2, .batch_shape = {2}, .dtype = int32}); },
             rows, [] { return eye(3, {.num_columns = 2, .batch_shape = {2}, .dtype = int32}); });
}

TEST_CASE("sizes that are numbers stay known beside computed ones") {
  CHECK(traced_shape([](const Tensor& x) { return zeros({count(x), 5}); }, rows) == Shape{none, 5});
  CHECK(traced_shape([](const Tensor& x) { return reshape(x, {count(x), 1, 2}); }, rows) == Shape{none, 1, 2});
  CHECK(traced_shape([](const Tensor& x) { return reshape(x, {count(x), -1}); }, rows) == Shape{none, none});
  CHECK(traced_shape([](const Tensor& x) { return broadcast_to(x[0], {count(x), 2}); }, rows) == Shape{none, 2});
  CHECK(traced_shape([](const Tensor& x) { return tile(x, {count(x), 1}); }, rows) == Shape{none, 2});
  CHECK(traced_shape([](const Tensor& x) { return pad(x, {{count(x), 0}, {1, 1}}); }, rows) == Shape{none, 4});
  CHECK(traced_shape([](const Tensor& x) { return slice(x, {count(x) - 1, 0}, {1, 2}); }, rows) == Shape{1, 2});
  CHECK(traced_shape([](const Tensor& x) { return random::normal({count(x), 4}); }, rows) == Shape{none, 4});
}

TEST_CASE("tensors of computed sizes that nothing uses leave the graph") {
  const auto f = function(
      [](const Tensor& x) {
        const Tensor n = count(x);
        zeros({n, 5}), reshape(x, {n, 1, 2}), broadcast_to(x[0], {n, 2}), tile(x, {n, 1}), random::normal({n, 4});
        slice(x, {n - 1, 0}, {1, 2}), pad(x, {{n, 0}, {1, 1}}), eye(n, 3);
        return x + 1;
      },
      {.input_signature = {TensorSpec({none, 2})}});
  const auto& nodes = f.get_concrete_function(TensorSpec({none, 2}))->graph().nodes;
  for (const Node& n : nodes) CHECK(n.op->name != std::string("ensure_shape"));
  CHECK(floats(f(rows)) == floats(rows + 1));
}

TEST_CASE("errors of computed sizes name the op that takes them") {
  const auto raised = [](auto body) {
    return error_of([&] { function(body, {.input_signature = {TensorSpec({none, 2})}})(rows); });
  };
  CHECK_THAT(raised([](const Tensor& x) {
               return zeros({count(x), x.shape()[1] * reduce_sum(x)});
             }),
             StartsWith("zeros: ") && ContainsSubstring("int32 or int64 scalar"));
  CHECK_THAT(raised([](const Tensor& x) { return eye(reduce_sum(x)); }), StartsWith("eye: "));
  CHECK_THAT(raised([](const Tensor& x) { return x(Ellipsis, count(x) - 1, Ellipsis); }),
             StartsWith("x(...): more than one Ellipsis"));
  CHECK_THAT(raised([](const Tensor& x) {
               return pad(x, {{-1, count(x)}, {0, 0}});
             }),
             StartsWith("pad: ") && ContainsSubstring("non-negative numbers"));
  CHECK_THAT(raised([](const Tensor& x) { return tile(x, {count(x)}); }), StartsWith("tile: 1 multiples"));
}

TEST_CASE("computed sizes are checked") {
  CHECK_THROWS_WITH(zeros({constant(2.f), 5}), ContainsSubstring("zeros") && ContainsSubstring("float32[]"));
  CHECK_THROWS_WITH(ones(constant({{1, 2}})), ContainsSubstring("ones") && ContainsSubstring("int32[1,2]"));
  CHECK_THROWS_WITH(zeros({constant(-2), 5}), ContainsSubstring("-2"));
  CHECK_THROWS_WITH(random::normal({constant(2.5f)}), ContainsSubstring("float32[]"));
  const auto negative = function([](const Tensor& n) { return zeros({n, 2}); });
  CHECK(negative(2).shape() == Shape{2, 2});
  CHECK_THROWS_WITH(negative(-1), ContainsSubstring("-1"));
}

TEST_CASE("random numbers of a computed size are those of the same numbers") {
  const auto draw = [](const Tensor& x) { return random::stateless_normal({count(x), 4}, {1, 2}); };
  check_same(draw, rows, [] { return random::stateless_normal({3, 4}, {1, 2}); });
  check_same(
      [](const Tensor& x) {
        return random::stateless_uniform(shape(x), {1, 2});
      },
      rows,
      [] {
        return random::stateless_uniform({3, 2}, {1, 2});
      });
}

TEST_CASE("tile and pad take computed amounts") {
  check_same([](const Tensor& x) { return tile(x, {2, count(x)}); }, rows, [] { return tile(rows, {2, 3}); });
  check_same([](const Tensor& x) { return tile(x, shape(x)); }, rows, [] { return tile(rows, {3, 2}); });
  check_same([](const Tensor& x) { return tile(x, {count(x) - 3, 1}); }, rows, [] { return tile(rows, {0, 1}); });
  check_same(
      [](const Tensor& x) {
        return pad(x, {{0, 5 - count(x)}, {1, 0}});
      },
      rows,
      [] {
        return pad(rows, {{0, 2}, {1, 0}});
      });
  check_same(
      [](const Tensor& x) {
        return pad(x, stack({shape(x), shape(x)}), {.constant_values = 9});
      },
      rows,
      [] {
        return pad(rows, {{3, 2}, {3, 2}}, {.constant_values = 9});
      });
  const std::vector<std::pair<i64, i64>> pairs{{1, 0}, {0, 0}};
  CHECK(pad(rows, pairs).shape() == Shape{4, 2});
  CHECK_THROWS_WITH(pad(rows, constant({1, 2})), ContainsSubstring("[rank, 2]"));
  CHECK_THROWS_WITH(pad(rows, {{constant(-1), 0}, {0, 0}}), ContainsSubstring("non-negative numbers"));
  const auto mirror = function([](const Tensor& x, const Tensor& n) {
    return pad(x, {{n, 0}, {0, 0}}, {.mode = PadMode::reflect});
  });
  CHECK_THROWS_WITH(mirror(rows, 1), ContainsSubstring("mirror"));
}

TEST_CASE("gradients through computed tiles, paddings and slices are those by numbers") {
  const auto gradient = [](auto body, bool open) {
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = body(x);
      return tape.gradient(reduce_sum(y * y), x);
    };
    return open ? floats(function(step, {.input_signature = {TensorSpec({none, 2}, float32)}})(rows))
                : floats(step(rows));
  };
  const auto tiled = [](const Tensor& x) { return tile(x, {count(x), 1}); };
  CHECK(gradient(tiled, true) == gradient(tiled, false));
  const auto padded = [](const Tensor& x) { return pad(x, {{count(x), 0}, {1, 0}}, {.constant_values = 2}); };
  CHECK(gradient(padded, true) == gradient(padded, false));
  const auto part = [](const Tensor& x) { return x(Slice(1, count(x)), -1); };
  CHECK(gradient(part, true) == gradient(part, false));
}

TEST_CASE("slices take tensors as bounds and indices") {
  const Tensor x = reshape(range(24.f), {4, 3, 2});
  for (const int i : {-4, -1, 0, 3}) {
    const Tensor t = constant(i);
    CHECK(to_string(x(t)) == to_string(x[i]));
    CHECK(to_string(x(Ellipsis, constant(i / 4), Slice(0, 1))) == to_string(x(Ellipsis, i / 4, Slice(0, 1))));
  }
  const auto traced = function([](const Tensor& x, const Tensor& a, const Tensor& b) {
    return std::tuple(x(Slice(a, b)), x(Ellipsis, Slice(a, none)), x(Slice(), Slice(none, b, -1)), x(Slice(a, b, 2), a),
                      x(NewAxis, Slice(), a, Slice(0, b)), x(0, a, a));
  });
  for (int a = -2; a < 2; ++a)
    for (int b = -6; b < 6; ++b) {
      const auto [rows, last, backwards, two, fresh, one] = traced(x, a, b);
      CHECK(to_string(rows) == to_string(x(Slice(a, b))));
      CHECK(to_string(last) == to_string(x(Ellipsis, Slice(a, none))));
      CHECK(to_string(backwards) == to_string(x(Slice(), Slice(none, b, -1))));
      CHECK(to_string(two) == to_string(x(Slice(a, b, 2), a)));
      CHECK(to_string(fresh) == to_string(x(NewAxis, Slice(), a, Slice(0, b))));
      CHECK(to_string(one) == to_string(x(0, a, a)));
      CHECK(to_string(x(Slice(constant(a), constant(b)))) == to_string(x(Slice(a, b))));
    }
  check_same(
      [](const Tensor& t) {
        return slice(t, {count(t) - 2, 1}, {2, -1});
      },
      rows,
      [] {
        return slice(rows, {1, 1}, {2, -1});
      });
  CHECK_THROWS_WITH(x(constant(4)), ContainsSubstring("index 4 is out of range"));
  CHECK_THROWS_WITH(x(constant(true)), ContainsSubstring("boolean_mask"));
  CHECK_THROWS_WITH(x(constant({0, 1})), ContainsSubstring("gather"));
  CHECK_THROWS_WITH(x(Slice(constant(0.5f), none)), ContainsSubstring("float32[]"));
  CHECK_THROWS_AS(traced(x, 7, 8), errors::InvalidArgumentError);
}

TEST_CASE("a Slice keeps its bounds") {
  const auto last_two = function([](const Tensor& x) {
    const Slice s(count(x) - 2, none);  // of a tensor that nothing else holds
    return x(s);
  });
  CHECK(floats(last_two(rows)) == Floats{2, 3, 4, 5});
}

TEST_CASE("a TensorArray of a computed size keeps what is known of its elements") {
  const auto states = [](const Tensor& xs, TensorArrayOptions o) {
    const Tensor n = shape(xs)[0];
    const auto [i, all] = while_loop(
        [&](const Tensor& i, const TensorArray&) { return i < n; },
        [&](const Tensor& i, const TensorArray& a) { return std::tuple(i + 1, a.write(i, tanh(gather(xs, i)))); },
        std::tuple(constant(0), TensorArray(float32, n, o)));
    return all.stack();
  };
  const Tensor xs = reshape(range(30.f) * 0.1f, {3, 2, 5});
  const std::string want = to_string(tanh(xs));
  CHECK(to_string(function([&](const Tensor& x) { return states(x, {}); })(xs)) == want);
  const FunctionOptions open_time{.input_signature = {TensorSpec({none, 2, 5}, float32)}};
  CHECK(to_string(function([&](const Tensor& x) { return states(x, {}); }, open_time)(xs)) == want);
  const FunctionOptions open_batch{.input_signature = {TensorSpec({none, none, 5}, float32)}};
  const auto sized = [&](const Tensor& x) { return states(x, {.element_shape = {shape(x)[1], 5}}); };
  CHECK(to_string(function(sized, open_batch)(xs)) == want);
  CHECK(to_string(sized(xs)) == want);
  CHECK_THROWS_WITH(function([&](const Tensor& x) { return states(x, {}); }, open_batch)(xs),
                    ContainsSubstring("give .element_shape") && ContainsSubstring("shape(x)[1]"));
}

namespace {

// Calls body with a tensor of shape (3, 2) whose number of rows is open in the trace.
template <class F>
auto with_open_rows(F body) {
  return function(body, {.input_signature = {TensorSpec({none, 2}, float32)}})(rows);
}

}  // namespace

TEST_CASE("a dim that is not known raises when it is used as a number") {
  const auto raises = [](auto use) {
    CHECK_THROWS_WITH(with_open_rows([&](const Tensor& x) {
                        use(x);
                        return x;
                      }),
                      ContainsSubstring("shape(x)[axis]") && ContainsSubstring(".input_signature"));
  };
  raises([](const Tensor& x) {
    for (i64 i = 0; i < x.shape()[0]; ++i) {
    }
  });
  raises([](const Tensor& x) { return x / x.shape()[0]; });
  raises([](const Tensor& x) { return x(Slice(0, x.shape()[0] - 1)); });
  raises([](const Tensor& x) { return x(Slice(0, x.shape()[0])); });
  raises([](const Tensor& x) { return reduce_mean(x) * x.size(); });
  raises([](const Tensor& x) { return constant({x.shape()[0], x.shape()[1]}); });
  raises([](const Tensor& x) { return range(x.shape()[-2]); });
  raises([](const Tensor& x) { return x.shape()[0] == 3; });
  raises([](const Tensor& x) { return x.shape()[0] + x.shape()[1]; });
  raises([](const Tensor& x) { return x[x.shape()[0]]; });
}

TEST_CASE("a dim that is not known compares with none and prints as None") {
  std::string shown;
  bool is_open = false, other_is_open = true;
  with_open_rows([&](const Tensor& x) {
    std::ostringstream out;
    out << x.shape()[0] << " " << x.shape()[1];
    shown = out.str();
    is_open = x.shape()[0] == none;
    other_is_open = none == x.shape()[1];
    return x;
  });
  CHECK(shown == "None 2");
  CHECK(is_open);
  CHECK_FALSE(other_is_open);
}

TEST_CASE("a known dim is a number in every place where a number stands") {
  const Tensor x = rows;
  const i64 n = x.shape()[0];
  const int narrow = x.shape()[0];
  CHECK((n == 3 && narrow == 3 && 3 == x.shape()[0] && x.shape()[0] == n && x.shape()[0] != x.shape()[1]));
  CHECK((x.shape()[0] > 2 && x.shape()[0] * 2 + 1 == 7 && x.shape()[0] == std::size_t{3}));
  CHECK(std::to_string(x.shape()[0]) == "3");
  CHECK(std::vector<float>(static_cast<std::size_t>(x.shape()[0])).size() == 3);
  CHECK(floats(x / x.shape()[1])[5] == 2.5f);
  CHECK(zeros({x.shape()[0], 4, x.shape()[-1]}).shape() == Shape{3, 4, 2});
  CHECK(reshape(x, {x.shape()[1], x.shape()[0]}).shape() == Shape{2, 3});
  CHECK(constant({x.shape()[0], x.shape()[1]}).to_vector<i64>() == std::vector<i64>{3, 2});
  CHECK(range(x.shape()[0]).dtype() == int64);
  CHECK(floats(x(Slice(1, x.shape()[0]), x.shape()[1] - 1)) == Floats{3, 5});
  CHECK(floats(x[x.shape()[0] - 1]) == Floats{4, 5});
  CHECK(static_cast<float>(x.shape()[0]) == 3.f);
  const Shape copy{x.shape()[0], x.shape()[1]};
  CHECK(copy == x.shape());
}

TEST_CASE("traced functions take numbers where they take tensors") {
  const auto scaled = function([](const Tensor& x, const Tensor& factor) { return x * factor; });
  CHECK(floats(scaled(rows, 2.f))[5] == 10);
  CHECK(floats(scaled(rows, 3.f))[5] == 15);
  CHECK(scaled.trace_count() == 1);
  CHECK(scaled(2, 3).item<int>() == 6);
  const auto plain = function([](const Tensor& x, int times) { return x * times; });
  CHECK(floats(plain(rows, 2))[5] == 10);
  Tensor result;
  scaled.call_into(result, 1.5f, 2.f);
  CHECK(result.item<float>() == 3);
}

TEST_CASE("shape arguments keep the tensors in them") {
  const auto made = [] { return Dims{get_shape(rows)[0], shape(rows)[1] + 1}; };
  CHECK(zeros(made()).shape() == Shape{3, 3});
  const auto traced = function(
      [](const Tensor& x) {
        const Dims dims{get_shape(x)[0], shape(x)[1] * 2};
        const Paddings paddings{{shape(x)[0], 0}, {0, 1}};
        return pad(ones(dims), paddings);
      },
      {.input_signature = {TensorSpec({none, 2})}});
  CHECK(traced(rows).shape() == Shape{6, 5});
}
