// Decoding of GIF images (GIF87a and GIF89a): frames packed by LZW, interlaced rows, transparent colors, disposal.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "tandem/image/codec_kernels.hpp"

namespace TANDEM_NS::image::impl {

// The bytes of a file, from place to place.
class GifBytes {
 public:
  GifBytes(const char* op, std::string_view bytes) : op_(op), bytes_(bytes) {}
  bool ended() const { return at_ == bytes_.size(); }
  std::size_t place() const { return at_; }
  std::uint8_t at(std::size_t place) const { return static_cast<std::uint8_t>(bytes_[place]); }
  int byte() {
    if (ended()) fail("the data ends early");
    return at(at_++);
  }
  int word() {
    const int low = byte();
    return low + 256 * byte();
  }
  void skip(std::size_t n) {
    if (n > bytes_.size() - at_) fail("the data ends early");
    at_ += n;
  }
  /// Passes over blocks, of which each begins with its length, up to an empty one.
  void skip_blocks() {
    while (const int n = byte()) skip(static_cast<std::size_t>(n));
  }
  [[noreturn]] void fail(const std::string& what) const {
    raise(op_, "the GIF image is damaged at byte " + std::to_string(at_) + ": " + what);
  }

 private:
  const char* op_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Unpacks the colors of a frame: codes of up to 12 bits for strings that have been before.
class GifCodes {
 public:
  explicit GifCodes(GifBytes& bytes) : bytes_(bytes), root_bits_(bytes.byte()) {
    if (root_bits_ < 1 || root_bits_ > 8) bytes.fail("colors of " + std::to_string(root_bits_) + " bits");
    for (int i = 0; i < 1 << root_bits_; ++i)
      strings_[i] = {-1, 1, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)};
  }
  void read(std::vector<std::uint8_t>& colors) {
    const int clear = 1 << root_bits_, end = clear + 1;
    std::size_t done = 0;
    int last = -1;
    for (reset(); done < colors.size();) {
      const int code = next_code();
      if (code == clear) {
        reset(), last = -1;
        continue;
      }
      if (code == end) bytes_.fail("a frame ends before its last pixel");
      if (code > count_ || (code == count_ && (last < 0 || count_ == most)) || (last < 0 && code > end))
        bytes_.fail("a code of a string that is not there");
      if (last >= 0 && count_ < most) add(last, code == count_ ? last : code);
      done = write(code, done, colors);
      last = code;
    }
    bytes_.skip(static_cast<std::size_t>(left_));
    bytes_.skip_blocks();
  }

 private:
  static constexpr int most = 4096;
  struct String {
    int before;  // the string without its last color, or -1
    int length;
    std::uint8_t first, last;
  };

  void reset() { count_ = (1 << root_bits_) + 2, code_bits_ = root_bits_ + 1; }
  // The string `before`, and the first color of another one.
  void add(int before, int next) {
    strings_[count_] = {before, strings_[before].length + 1, strings_[before].first, strings_[next].first};
    ++count_;
    if (count_ == 1 << code_bits_ && code_bits_ < 12) ++code_bits_;
  }
  // Writes a string, as far as there is room; returns where it ends.
  std::size_t write(int code, std::size_t at, std::vector<std::uint8_t>& colors) const {
    const std::size_t end = at + static_cast<std::size_t>(strings_[code].length);
    for (std::size_t i = end; code >= 0; code = strings_[code].before)
      if (--i < colors.size()) colors[i] = strings_[code].last;
    return end;
  }
  int next_code() {
    for (; bits_ < code_bits_; bits_ += 8, --left_) {
      if (left_ == 0 && (left_ = bytes_.byte()) == 0) bytes_.fail("a frame ends before its last pixel");
      buffer_ |= static_cast<unsigned>(bytes_.byte()) << bits_;
    }
    const int code = static_cast<int>(buffer_ & ((1u << code_bits_) - 1));
    buffer_ >>= code_bits_, bits_ -= code_bits_;
    return code;
  }

  GifBytes& bytes_;
  const int root_bits_;
  int code_bits_ = 0, count_ = 0;  // of the next code; strings so far, the codes `clear` and `end` included
  unsigned buffer_ = 0;
  int bits_ = 0, left_ = 0;  // in the buffer; bytes of the block
  String strings_[most];
};

class GifReader {
 public:
  explicit GifReader(const DecodeCall& c) : op_(c.op), bytes_(c.op, c.bytes), max_pixels_(c.attrs.max_pixels) {
    if (!is_gif(c.bytes)) raise(op_, "the bytes are not a GIF image: they do not begin with GIF87a or GIF89a");
    bytes_.skip(6);
    width_ = bytes_.word(), height_ = bytes_.word();
    const int flags = bytes_.byte();
    bytes_.skip(2);
    check_pixels(op_, height_, width_, max_pixels_);
    if (flags & 0x80) global_ = read_palette(flags);
  }

  /// Looks at up to so many frames, and checks that what they promise is there.
  GifExtent extent(i64 most) {
    i64 frames = 0, area = 0;
    for (Frame frame; frames < most && next(frame);) {
      ++frames, area += frame.height * frame.width;
      if (std::max(area, frames * height_ * width_) > max_pixels_)
        raise(op_, "the image has " + std::to_string(frames) + " or more frames of " + std::to_string(height_) + " x " +
                       std::to_string(width_) + " pixels, in all more than " + std::to_string(max_pixels_) +
                       " (raise .max_pixels if it can be trusted)");
      bytes_.byte();
      bytes_.skip_blocks();
    }
    if (frames == 0) bytes_.fail("it has no frame");
    return {frames, height_, width_};
  }
  void read(i64 frames, std::uint8_t* to) {
    const auto bytes = static_cast<std::size_t>(height_ * width_ * 3);
    std::vector<std::uint8_t> kept;  // what is below a frame that will be removed
    Frame last, frame;
    for (i64 k = 0; k < frames && next(frame); ++k, to += bytes, last = frame) {
      if (k == 0) std::memset(to, 0, bytes);
      else if (last.disposal == Frame::restore) std::memcpy(to, kept.data(), bytes);
      else std::memcpy(to, to - bytes, bytes);
      if (last.disposal == Frame::erase) erase(last, to);
      if (frame.disposal == Frame::restore) kept.assign(to, to + bytes);
      colors_.resize(static_cast<std::size_t>(frame.height * frame.width));
      GifCodes(bytes_).read(colors_);
      draw(frame, to);
    }
  }

 private:
  struct Palette {
    std::size_t first = 0;  // place of its bytes
    int colors = 0;
  };
  struct Frame {
    enum { erase = 2, restore = 3 };
    i64 left = 0, top = 0, width = 0, height = 0;
    Palette palette = {};
    bool interlaced = false;
    int transparent = -1, disposal = 0;
  };

  Palette read_palette(int flags) {
    const Palette r{bytes_.place(), 2 << (flags & 7)};
    bytes_.skip(3 * static_cast<std::size_t>(r.colors));
    return r;
  }
  // Goes to the next frame, behind its header; false at the end.
  bool next(Frame& frame) {
    frame = {};
    while (!bytes_.ended()) {
      switch (bytes_.byte()) {
        case ';': return false;
        case '!': read_extension(frame); break;
        case ',': read_frame(frame); return true;
        default: bytes_.fail("neither a frame nor an extension begins");
      }
    }
    return false;
  }
  void read_extension(Frame& frame) {
    constexpr int control = 0xf9;
    if (bytes_.byte() == control) {
      const int size = bytes_.byte();
      if (size < 4) bytes_.fail("an extension of " + std::to_string(size) + " bytes");
      const int flags = bytes_.byte();
      bytes_.skip(2);  // the delay
      const int color = bytes_.byte();
      frame.transparent = flags & 1 ? color : -1;
      frame.disposal = flags >> 2 & 7;
      bytes_.skip(static_cast<std::size_t>(size - 4));
    }
    bytes_.skip_blocks();
  }
  void read_frame(Frame& frame) {
    frame.left = bytes_.word(), frame.top = bytes_.word();
    frame.width = bytes_.word(), frame.height = bytes_.word();
    const int flags = bytes_.byte();
    frame.interlaced = flags & 0x40;
    frame.palette = flags & 0x80 ? read_palette(flags) : global_;
    if (frame.palette.colors == 0) bytes_.fail("a frame has no colors");
    if (frame.width == 0 || frame.height == 0) bytes_.fail("a frame has no pixels");
  }

  i64 bottom(const Frame& f) const { return std::min(f.top + f.height, height_); }
  i64 right(const Frame& f) const { return std::min(f.left + f.width, width_); }
  void erase(const Frame& f, std::uint8_t* to) const {
    if (f.left >= width_) return;
    for (i64 y = f.top; y < bottom(f); ++y)
      std::memset(to + 3 * (y * width_ + f.left), 0, static_cast<std::size_t>(3 * (right(f) - f.left)));
  }
  // Rows of an interlaced frame come in four passes.
  template <class F>
  static void each_row(const Frame& f, const F& row) {
    constexpr i64 first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    i64 from = 0;
    for (int pass = 0; pass < (f.interlaced ? 4 : 1); ++pass)
      for (i64 y = first[pass]; y < f.height; y += f.interlaced ? step[pass] : 1) row(from++, y);
  }
  void draw(const Frame& f, std::uint8_t* to) const {
    each_row(f, [&](i64 from, i64 y) {
      const std::uint8_t* color = colors_.data() + from * f.width;
      for (i64 x = f.left; x < f.left + f.width; ++x, ++color) {
        if (*color == f.transparent) continue;
        if (*color >= f.palette.colors)
          bytes_.fail("color " + std::to_string(*color) + " of " + std::to_string(f.palette.colors));
        if (f.top + y >= height_ || x >= width_) continue;
        for (std::size_t c = 0; c < 3; ++c)
          to[3 * ((f.top + y) * width_ + x) + static_cast<i64>(c)] = bytes_.at(f.palette.first + 3u * *color + c);
      }
    });
  }

  const char* op_;
  GifBytes bytes_;
  i64 max_pixels_, width_ = 0, height_ = 0;
  Palette global_;
  std::vector<std::uint8_t> colors_;  // of the present frame
};

TANDEM_INLINE bool is_gif(std::string_view bytes) {
  return bytes.substr(0, 6) == "GIF87a" || bytes.substr(0, 6) == "GIF89a";
}
TANDEM_INLINE GifExtent gif_extent(const DecodeCall& c, i64 most) { return GifReader(c).extent(most); }
TANDEM_INLINE void read_gif(const DecodeCall& c, i64 frames, std::uint8_t* to) { GifReader(c).read(frames, to); }

}  // namespace TANDEM_NS::image::impl
