// Definitions of signal/mel.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/signal/fft.hpp"
#include "tandem/signal/mel.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::signal {
namespace impl {

[[noreturn, gnu::cold]] inline void raise_mel(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("linear_to_mel_weight_matrix", what);
}
inline void check_mel(const MelWeightOptions& o) {
  for (const auto& [name, n] :
       {std::pair("num_mel_bins", o.num_mel_bins), std::pair("num_spectrogram_bins", o.num_spectrogram_bins)})
    if (n < 1) raise_mel(std::string(name) + " must be at least 1, not " + std::to_string(n));
  if (!(o.lower_edge_hertz >= 0 && o.lower_edge_hertz < o.upper_edge_hertz && o.upper_edge_hertz <= o.sample_rate / 2 &&
        std::isfinite(o.sample_rate)))
    raise_mel("the edges " + tandem::detail::shortest_text(o.lower_edge_hertz) + " and " +
              tandem::detail::shortest_text(o.upper_edge_hertz) + " hertz must be in order, from 0 to half of the " +
              "sample rate " + tandem::detail::shortest_text(o.sample_rate));
  if (!is_floating(o.dtype)) raise_mel(std::string("the dtype must be floating, not ") + tandem::name(o.dtype));
}
inline double mel_of(double hertz) { return 1127 * std::log1p(hertz / 700); }

}  // namespace impl

TANDEM_INLINE Tensor linear_to_mel_weight_matrix(MelWeightOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_mel(o);
  const i64 rows = o.num_spectrogram_bins, bands = o.num_mel_bins;
  const Tensor weights = Tensor::allocate({Shape{rows, bands}, DType::float64, {}});
  double* const at = static_cast<double*>(weights.raw());
  std::fill_n(at, rows * bands, 0.);
  const double low = impl::mel_of(o.lower_edge_hertz);
  const double width = (impl::mel_of(o.upper_edge_hertz) - low) / static_cast<double>(bands + 1);
  for (i64 i = 1; i < rows; ++i) {
    const double hertz = o.sample_rate / 2 * static_cast<double>(i) / static_cast<double>(rows - 1);
    const double place = (impl::mel_of(hertz) - low) / width;  // 1 in the middle of the first band
    for (i64 k = 0; k < bands; ++k) at[i * bands + k] = std::max(0., 1 - std::fabs(place - static_cast<double>(k + 1)));
  }
  const tandem::detail::OutsideTrace outside;
  const Tensor there = tandem::detail::to_current_device(weights);
  return outside.named(cast(there, o.dtype), o.name, o.where);
}
TANDEM_INLINE Tensor mfccs_from_log_mel_spectrograms(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "mfccs_from_log_mel_spectrograms");
  const i64 bands = x.rank() ? x.shape().dim(-1) : 0;
  if (bands < 1)
    errors::raise<errors::InvalidArgumentError>("mfccs_from_log_mel_spectrograms",
                                                "the last axis must be known and not empty: " + to_string(x.spec()));
  return tandem::multiply(dct(x), 1 / std::sqrt(2 * static_cast<double>(bands)), o);
}

}  // namespace TANDEM_NS::signal
