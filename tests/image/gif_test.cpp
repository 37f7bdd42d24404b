// GIF: files of another program and of a small writer; frames over each other; damaged and hostile bytes.
#include <algorithm>
#include <map>

#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using testing::error_of;

namespace {

Pixels bytes_of(const Tensor& t) { return t.to_vector<std::uint8_t>(); }
std::string word(int n) { return {static_cast<char>(n & 255), static_cast<char>(n >> 8)}; }

// The codes of an LZW encoder, packed into blocks of up to `block` bytes.
class Codes {
 public:
  explicit Codes(int root_bits, std::size_t block = 255) : root_bits_(root_bits), block_(block) {}
  // `clears`: whether the strings begin anew once there are 4096; otherwise they stay as they are.
  std::string packed(const Pixels& colors, bool clears = true) {
    const int clear = 1 << root_bits_;
    const auto reset = [&] {
      strings_.clear();
      for (int i = 0; i < clear; ++i) strings_[std::string(1, static_cast<char>(i))] = i;
      count_ = clear + 2, bits_ = root_bits_ + 1;
    };
    reset(), put(clear);
    std::string now;
    for (const std::uint8_t color : colors) {
      const std::string longer = now + static_cast<char>(color);
      if (strings_.count(longer)) {
        now = longer;
        continue;
      }
      put(strings_[now]);
      if (count_ < 4096) {
        strings_[longer] = count_++;
        if (count_ > 1 << bits_ && bits_ < 12) ++bits_;
      } else if (clears) {
        put(clear), reset();
      }
      now = std::string(1, static_cast<char>(color));
    }
    put(strings_[now]);
    if (++count_ > 1 << bits_ && bits_ < 12) ++bits_;
    put(clear + 1);
    if (used_) bytes_ += static_cast<char>(buffer_);
    std::string r(1, static_cast<char>(root_bits_));
    for (std::size_t at = 0; at < bytes_.size(); at += block_) {
      const std::string part = bytes_.substr(at, block_);
      r += static_cast<char>(part.size()) + part;
    }
    return r + '\0';
  }

 private:
  void put(int code) {
    buffer_ |= static_cast<unsigned>(code) << used_;
    for (used_ += bits_; used_ >= 8; used_ -= 8, buffer_ >>= 8) bytes_ += static_cast<char>(buffer_ & 255);
  }
  int root_bits_, count_ = 0, bits_ = 0;
  std::size_t block_;
  std::map<std::string, int> strings_;
  std::string bytes_;
  unsigned buffer_ = 0;
  int used_ = 0;
};

// A palette of 4 colors: black, red, green, blue.
const std::string four = from_hex("000000ff000000ff000000ff");
std::string screen(int width, int height, const std::string& palette = four) {
  int bits = 0;
  while (3u << (bits + 1) < palette.size()) ++bits;
  const int flags = palette.empty() ? 0 : 0x80 | bits;
  return "GIF89a" + word(width) + word(height) + static_cast<char>(flags) + std::string(2, '\0') + palette;
}
std::string shown(int disposal, int transparent = -1) {
  return "!\xf9\4" + std::string(1, static_cast<char>(disposal << 2 | (transparent >= 0))) + word(7) +
         static_cast<char>(std::max(transparent, 0)) + '\0';
}
std::string frame(int left, int top, int width, int height, const Pixels& colors, int flags = 0,
                  const std::string& palette = "") {
  return "," + word(left) + word(top) + word(width) + word(height) + static_cast<char>(flags) + palette +
         Codes(2).packed(colors);
}
// The colors of an image of that palette, as digits; '.' for others.
std::string digits(const Pixels& rgb) {
  std::string r;
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const std::string color{static_cast<char>(rgb[i]), static_cast<char>(rgb[i + 1]), static_cast<char>(rgb[i + 2])};
    std::size_t at = 0;
    while (at < 4 && four.substr(3 * at, 3) != color) ++at;
    r += at < 4 ? static_cast<char>('0' + at) : '.';
  }
  return r;
}
std::vector<std::string> frames_of(const std::string& file) {
  const Tensor x = image::decode_gif(file);
  std::vector<std::string> r;
  for (i64 k = 0; k < x.shape()[0]; ++k) r.push_back(digits(bytes_of(x[k])));
  return r;
}

}  // namespace

TEST_CASE("decode_gif: a file of another program") {
  // By Pillow: 5 x 4, GIF87a, 8 colors.
  const std::string file = from_hex(
      "47494638376105000400820000000000ff000000ff000000ffffff000a141ec864320000002c00000000050004000008170"
      "00d000840d0800102000008184060808000050a240c08003b");
  const Tensor x = image::decode_gif(file);
  CHECK(x.spec() == Spec{Shape{1, 4, 5, 3}, uint8, {}});
  const std::string pixels = from_hex(
      "c86432000000ff0000ff0000ff0000c86432c86432ffff0000000000000000ff000000ffffff000000ff00ff00ff0000"
      "0a141e0a141e000000000000");
  CHECK(bytes_of(x) == Pixels(pixels.begin(), pixels.end()));
  CHECK(bytes_of(image::decode_image(file)) == bytes_of(x));
}

TEST_CASE("decode_gif: strings of all lengths and codes of up to 12 bits") {
  for (const bool clears : {true, false})
    for (const std::size_t block : {std::size_t{255}, std::size_t{1}}) {
      Pixels numbers;
      std::uint32_t state = 1;
      for (int i = 0; i < 300 * 200; ++i) {
        state = state * 1664525 + 1013904223;
        numbers.push_back(static_cast<std::uint8_t>(i % 300 < 100 ? 7 : state >> 24));  // runs, and noise
      }
      std::string palette;
      for (int i = 0; i < 256; ++i)
        palette += {static_cast<char>(i), static_cast<char>(255 - i), static_cast<char>(i / 2)};
      const std::string file = screen(300, 200, palette) + "," + word(0) + word(0) + word(300) + word(200) + '\0' +
                               Codes(8, block).packed(numbers, clears) + ";";
      const Pixels y = bytes_of(image::decode_image(file));
      REQUIRE(y.size() == 3 * numbers.size());
      int wrong = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        wrong += y[3 * i] != numbers[i] || y[3 * i + 1] != 255 - numbers[i] || y[3 * i + 2] != numbers[i] / 2;
      CHECK(wrong == 0);
    }
}

TEST_CASE("decode_gif: interlaced rows, local palettes, comments, a file without its last byte") {
  const Pixels rows{0, 1, 2, 3, 1, 2, 3, 1, 1, 1, 2};  // of passes: 0 8, 4, 2 6 10, 1 3 5 7 9
  std::string in_order(11, ' ');
  const int order[] = {0, 8, 4, 2, 6, 10, 1, 3, 5, 7, 9};
  for (std::size_t i = 0; i < 11; ++i) in_order[std::size_t(order[i])] = static_cast<char>('0' + rows[i]);
  const std::string comment = std::string("!\xfe\5hello") + '\0',
                    loop = std::string("!\xff\x0bNETSCAPE2.0\3\1") + word(0) + '\0';
  const std::string file = screen(1, 11) + comment + loop + frame(0, 0, 1, 11, rows, 0x40);
  CHECK(frames_of(file + ";") == std::vector<std::string>{in_order});
  CHECK(frames_of(file) == std::vector<std::string>{in_order});
  CHECK(frames_of(file + ";anything") == std::vector<std::string>{in_order});
  const std::string swapped = from_hex("0000ff00ff00ff0000000000");
  CHECK(frames_of(screen(4, 1, "") + frame(0, 0, 4, 1, {0, 1, 2, 3}, 0x81, swapped)) ==
        std::vector<std::string>{"3210"});
}

TEST_CASE("decode_gif: frames lie over each other, and are left, erased or restored") {
  const std::string first = frame(0, 0, 3, 2, {1, 1, 1, 1, 1, 1});
  using Strings = std::vector<std::string>;
  CHECK(frames_of(screen(3, 2) + first + frame(1, 0, 2, 1, {2, 3})) == Strings{"111111", "123111"});
  CHECK(frames_of(screen(3, 2) + first + shown(0, 3) + frame(1, 0, 2, 1, {2, 3})) == Strings{"111111", "121111"});
  // The first frame does not fill the screen; the rest is black, as what is transparent there.
  CHECK(frames_of(screen(3, 2) + shown(0, 2) + frame(1, 1, 2, 1, {2, 1})) == Strings{"000001"});
  const std::string third = frame(0, 1, 1, 1, {3});
  for (const auto& [disposal, last] : {std::pair(1, "122311"), {2, "100311"}, {3, "111311"}})
    CHECK(frames_of(screen(3, 2) + first + shown(disposal) + frame(1, 0, 2, 1, {2, 2}) + third) ==
          Strings{"111111", "122111", last});
  // Several are removed one after the other; what is below is that before the first of them.
  CHECK(frames_of(screen(3, 2) + first + shown(3) + frame(0, 0, 1, 1, {2}) + shown(3) + frame(1, 0, 1, 1, {3}) +
                  frame(2, 1, 1, 1, {0})) == Strings{"111111", "211111", "131111", "111110"});
  // A control extension is that of the next frame alone; frames are clipped.
  CHECK(frames_of(screen(3, 2) + shown(2, 1) + first + first + frame(2, 1, 2, 2, {2, 3, 3, 3}) +
                  frame(3, 0, 1, 1, {2})) == Strings{"000000", "111111", "111112", "111112"});
}

TEST_CASE("decode_gif: options, traces, and what decode_image makes of it") {
  const std::string file = screen(2, 1) + frame(0, 0, 2, 1, {1, 2}) + frame(0, 0, 1, 1, {3}) + ";";
  const auto f =
      function([](const Tensor& bytes) { return std::pair(image::decode_gif(bytes), image::decode_image(bytes)); });
  const auto [all, one] = f(constant(file));
  CHECK(all.shape() == Shape{2, 1, 2, 3});
  CHECK(one.shape() == Shape{1, 2, 3});
  CHECK(digits(bytes_of(one)) == "12");
  CHECK(image::decode_image(file, {.channels = 3}).shape() == Shape{1, 2, 3});
  CHECK(error_of<InvalidArgumentError>([&] {
          image::decode_image(file, {.channels = 1});
        }).find("channels must be 0 or 3 for GIF") != std::string::npos);
  CHECK(error_of<InvalidArgumentError>([&] { image::decode_image(file, {.dtype = uint16}); }).find("only PNG") !=
        std::string::npos);
  CHECK(error_of<InvalidArgumentError>([&] {
          image::decode_gif(file, {.max_pixels = 3});
        }).find("2 or more frames of 1 x 2 pixels, in all more than 3") != std::string::npos);
  CHECK(image::decode_image(file, {.max_pixels = 2}).shape() == Shape{1, 2, 3});  // looks at one frame
}

TEST_CASE("decode_gif: damaged bytes raise") {
  const std::string file =
      screen(3, 2) + shown(1, 2) + frame(0, 0, 3, 2, {1, 2, 3, 1, 2, 3}) + frame(1, 1, 2, 1, {2, 3});
  for (std::size_t n = 0; n < file.size(); ++n) {
    const std::string part = file.substr(0, n);
    if (error_of<InvalidArgumentError>([&] { image::decode_gif(part); }).empty()) {
      CHECK(image::decode_gif(part).shape()[0] == 1);  // it ends behind a frame or an extension
    }
  }
  const auto fails = [](const std::string& bytes, const char* part) {
    const std::string error = error_of<InvalidArgumentError>([&] { image::decode_gif(bytes); });
    INFO(error);
    CHECK(error.find(part) != std::string::npos);
  };
  fails("", "the bytes are not a GIF image");
  fails("GIF88a" + file.substr(6), "the bytes are not a GIF image");
  fails(screen(0, 2), "no pixels");
  fails(screen(3, 2) + ";", "it has no frame");
  fails(screen(3, 2) + "x", "neither a frame nor an extension");
  fails(screen(3, 2, "") + frame(0, 0, 1, 1, {0}), "a frame has no colors");
  fails(screen(3, 2) + frame(0, 0, 0, 1, {0}), "a frame has no pixels");
  fails(screen(3, 2) + frame(0, 0, 3, 2, {1, 2, 3}), "a frame ends before its last pixel");
  fails(screen(3, 2, four.substr(0, 6)) + frame(0, 0, 1, 1, {3}), "color 3 of 2");
  const std::string header = screen(1, 2) + "," + word(0) + word(0) + word(1) + word(2) + '\0';
  fails(header + from_hex("0200"), "a frame ends before its last pixel");
  fails(header + from_hex("0901ff00"), "colors of 9 bits");
  fails(header + from_hex("0201ff00"), "a code of a string that is not there");          // 7, where 6 is the next one
  fails(header + from_hex("0202340000") + ";", "a code of a string that is not there");  // 6, where there is none
  fails(screen(65535, 65535) + frame(0, 0, 1, 1, {0}), "65535 x 65535 pixels");
  // A frame that is larger than the screen counts.
  fails(screen(1, 1) + "," + word(0) + word(0) + word(65535) + word(65535) + '\0' + from_hex("02010000"),
        "in all more than");
}
