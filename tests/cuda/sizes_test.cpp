// Shapes that take the other paths through the kernels: many blocks, cut folds, unaligned and broadcast operands,
// batches.
#include <random>

#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

Tensor reals(const Shape& shape, DType dtype = float32, double low = -1, double high = 1) {
  static std::mt19937 random(7);
  Tensor t = Tensor::allocate({shape, float64, {}});
  for (i64 i = 0; i < t.size(); ++i)
    static_cast<double*>(t.raw())[i] = std::uniform_real_distribution<double>(low, high)(random);
  return cast(t, dtype);
}
template <class F, class... T>
void compare(const F& f, const T&... x) {
  check_near(f(x.gpu()...), f(x...));
}

}  // namespace

TEST_CASE("CUDA sizes: pointwise operands of equal shapes, scalars, tails and odd addresses") {
  TANDEM_NEEDS_GPU;
  const auto f = [](const Tensor& a, const Tensor& b) { return a * b + 1; };
  for (const i64 n : {1, 2, 3, 4, 5, 255, 256, 1023, 1025, 4099})
    for (const DType d : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8}) {
      CAPTURE(n, name(d));
      const Tensor a = reals({n}, d, -5, 5), b = reals({n}, d, -5, 5);
      compare(f, a, b);
      compare(f, a, reals({}, d, -5, 5));
      compare(f, reals({1, 1}, d, -5, 5), b);
    }
  const Tensor a = reals({1030}), b = reals({1030});
  for (const i64 from : {1, 2, 3})  // views that begin within 16 bytes
    compare([=](const Tensor& x, const Tensor& y) { return x(Slice(from, none)) + y(Slice(from, none)); }, a, b);
}

TEST_CASE("CUDA sizes: broadcasting") {
  TANDEM_NEEDS_GPU;
  const auto f = [](const Tensor& a, const Tensor& b) { return a - b; };
  for (const auto& [x, y] : std::vector<std::pair<Shape, Shape>>{{{33, 70}, {70}},
                                                                 {{33, 70}, {33, 1}},
                                                                 {{1, 70}, {33, 1}},
                                                                 {{5, 1, 7, 3}, {4, 1, 3}},
                                                                 {{2, 3, 4, 5, 6}, {3, 1, 5, 1}},
                                                                 {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}},
                                                                 {{0, 3}, {1, 3}},
                                                                 {{1, 0}, {4, 1}}}) {
    CAPTURE(to_string(x), to_string(y));
    compare(f, reals(x), reals(y));
    compare(f, reals(y, int32, -9, 9), reals(x, int32, -9, 9));
  }
  const Tensor mask = greater(reals({6, 1}), 0);
  compare([](const Tensor& m, const Tensor& a, const Tensor& b) { return where(m, a, b); }, mask, reals({6, 5}),
          reals({5}));
  compare([](const Tensor& m, const Tensor& a) { return where(m, a, 0); }, mask, reals({6, 1}, float16));
}

TEST_CASE("CUDA sizes: reductions over any axes, short, long and cut into parts") {
  TANDEM_NEEDS_GPU;
  const std::vector<std::pair<Shape, Axes>> cases{
      {{100000}, {}},         {{3, 50000}, {1}},      {{50000, 3}, {0}},      {{700, 300}, {0}}, {{700, 300}, {1}},
      {{5, 6, 7, 8}, {0, 2}}, {{5, 6, 7, 8}, {1, 3}}, {{1, 1}, {0}},          {{0, 4}, {0}},     {{4, 0}, {0}},
      {{2, 3}, Axes::none()}, {{300, 5, 64}, {1}},    {{9, 2000, 9}, {0, 2}}, {{40000, 2}, {1}}};
  for (const auto& [shape, axis] : cases) {
    CAPTURE(to_string(shape));
    const Tensor x = reals(shape, float32, 0.1, 1);  // of one sign: a sum's error is then relative to it
    const ReduceOptions o{.axis = axis};
    compare([&](const Tensor& t) { return reduce_sum(t, o); }, x);
    compare([&](const Tensor& t) { return reduce_mean(t, o); }, x);
    compare([&](const Tensor& t) { return reduce_max(t, o); }, x);
    compare([&](const Tensor& t) { return reduce_min(t, {.axis = axis, .keepdims = true}); }, x);
    compare([&](const Tensor& t) { return reduce_variance(t, o); }, x);
    compare([&](const Tensor& t) { return reduce_logsumexp(t, o); }, x);
    compare([&](const Tensor& t) { return reduce_sum(t, o); }, reals(shape, int32, -100, 100));
    compare([&](const Tensor& t) { return reduce_any(greater(t, 0.99), o); }, x);
  }
  const Tensor x = reals({40, 3000});
  for (const int axis : {0, 1}) compare([=](const Tensor& t) { return argmax(t, axis); }, x);
  // More elements, and more results, than the emulator counts in one piece.
  compare([](const Tensor& t) { return argmax(t, 1); }, reals({2, 70000}));
  compare([](const Tensor& t) { return argmin(t, 1); }, reals({40000, 2}));
  const float nan = std::nanf("");
  for (const auto& row : {std::vector<float>{1, nan, 3, nan}, {2, 7, 7, 1}, {-1, -1, -1, -1}})
    compare([](const Tensor& t) { return argmax(t, 0); }, constant(row));
}

TEST_CASE("CUDA sizes: sums are the same on every run") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({200000}).gpu();
  const Tensor first = reduce_sum(x);
  for (int i = 0; i < 20; ++i) CHECK(table_calls::same_bits(reduce_sum(x), first));
}

TEST_CASE("CUDA sizes: softmax and cross entropies") {
  TANDEM_NEEDS_GPU;
  for (const auto& [rows, n] : std::vector<std::pair<i64, i64>>{{1, 1}, {7, 3}, {100, 10}, {3, 1000}, {300, 65}}) {
    CAPTURE(rows, n);
    const Tensor x = reals({rows, n}, float32, -20, 20),
                 labels = cast(reals({rows}, float64, 0, static_cast<double>(n)), int32);
    compare([](const Tensor& t) { return nn::softmax(t); }, x);
    compare([](const Tensor& t) { return nn::log_softmax(t, {.axis = 0}); }, x);
    compare([](const Tensor& l, const Tensor& t) { return nn::sparse_softmax_cross_entropy_with_logits(l, t); }, labels,
            x);
    compare([](const Tensor& l, const Tensor& t) { return nn::softmax_cross_entropy_with_logits(l, t); },
            nn::softmax(x), x);
  }
  compare([](const Tensor& t) { return nn::softmax(t, {.axis = 1}); }, reals({4, 50, 9}));
}

TEST_CASE("CUDA sizes: rows that threads hold in registers, and the next longer ones") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64})
    for (const i64 n : {64, 65, 256, 257, 1000, 1024, 1025, 4095, 4096, 4097}) {
      const i64 rows = 9;  // eight to a block, up to 1024 elements
      CAPTURE(name(d), n);
      const Tensor x = reals({rows, n}, d, -20, 20), g = reals({rows, n}, d),
                   labels = cast(reals({rows}, float64, 0, static_cast<double>(n)), int64);
      const auto grads = [](const auto& f) {
        return [f](const Tensor& t, const Tensor& weights) {
          GradientTape tape;
          tape.watch(t);
          const Tensor loss = reduce_sum(f(t, weights));
          return tape.gradient(loss, t);
        };
      };
      const auto softmax = [](const Tensor& t, const Tensor& w) { return nn::softmax(t) * w; };
      const auto log_softmax = [](const Tensor& t, const Tensor& w) { return nn::log_softmax(t) * w; };
      const auto dense = [](const Tensor& t, const Tensor& w) {
        return nn::softmax_cross_entropy_with_logits(nn::softmax(w), t);
      };
      const auto sparse = [](const Tensor& t, const Tensor& l) {
        return nn::sparse_softmax_cross_entropy_with_logits(l, t);
      };
      const auto norm = [](const Tensor& t, const Tensor& w) { return nn::layer_norm(t, {.scale = w[0]}) * w; };
      const auto rms = [](const Tensor& t, const Tensor& w) { return nn::rms_norm(t, {.scale = w[0]}) * w; };
      compare(softmax, x, g);
      compare(log_softmax, x, g);
      compare(dense, x, g);
      compare(sparse, x, labels);
      compare(norm, x, g);
      compare(grads(softmax), x, g);
      compare(grads(log_softmax), x, g);
      compare(grads(dense), x, g);
      compare(grads(sparse), x, labels);
      compare(grads(norm), x, g);
      compare(grads(rms), x, g);
    }
  for (const i64 n : {70, 300, 1500}) {
    CAPTURE(n);
    const float inf = INFINITY;
    const Tensor x = reals({8, n}, float32, -5, 5), row = cast(range(n), float32);
    const auto same = [](const Tensor& got, const Tensor& want) {
      CHECK(table_calls::same_bits(is_nan(got).cpu(), is_nan(want)));
      check_near(where(is_nan(got), 0, got), where(is_nan(want), 0, want));
    };
    for (const float odd : {NAN, inf, -inf})
      for (const Tensor& t : {where(equal(row, static_cast<float>(n - 1)), odd, x), full_like(x, odd)}) {
        same(nn::softmax(t.gpu()), nn::softmax(t));
        same(nn::log_softmax(t.gpu()), nn::log_softmax(t));
      }
    const Tensor view = reals({9, n})(Slice(1, none)), flat = reals({3 * n + 1}).gpu();  // within 16 bytes
    compare([](const Tensor& t) { return nn::softmax(t(Slice(1, none))); }, reals({9, n}));
    const Tensor rows = reshape(flat(Slice(1, none)), {3, n});
    check_near(nn::softmax(rows), nn::softmax(rows.cpu()));
    CHECK(table_calls::same_bits(nn::softmax(rows), nn::softmax(rows.cpu().gpu())));
    check_near(nn::layer_norm(1e25f * view.gpu()), nn::layer_norm(1e25f * view));  // scaled by a power of two
    compare([](const Tensor& t) { return nn::softmax(t); }, zeros({0, n}));
  }
}

TEST_CASE("CUDA sizes: products, transposed, batched and broadcast") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, int32, int64})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        CAPTURE(name(d), ta, tb);
        const auto f = [=](const Tensor& a, const Tensor& b) {
          return matmul(a, b, {.transpose_a = ta, .transpose_b = tb});
        };
        const auto shape = [](Shape batch, i64 rows, i64 columns, bool transposed) {
          batch.push_back(transposed ? columns : rows);
          batch.push_back(transposed ? rows : columns);
          return batch;
        };
        const auto go = [&](const Shape& a, i64 m, i64 k, const Shape& b, i64 n) {
          compare(f, reals(shape(a, m, k, ta), d, -3, 3), reals(shape(b, k, n, tb), d, -3, 3));
        };
        go({}, 17, 33, {}, 20);
        go({}, 1, 5, {}, 1);
        go({}, 4, 0, {}, 3);
        go({3}, 4, 5, {}, 6);
        go({3}, 4, 5, {3}, 6);
        go({2, 3}, 4, 5, {3}, 2);
        go({2, 1}, 4, 5, {1, 3}, 2);
        go({2, 1, 2}, 3, 2, {1, 3, 1}, 2);
        go({0}, 3, 2, {0}, 2);
      }
  const Tensor a = cast(reals({5, 4}), complex64), b = cast(reals({5, 3}), complex64);
  compare([](const Tensor& x, const Tensor& y) { return matmul(x, y, {.adjoint_a = true}); }, a, b);
}

TEST_CASE("CUDA sizes: dense layers") {
  TANDEM_NEEDS_GPU;
  using A = FusedActivation;
  for (const DType d : {float32, float64})
    for (const A activation : {A::none, A::relu, A::tanh, A::sigmoid}) {
      const auto f = [=](const Tensor& x, const Tensor& w, const Tensor& b) {
        return nn::dense(x, w, b, {.activation = activation});
      };
      compare(f, reals({9, 20}, d), reals({20, 13}, d), reals({13}, d));
      compare(f, reals({2, 3, 20}, d), reals({20, 1}, d), reals({1}, d));
      compare(f, reals({3, 0}, d), reals({0, 4}, d), reals({4}, d));
    }
}

TEST_CASE("CUDA sizes: data movement") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, int64, int16, bool_, complex128}) {
    CAPTURE(name(d));
    const Tensor x = cast(reals({6, 7, 8, 5}, float32, -9, 9), d);
    compare([](const Tensor& t) { return transpose(t); }, x);
    compare([](const Tensor& t) { return transpose(t, {.perm = {0, 2, 1, 3}}); }, x);
    compare([](const Tensor& t) { return reverse(t, {1, 3}); }, x);
    compare([](const Tensor& t) { return t(Slice(1, 5, 2), Ellipsis, Slice(none, none, -1)); }, x);
    compare([](const Tensor& t) { return concat({t, t, t}, 2); }, x);
    compare([](const Tensor& t) { return stack({t, t}, {.axis = 1}); }, x);
    compare([](const Tensor& t) { return tile(t, {2, 1, 3, 2}); }, x);
    compare([](const Tensor& t) { return split(t, {3, 4}, {.axis = 1})[1]; }, x);
    compare([](const Tensor& t) { return broadcast_to(t(Slice(0, 1)), {4, 7, 8, 5}); }, x);
  }
  compare([](const Tensor& t) { return pad(t, {{1, 2}, {0, 3}}, {.constant_values = 4}); }, reals({5, 6}));
}

TEST_CASE("CUDA sizes: transposes by tiles, whole and cut, of every width") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, int8, float16, float64, complex128})
    for (const auto& [rows, columns] : std::vector<std::pair<i64, i64>>{
             {15, 90}, {16, 16}, {17, 130}, {32, 33}, {63, 64}, {64, 128}, {65, 31}, {129, 200}, {0, 40}}) {
      CAPTURE(name(d), rows, columns);
      const Tensor x = cast(reals({rows, columns}, float32, -99, 99), d),
                   batch = cast(reals({2, rows, 3, columns}, float32, -99, 99), d);
      compare([](const Tensor& t) { return transpose(t); }, x);
      compare([](const Tensor& t) { return transpose(t, {.perm = {0, 3, 2, 1}}); }, batch);
      compare([](const Tensor& t) { return transpose(t, {.perm = {3, 0, 2, 1}}); }, batch);
      compare([](const Tensor& t) { return transpose(t, {.perm = {2, 3, 1, 0}}); }, batch);
      compare([](const Tensor& t) { return transpose(t(Slice(none, none, 2), Slice(1, none))); }, x);
      compare([](const Tensor& t) { return transpose(reverse(t, {0})); }, x);
    }
}

TEST_CASE("CUDA sizes: gather and its gradient, with repeated rows") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, int8})
    for (const i64 width : {1, 3, 64}) {
      CAPTURE(name(d), width);
      const Tensor table = reals({50, width}, d, -9, 9), ids = cast(reals({700}, float64, 0, 50), int32);
      compare([](const Tensor& t, const Tensor& i) { return gather(t, i); }, table, ids);
      compare(
          [](const Tensor& g, const Tensor& i, const Tensor& t) {
            return convert_to_tensor(IndexedSlices{g, i, t});
          },
          reals({700, width}, d, -9, 9), ids, table);
    }
  const Tensor x = reals({4, 6, 5}), ids = cast(reals({4, 3}, float64, 0, 6), int64);
  compare([](const Tensor& t, const Tensor& i) { return gather(t, i, {.axis = 1, .batch_dims = 1}); }, x, ids);
  compare([](const Tensor& t, const Tensor& i) { return gather(t, i[0], {.axis = 2}); }, x,
          cast(reals({1, 9}, float64, 0, 5), int64));
  compare([](const Tensor& i) { return one_hot(i, 7, {.axis = 0}); }, cast(reals({40}, float64, -2, 9), int32));
}

TEST_CASE("CUDA sizes: casts between all dtypes") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({-1e30, -300.7, -1.5, -0.2, 0., 0.3, 1.5, 2.5, 127.9, 70000.1, 3e9, 1e30, std::nan("")});
  for (const DType from : {float64, float32, float16, bfloat16, int64, int32, int8, uint8, uint32, bool_, complex64})
    for (const DType to : {float64, float32, float16, bfloat16, int64, int32, int8, uint8, uint64, bool_, complex64}) {
      CAPTURE(name(from), name(to));
      const Tensor a = cast(x, from), got = cast(a.gpu(), to), want = cast(a, to);
      CHECK(table_calls::same_bits(got, want));
    }
}

TEST_CASE("CUDA sizes: random numbers are the CPU's") {
  TANDEM_NEEDS_GPU;
  for (const i64 n : {1, 31, 64, 1000, 5000}) {
    CAPTURE(n);
    const auto draw = [n](const auto& f) {
      const Tensor want = f(n);
      const DeviceScope scope(gpu);
      const Tensor got = f(n);
      REQUIRE(got.device() == gpu);
      check_near(got, want);
      return table_calls::same_bits(got, want);
    };
    for (const DType d : {float32, float64}) {
      CHECK(draw([d](i64 k) {
        return random::stateless_uniform({k}, {1, 2}, {.minval = -3, .maxval = 5, .dtype = d});
      }));
      draw([d](i64 k) { return random::stateless_normal({k}, {3, 4}, {.mean = 1, .stddev = 2, .dtype = d}); });
      draw([d](i64 k) { return random::stateless_truncated_normal({k}, {5, 6}, {.dtype = d}); });
    }
    for (const DType d : {int8, int32, int64})
      CHECK(draw([d](i64 k) {
        return random::stateless_uniform({k}, {7, 8}, {.minval = -100, .maxval = 90, .dtype = d});
      }));
    CHECK(draw([](i64 k) { return random::stateless_bits({k}, {9, 1}); }));
    draw([](i64 k) { return random::stateless_gamma({k}, {1, 3}, 0.7, {.dtype = float64}); });
    draw([](i64 k) { return random::stateless_gamma({k}, {1, 3}, 30, {.dtype = float32}); });
    // A draw within a rounding error of the border of acceptance may differ: none of these is.
    CHECK(draw([](i64 k) { return random::stateless_poisson({k}, {1, 4}, 4.5, {.dtype = int32}); }));
    CHECK(draw([](i64 k) { return random::stateless_poisson({k}, {1, 4}, 70, {.dtype = float64}); }));
    CHECK(draw([](i64 k) { return random::stateless_binomial({k}, {1, 5}, 20, 0.3, {.dtype = int64}); }));
    CHECK(draw([](i64 k) { return random::stateless_binomial({k}, {1, 5}, 900, 0.6, {.dtype = float32}); }));
  }
}
