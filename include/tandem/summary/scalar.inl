// Definitions of summary/file_writer.hpp: scalars, histograms and curves.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/summary/wire.hpp"

namespace TANDEM_NS::summary {

namespace impl {

// Value.simple_value, or Value.tensor {dtype: float, shape {}, float_val [x]}: short enough for a string's own room.
TANDEM_INLINE std::string scalar_fields(float x, bool simple) {
  std::string to = simple ? "\x15" : std::string("\x42\x0a\x08\x01\x12\x00\x2a\x04", 8);
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
  return to;
}
TANDEM_INLINE void add_scalar(detail::Recorder& r, std::string_view tag, float x, const SummaryOptions& o) {
  const i64 step = detail::checked_step("scalar", o.step);
  const bool simple = r.uses_simple_values();
  r.add("scalar", tag, {.name = "scalars", .data_class = 1, .is_written = !simple}, scalar_fields(x, simple), step,
        o.wall_time, o.description);
}

struct Buckets {
  double min = 0, max = 0, width = 0, sum = 0, sum_squares = 0;
  std::vector<double> counts;

  double edge(std::size_t i) const {
    return i == 0 ? min : i == counts.size() ? max : min + width * static_cast<double>(i);
  }
};
TANDEM_INLINE Buckets buckets_of(Span<const double> all, i64 count) {
  Buckets r;
  r.counts.resize(static_cast<std::size_t>(count));
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double x : all)
    if (std::isfinite(x)) least = std::min(least, x), most = std::max(most, x);
  if (least > most) return r;
  r.min = least, r.max = most;
  const double half = std::isfinite(most - least) ? 1 : 0.5;  // the numbers may lie further apart than the largest one
  const double width = (most * half - least * half) / static_cast<double>(count);
  r.width = width / half;
  for (const double x : all) {
    if (!std::isfinite(x)) continue;
    const double place = width > 0 ? (x * half - least * half) / width : static_cast<double>(count);
    r.counts[static_cast<std::size_t>(std::min(place, static_cast<double>(count - 1)))] += 1;
    r.sum += x, r.sum_squares += x * x;
  }
  return r;
}
template <class T>
std::string_view bytes_of(const std::vector<T>& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(T)};
}
// Value.tensor: for each bucket its two edges and its count.
TANDEM_INLINE std::string histogram_fields(const Buckets& b) {
  std::vector<double> rows;
  for (std::size_t i = 0; i < b.counts.size(); ++i) {
    const bool single = b.min == b.max;
    rows.insert(rows.end(), {single ? b.max : b.edge(i), single ? b.max : b.edge(i + 1), b.counts[i]});
  }
  return detail::tensor_value(float64, {static_cast<i64>(b.counts.size()), 3}, bytes_of(rows));
}
// Value.histo: HistogramProto, whose buckets end at ascending limits.
TANDEM_INLINE std::string histo_fields(const Buckets& b) {
  std::vector<double> limits, counts;
  double number = 0;
  for (std::size_t i = 0; i < b.counts.size(); ++i) {
    number += b.counts[i];
    if (b.min == b.max && i + 1 < b.counts.size()) continue;  // one bucket is enough
    limits.push_back(b.edge(i + 1)), counts.push_back(b.counts[i]);
  }
  std::string to;
  detail::append_message(to, 5, [&] {
    const double numbers[] = {b.min, b.max, number, b.sum, b.sum_squares};
    for (std::uint32_t i = 0; i < 5; ++i) detail::append_fixed(to, i + 1, numbers[i]);
    detail::append_field(to, 6, bytes_of(limits));
    detail::append_field(to, 7, bytes_of(counts));
  });
  return to;
}

}  // namespace impl

TANDEM_INLINE void FileWriter::scalar(std::string_view tag, Scalar value, SummaryOptions o) {
  impl::add_scalar(*recorder_, tag, static_cast<float>(value.real()), o);
}
TANDEM_INLINE void FileWriter::scalar(std::string_view tag, const Tensor& value, SummaryOptions o) {
  detail::check_not_traced("scalar");
  detail::check_dtypes("scalar", value, detail::real_numbers, "a number");
  if (value.size() != 1)
    detail::refuse("scalar", "takes one element, not " + to_string(value.spec()) + " (tag '" + std::string(tag) +
                                 "'): reduce_mean makes one of many, histogram shows them all");
  const bool plain = value.dtype() == float32 && value.device().kind == Device::cpu;
  impl::add_scalar(*recorder_, tag, plain ? *static_cast<const float*>(value.raw()) : detail::elements<float>(value)[0],
                   o);
}

TANDEM_INLINE void FileWriter::histogram(std::string_view tag, const Tensor& values, HistogramOptions o) {
  const i64 step = detail::checked_step("histogram", o.step);
  detail::check_dtypes("histogram", values, detail::real_numbers, "real numbers");
  if (o.buckets < 1 || o.buckets > 1 << 20)
    detail::refuse("histogram", "buckets must be 1 to 2^20, not " + std::to_string(o.buckets));
  const Tensor numbers = detail::on_host(values, float64);
  const impl::Buckets b = impl::buckets_of(numbers.data<double>(), o.buckets);
  const bool simple = recorder_->uses_simple_values();
  recorder_->add("histogram", tag, {.name = "histograms", .data_class = 2, .is_written = !simple},
                 simple ? impl::histo_fields(b) : impl::histogram_fields(b), step, o.wall_time, o.description);
}

}  // namespace TANDEM_NS::summary
