// Definitions of cpu/random/random.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/attrs/random.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/random/random.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/random/random.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

using DrawFn = void (*)(const RandomFill&, void* out, i64 first_group, i64 groups);
using DrawFns = ByIsa<DrawFn>;
inline constexpr DrawFns bits32_fns{TANDEM_EACH_ISA_IF_COMPILED(draw_bits32)},
    bits64_fns{TANDEM_EACH_ISA_IF_COMPILED(draw_bits64)}, uniform32_fns{TANDEM_EACH_ISA(draw_uniform32)},
    uniform64_fns{TANDEM_EACH_ISA_IF_COMPILED(draw_uniform64)}, normal32_fns{TANDEM_EACH_ISA(draw_normal32)},
    normal64_fns{TANDEM_EACH_ISA_IF_COMPILED(draw_normal64)}, drop32_fns{TANDEM_EACH_ISA(drop32)},
    drop64_fns{TANDEM_EACH_ISA_IF_COMPILED(drop64)};

inline constexpr i64 random_grain = 256;  // groups, 64 or 32 elements each: about 10 us

// Calls body(first_group, groups, elements) on ranges of whole groups; the last may have fewer elements.
template <class F>
void each_range(i64 n, i64 group, F&& body) {
  parallel_for((n + group - 1) / group, random_grain,
               [&](i64 begin, i64 end) { body(begin, end - begin, std::min(n, end * group) - begin * group); });
}
// Draws `elements` from first_group on; a partial group goes through a buffer.
template <class T>
void draw(const RandomFill& f, DrawFn fn, T* out, i64 first_group, i64 elements) {
  constexpr i64 group = sizeof(T) == 4 ? random::group32 : random::group64;
  const i64 whole = elements / group, rest = elements % group;
  if (whole) fn(f, out, first_group, whole);
  if (!rest) return;
  alignas(64) T buffer[group];
  RandomFill last = f;
  if (f.in) {
    std::fill_n(buffer, group, T(0));
    std::copy_n(static_cast<const T*>(f.in) + (first_group + whole - f.first) * group, rest, buffer);
    last.in = buffer;
    last.first = first_group + whole;
  }
  fn(last, buffer, first_group + whole, 1);
  std::copy_n(buffer, rest, out + whole * group);
}
template <class T>
void draw_all(const RandomFill& f, const DrawFns& fns, const Operand& out) {
  constexpr i64 group = sizeof(T) == 4 ? random::group32 : random::group64;
  const DrawFn fn = fns.get();
  each_range(out.size(), group,
             [&](i64 first, i64, i64 elements) { draw<T>(f, fn, out.as<T>() + first * group, first, elements); });
}

// Integers: 64 bits per element, scaled without bias.
template <class T>
void whole_numbers(const RandomFill& f, const Operand& out, i64 low, u64 range) {
  const DrawFn fn = bits64_fns.get();
  each_range(out.size(), random::group64, [&](i64 first, i64 groups, i64 elements) {
    for (i64 g = 0; g < groups; ++g) {
      alignas(64) u64 words[random::group64];
      fn(f, words, first + g, 1);
      const i64 at = (first + g) * random::group64, count = std::min(elements - g * random::group64, random::group64);
      for (i64 i = 0; i < count; ++i)
        out.as<T>()[at + i] = static_cast<T>(static_cast<u64>(low) + random::below(f.stream, at + i, words[i], range));
    }
  });
}

// A standard normal within two standard deviations. `z` is the pack kernel's draw. Near the bound the decision is
// made in double precision, so that all instruction sets decide alike.
template <class T>
double redrawn(const random::Stream& s, i64 i, bool refused) {
  random::Pair z{3, 3};
  if (refused) {
    // the pack kernel's draw is clearly outside: no decision needed
  } else if constexpr (sizeof(T) == 4) {
    const random::Words b = s.block(random::block_of(i, random::group32));
    const i64 word = i % random::group32 / random::group_blocks;
    z = word < 2 ? random::normals32(b.w[0], b.w[1]) : random::normals32(b.w[2], b.w[3]);
    if (word & 1) z.first = z.second;
  } else {
    const random::Words b = s.block(random::block_of(i, random::group64));
    z = random::normals64(random::join(b.w[0], b.w[1]), random::join(b.w[2], b.w[3]));
    if (i % random::group64 >= random::group_blocks) z.first = z.second;
  }
  for (std::uint32_t attempt = 1; !(std::abs(z.first) <= 2) && attempt < 256; ++attempt) {
    const random::Words b = s.block(static_cast<u64>(i), attempt);
    z = random::normals64(random::join(b.w[0], b.w[1]), random::join(b.w[2], b.w[3]));
    if (!(std::abs(z.first) <= 2)) z.first = z.second;
  }
  return z.first;
}
template <class T>
void truncated(const random::Stream& s, const DrawFns& fns, const Operand& out, T mean, T stddev) {
  constexpr i64 group = sizeof(T) == 4 ? random::group32 : random::group64;
  const RandomFill standard{.stream = s, .a = 0, .b = 1};
  const DrawFn fn = fns.get();
  each_range(out.size(), group, [&](i64 first, i64, i64 elements) {
    T* const p = out.as<T>() + first * group;
    draw<T>(standard, fn, p, first, elements);
    for (i64 i = 0; i < elements; ++i) {
      T z = p[i];
      if (std::abs(z) > T(2 - 1e-5)) z = static_cast<T>(redrawn<T>(s, first * group + i, std::abs(z) > T(2 + 1e-5)));
      p[i] = z * stddev + mean;
    }
  });
}

inline RandomFill dropping(const random::Stream& stream, double rate, const void* in) {
  return {.stream = stream,
          .a = 1 / (1 - rate),
          .threshold = static_cast<std::uint32_t>(std::min(rate * 0x1p32, 0xffffffffp0)),
          .in = in};
}
// Ones go through dropout, some groups at a time; what precedes `first` in its group is not kept.
template <class T>
void factors_of(const random::Stream& stream, double rate, i64 first, i64 n, const DrawFns& fns, T* out) {
  constexpr i64 group = sizeof(T) == 4 ? random::group32 : random::group64, most = 4;
  alignas(64) T ones[most * group], drawn[most * group];
  std::fill_n(ones, most * group, T(1));
  RandomFill f = dropping(stream, rate, ones);
  for (i64 skip = first % group; n > 0; skip = 0) {
    const i64 groups = std::min(most, (skip + n + group - 1) / group), count = std::min(n, groups * group - skip);
    f.first = first / group;
    fns.get()(f, drawn, f.first, groups);
    std::copy_n(drawn + skip, count, out);
    first += count, out += count, n -= count;
  }
}

}  // namespace detail

TANDEM_INLINE void dropout_factors(const random::Stream& stream, double rate, i64 first, i64 n, float* out) {
  detail::factors_of(stream, rate, first, n, detail::drop32_fns, out);
}
TANDEM_INLINE void dropout_factors(const random::Stream& stream, double rate, i64 first, i64 n, double* out) {
  detail::factors_of(stream, rate, first, n, detail::drop64_fns, out);
}

TANDEM_INLINE void random_bits(const KernelCall& c) {
  const RandomFill f{.stream = random::stream_of(c.in[0].as<i64>())};
  const Operand& o = c.out[0];
  if (size_of(o.spec->dtype) == 4) detail::draw_all<std::uint32_t>(f, detail::bits32_fns, o);
  else detail::draw_all<u64>(f, detail::bits64_fns, o);
}

TANDEM_INLINE void random_uniform(const KernelCall& c) {
  const rules::RandomAttrs& a = c.attrs.get<rules::RandomAttrs>();
  const Operand& o = c.out[0];
  RandomFill f{.stream = random::stream_of(c.in[0].as<i64>())};
  if (o.spec->dtype == DType::float32) {
    const float low = static_cast<float>(a.a), high = static_cast<float>(a.b);
    f.a = low, f.b = high - low, f.c = std::nextafter(high, low);
    return detail::draw_all<float>(f, detail::uniform32_fns, o);
  }
  if (o.spec->dtype == DType::float64) {
    f.a = a.a, f.b = a.b - a.a, f.c = std::nextafter(a.b, a.a);
    return detail::draw_all<double>(f, detail::uniform64_fns, o);
  }
  const u64 range = static_cast<u64>(a.high) - static_cast<u64>(a.low);
  switch (size_of(o.spec->dtype)) {
    case 1: return detail::whole_numbers<std::uint8_t>(f, o, a.low, range);
    case 2: return detail::whole_numbers<std::uint16_t>(f, o, a.low, range);
    case 4: return detail::whole_numbers<std::uint32_t>(f, o, a.low, range);
    default: return detail::whole_numbers<u64>(f, o, a.low, range);
  }
}

TANDEM_INLINE void random_normal(const KernelCall& c) {
  const rules::RandomAttrs& a = c.attrs.get<rules::RandomAttrs>();
  const RandomFill f{.stream = random::stream_of(c.in[0].as<i64>()), .a = a.a, .b = a.b};
  if (c.out[0].spec->dtype == DType::float32) detail::draw_all<float>(f, detail::normal32_fns, c.out[0]);
  else detail::draw_all<double>(f, detail::normal64_fns, c.out[0]);
}

TANDEM_INLINE void truncated_normal(const KernelCall& c) {
  const rules::RandomAttrs& a = c.attrs.get<rules::RandomAttrs>();
  const random::Stream s = random::stream_of(c.in[0].as<i64>());
  if (c.out[0].spec->dtype == DType::float32)
    detail::truncated<float>(s, detail::normal32_fns, c.out[0], static_cast<float>(a.a), static_cast<float>(a.b));
  else detail::truncated<double>(s, detail::normal64_fns, c.out[0], a.a, a.b);
}

TANDEM_INLINE void dropout(const KernelCall& c) {
  const double rate = c.attrs.get<rules::DropoutAttrs>().rate;
  const RandomFill f = detail::dropping(random::stream_of(c.in[1].as<i64>()), rate, c.in[0].data);
  if (c.out[0].spec->dtype == DType::float32) detail::draw_all<float>(f, detail::drop32_fns, c.out[0]);
  else detail::draw_all<double>(f, detail::drop64_fns, c.out[0]);
}

TANDEM_INLINE void random_advance(const KernelCall& c) {
  const i64* state = c.in[0].as<i64>();
  i64* next = c.out[0].as<i64>();
  next[0] = state[0];
  next[1] = static_cast<i64>(static_cast<u64>(state[1]) + 1);
}

}  // namespace TANDEM_NS::cpu
