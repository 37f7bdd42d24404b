// Definitions of summary/file_writer.hpp: texts, images and sound.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/image/convert.hpp"
#include "tandem/image/encode.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/summary/wire.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary {

namespace impl {

TANDEM_INLINE void add_texts(detail::Recorder& r, std::string_view tag, const std::vector<i64>& dims,
                             const std::vector<std::string>& texts, const SummaryOptions& o) {
  const i64 step = detail::checked_step("text", o.step);
  for (const std::string& text : texts)
    if (!tandem::detail::is_utf8(text)) detail::refuse("text", "the text is not UTF-8, which TensorBoard cannot show");
  r.add("text", tag, {.name = "text", .data_class = 2}, detail::texts_value(dims, texts), step, o.wall_time,
        o.description);
}

TANDEM_INLINE void check_images(const Tensor& x, i64 max_outputs) {
  detail::check_dtypes("image", x, dtypes::floating | dtypes::half_floating | dtypes_of(uint8),
                       "images of uint8, or floating ones in [0, 1]");
  const auto& s = x.shape();
  if (x.rank() != 4 || s.dim(1) == 0 || s.dim(2) == 0 || (s.dim(3) != 1 && s.dim(3) != 3 && s.dim(3) != 4))
    detail::refuse("image", "takes images [n, height, width, 1, 3 or 4], not " + to_string(x.spec()));
  if (max_outputs < 0) detail::refuse("image", "max_outputs must not be negative");
}

// A WAV file: 16 bits, linear. wave has the values of all channels, frame by frame.
TANDEM_INLINE std::string wav_file(const float* wave, std::size_t frames, std::size_t channels, i64 sample_rate) {
  const auto bytes = static_cast<std::uint32_t>(frames * channels * 2),
             frame = static_cast<std::uint32_t>(channels * 2);
  std::string to;
  const auto append = [&to](std::uint32_t x, std::size_t n) {
    to.append(reinterpret_cast<const char*>(&x), n);  // little-endian
  };
  const auto rate = static_cast<std::uint32_t>(sample_rate);
  to += "RIFF", append(bytes + 36, 4), to += "WAVEfmt ";
  append(16, 4), append(1, 2), append(frame / 2, 2), append(rate, 4), append(rate * frame, 4);
  append(frame, 2), append(16, 2);
  to += "data", append(bytes, 4);
  for (std::size_t i = 0; i < frames * channels; ++i) {
    const float x = std::isnan(wave[i]) ? 0 : std::clamp(std::round(wave[i] * 32768), -32768.f, 32767.f);
    append(static_cast<std::uint32_t>(static_cast<std::int32_t>(x)), 2);
  }
  return to;
}
TANDEM_INLINE void check_waves(const Tensor& x, i64 sample_rate, i64 max_outputs) {
  detail::check_dtypes("audio", x, dtypes::floating | dtypes::half_floating, "floating waves in [-1, 1]");
  if (x.rank() != 3 || x.shape().dim(2) < 1 || x.shape().dim(2) > 65535)
    detail::refuse("audio", "takes waves [n, frames, channels], not " + to_string(x.spec()));
  if (x.shape().dim(1) > (i64{1} << 31) / x.shape().dim(2) - 64)
    detail::refuse("audio", "a WAV file has less than 4 GB; " + to_string(x.spec()) + " has more");
  if (sample_rate < 1 || sample_rate > (i64{1} << 31) / (2 * x.shape().dim(2)))
    detail::refuse("audio",
                   "the sample rate must be at least 1 and fit in a WAV file, not " + std::to_string(sample_rate));
  if (max_outputs < 0) detail::refuse("audio", "max_outputs must not be negative");
}

}  // namespace impl

TANDEM_INLINE void FileWriter::text(std::string_view tag, std::string_view text, SummaryOptions o) {
  impl::add_texts(*recorder_, tag, {}, {std::string(text)}, o);
}
TANDEM_INLINE void FileWriter::text(std::string_view tag, const Tensor& texts, SummaryOptions o) {
  detail::check_not_traced("text");
  detail::check_dtypes("text", texts, dtypes_of(string), "texts");
  std::vector<i64> dims;
  for (int i = 0; i < texts.rank(); ++i) dims.push_back(texts.shape().dim(i));
  impl::add_texts(*recorder_, tag, dims, texts.to_vector<std::string>(), o);
}

TANDEM_INLINE void FileWriter::image(std::string_view tag, const Tensor& images, ImageOptions o) {
  const i64 step = detail::checked_step("image", o.step);
  impl::check_images(images, o.max_outputs);
  const tandem::detail::Unobserved unobserved;
  std::vector<std::string> texts{std::to_string(images.shape().dim(2)), std::to_string(images.shape().dim(1))};
  for (i64 i = 0; i < std::min(o.max_outputs, images.shape().dim(0)); ++i) {
    const Tensor one = images[i].cpu(), bytes = image::convert_image_dtype(one, uint8);
    texts.push_back(image::encode_png(bytes).item<std::string>());
  }
  recorder_->add("image", tag, {.name = "images", .data_class = 3},
                 detail::texts_value(std::initializer_list<i64>{static_cast<i64>(texts.size())}, texts), step,
                 o.wall_time, o.description);
}

TANDEM_INLINE void FileWriter::audio(std::string_view tag, const Tensor& waves, i64 sample_rate, AudioOptions o) {
  const i64 step = detail::checked_step("audio", o.step);
  impl::check_waves(waves, sample_rate, o.max_outputs);
  const i64 clips = std::min(o.max_outputs, waves.shape().dim(0));
  const auto frames = static_cast<std::size_t>(waves.shape().dim(1)),
             channels = static_cast<std::size_t>(waves.shape().dim(2));
  std::vector<std::string> texts;  // for each clip its bytes and a label, which TensorBoard no longer shows
  for (i64 i = 0; i < clips; ++i) {
    const std::vector<float> wave = detail::elements<float>(waves[i]);
    texts.push_back(impl::wav_file(wave.data(), frames, channels, sample_rate));
    texts.emplace_back();
  }
  std::string content;
  detail::append_integer(content, 2, 11);  // AudioPluginData.encoding: WAV
  // Without a data class TensorBoard's loaders take the labels out.
  recorder_->add("audio", tag, {.name = "audio", .content = content},
                 detail::texts_value(std::initializer_list<i64>{clips, 2}, texts), step, o.wall_time, o.description);
}

}  // namespace TANDEM_NS::summary
