// Attention on a GPU beyond the calls of the op table: several tiles, heads that share keys, masks, dropout, half
// precision, and what is hidden although it is not finite.
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/layers/all.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

struct Operands {
  Tensor q, k, v, mask;
};
Operands operands(const Shape& q, const Shape& k, const Shape& v, DType d = float32) {
  return {gpu_test::reals(q, d, 1), gpu_test::reals(k, d, 2), gpu_test::reals(v, d, 3), {}};
}
// The result and the gradients of q, k and v.
std::vector<Tensor> results(const Operands& o, const nn::AttentionOptions& options, bool on_gpu) {
  const auto there = [&](const Tensor& t) { return on_gpu && t.is_set() ? t.gpu() : t; };
  const std::vector<Tensor> x{there(o.q), there(o.k), there(o.v)};
  nn::AttentionOptions with = options;
  with.mask = there(o.mask);
  random::set_seed(3);  // the same dropout for both
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const Tensor y = nn::scaled_dot_product_attention(x[0], x[1], x[2], with);
  std::vector<Tensor> r{y};
  const Tensor g = gpu_test::reals(y.shape(), y.dtype(), 4);
  for (const Tensor& d : tape.gradient(y, x, {.output_gradients = {there(g)}})) r.push_back(d);
  return r;
}
void compare(const Operands& o, const nn::AttentionOptions& options = {}) {
  const std::vector<Tensor> want = results(o, options, false), got = results(o, options, true);
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].device() == gpu);
    check_near(got[i], want[i], 1);  // gradients of scores cancel: their errors are those of their terms
  }
}

}  // namespace

TEST_CASE("CUDA attention: shapes of several tiles, and tails") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, float16, bfloat16}) {
    CAPTURE(name(d));
    compare(operands({70, 20}, {90, 20}, {90, 140}, d));
    compare(operands({2, 33, 8}, {2, 65, 8}, {2, 65, 5}, d), {.causal = true});
  }
  compare(operands({2, 1, 7, 3}, {2, 1, 1, 3}, {2, 1, 1, 2}), {.scale = 0.5});
  compare(operands({5, 130}, {3, 130}, {3, 1}));
}

TEST_CASE("CUDA attention: heads that share keys, and steps before heads") {
  TANDEM_NEEDS_GPU;
  compare(operands({2, 6, 9, 4}, {2, 2, 11, 4}, {2, 2, 11, 3}));
  compare(operands({3, 4, 9, 4}, {1, 1, 11, 4}, {1, 1, 11, 3}), {.causal = true});
  compare(operands({2, 9, 6, 4}, {2, 11, 3, 4}, {2, 11, 3, 5}), {.steps_first = true});
}

TEST_CASE("CUDA attention: masks and dropout") {
  TANDEM_NEEDS_GPU;
  for (const Shape& s : {Shape{2, 3, 9, 11}, Shape{3, 1, 11}, Shape{9, 1}, Shape{2, 1, 1, 11}}) {
    CAPTURE(to_string(s));
    Operands o = operands({2, 3, 9, 4}, {2, 3, 11, 4}, {2, 3, 11, 5});
    o.mask = gpu_test::reals(s, float32, 5) > -0.3;
    compare(o);
    o.mask = gpu_test::reals(s, float32, 5);
    compare(o, {.causal = true});
  }
  for (const DType d : {float32, float64, float16}) {
    const Operands o = operands({2, 3, 40, 4}, {2, 3, 70, 4}, {2, 3, 70, 5}, d);
    compare(o, {.dropout_rate = 0.4, .seed = 11});
  }
}

TEST_CASE("CUDA attention: what a mask hides may be a NaN, and a query without keys gives zeros") {
  TANDEM_NEEDS_GPU;
  Operands o = operands({4, 3}, {5, 3}, {5, 2});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  o.v = concat({o.v(Slice(0, 4)), constant({{nan, nan}})}, 0);
  o.k = concat({o.k(Slice(0, 4)), constant({{nan, nan, nan}})}, 0);
  o.mask = constant({{true, true, true, true, false},
                     {false, false, false, false, false},
                     {true, false, true, false, false},
                     {false, true, false, true, false}});
  const std::vector<Tensor> want = results(o, {}, false), got = results(o, {}, true);
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(reduce_all(is_finite(got[i])).item<bool>());
    check_near(got[i], want[i]);
  }
}

TEST_CASE("CUDA attention: layers::MultiHeadAttention trains on the device by the fused op") {
  TANDEM_NEEDS_GPU;
  const Tensor x = gpu_test::reals({2, 9, 8});
  const auto gradients = [](const Tensor& input) {
    random::set_seed(5);
    layers::MultiHeadAttention layer(2, 4);
    GradientTape tape;
    const Tensor y = layer(input, input, {.use_causal_mask = true}).output;
    std::vector<Tensor> r{y};
    for (const auto& g : tape.gradient(reduce_sum(y * y), layer.trainable_variables())) r.push_back(g.tensor());
    return r;
  };
  const std::vector<Tensor> want = gradients(x);
  const DeviceScope scope(gpu);
  const std::vector<Tensor> got = gradients(x.gpu());
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].device() == gpu);
    check_near(got[i], want[i], 1);  // the gradient of the keys' bias is 0, up to rounding
  }
}

TEST_CASE("CUDA attention: by tensor cores, of all widths, tails and kinds of masks") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float16, bfloat16}) {
    CAPTURE(name(d));
    compare(operands({2, 20, 4, 16}, {2, 70, 2, 16}, {2, 70, 2, 24}, d), {.causal = true, .steps_first = true});
    compare(operands({20, 96}, {66, 96}, {66, 128}, d), {.causal = true});
    if (emulator::barrier && d == float16) continue;
    compare(operands({140, 32}, {140, 32}, {140, 48}, d), {.causal = true});
    compare(operands({40, 16}, {70, 16}, {70, 8}, d), {.dropout_rate = 0.3, .seed = 5});
    if (emulator::barrier && d == bfloat16) continue;
    compare(operands({150, 64}, {70, 64}, {70, 64}, d));
    compare(operands({140, 96}, {66, 96}, {66, 128}, d));
    compare(operands({1, 4, 20, 8}, {1, 2, 130, 8}, {1, 2, 130, 16}, d), {.scale = 2});
    Operands o = operands({2, 2, 30, 16}, {2, 2, 80, 16}, {2, 2, 80, 8}, d);
    o.mask = gpu_test::reals({2, 30, 80}, float32, 5) > -0.3;
    compare(o);
    o.mask = gpu_test::reals({2, 1, 1, 80}, d, 5);
    compare(o, {.causal = true, .scale = -0.7});
  }
}

TEST_CASE("CUDA attention: by tensor cores, scores of any size keep the digits of float32") {
  TANDEM_NEEDS_GPU;
  Operands o = operands({50, 64}, {90, 64}, {90, 32});
  o.q = o.q * 40;
  compare(o);
  const std::vector<Tensor> once = results(o, {}, true), again = results(o, {}, true);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(table_calls::same_bits(once[i], again[i]));
}

TEST_CASE("CUDA attention: by tensor cores, what is not finite is seen by those who may see it") {
  TANDEM_NEEDS_GPU;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType d : {float32, bfloat16})
    for (const double bad : {inf, nan})
      for (const int which : {0, 1, 2}) {
        if (emulator::barrier && (d == float32) == (bad == inf)) continue;
        CAPTURE(name(d), bad, which);
        Operands o = operands({140, 8}, {140, 8}, {140, 8}, d);
        Tensor& t = which == 0 ? o.q : which == 1 ? o.k : o.v;
        t = where(equal(reshape(range(t.size()), t.shape()), 100 * 8 + 3), cast(constant(bad), d), t);
        const std::vector<Tensor> want = results(o, {.causal = true}, false), got = results(o, {.causal = true}, true);
        for (std::size_t i = 0; i < want.size(); ++i) {
          CAPTURE(i);
          const Tensor finite = is_finite(want[i]), zero = zeros_like(want[i]), there = got[i].cpu();
          CHECK(reduce_all(equal(is_finite(there), finite)).item<bool>());
          check_near(where(finite, there, zero), where(finite, want[i], zero), 1);
        }
      }
}

TEST_CASE("CUDA attention: by tensor cores, masks of very negative numbers") {
  TANDEM_NEEDS_GPU;
  for (const double low : {-1e9, -3.3e38}) {
    CAPTURE(low);
    Operands o = operands({20, 16}, {40, 16}, {40, 16}, bfloat16);
    const Tensor hidden = less(reshape(range(20), {20, 1}), 10) | less(reshape(range(40), {1, 40}), 30);
    o.mask = where(hidden, cast(constant(low), bfloat16), cast(constant(0.), bfloat16));
    compare(o);
  }
}
