// Decoding of JPEG images by libjpeg-turbo.
// libjpeg reports errors by longjmp. Every call of it therefore is in the body of a guarded(), whose frame is what is
// jumped to: nothing with a destructor lives between there and the library.
#pragma once
#include <cstddef>
#include <cstdio>
#if !__has_include(<jpeglib.h>)
#error "tandem/image.hpp needs libjpeg-turbo (Debian: libjpeg62-turbo-dev); programs link jpeg"
#endif
#include <jpeglib.h>
#ifndef LIBJPEG_TURBO_VERSION
#error "tandem/image.hpp needs libjpeg-turbo: another libjpeg cannot decode a part of an image"
#endif
#include <jerror.h>
#include <setjmp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/jpeg_errors_kernels.hpp"

namespace TANDEM_NS::image::impl {

class JpegReader {
 public:
  /// Reads the header.
  JpegReader(const char* op, std::string_view bytes)
      : op_(op), calls_(op, "the bytes are not a JPEG image that can be read") {
    in_.err = calls_.manager();
    in_.client_data = &calls_;
    calls_.guarded([&] {
      jpeg_create_decompress(&in_);
      jpeg_mem_src(&in_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      jpeg_save_markers(&in_, JPEG_APP0 + 1, 0xffff);
      jpeg_read_header(&in_, TRUE);
    });
    progress_.progress_monitor = &check_scans;
    in_.progress = &progress_;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Extent file_extent() const {
    return {static_cast<i64>(in_.image_height), static_cast<i64>(in_.image_width), in_.num_components};
  }
  /// Sets the options; returns the size of the image, reduced by the ratio, before a window or the orientation.
  Extent prepare(const DecodeAttrs& a) {
    check_pixels(op_, in_.image_height, in_.image_width, a.max_pixels);
    const bool cmyk = in_.jpeg_color_space == JCS_CMYK || in_.jpeg_color_space == JCS_YCCK;
    if (cmyk && a.channels == 1)
      raise(op_, "a CMYK image cannot be decoded to gray (use .channels = 3 and rgb_to_grayscale)");
    const bool gray = a.channels ? a.channels == 1 : in_.num_components == 1;
    in_.out_color_space = cmyk ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
    in_.scale_num = 1;
    in_.scale_denom = static_cast<unsigned>(a.ratio);
    in_.do_fancy_upsampling = a.fancy_upscaling;
    in_.dct_method = a.dct_method == DctMethod::integer_fast ? JDCT_IFAST : JDCT_ISLOW;
    calls_.guarded([&] { jpeg_calc_output_dimensions(&in_); });
    return {static_cast<i64>(in_.output_height), static_cast<i64>(in_.output_width), gray ? 1 : 3};
  }
  int orientation() const {
    for (const jpeg_marker_struct* m = in_.marker_list; m; m = m->next) {
      const int r = exif_orientation({reinterpret_cast<const char*>(m->data), m->data_length});
      if (r != 1) return r;
    }
    return 1;
  }
  /// Writes the rows of a window {y, x, height, width} of an image of `channels`.
  void read(const DecodeAttrs& a, const Window& w, i64 channels, std::uint8_t* to) {
    begin(w);
    std::vector<JSAMPLE> line(static_cast<std::size_t>(in_.output_width) *
                              static_cast<std::size_t>(in_.out_color_components));
    const std::size_t row = static_cast<std::size_t>(w[3] * channels);
    for (i64 y = 0; y < w[2]; ++y, to += row) {
      JSAMPROW rows[] = {line.data()};
      calls_.guarded([&] { jpeg_read_scanlines(&in_, rows, 1); });
      copy_pixels(line.data() + (w[1] - first_column_) * in_.out_color_components, w[3], to);
    }
    if (calls_.progress().at_end) check_recovery(a, w);
  }

 private:
  // A progressive image whose thousands of tiny scans each pass over all of it would take hours.
  static constexpr int most_scans = 500;
  static void check_scans(j_common_ptr any) {
    const auto in = reinterpret_cast<j_decompress_ptr>(any);
    if (in->input_scan_number > most_scans)
      static_cast<JpegCalls*>(any->client_data)->fail("it has more than 500 scans");
  }
  // Starts, and skips what is above and beside the window. Its columns begin and end at whole blocks, with a block more
  // on either side, from which the colors at the window's edge are interpolated.
  void begin(const Window& w) {
    calls_.guarded([&] { jpeg_start_decompress(&in_); });
    const JDIMENSION full = in_.output_width;
    if (w[3] < static_cast<i64>(full)) {
      constexpr i64 margin = 64;
      JDIMENSION x = static_cast<JDIMENSION>(std::max<i64>(0, w[1] - margin));
      JDIMENSION width = static_cast<JDIMENSION>(std::min<i64>(full, w[1] + w[3] + margin)) - x;
      calls_.guarded([&] { jpeg_crop_scanline(&in_, &x, &width); });
      first_column_ = x;
    }
    if (w[0]) calls_.guarded([&] { jpeg_skip_scanlines(&in_, static_cast<JDIMENSION>(w[0])); });
  }
  // The part of a window's lines that was read before the bytes ended: all of them if just the end mark is missing.
  double part_read(const Window& w) const {
    const JpegCalls::Progress& p = calls_.progress();
    if (!p.lacks_pixels || p.scan > 1) return 1;  // after the first scan there is something of each line
    const double lines = static_cast<double>(in_.output_height) * p.row / std::max(1u, in_.total_iMCU_rows);
    return std::clamp((lines - static_cast<double>(w[0])) / static_cast<double>(w[2]), 0., 1.);
  }
  void check_recovery(const DecodeAttrs& a, const Window& w) const {
    const double part = part_read(w);
    const std::string seen = "after " + std::to_string(static_cast<int>(part * 100)) + " % of the lines";
    if (!a.recover) raise(op_, "the data ends early, " + seen + " (.try_recover_truncated fills the rest)");
    if (part < a.acceptable_fraction) raise(op_, "the data ends " + seen + ", .acceptable_fraction asks for more");
  }
  void copy_pixels(const JSAMPLE* from, i64 count, std::uint8_t* to) const {
    if (in_.out_color_space != JCS_CMYK) {
      std::memcpy(to, from, static_cast<std::size_t>(count * in_.out_color_components));
      return;
    }
    // Adobe's files hold the complements of the inks.
    const int flip = in_.saw_Adobe_marker ? 0 : 255;
    for (i64 i = 0; i < count; ++i, from += 4, to += 3)
      for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>((from[c] ^ flip) * (from[3] ^ flip) / 255);
  }

  // A member with a destructor, which runs also if the constructor raises.
  struct Decompressor : jpeg_decompress_struct {
    Decompressor() : jpeg_decompress_struct{} {}
    ~Decompressor() { jpeg_destroy_decompress(this); }
  };

  const char* op_;
  JpegCalls calls_;
  Decompressor in_;
  jpeg_progress_mgr progress_{};
  JDIMENSION first_column_ = 0;
};

inline void check_window(const char* op, const Window& w, const Extent& e) {
  const bool inside = w[0] >= 0 && w[1] >= 0 && w[2] > 0 && w[3] > 0 && w[2] <= e.height && w[3] <= e.width &&
                      w[0] <= e.height - w[2] && w[1] <= e.width - w[3];
  if (!inside)
    raise(op, "the window {" + std::to_string(w[0]) + ", " + std::to_string(w[1]) + ", " + std::to_string(w[2]) + ", " +
                  std::to_string(w[3]) + "} is not inside of the image of " + std::to_string(e.height) + " x " +
                  std::to_string(e.width) + " pixels");
}
inline Window window_of(const DecodeCall& c, const Extent& e) {
  Window w{0, 0, e.height, e.width};
  for (int i = 0; i < c.attrs.window.rank(); ++i) w[static_cast<std::size_t>(i)] = c.attrs.window.dim(i);
  check_window(c.op, w, e);
  return w;
}

TANDEM_INLINE Extent jpeg_file_extent(const char* op, std::string_view bytes) {
  return JpegReader(op, bytes).file_extent();
}
TANDEM_INLINE Extent jpeg_extent(const DecodeCall& c) {
  JpegReader reader(c.op, c.bytes);
  const Extent e = reader.prepare(c.attrs);
  const Window w = window_of(c, e);
  if (c.attrs.orient && reader.orientation() > 4) return {e.width, e.height, e.channels};
  return {w[2], w[3], e.channels};
}
TANDEM_INLINE void read_jpeg(const DecodeCall& c, std::uint8_t* to) {
  JpegReader reader(c.op, c.bytes);
  const Extent e = reader.prepare(c.attrs);
  const Window w = window_of(c, e);
  const int orientation = c.attrs.orient ? reader.orientation() : 1;
  if (orientation == 1) return reader.read(c.attrs, w, e.channels, to);
  std::vector<std::uint8_t> upright(static_cast<std::size_t>(e.height * e.width * e.channels));
  reader.read(c.attrs, w, e.channels, upright.data());
  apply_orientation(orientation, e, upright.data(), to);
}

}  // namespace TANDEM_NS::image::impl
