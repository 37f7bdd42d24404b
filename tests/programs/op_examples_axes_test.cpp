// The examples and edge cases of the ops' documentation, continued: reductions, segments, layout, indexing, sorting,
// linear algebra, windows, norms, losses, sampling, attention, strings of control flow.
#include <cmath>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_op_examples_axes {

using namespace tandem;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;
constexpr float inf = std::numeric_limits<float>::infinity();

Ints ints(const Tensor& t) { return t.to_vector<std::int32_t>(); }
Longs longs(const Tensor& t) { return cast(t, int64).to_vector<i64>(); }
Floats floats(const Tensor& t) { return t.to_vector<float>(); }
void near(const Tensor& got, const Doubles& want, double tolerance = 2e-6) {
  const Doubles v = cast(got, float64).to_vector<double>();
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}
template <class F>
void invalid(const F& f) {
  CHECK_THROWS_AS(f(), errors::InvalidArgumentError);
}
template <class F>
Tensor slope(const F& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}

TEST_CASE("examples: reductions and scans") {
  const Tensor m = constant({{2, 3}, {3, 4}});
  CHECK(reduce_sum(m).item<int>() == 12);
  CHECK(ints(reduce_sum(m, 0)) == Ints{5, 7});
  CHECK(floats(slope([](const Tensor& x) { return reduce_max(x); }, constant({1.f, 3.f, 3.f}))) == Floats{0, .5, .5});
  near(reduce_logsumexp(constant({1.f, 2.f, 3.f})), {3.407606});
  CHECK(reduce_logsumexp(constant({-inf, -inf})).item<float>() == -inf);
  CHECK(reduce_logsumexp(constant({inf, 0.f})).item<float>() == inf);
  CHECK(floats(slope([](const Tensor& x) { return reduce_logsumexp(x); }, constant({-inf, -inf}))) == Floats{0, 0});
  near(reduce_variance(constant({1.f, 2.f, 3.f, 4.f})), {1.25});
  CHECK(floats(slope([](const Tensor& x) { return reduce_std(x); }, ones({3}))) == Floats{0, 0, 0});
  CHECK(floats(slope([](const Tensor& x) { return reduce_euclidean_norm(x); }, zeros({2}))) == Floats{0, 0});
  CHECK(reduce_euclidean_norm(constant({3e30f, 4e30f})).item<float>() == Approx(5e30));
  CHECK(argmax(constant({1.f, NAN, 3.f, NAN}), 0).item<i64>() == 1);
  CHECK(argmin(constant({1.f, NAN, -3.f}), 0).item<i64>() == 1);
  invalid([] { argmax(zeros({0}), 0); });
  CHECK(count_nonzero(constant({"", "a", ""})).item<i64>() == 1);
  CHECK(std::isnan(nn::zero_fraction(zeros({0})).item<float>()));
  CHECK_THROWS_AS(reduce_mean(zeros({0}, int32)), errors::OpError);
  CHECK(reduce_min(zeros({0})).item<float>() == inf);
  CHECK(reduce_min(zeros({0}, int32)).item<int>() == std::numeric_limits<int>::max());
  CHECK(reduce_all(zeros({0}, bool_)).item<bool>());
  CHECK(!reduce_any(zeros({0}, bool_)).item<bool>());
  CHECK(std::isnan(reduce_variance(zeros({0})).item<float>()));
  invalid([] { reduce_sum(ones({2, 3}), 2); });
  invalid([] { reduce_sum(ones({2, 3}), {1, -1}); });
  const Tensor v = constant({1, 2, 3});
  CHECK(ints(cumsum(v)) == Ints{1, 3, 6});
  CHECK(ints(cumsum(v, {.exclusive = true})) == Ints{0, 1, 3});
  CHECK(ints(cumsum(v, {.reverse = true})) == Ints{6, 5, 3});
  CHECK(ints(cumsum(v, {.exclusive = true, .reverse = true})) == Ints{5, 3, 0});
  CHECK(ints(cumprod(v)) == Ints{1, 2, 6});
  near(cumulative_logsumexp(constant({1.f, 2.f, 3.f})), {1, 2.3132617, 3.407606});
  CHECK(cumulative_logsumexp(constant({1.f, 2.f}), {.exclusive = true}).to_vector<float>()[0] == -inf);
}

TEST_CASE("examples: segments and counts") {
  const Tensor rows = constant({{1, 2, 3, 4}, {4, 3, 2, 1}, {5, 6, 7, 8}});
  CHECK(ints(segment_sum(rows, constant({0, 0, 1}))) == Ints{5, 5, 5, 5, 5, 6, 7, 8});
  CHECK(ints(unsorted_segment_sum(rows, constant({0, 1, 0}), 2)) == Ints{6, 8, 10, 12, 4, 3, 2, 1});
  invalid([&] { segment_sum(rows, constant({0, 1, 0})); });
  invalid([&] { segment_sum(rows, constant({-1, 0, 1})); });
  invalid([&] { unsorted_segment_sum(rows, constant({0, 2, 1}), 2); });
  CHECK(ints(unsorted_segment_sum(constant({1, 2, 3}), constant({0, -1, 0}), 2)) == Ints{4, 0});
  CHECK(ints(segment_prod(constant({2, 3}), constant({0, 2}))) == Ints{2, 1, 3});
  CHECK(ints(unsorted_segment_max(constant({2}), constant({0}), 2)) == Ints{2, std::numeric_limits<int>::min()});
  CHECK(ints(bincount(constant({1, 1, 2, 4}))) == Ints{0, 2, 1, 0, 1});
  invalid([] { bincount(constant({-1})); });
  CHECK(ints(bincount(constant({1, 9}), {.maxlength = 3})) == Ints{0, 1, 0});
  CHECK(ints(histogram_fixed_width(constant({-1.f, 0.f, 1.5f, 2.f, 5.f, 15.f}), {0, 5}, {.nbins = 5})) ==
        Ints{2, 1, 1, 0, 2});
  invalid([] { histogram_fixed_width(constant({1.f}), {5, 5}); });
  const Tensor c = confusion_matrix(constant({1, 2, 4}), constant({2, 2, 4}));
  CHECK(c.shape() == Shape{5, 5});
  CHECK(longs(where(c)) == Longs{1, 2, 2, 2, 4, 4});
}

TEST_CASE("examples: layout") {
  invalid([] { reshape(ones({2, 3}), {4}); });
  invalid([] { reshape(zeros({0, 3}), {0, -1}); });
  CHECK(collapse_dims(zeros({3, 32, 19, 64}), {{0}, {1, 2, 3}}).shape() == Shape{3, 38912});
  invalid([] { squeeze(ones({2, 1}), 0); });
  CHECK(expand_dims(ones({2}), -2).shape() == Shape{1, 2});
  invalid([] { transpose(ones({2, 3}), {0, 0}); });
  invalid([] { concat({constant(1), constant(2)}, 0); });
  invalid([] { stack({}); });
  const auto parts = split(range(5), std::vector<i64>{2, -1});
  CHECK((parts[0].size() == 2 && parts[1].size() == 3));
  invalid([] { split(range(5), 2); });
  CHECK(ints(tile(constant({{1}, {2}}), {1, 2})) == Ints{1, 1, 2, 2});
  invalid([] { tile(ones({2}), {-1}); });
  CHECK(ints(repeat(constant({1, 2, 3}), std::vector<i64>{1, 2, 0})) == Ints{1, 2, 2});
  const Tensor m = constant({{1, 2, 3}, {4, 5, 6}});
  CHECK(ints(pad(m, {{1, 1}, {2, 2}}, {.mode = PadMode::reflect})[1]) == Ints{3, 2, 1, 2, 3, 2, 1});
  CHECK(ints(pad(m, {{1, 1}, {2, 2}}, {.mode = PadMode::symmetric})[1]) == Ints{2, 1, 1, 2, 3, 3, 2});
  invalid([&] { pad(m, {{2, 0}, {0, 0}}, {.mode = PadMode::reflect}); });
  invalid([&] { pad(m, {{-1, 0}, {0, 0}}); });
  CHECK(ints(roll(range(5), 2, 0)) == Ints{3, 4, 0, 1, 2});
  CHECK(ints(nn::space_to_depth(constant({1, 2, 3, 4}, {.shape = {1, 2, 2, 1}}), 2)) == Ints{1, 2, 3, 4});
  invalid([] { reverse_sequence(ones({2, 3}), constant({1, 4})); });
}

TEST_CASE("examples: indexing and scatter") {
  CHECK(zeros({3, 5})[2].shape() == Shape{5});
  invalid([] { zeros({3})[3]; });
  CHECK(range(5)(Slice(1, 100)).size() == 4);
  invalid([] { range(5)(Slice(0, 5, 0)); });
  CHECK(ints(range(5)(Slice(none, none, -2))) == Ints{4, 2, 0});
  invalid([] { slice(range(5), {3}, {3}); });
  CHECK(ints(gather(constant({10, 20, 30}), constant({2, 0, 2}))) == Ints{30, 10, 30});
  const Tensor m = constant({{1, 2}, {3, 4}});
  CHECK(ints(gather_nd(m, constant({{0, 0}, {1, 1}}))) == Ints{1, 4});
  CHECK(ints(gather_nd(m, constant({{1}, {0}}))) == Ints{3, 4, 1, 2});
  CHECK(gather_nd(m, zeros({3, 0}, int32)).shape() == Shape{3, 2, 2});
  CHECK(longs(where(constant({true, false, true}))) == Longs{0, 2});
  CHECK(where(zeros({2, 2}, bool_)).shape() == Shape{0, 2});
  CHECK_THROWS_AS(boolean_mask(ones({3}), constant({true, false})), errors::InvalidArgumentError);
  invalid([] { dynamic_partition(range(3), constant({0, 2, 1}), 2); });
  CHECK(ints(dynamic_stitch({constant({0, 1}), constant({1, 2})}, {constant({1, 2}), constant({8, 9})})) ==
        Ints{1, 8, 9});
  const Tensor at = constant({{4}, {3}, {1}, {7}}), updates = constant({9, 10, 11, 12}), one = ones({8}, int32);
  CHECK(ints(scatter_nd(at, updates, {8})) == Ints{0, 11, 0, 10, 9, 0, 0, 12});
  CHECK(ints(tensor_scatter_nd_update(one, at, updates)) == Ints{1, 11, 1, 10, 9, 1, 1, 12});
  CHECK(ints(tensor_scatter_nd_add(one, at, updates)) == Ints{1, 12, 1, 11, 10, 1, 1, 13});
  CHECK(ints(tensor_scatter_nd_update(zeros({2}, int32), constant({{0}, {0}}), constant({5, 6}))) == Ints{6, 0});
  CHECK(longs(unravel_index(constant(22), {3, 4, 2})) == Longs{2, 3, 0});
  invalid([] { unravel_index(constant(24), {3, 4, 2}); });
}

TEST_CASE("examples: sorting and sets") {
  CHECK(ints(argsort(constant({3, 1, 2}))) == Ints{1, 2, 0});
  const Floats up = floats(sort(constant({NAN, inf, 1.f}))),
               down = floats(sort(constant({1.f, NAN, inf}), {.direction = Direction::descending}));
  CHECK((up[0] == 1 && up[1] == inf && std::isnan(up[2]) && std::isnan(down[0])));
  const auto top = nn::top_k(constant({1, 3, 3, 2}), 2);
  CHECK((ints(top.values) == Ints{3, 3} && ints(top.indices) == Ints{1, 2}));
  CHECK(nn::top_k(constant({1, 2}), 0).values.shape() == Shape{0});
  invalid([] { nn::top_k(constant({1, 2}), 3); });
  invalid([] { nn::top_k(constant(1), 1); });
  CHECK(!nn::in_top_k(constant({0}), constant({{NAN, 1.f}}), 2).to_vector<bool>()[0]);
  const auto u = unique_with_counts(constant({1, 1, 2, 4, 4, 4, 7, 8, 8}));
  CHECK((ints(u.y) == Ints{1, 2, 4, 7, 8} && ints(u.idx) == Ints{0, 0, 1, 2, 2, 2, 3, 4, 4} &&
         ints(u.count) == Ints{2, 1, 3, 1, 2}));
  const Tensor sorted = constant({1, 3, 5, 7}), values = constant({0, 3, 4, 8});
  CHECK(ints(searchsorted(sorted, values)) == Ints{0, 1, 2, 4});
  CHECK(ints(searchsorted(sorted, values, {.side = Side::right})) == Ints{0, 2, 2, 4});
  const auto d = setdiff1d(constant({1, 2, 3, 4, 5, 6}), constant({1, 3, 5}));
  CHECK((ints(d.out) == Ints{2, 4, 6} && ints(d.idx) == Ints{1, 3, 5}));
}

TEST_CASE("examples: products, norms, diagonals") {
  CHECK(einsum("ii->", {constant({{1, 2}, {3, 4}})}).item<int>() == 5);
  CHECK_THROWS_WITH(einsum("ij,jk->iz", {ones({2, 2}), ones({2, 2})}), ContainsSubstring("z"));
  CHECK(tensordot(ones({2}), ones({3}), 0).shape() == Shape{2, 3});
  CHECK(ints(linalg::diag(constant({1, 2}))) == Ints{1, 0, 0, 2});
  const Tensor grid = reshape(range(4), {1, 4}) - reshape(range(4), {4, 1});
  CHECK(ints(linalg::band_part(grid, 1, -1)[2]) == Ints{0, -1, 0, 1});
  CHECK(norm(constant({3.f, 4.f})).item<float>() == 5);
  CHECK(floats(linalg::cross(constant({1.f, 0.f, 0.f}), constant({0.f, 1.f, 0.f}))) == Floats{0, 0, 1});
  CHECK(floats(nn::l2_normalize(zeros({2}), 0)) == Floats{0, 0});
}

TEST_CASE("examples: softmax, windows, norms, losses, candidates") {
  near(nn::softmax(constant({1.f, 2.f, 3.f})), {.0900306, .2447285, .6652410});
  CHECK(std::isnan(floats(nn::softmax(constant({-inf, -inf})))[0]));
  CHECK(std::isnan(floats(nn::softmax(constant({inf, 0.f})))[0]));
  near(nn::log_softmax(constant({1.f, 2.f, 3.f})), {-2.4076060, -1.4076060, -.4076060});
  CHECK(nn::softmax(zeros({2, 0})).shape() == Shape{2, 0});
  const auto line = [](const std::vector<float>& v) {
    return constant(v, {.shape = {1, static_cast<i64>(v.size()), 1}});
  };
  const Tensor x = line({1, 2, 3, 4, 5}), edge = constant({1.f, 0.f, -1.f}, {.shape = {3, 1, 1}});
  CHECK(floats(nn::conv1d(x, edge)) == Floats{-2, -2, -2});
  CHECK(floats(nn::conv1d(x, edge, {.padding = Padding::same})) == Floats{-2, -2, -2, -2, 4});
  CHECK(floats(nn::conv1d(x, edge, {.dilations = 2})) == Floats{-4});
  CHECK(nn::conv1d(line({1, 2}), edge).shape() == Shape{1, 0, 1});
  invalid([&] { nn::conv1d(line({1}), edge); });
  CHECK(nn::conv2d(zeros({0, 4, 4, 1}), zeros({3, 3, 1, 2})).shape() == Shape{0, 2, 2, 2});
  near(nn::layer_norm(constant({1.f, 2.f, 3.f, 4.f})), {-1.3411045, -.4470348, .4470348, 1.3411045});
  const double a = .998006;
  near(nn::group_norm(reshape(range(0.f, 8.f), {2, 4}), 2), {-a, a, -a, a, -a, a, -a, a}, 1e-5);
  near(nn::sparse_softmax_cross_entropy_with_logits(constant(2), constant({1.f, 2.f, 3.f})), {.4076060});
  invalid([] { nn::sparse_softmax_cross_entropy_with_logits(constant({3}), constant({{1.f, 2.f, 3.f}})); });
  near(nn::weighted_cross_entropy_with_logits(constant(.5f), constant(1.f), 2), {.9698925});
  near(nn::softmax_cross_entropy_with_logits(constant({1.f, 0.f}), constant({0.f, -inf})), {0});
  const IndexedSlices rows{constant({{1.f}, {2.f}}), constant({1, 1}), zeros({3, 1})};
  CHECK(floats(convert_to_tensor(rows)) == Floats{0, 3, 0});
  CHECK(floats(nn::last_relevant(reshape(range(0.f, 6.f), {2, 3, 1}), constant({2, 0}))) == Floats{1, 0});
}

TEST_CASE("examples: control flow") {
  CHECK(ints(map_fn([](const Tensor& x) { return x * x; }, range(4))) == Ints{0, 1, 4, 9});
  CHECK(foldl([](const Tensor& a, const Tensor& x) { return a + x; }, range(5)).item<int>() == 10);
  CHECK(ints(scan([](const Tensor& a, const Tensor& x) { return a + x; }, range(4))) == Ints{0, 1, 3, 6});
  CHECK(cond(
            constant(true), [] { return constant(1); }, [] { return constant(2); })
            .item<int>() == 1);
  CHECK_THROWS_AS(cond(
                      constant(1), [] { return constant(1); }, [] { return constant(2); }),
                  errors::OpError);
}

}  // namespace features_op_examples_axes
