// Scatters into tensors and Variables, dynamic_partition and dynamic_stitch: against loops, duplicates, gradients of
// both orders, traces, errors.
#include "tandem/ops/index/scatter.hpp"

#include <complex>

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {
template <class F>
double errors_of(const F& f, const std::vector<Tensor>& x) {
  const double first =
      test::compute_gradient_error([&](const std::vector<Tensor>& t) { return square(f(t)); }, x, {.delta = 1e-5});
  const auto slope = [&](const std::vector<Tensor>& t) {
    GradientTape tape;
    for (const Tensor& each : t) tape.watch(each);
    Tensor sum = constant(0., {.dtype = float64});
    for (const Tensor& g : std::vector<Tensor>(tape.gradient(reduce_sum(square(f(t)) * f(t)), t)))
      sum = sum + reduce_sum(square(g));
    return sum;
  };
  return std::max(first, test::compute_gradient_error(slope, x, {.delta = 1e-5}));
}
}  // namespace

TEST_CASE("tensor_scatter_nd: the documented examples") {
  const Tensor x = ones({8}, int32), idx = constant({{4}, {3}, {1}, {7}}), u = constant({9, 10, 11, 12});
  CHECK(scatter_nd(idx, u, {8}).to_vector<int>() == std::vector<int>{0, 11, 0, 10, 9, 0, 0, 12});
  CHECK(tensor_scatter_nd_update(x, idx, u).to_vector<int>() == std::vector<int>{1, 11, 1, 10, 9, 1, 1, 12});
  CHECK(tensor_scatter_nd_add(x, idx, u).to_vector<int>() == std::vector<int>{1, 12, 1, 11, 10, 1, 1, 13});
  CHECK(tensor_scatter_add(x, idx, u).to_vector<int>() == std::vector<int>{1, 12, 1, 11, 10, 1, 1, 13});
  CHECK(tensor_scatter_nd_sub(x, idx, u).to_vector<int>() == std::vector<int>{1, -10, 1, -9, -8, 1, 1, -11});
  CHECK(tensor_scatter_nd_max(x, constant({{0}, {0}, {2}}), constant({3, 2, -1})).to_vector<int>() ==
        std::vector<int>{3, 1, 1, 1, 1, 1, 1, 1});
  CHECK(tensor_scatter_nd_min(x, constant({{0}, {0}, {2}}), constant({-3, 2, 5})).to_vector<int>() ==
        std::vector<int>{-3, 1, 1, 1, 1, 1, 1, 1});
  CHECK(tensor_scatter_nd_update(x, constant({{2}, {2}}), constant({5, 6})).to_vector<int>()[2] == 6);
  CHECK(tensor_scatter_nd_update(constant({"a", "b"}), constant({{1}}), constant({"c"})).to_vector<std::string>() ==
        std::vector<std::string>{"a", "c"});
}

TEST_CASE("tensor_scatter_nd equals a loop, whatever the shapes and the dtype") {
  testing::Shapes random(41);
  for (int round = 0; round < 150; ++round) {
    const Shape s = random.shape(1, 4);
    if (s.size() == 0) continue;
    const int width = random.pick(0, s.rank());
    const i64 count = random.pick(0, 6);
    Shape rows{count};
    for (int i = width; i < s.rank(); ++i) rows.push_back(s[i]);
    std::vector<i64> idx;
    for (i64 i = 0; i < count; ++i)
      for (int k = 0; k < width; ++k) idx.push_back(random.pick(0, static_cast<int>(s.dim(k)) - 1));
    const DType d = testing::moved_dtypes[round % 12];
    const Tensor x = testing::numbered(s, d, 1), u = testing::numbered(rows, d, 500);
    const Tensor at = constant(idx, {.shape = {count, width}});
    const Tensor y = tensor_scatter_nd_update(x, at, u);
    const i64 inner = count ? rows.size() / count : 0;
    i64 wrong = 0;
    testing::for_each_index(s, [&](const Index& place) {
      const i64 flat = testing::place(s, place);
      std::string want = testing::element(x, flat);
      for (i64 i = 0; i < count; ++i) {
        bool hit = true;
        for (int k = 0; k < width; ++k)
          hit &= idx[static_cast<std::size_t>(i * width + k)] == place[static_cast<std::size_t>(k)];
        if (hit) want = testing::element(u, i * inner + flat % inner);
      }
      wrong += want != testing::element(y, flat);
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor_scatter_nd: gradients of both orders") {
  testing::Shapes random(42);
  const Tensor x = random.reals({4, 3}), u = random.reals({3, 3}), at = constant({{3}, {0}, {2}});
  const auto f = [&](auto op, const Tensor& idx) {
    return [op, idx](const std::vector<Tensor>& t) { return op(t[0], idx, t[1], OpOptions{}); };
  };
  CHECK(errors_of(f(tensor_scatter_nd_update, at), {x, u}) < 1e-6);
  const Tensor twice = constant({{3}, {0}, {3}});
  CHECK(errors_of(f(tensor_scatter_nd_add, twice), {x, u}) < 1e-6);
  CHECK(errors_of(f(tensor_scatter_nd_sub, twice), {x, u}) < 1e-6);
  CHECK(errors_of(f(tensor_scatter_nd_max, twice), {x, u}) < 1e-6);
  CHECK(errors_of(f(tensor_scatter_nd_min, twice), {x, u}) < 1e-6);
  const Tensor a = constant({1., 2.}, {.dtype = float64}), b = constant({1., 1.}, {.dtype = float64});
  GradientTape tape;
  tape.watch(a);
  tape.watch(b);
  const auto [ga, gb] = tape.gradient(tensor_scatter_nd_max(a, constant({{0}, {0}}), b), {a, b});
  CHECK(ga.to_vector<double>()[0] == Approx(1. / 3));
  CHECK(gb.to_vector<double>() == std::vector<double>{1. / 3, 1. / 3});
}

TEST_CASE("scatter_nd with a computed shape, traced") {
  const auto f = function(
      [](const Tensor& idx, const Tensor& u, const Tensor& n) {
        return scatter_nd(idx, u, {n, 2});
      },
      {.input_signature = {TensorSpec({none, 1}, int32), TensorSpec({none, 2}, float32), TensorSpec({}, int32)}});
  const Tensor idx = constant({{2}, {0}, {2}}), u = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  CHECK(f(idx, u, constant(3)).to_vector<float>() == scatter_nd(idx, u, {3, 2}).to_vector<float>());
}

TEST_CASE("a Variable's scatter functions change its rows") {
  const Variable v(zeros({4, 2}));
  const Tensor before = v.read_value();
  CHECK(v.scatter_nd_update(constant({{1}, {3}}), constant({{1.f, 2.f}, {3.f, 4.f}})).to_vector<float>() ==
        std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4});
  v.scatter_nd_add(constant({{1, 0}, {1, 0}}), constant({10.f, 20.f}));
  v.scatter_nd_sub(constant({{3}}), constant({{1.f, 1.f}}));
  CHECK(v.to_vector<float>() == std::vector<float>{0, 0, 31, 2, 0, 0, 2, 3});
  v.scatter_update(IndexedSlices{constant({{7.f, 7.f}}), constant({0}), before});
  v.scatter_add(IndexedSlices{constant({{1.f, 1.f}}), constant({0}), before});
  v.scatter_sub(IndexedSlices{constant({{2.f, 0.f}}), constant({0}), before});
  v.scatter_max(IndexedSlices{constant({{5.f, -5.f}}), constant({2}), before});
  v.scatter_min(IndexedSlices{constant({{-1.f, 9.f}}), constant({3}), before});
  CHECK(v.to_vector<float>() == std::vector<float>{6, 8, 31, 2, 5, 0, -1, 3});
  CHECK(before.to_vector<float>() == std::vector<float>(8));
  CHECK_THROWS_WITH(v.scatter_nd_add(constant({{4}}), ones({1, 2})), ContainsSubstring("scatter_nd_add: index 4"));
  CHECK_THROWS_WITH(v.scatter_sub({ones({1, 2}), constant({4}), v}), ContainsSubstring("scatter_sub: index 4"));
  CHECK_THROWS_WITH(v.scatter_max({ones({1, 2}), constant({4}), v}), ContainsSubstring("scatter_max: index 4"));
  CHECK(v.to_vector<float>() == std::vector<float>{6, 8, 31, 2, 5, 0, -1, 3});
  const auto f = function([&](const Tensor& u) { return v.scatter_nd_update(constant({{0}}), u); });
  const Tensor traced = f(constant({{1.f, 1.f}}));
  CHECK(traced.to_vector<float>() == v.to_vector<float>());
  CHECK(v.to_vector<float>()[0] == 1);
}

TEST_CASE("a Variable's scatter functions: every dtype, eager and traced") {
  const Tensor at = constant({{2}, {2}});
  for (int k = 0; k < dtype_count; ++k) {
    const DType d = static_cast<DType>(k);
    INFO(name(d));
    if (d == DType::string || dtypes::quantized.has(d)) {  // these are only replaced
      const Variable v(zeros({3}, d));
      CHECK(v.scatter_nd_update(at, zeros({2}, d)).shape() == Shape{3});
      CHECK_THROWS_AS(v.scatter_nd_add(at, zeros({2}, d)), errors::UnimplementedError);
      CHECK_THROWS_AS(v.scatter_max({zeros({2}, d), constant({0, 1}), v}), errors::UnimplementedError);
      continue;
    }
    const Tensor u = ones({2}, d);
    const auto both = [&](const char* function_name, bool supported, decltype(&tensor_scatter_nd_add) tensor_op,
                          auto scatter) {
      const Variable v(zeros({3}, d)), w(zeros({3}, d));
      const auto traced = function([&](const Tensor& x) { return scatter(w, x); });
      if (supported) {
        const std::vector<std::complex<float>> want =
            cast(tensor_op(zeros({3}, d), at, u, OpOptions{}), complex64).to_vector<std::complex<float>>();
        CHECK(cast(scatter(v, u), complex64).template to_vector<std::complex<float>>() == want);
        CHECK(cast(traced(u), complex64).template to_vector<std::complex<float>>() == want);
        CHECK(cast(w, complex64).to_vector<std::complex<float>>() == want);
      } else {
        CHECK_THROWS_WITH(scatter(v, u), ContainsSubstring(function_name + std::string(": no kernel for ") + name(d)));
        CHECK_THROWS_AS(traced(u), errors::UnimplementedError);
      }
    };
    const bool ordered = (dtypes::real | dtypes::half_floating).has(d), number = ordered || is_complex(d);
    const auto rows = [](const Variable& v, const Tensor& x) { return IndexedSlices{x, constant({2, 2}), v}; };
    both("scatter_nd_update", true, tensor_scatter_nd_update,
         [&](const Variable& v, const Tensor& x) { return v.scatter_nd_update(at, x); });
    both("scatter_nd_add", number, tensor_scatter_nd_add,
         [&](const Variable& v, const Tensor& x) { return v.scatter_nd_add(at, x); });
    both("scatter_nd_sub", number, tensor_scatter_nd_sub,
         [&](const Variable& v, const Tensor& x) { return v.scatter_nd_sub(at, x); });
    both("scatter_add", number, tensor_scatter_nd_add,
         [&](const Variable& v, const Tensor& x) { return v.scatter_add(rows(v, x)); });
    both("scatter_max", ordered, tensor_scatter_nd_max,
         [&](const Variable& v, const Tensor& x) { return v.scatter_max(rows(v, x)); });
    both("scatter_min", ordered, tensor_scatter_nd_min,
         [&](const Variable& v, const Tensor& x) { return v.scatter_min(rows(v, x)); });
  }
}

TEST_CASE("tensor_scatter_nd: errors") {
  const Tensor x = zeros({3, 2});
  CHECK_THROWS_WITH(tensor_scatter_nd_add(x, constant({{3}}), zeros({1, 2})),
                    ContainsSubstring("tensor_scatter_nd_add: index 3 at position [0,0]"));
  CHECK_THROWS_WITH(tensor_scatter_nd_sub(x, constant({{3}}), zeros({1, 2})),
                    ContainsSubstring("tensor_scatter_nd_sub: index 3"));
  CHECK_THROWS_WITH(tensor_scatter_nd_update(x, constant({{-1}}), zeros({1, 2})), ContainsSubstring("index -1"));
  CHECK_THROWS_WITH(tensor_scatter_nd_update(x, constant({{1}}), zeros({2, 2})),
                    ContainsSubstring("updates must have the shape (1, 2)"));
  CHECK_THROWS_WITH(tensor_scatter_nd_update(x, constant({{1}}), zeros({1, 2}, float64)),
                    ContainsSubstring("dtypes differ"));
  CHECK_THROWS_WITH(tensor_scatter_nd_update(x, constant({{1, 1, 1}}), zeros({1})), ContainsSubstring("3 entries"));
}

TEST_CASE("dynamic_partition and dynamic_stitch") {
  const Tensor x = constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  const std::vector<Tensor> parts = dynamic_partition(x, constant({2, 0, 2, 0}), 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].to_vector<int>() == std::vector<int>{3, 4, 7, 8});
  CHECK(parts[1].shape() == Shape{0, 2});
  CHECK(parts[2].to_vector<int>() == std::vector<int>{1, 2, 5, 6});
  CHECK(dynamic_partition(x, constant({{0, 1}, {1, 1}, {0, 0}, {1, 0}}), 2)[0].to_vector<int>() ==
        std::vector<int>{1, 5, 6, 8});
  CHECK(dynamic_partition(constant({"a", "b"}), constant({1, 0}), 2)[1].to_vector<std::string>() ==
        std::vector<std::string>{"a"});
  const Tensor back = dynamic_stitch(dynamic_partition(constant({0, 1, 2, 3}), constant({2, 0, 2, 0}), 3), parts);
  CHECK(back.to_vector<int>() == x.to_vector<int>());
  CHECK(dynamic_stitch({constant(3), constant({{1, 3}})}, {constant(10), constant({{20, 30}})}).to_vector<int>() ==
        std::vector<int>{0, 20, 0, 30});
  testing::Shapes random(43);
  const Tensor r = random.reals({4, 2});
  CHECK(errors_of(
            [](const std::vector<Tensor>& t) {
              const std::vector<Tensor> p = dynamic_partition(t[0], constant({1, 0, 1, 2}), 3);
              return concat({p[0] * 2, p[1]}, 0);
            },
            {r}) < 1e-6);
  CHECK(errors_of(
            [](const std::vector<Tensor>& t) {
              return dynamic_stitch({constant({0, 3}), constant({3, 1})}, {t[0](Slice(0, 2)), t[0](Slice(2, 4))});
            },
            {r}) < 1e-6);
  const auto f = function(
      [](const Tensor& t, const Tensor& p) {
        GradientTape tape;
        tape.watch(t);
        const std::vector<Tensor> y = dynamic_partition(t, p, 2);
        return concat({y[1], y[0], tape.gradient(square(y[1]), t)}, 0);
      },
      {.input_signature = {TensorSpec({none, 2}, float64), TensorSpec({none}, int32)}});
  const Tensor got = f(r, constant({1, 0, 0, 1}));
  CHECK(got(Slice(4, 8)).to_vector<double>() ==
        (r * 2 * constant({{1.}, {0.}, {0.}, {1.}}, {.dtype = float64})).to_vector<double>());
  CHECK_THROWS_WITH(dynamic_partition(x, constant({0, 1, 2, 3}), 3), ContainsSubstring("index 3 at position [3]"));
  CHECK_THROWS_WITH(dynamic_partition(x, constant({0, 1}), 3), ContainsSubstring("leading axes"));
  CHECK_THROWS_WITH(dynamic_partition(x, constant({0, 1, 2, 0}), 0), ContainsSubstring("num_partitions = 0"));
  CHECK_THROWS_WITH(dynamic_stitch({constant({-1})}, {constant({1})}), ContainsSubstring("index -1"));
  CHECK_THROWS_WITH(dynamic_stitch({constant({INT64_MAX})}, {constant({1})}),
                    ContainsSubstring("dynamic_stitch: the value 9223372036854775807"));
  CHECK_THROWS_WITH(dynamic_stitch({constant({0}), constant({1})}, {constant({1}), constant({1.f})}),
                    ContainsSubstring("dynamic_stitch: dtypes differ"));
  CHECK_THROWS_WITH(dynamic_stitch({}, {}), ContainsSubstring("at least one"));
  CHECK_THROWS_AS(dynamic_stitch({constant({0})}, {constant({1, 2})}), errors::InvalidArgumentError);
}
