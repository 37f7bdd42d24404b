// Convolutions and poolings by plain loops in double precision, over three spatial axes: the references of the tests.
#pragma once
#include <cmath>
#include <vector>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace conv_loops {
using namespace tandem;

inline std::vector<double> numbers(const Tensor& t) { return cast(t, float64).to_vector<double>(); }

/// Numbers in [-1, 1) that differ from element to element.
inline Tensor wave(const Shape& s, double phase, DType dtype = float32) {
  std::vector<double> v(static_cast<std::size_t>(s.size()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<double>(i) * 1.7 + phase);
  return cast(constant(v, {.shape = s}), dtype);
}

/// One spatial axis of a window, as the specification has it.
struct Axis {
  i64 in, window, stride = 1, dilation = 1, before = 0, after = 0;
  bool same = false;

  i64 out() const {
    if (same) return (in + stride - 1) / stride;
    const i64 n = in + before + after - (window - 1) * dilation;
    return (n + stride - 1) / stride;
  }
  i64 first() const {
    if (!same) return before;
    const i64 total = (out() - 1) * stride + (window - 1) * dilation + 1 - in;
    return total > 0 ? total / 2 : 0;
  }
  /// Where result t reads with element k of the window; -1 outside.
  i64 at(i64 t, i64 k) const {
    const i64 p = t * stride + k * dilation - first();
    return p >= 0 && p < in ? p : -1;
  }
};

/// y[n, out..., o] = sum x[n, at..., c] w[k..., c, o]: calls f(y's index, x's index, w's index) for every product.
template <class F>
void each_product(i64 batch, const std::vector<Axis>& axes, i64 channels, i64 in, i64 out, const F& f) {
  std::vector<Axis> a(3 - axes.size(), Axis{1, 1});
  a.insert(a.end(), axes.begin(), axes.end());
  const i64 groups = channels / in, per_group = out / groups;
  for (i64 n = 0; n < batch; ++n)
    for (i64 z = 0; z < a[0].out(); ++z)
      for (i64 y = 0; y < a[1].out(); ++y)
        for (i64 x = 0; x < a[2].out(); ++x)
          for (i64 i = 0; i < a[0].window; ++i)
            for (i64 j = 0; j < a[1].window; ++j)
              for (i64 l = 0; l < a[2].window; ++l) {
                const i64 pz = a[0].at(z, i), py = a[1].at(y, j), px = a[2].at(x, l);
                if (pz < 0 || py < 0 || px < 0) continue;
                for (i64 o = 0; o < out; ++o)
                  for (i64 c = 0; c < in; ++c)
                    f((((n * a[0].out() + z) * a[1].out() + y) * a[2].out() + x) * out + o,
                      (((n * a[0].in + pz) * a[1].in + py) * a[2].in + px) * channels + o / per_group * in + c,
                      (((i * a[1].window + j) * a[2].window + l) * in + c) * out + o);
              }
}

inline void check_close(const Tensor& got, const std::vector<double>& want, double tolerance) {
  const auto v = numbers(got);
  REQUIRE(v.size() == want.size());
  double worst = 0, scale = 1;
  for (double x : want) scale = std::fmax(scale, std::fabs(x));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double e = std::fabs(v[i] - want[i]);
    if (!(e <= worst)) worst = e;
  }
  CHECK(worst <= tolerance * scale);
}

}  // namespace conv_loops
