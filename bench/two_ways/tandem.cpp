// Two or three ways to one result, or two layers between which a user chooses, in Tandem: what the choice costs.
#include "../support/tandem.hpp"

namespace {
using bench::tandem_normal;
using tandem::Tensor;
namespace nn = tandem::nn;

// The sum of 500 rows of 10: a loop over slices, over unstack(), and the reduction itself.
Tensor rows() { return tandem_normal({500, 10}, 1); }
Tensor sum_of_slices(const Tensor& x) {
  Tensor sum = x[0];
  for (tandem::i64 i = 1; i < 500; ++i) sum = sum + x[i];
  return sum;
}
Tensor sum_of_unstacked(const Tensor& x) {
  const std::vector<Tensor> parts = tandem::unstack(x);
  Tensor sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}
Tensor sum_of_rows(const Tensor& x) { return tandem::reduce_sum(x, 0); }

Tensor image() { return tandem_normal({8, 28, 28, 64}, 1); }
constexpr auto same = tandem::Padding::same;

// One layer for two inputs that broadcast: a product each, or one of their copies side by side.
Tensor merged(const Tensor& a, const Tensor& b, const Tensor& wa, const Tensor& wb) {
  return tandem::matmul(a, wa) + tandem::matmul(b, wb);
}
Tensor tiled(const Tensor& a, const Tensor& b, const Tensor& wa, const Tensor& wb) {
  const Tensor both = tandem::concat({tandem::tile(a, {1, 200, 1}), tandem::tile(b, {200, 1, 1})}, 2);
  return tandem::matmul(both, tandem::concat({wa, wb}, 0));
}

template <class F, class... Arguments>
void add(const std::string& name, F f, Arguments... make) {
  bench::add("two_ways/" + name, [=] { return bench::repeat([f, ... x = make()] { return f(x...); }); });
  bench::add("two_ways/" + name + "@traced",
             [=] { return bench::repeat([f = tandem::function(f), ... x = make()] { return f(x...); }); });
}
auto normal(const tandem::Shape& shape, std::uint32_t seed, float scale) {
  return [=] { return tandem_normal(shape, seed, scale); };
}

bool add_all() {
  add("rows_by_slices", sum_of_slices, rows);
  add("rows_by_unstack", sum_of_unstacked, rows);
  add("rows_reduced", sum_of_rows, rows);

  add(
      "conv_full", [](const Tensor& x, const Tensor& w) { return nn::conv2d(x, w, {.padding = same}); }, image,
      normal({3, 3, 64, 64}, 2, 0.05f));
  add(
      "conv_separable",
      [](const Tensor& x, const Tensor& d, const Tensor& p) {
        return nn::separable_conv2d(x, d, p, {.padding = same});
      },
      image, normal({3, 3, 64, 1}, 3, 0.3f), normal({1, 1, 64, 64}, 4, 0.1f));
  add(
      "halved_by_pool", [](const Tensor& x) { return nn::max_pool(x, {.ksize = 2, .strides = 2}); }, image);
  add(
      "halved_by_conv",
      [](const Tensor& x, const Tensor& w) { return nn::conv2d(x, w, {.strides = 2, .padding = same}); }, image,
      normal({2, 2, 64, 64}, 5, 0.05f));

  const auto a = normal({200, 1, 32}, 6, 1), b = normal({1, 200, 48}, 7, 1);
  const auto wa = normal({32, 64}, 8, 0.1f), wb = normal({48, 64}, 9, 0.1f);
  add("merge", merged, a, b, wa, wb);
  add("merge_by_tile", tiled, a, b, wa, wb);

  const auto x = normal({50, 64, 128}, 10, 1), h = normal({64, 128}, 11, 0.1f);
  add(
      "sequence_by_lstm",
      [](const Tensor& in, const Tensor& state, const Tensor& k, const Tensor& r, const Tensor& bias) {
        return nn::lstm(in, {state, state}, k, r, bias).output;
      },
      x, h, normal({128, 512}, 12, 0.05f), normal({128, 512}, 13, 0.05f), normal({512}, 14, 0.1f));
  add(
      "sequence_by_gru",
      [](const Tensor& in, const Tensor& state, const Tensor& k, const Tensor& r, const Tensor& bias) {
        return nn::gru(in, state, k, r, bias).output;
      },
      x, h, normal({128, 384}, 12, 0.05f), normal({128, 384}, 13, 0.05f), normal({2, 384}, 14, 0.1f));

  const auto logits = normal({1000, 10000}, 15, 1);
  const auto labels = [] { return bench::tandem_indices({1000}, 10000, 16); };
  add(
      "cross_entropy_sparse",
      [](const Tensor& t, const Tensor& y) { return nn::sparse_softmax_cross_entropy_with_logits(t, y); }, labels,
      logits);
  add(
      "cross_entropy_dense",
      [](const Tensor& t, const Tensor& y) { return nn::softmax_cross_entropy_with_logits(t, y); },
      [labels] { return tandem::one_hot(labels(), 10000); }, logits);
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
