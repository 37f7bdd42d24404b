// Definitions of image/spans_kernels.hpp: TensorFlow's sampling positions and weighing functions, in float32 as there.
// Sources: Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981; Mitchell and Netravali,
// "Reconstruction Filters in Computer Graphics", 1988, with B = C = 1/3.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tandem/image/spans_kernels.hpp"

namespace TANDEM_NS::image::impl {

// A weighing function of the distance, which is 0 beyond a radius.
struct Spans::Method {
  float radius;
  float (*weight)(float distance);
};

inline float triangle_weight(float x) { return std::max(0.f, 1 - x); }
inline float keys_weight(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
}
inline float mitchell_weight(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? (((-7.f / 18) * x + 2) * x - 10.f / 3) * x + 16.f / 9 : (((7.f / 6) * x - 2) * x) * x + 8.f / 9;
}
inline float gaussian_weight(float x) {
  constexpr float radius = 1.5f, sigma = radius / 3;
  return x >= radius ? 0 : static_cast<float>(std::exp(static_cast<double>(-x * x) / (2. * sigma * sigma)));
}
template <int Radius>
float lanczos_weight(float x) {
  constexpr float pi = std::numbers::pi_v<float>;
  if (x > Radius) return 0;
  if (x <= 1e-3f) return 1;
  return Radius * std::sin(pi * x) * std::sin(pi * x / Radius) / (pi * pi * x * x);
}

// The longest run that a method has.
inline i64 longest_run(i64 in, i64 out, ResizeMethod method, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  double radius = 1;
  switch (method) {
    case ResizeMethod::nearest: return 1;
    case ResizeMethod::area: return std::min(in, static_cast<i64>(std::ceil(scale)) + 2);
    case ResizeMethod::bilinear:
      if (!antialias) return std::min<i64>(in, 2);
      break;
    case ResizeMethod::bicubic:
      if (!antialias) return std::min<i64>(in, 4);
      radius = 2;
      break;
    case ResizeMethod::mitchellcubic: radius = 2; break;
    case ResizeMethod::gaussian: radius = 1.5; break;
    case ResizeMethod::lanczos3: radius = 3; break;
    case ResizeMethod::lanczos5: radius = 5; break;
  }
  return std::min(in, 2 * static_cast<i64>(std::ceil(radius * (antialias ? std::max(scale, 1.) : 1.))) + 2);
}

TANDEM_INLINE Spans::Spans(i64 inputs, i64 outputs, i64 most)
    : inputs_(inputs),
      outputs_(outputs),
      most_(most),
      room_(static_cast<std::size_t>(outputs) * (2 * sizeof(i64) + static_cast<std::size_t>(most) * sizeof(float))),
      first_(static_cast<i64*>(room_.data())),
      count_(first_ + outputs),
      weights_(reinterpret_cast<float*>(count_ + outputs)) {
  std::fill_n(count_, outputs, 0);
  std::fill_n(first_, outputs, 0);
}
TANDEM_INLINE Spans::Spans(i64 in, i64 out, const rules::ResizeAttrs& a)
    : Spans(in, out, longest_run(in, out, a.method, a.antialias)) {
  fill(a);
}
TANDEM_INLINE void Spans::fill(const rules::ResizeAttrs& a) {
  switch (a.method) {
    case ResizeMethod::bilinear:
      return a.antialias ? fill_filter({1, &triangle_weight}, true) : fill_bilinear(a.half_pixel_centers);
    case ResizeMethod::nearest: return fill_nearest(a.half_pixel_centers);
    case ResizeMethod::bicubic:
      return a.antialias ? fill_filter({2, &keys_weight}, true) : fill_bicubic(a.half_pixel_centers);
    case ResizeMethod::area: return fill_area();
    case ResizeMethod::lanczos3: return fill_filter({3, &lanczos_weight<3>}, a.antialias);
    case ResizeMethod::lanczos5: return fill_filter({5, &lanczos_weight<5>}, a.antialias);
    case ResizeMethod::gaussian: return fill_filter({1.5f, &gaussian_weight}, a.antialias);
    case ResizeMethod::mitchellcubic: return fill_filter({2, &mitchell_weight}, a.antialias);
  }
}

// Inputs come in order; one that comes again gets more weight.
TANDEM_INLINE void Spans::add(i64 output, i64 input, float weight) {
  if (count_[output] == 0) first_[output] = input;
  const i64 at = input - first_[output];
  for (; count_[output] <= at; ++count_[output]) weights_[output * most_ + count_[output]] = 0;
  weights_[output * most_ + at] += weight;
}
TANDEM_INLINE void Spans::normalize(i64 output) {
  float* const w = weights_ + output * most_;
  float sum = 0;
  for (i64 k = 0; k < count_[output]; ++k) sum += w[k];
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
  for (i64 k = 0; k < count_[output]; ++k) w[k] *= 1 / sum;
}
TANDEM_INLINE void Spans::fill_filter(const Method& method, bool antialias) {
  // TensorFlow is given the inverse, and inverts it.
  const float scale = 1.f / (static_cast<float>(outputs_) / static_cast<float>(inputs_));
  const float wider = antialias ? std::max(scale, 1.f) : 1.f, reach = method.radius * wider, narrower = 1 / wider;
  for (i64 o = 0; o < outputs_; ++o) {
    const float center = (static_cast<float>(o) + 0.5f) * scale;
    const auto begin = static_cast<i64>(std::ceil(center - reach - 0.5f));
    const auto end = static_cast<i64>(std::floor(center + reach - 0.5f));
    for (i64 i = std::max<i64>(begin, 0); i <= std::min(end, inputs_ - 1); ++i)
      add(o, i, method.weight(std::abs((static_cast<float>(i) + 0.5f - center) * narrower)));
    normalize(o);
  }
}
TANDEM_INLINE void Spans::fill_bilinear(bool half_pixel_centers) {
  const float scale = static_cast<float>(inputs_) / static_cast<float>(outputs_);
  for (i64 o = 0; o < outputs_; ++o) {
    const float at = half_pixel_centers ? (static_cast<float>(o) + 0.5f) * scale - 0.5f : static_cast<float>(o) * scale;
    const float below = std::floor(at), share = at - below;
    const i64 lower = std::clamp<i64>(static_cast<i64>(below), 0, inputs_ - 1);
    const i64 upper = std::clamp<i64>(static_cast<i64>(std::ceil(at)), 0, inputs_ - 1);
    add(o, lower, 1 - share);
    if (upper == lower) weights_[o * most_] = 1;
    else add(o, upper, share);
  }
}
TANDEM_INLINE void Spans::fill_nearest(bool half_pixel_centers) {
  const float scale = static_cast<float>(inputs_) / static_cast<float>(outputs_);
  for (i64 o = 0; o < outputs_; ++o) {
    const float at = (static_cast<float>(o) + (half_pixel_centers ? 0.5f : 0.f)) * scale;
    add(o, std::min(static_cast<i64>(std::floor(at)), inputs_ - 1), 1);
  }
}
TANDEM_INLINE void Spans::fill_bicubic(bool half_pixel_centers) {
  const float scale = static_cast<float>(inputs_) / static_cast<float>(outputs_);
  const float a = half_pixel_centers ? -0.5f : -0.75f;
  const auto near_weight = [&](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far_weight = [&](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  for (i64 o = 0; o < outputs_; ++o) {
    const float at = half_pixel_centers ? (static_cast<float>(o) + 0.5f) * scale - 0.5f : static_cast<float>(o) * scale;
    const float below = std::floor(at);
    const float share = std::nearbyint((at - below) * 1024) / 1024;  // TensorFlow has a table of the weights
    const float weights[] = {far_weight(share + 1), near_weight(share), near_weight(1 - share), far_weight(2 - share)};
    for (i64 k = 0; k < 4; ++k) {
      const i64 i = static_cast<i64>(below) + k - 1, inside = std::clamp<i64>(i, 0, inputs_ - 1);
      if (half_pixel_centers && i != inside) continue;  // the older grid repeats the edge
      add(o, inside, weights[k]);
    }
    if (half_pixel_centers) normalize(o);
  }
}
TANDEM_INLINE void Spans::fill_area() {
  const float scale = static_cast<float>(inputs_) / static_cast<float>(outputs_);
  for (i64 o = 0; o < outputs_; ++o) {
    const float begin = static_cast<float>(o) * scale, end = static_cast<float>(o + 1) * scale;
    for (auto i = static_cast<i64>(std::floor(begin)); i < static_cast<i64>(std::ceil(end)); ++i) {
      const float from = std::max(begin, static_cast<float>(i)), to = std::min(end, static_cast<float>(i + 1));
      add(o, std::min(i, inputs_ - 1), (to - from) / scale);
    }
  }
}

TANDEM_INLINE i64 Spans::longest_transposed() const {
  i64 most = 1, last = 0, lead = 0;  // the outputs that have input i are [lead, last)
  for (i64 i = 0; i < inputs_; ++i) {
    while (last < outputs_ && first_[last] <= i) ++last;
    while (lead < last && first_[lead] + count_[lead] <= i) ++lead;
    most = std::max(most, last - lead);
  }
  return most;
}
TANDEM_INLINE Spans::Spans(const Spans& forward, i64 most) : Spans(forward.outputs_, forward.inputs_, most) {
  for (i64 o = 0; o < forward.outputs_; ++o)
    for (i64 k = 0; k < forward.count_[o]; ++k) add(forward.first_[o] + k, o, forward.weights_[o * forward.most_ + k]);
}

}  // namespace TANDEM_NS::image::impl
