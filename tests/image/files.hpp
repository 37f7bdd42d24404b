// Small files that other programs have written, and image I of the tests.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/image.hpp"
#include "tandem/tensor.hpp"

namespace pictures {

inline std::string from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string r;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    r += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return r;
}

/// 3 x 3 pixels in RGB.
inline const std::vector<std::uint8_t> colors{0,   0, 0,   255, 255, 255, 254, 0,   0,   0,   191, 0, 3, 108,
                                              233, 0, 191, 0,   254, 0,   0,   255, 255, 255, 0,   0, 0};
inline tandem::Tensor image_i() { return tandem::constant(colors, {.shape = {3, 3, 3}}); }

/// 2 x 2 pixels in the inks 10, 200, 100, 30 (Pillow).
inline const std::string cmyk_jpeg = from_hex(
    "ffd8ffee000e41646f626500640000000000ffdb00430001010101010101010101010101010101010101010101010101010101010101"
    "010101010101010101010101010101010101010101010101010101010101010101ffc000140800020002044311004d11005911004b11"
    "00ffc4001500010100000000000000000000000000000a08ffc40014100100000000000000000000000000000000ffda000e0443004d"
    "0059004b00003f0075036eb60c21ffd9");

/// Image I with a palette (Pillow).
inline const std::string palette_png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000030403000000a406a88c0000000f504c5445ffffff00bf00036ce9fe000000"
    "00009a21f2290000001149444154789c6374f8c028f48f454e00000d520275380794c60000000049454e44ae426082");

/// The bits 1011, 0100 (Pillow).
inline const std::string one_bit_png = from_hex(
    "89504e470d0a1a0a0000000d494844520000000400000002010000000057d340ce0000000c49444154789c63d8c0e00000025400f15c"
    "f843890000000049454e44ae426082");

/// Image I, in which {254, 0, 0} is transparent.
inline const std::string transparent_png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000030802000000d94a22e80000000674524e5300fe0000000099a2e9ad000000"
    "204944415478da63606060f8ffffff3f20c5b09f8139e7259064f80716038a0000a3280acda91a288c0000000049454e44ae426082");

/// Gray with alpha in 16 bits, interlaced: {1000, 65535}, {2000, 0}, {300, 32768}, {65535, 7}.
inline const std::string interlaced_png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000002000000021004000001ff28297a000000194944415478da63607ef1ff3f03fb050606"
    "06469d0606101b0043e9067311843f250000000049454e44ae426082");

/// Image I in 24 bits (Pillow).
inline const std::string bmp = from_hex(
    "424d5a0000000000000036000000280000000300000003000000010018000000000024000000c40e0000c40e00000000000000000000"
    "0000feffffff00000000000000bf00e96c0300bf00000000000000ffffff0000fe000000");

/// Image I in 8 bits with a palette (Pillow).
inline const std::string palette_bmp = from_hex(
    "424d56000000000000004a00000028000000030000000300000001000800000000000c000000c40e0000c40e00000500000005000000"
    "ffffff0000bf0000e96c03000000fe0000000000030004000102010004000300");

}  // namespace pictures
