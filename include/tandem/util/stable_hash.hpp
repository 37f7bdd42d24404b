// Stable hashes of bytes that other programs compute, too: farm_hash64 (FarmHash's 64-bit fingerprint) and sip_hash64.
// Not here: fnv1a (fnv1a.hpp).
#pragma once
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::detail {

/// The bytes of a text as little-endian numbers.
class HashBytes {
 public:
  explicit constexpr HashBytes(std::string_view s) : bytes_(s) {}
  std::size_t size() const { return bytes_.size(); }
  u64 byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  u64 four(std::size_t at) const { return number(at, 4); }
  u64 eight(std::size_t at) const { return number(at, 8); }
  /// Up to eight bytes.
  u64 number(std::size_t at, std::size_t count) const {
    u64 r = 0;
    for (std::size_t i = 0; i < count; ++i) r |= byte(at + i) << (8 * i);
    return r;
  }

 private:
  std::string_view bytes_;
};

/// The 64-bit fingerprint of FarmHash: the same number in every version and on every machine.
/// Source: Pike, Alakuijala, https://github.com/google/farmhash, the function Fingerprint64.
class FarmHash {
 public:
  static u64 of(std::string_view text) {
    const FarmHash h{HashBytes(text)};
    const std::size_t n = text.size();
    return n <= 16 ? h.to_16() : n <= 32 ? h.to_32() : n <= 64 ? h.to_64() : h.longer();
  }
  static u64 shifted(u64 x) { return x ^ (x >> 47); }

 private:
  using Two = std::pair<u64, u64>;
  static constexpr u64 k0 = 0xc3a5c85c97cb3127u, k1 = 0xb492b66fbe98f273u, k2 = 0x9ae16a3b2f90404fu;

  explicit FarmHash(HashBytes s) : s_(s), n_(s.size()) {}
  static u64 combined(u64 u, u64 v, u64 factor) {
    const u64 a = shifted((u ^ v) * factor);
    return shifted((v ^ a) * factor) * factor;
  }
  u64 from_end(std::size_t distance) const { return s_.eight(n_ - distance); }
  u64 factor() const { return k2 + 2 * n_; }
  u64 to_16() const {
    if (n_ == 0) return k2;
    if (n_ < 4) {
      const u64 y = s_.byte(0) + (s_.byte(n_ / 2) << 8), z = n_ + (s_.byte(n_ - 1) << 2);
      return shifted(y * k2 ^ z * k0) * k2;
    }
    if (n_ < 8) return combined(n_ + (s_.four(0) << 3), s_.four(n_ - 4), factor());
    const u64 a = s_.eight(0) + k2, b = from_end(8);
    return combined(std::rotr(b, 37) * factor() + a, (std::rotr(a, 25) + b) * factor(), factor());
  }
  // The two numbers that the first and the last 16 bytes give.
  Two ends(u64 first) const {
    const u64 a = s_.eight(0) * first, b = s_.eight(8), c = from_end(8) * factor(), d = from_end(16) * k2;
    return {std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c};
  }
  u64 to_32() const {
    const Two e = ends(k1);
    return combined(e.first, e.second, factor());
  }
  u64 to_64() const {
    const Two outer = ends(k2);
    const u64 a = s_.eight(0) * k2, z = combined(outer.first, outer.second, factor());
    const u64 e = s_.eight(16) * factor(), f = s_.eight(24);
    const u64 g = (outer.first + from_end(32)) * factor(), h = (z + from_end(24)) * factor();
    return combined(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, factor());
  }
  // 32 bytes, mixed into two numbers.
  Two mixed(std::size_t at, u64 a, u64 b) const {
    const u64 last = s_.eight(at + 24), first = a + s_.eight(at);
    b = std::rotr(b + first + last, 21);
    a = first + s_.eight(at + 8) + s_.eight(at + 16);
    return {a + last, b + std::rotr(a, 44) + first};
  }
  struct State {
    u64 x, y, z;
    Two v, w;
  };
  // One block of 64 bytes.
  State next(const State& s, std::size_t at, u64 factor, u64 weight) const {
    const u64 x = (std::rotr(s.x + s.y + s.v.first + s_.eight(at + 8), 37) * factor) ^ (s.w.second * weight);
    const u64 y = std::rotr(s.y + s.v.second + s_.eight(at + 48), 42) * factor + s.v.first * weight + s_.eight(at + 40);
    const u64 z = std::rotr(s.z + s.w.first, 33) * factor;
    return {z, y, x, mixed(at, s.v.second * factor, x + s.w.first),
            mixed(at + 32, z + s.w.second, y + s_.eight(at + 16))};
  }
  u64 longer() const {
    constexpr u64 seed = 81;
    const u64 y = seed * k1 + 113;
    State s{seed * k2 + s_.eight(0), y, shifted(y * k2 + 113) * k2, {}, {}};
    const std::size_t end = (n_ - 1) / 64 * 64, rest = (n_ - 1) % 64;
    for (std::size_t at = 0; at < end; at += 64) s = next(s, at, k1, 1);
    const u64 factor = k1 + ((s.z & 0xff) << 1);
    s.w.first += rest;
    s.v.first += s.w.first;
    s.w.first += s.v.first;
    s = next(s, n_ - 64, factor, 9);  // the last 64 bytes, some of them again
    return combined(combined(s.v.first, s.w.first, factor) + shifted(s.y) * k0 + s.z,
                    combined(s.v.second, s.w.second, factor) + s.x, factor);
  }
  HashBytes s_;
  std::size_t n_;
};
inline u64 farm_hash64(std::string_view text) { return FarmHash::of(text); }
/// A hash of two hashes, of which the first may be one of this function. Source: FingerprintCat64 of TensorFlow.
inline u64 combined_hashes(u64 a, u64 b) {
  constexpr u64 factor = 0xc6a4a7935bd1e995u;
  const u64 both = (a ^ factor ^ (FarmHash::shifted(b * factor) * factor)) * factor;
  return FarmHash::shifted(FarmHash::shifted(both) * factor);
}

/// SipHash-2-4 with a key of two numbers, for texts that others choose: without the key, texts with equal hashes are
/// hard to find. Source: Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF".
inline u64 sip_hash64(u64 key_0, u64 key_1, std::string_view text) {
  u64 a = key_0 ^ 0x736f6d6570736575u, b = key_1 ^ 0x646f72616e646f6du;
  u64 c = key_0 ^ 0x6c7967656e657261u, d = key_1 ^ 0x7465646279746573u;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
      c += d, d = std::rotl(d, 16) ^ c;
      a += d, d = std::rotl(d, 21) ^ a;
      c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
    }
  };
  const HashBytes s(text);
  const std::size_t whole = text.size() / 8 * 8;
  for (std::size_t at = 0; at <= whole; at += 8) {
    const u64 word =
        at < whole ? s.eight(at) : s.number(at, text.size() - whole) | (static_cast<u64>(text.size()) << 56);
    d ^= word;
    rounds(2);
    a ^= word;
  }
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

}  // namespace TANDEM_NS::detail
