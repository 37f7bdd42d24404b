// Tensors and their concatenation, for concat, stack and split: by interleaving, by runs of bytes, or by one strided
// copy for each tensor.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/layout/runs.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/packs.hpp"
#include "tandem/util/inlined_vector.hpp"

#define TANDEM_KERNELS "tandem/cpu/layout/interleave.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

inline bool on_gpu(const KernelCall& c) { return c.out[0].spec->device.kind == Device::gpu; }
inline void* element(const Operand& o, i64 at) {
  return static_cast<char*>(o.data) + at * static_cast<i64>(size_of(o.spec->dtype));
}
inline i64 product(const Shape& s, int from, int to) {
  i64 n = 1;
  for (int i = from; i < to; ++i) n *= s.dim(i);
  return n;
}
// Copies `outer` blocks of `length` elements; consecutive blocks are a step apart.
inline void copy_blocks(const KernelCall& c, const Operand& to, i64 to_at, i64 to_step, const Operand& from,
                        i64 from_at, i64 from_step, i64 outer, i64 length) {
  StridedCopy n;
  n.add(outer, to_step, from_step);
  n.add(length, 1, 1);
  copy_strided(c, n, element(to, to_at), element(from, from_at));
}

inline constexpr int most_interleaved = 4;
/// whole[i * parts + p] = part[p][i], or the reverse, for i in [first, last).
using Interleave = void (*)(void* whole, void* const* part, i64 first, i64 last, bool streamed);

/// The function for so many parts of elements of so many bytes; null if there is none.
template <bool Join>
Interleave interleave_of(unsigned parts, i64 width) {
  static constexpr ByIsa<Interleave> words[] = {{TANDEM_EACH_ISA(interleave<Join, std::uint32_t, 2>)},
                                                {TANDEM_EACH_ISA(interleave<Join, std::uint32_t, 3>)},
                                                {TANDEM_EACH_ISA(interleave<Join, std::uint32_t, 4>)}};
  static constexpr ByIsa<Interleave> doubles[] = {{TANDEM_EACH_ISA_IF_COMPILED(interleave<Join, std::uint64_t, 2>)},
                                                  {TANDEM_EACH_ISA_IF_COMPILED(interleave<Join, std::uint64_t, 3>)},
                                                  {TANDEM_EACH_ISA_IF_COMPILED(interleave<Join, std::uint64_t, 4>)}};
  if (parts < 2 || parts > most_interleaved || (width != 4 && width != 8)) return nullptr;
  return (width == 4 ? words : doubles)[parts - 2].get();
}

// Tensors and their concatenation: each row of the concatenation consists of one run from each tensor.
class Joined {
 public:
  Joined(const KernelCall& c, const Operand& whole, i64 outer, i64 row)
      : c_(c), whole_(whole), outer_(outer), row_(row) {}
  void add(const Operand& part, i64 at, i64 length) { parts_.push_back(Part{&part, at, length}); }
  void concat() { copy<true>(); }
  void split() { copy<false>(); }

 private:
  struct Part {
    const Operand* operand;
    i64 at, length;  // of its run in a row
  };
  static constexpr i64 short_run = 16;  // bytes: below, a strided element loop beats a copy per run,
  static constexpr i64 few_runs = 32;   // unless it costs more to prepare

  i64 width() const { return static_cast<i64>(size_of(whole_.spec->dtype)); }
  bool has_runs() const {
    if (on_gpu(c_) || whole_.spec->dtype == DType::string) return false;
    return outer_ * static_cast<i64>(parts_.size()) <= few_runs || outer_ == 1 ||
           std::all_of(parts_.begin(), parts_.end(), [&](const Part& p) { return p.length * width() >= short_run; });
  }
  template <bool Join>
  void copy() const {
    if (has_runs()) return copy_runs<Join>();
    if (on_gpu(c_)) return copy_each<Join>();
    if (const Interleave move = interleave_of<Join>(parts_.size(), width()); move && is_interleaved()) {
      void* part[most_interleaved];
      for (unsigned p = 0; p < parts_.size(); ++p) part[p] = (parts_.begin() + p)->operand->data;
      // In blocks, so that every thread's part of the result begins at a line.
      constexpr i64 block = 64;
      const bool streamed = outer_ * row_ * width() >= streaming_copy_bytes;
      return parallel_for(
          (outer_ + block - 1) / block, copy_grain_bytes / (block * row_ * width()) + 1,
          [&](i64 begin, i64 end) { move(whole_.data, part, begin * block, std::min(outer_, end * block), streamed); });
    }
    copy_each<Join>();
  }
  // Each row has one element of each tensor.
  bool is_interleaved() const {
    return row_ == static_cast<i64>(parts_.size()) && whole_.spec->dtype != DType::string &&
           std::all_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.length == 1; });
  }
  template <bool Join>
  void copy_each() const {
    for (const Part& p : parts_)
      Join ? copy_blocks(c_, whole_, p.at, row_, *p.operand, 0, p.length, outer_, p.length)
           : copy_blocks(c_, *p.operand, 0, p.length, whole_, p.at, row_, outer_, p.length);
  }
  // All runs of all tensors form one range of bytes: together they are often worth several threads where no single
  // tensor is.
  template <bool Join>
  void copy_runs() const {
    i64 row = 0;  // bytes
    for (const Part& p : parts_) row += p.length * width();
    if (row == 0) return;
    const bool streamed = outer_ * row >= streaming_copy_bytes;
    // Of runs that are too short to be streamed alone; rows of longer ones may be few, and are divided among threads. A
    // single row may have gaps: concat() leaves out what lies in its place.
    const bool is_short = row < shortest_streamed_run * static_cast<i64>(parts_.size());
    if (outer_ > 1 && Join && streamed && is_short) return copy_rows<Join>(row, &join_runs_around);
    if (outer_ > 1 && row <= longest_short_run) return copy_rows<Join>(row, &cpu::copy_runs);
    parallel_for(outer_ * row, copy_grain_bytes, [&](i64 begin, i64 end) {
      for (i64 r = begin / row; begin < end; ++r) {
        i64 at = r * row;
        for (const Part& p : parts_) {
          const i64 length = p.length * width(), first = std::max(begin, at), last = std::min(end, at + length);
          if (first < last)
            copy_run<Join>(static_cast<char*>(element(whole_, r * row_ + p.at)) + (first - at),
                           static_cast<char*>(element(*p.operand, r * p.length)) + (first - at), last - first,
                           streamed);
          at += length;
        }
        begin = at;
      }
    });
  }
  template <bool Join>
  void copy_rows(i64 row, void (*copy_part)(const Runs*, int, i64, i64)) const {
    InlinedVector<Runs, 8, memory::Blocks> runs;
    for (const Part& p : parts_) {
      char* const whole = static_cast<char*>(element(whole_, p.at));
      char* const part = static_cast<char*>(p.operand->data);
      const i64 step = row_ * width(), bytes = p.length * width();
      runs.push_back(Join ? Runs{whole, part, step, bytes, bytes} : Runs{part, whole, bytes, step, bytes});
    }
    parallel_for(outer_, copy_grain_bytes / row + 1,
                 [&](i64 begin, i64 end) { copy_part(runs.begin(), static_cast<int>(runs.size()), begin, end); });
  }
  template <bool Join>
  static void copy_run(char* whole, char* part, i64 n, bool streamed) {
    char* const to = Join ? whole : part;
    const char* const from = Join ? part : whole;
    if (streamed && n >= shortest_streamed_run) copy_around(to, from, n);
    else std::memcpy(to, from, static_cast<std::size_t>(n));
  }

  const KernelCall& c_;
  const Operand& whole_;
  const i64 outer_, row_;
  InlinedVector<Part, 8, memory::Blocks> parts_;
};

}  // namespace detail

}  // namespace TANDEM_NS::cpu
