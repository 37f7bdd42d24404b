// The mel scale of frequencies: weights that sum a spectrogram in bands, and cepstral coefficients of the sums. Part of
// the component tandem::signal. Not here: the layer that does all of it (layers.hpp).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::signal {

struct MelWeightOptions {
  TANDEM_OP_OPTIONS;
  i64 num_mel_bins = 20;
  i64 num_spectrogram_bins = 129;  ///< fft_length / 2 + 1
  double sample_rate = 8000;
  double lower_edge_hertz = 125;
  double upper_edge_hertz = 3800;  ///< at most half of the sample rate
  DType dtype = DType::float32;    ///< floating
};
/// Weights of bands that are equally wide on the mel scale, mel(f) = 1127 log(1 + f / 700): each is a triangle on that
/// scale, 1 in its middle and 0 from the middles of its neighbours on. matmul(spectrogram, weights) sums [...,
/// num_spectrogram_bins] up to [..., num_mel_bins].
///   returns   [num_spectrogram_bins, num_mel_bins]; the first row, of frequency 0, is 0. Computed in double precision
///   throws    errors::InvalidArgumentError for a number of bins below 1, edges that are not 0 <= lower < upper <=
///             sample_rate / 2, or a dtype that is not floating
///   source    Young et al., "The HTK Book"
TANDEM_API Tensor linear_to_mel_weight_matrix(MelWeightOptions = {});
/// Cepstral coefficients of logarithms of mel spectrograms (MFCC): their cosine transform of type 2, divided by
/// sqrt(2 num_mel_bins). The first 13 or so are the usual features of speech.
///   x         floating, [..., num_mel_bins]
///   returns   same shape and dtype
///   throws    errors::InvalidArgumentError for a scalar, or where num_mel_bins is 0 or unknown
///   gradient  of the ops that it is made of
TANDEM_API Tensor mfccs_from_log_mel_spectrograms(const Tensor& x, OpOptions = {});

}  // namespace TANDEM_NS::signal
