// The kernel of fused_reduce: runs a program in blocks that stay in the L1 cache and folds each immediately. Chunks
// and the order of combination are those of cpu::fold, so the results are bitwise equal.
#pragma once
#include <algorithm>

#include "tandem/attrs/fused.hpp"
#include "tandem/cpu/fused/fused_reduce.hpp"
#include "tandem/cpu/fused/tiles.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/chunks.hpp"
#include "tandem/cpu/reduce/kernels.hpp"

namespace TANDEM_NS::cpu {
/// A fold whose elements arrive block by block.
struct PieceKernel {
  const FoldKernel* whole;
  void (*begin)(void* carry);
  void (*piece)(const void* x, i64 n, void* carry);
  void (*end)(const void* carry, void* out);
};
}  // namespace TANDEM_NS::cpu
#define TANDEM_KERNELS "tandem/cpu/fused/fused_reduce.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {
namespace detail {

template <Fold F>
const PieceKernel& piece_kernel_of(DType d) {
  static constexpr ByIsa<const PieceKernel*> floats{TANDEM_EACH_ISA(piece_kernel<F, float>)};
  static constexpr ByIsa<const PieceKernel*> doubles{TANDEM_EACH_ISA_IF_COMPILED(piece_kernel<F, double>)};
  return *(d == DType::float32 ? floats : doubles).get();
}
TANDEM_INLINE const PieceKernel& piece_kernel_of(Reduction r, DType d) {
  if (r == Reduction::max) return piece_kernel_of<Fold::max>(d);
  return r == Reduction::min ? piece_kernel_of<Fold::min>(d) : piece_kernel_of<Fold::sum>(d);
}

}  // namespace detail

class FusedReduction {
 public:
  FusedReduction(const FusedCode& code, const KernelCall& c)
      : code_(code),
        attrs_(c.attrs.get<rules::FusedReduceAttrs>()),
        fold_(detail::piece_kernel_of(attrs_.reduction, c.out[0].spec->dtype)),
        spec_{shape_of(c.in), c.out[0].spec->dtype, {}},
        whole_{nullptr, &spec_},
        rows_(c.out[0].size()),
        length_(length_of(c.op)),
        width_(static_cast<i64>(fold_.whole->width)),
        out_(c.out[0].as<char>()),
        program_call_{c.in, {&whole_, 1}, c.attrs, c.workspace, c.op, c.stream} {}

  void run() const {
    if (rows_ * length_ == 0) {
      fold_.whole->clear(out_, rows_);
    } else {
      FusedCall call(code_, program_call_);
      call.streamed = false;  // only blocks are written
      const i64 block = std::clamp<i64>(call.tile / 1024 * 1024, 1024, block_bytes / width_);
      if (length_ <= block) fold_rows(call, block);
      else fold_long_rows(call, block);
    }
    if (attrs_.reduction != Reduction::mean) return;
    width_ == 4 ? divide(reinterpret_cast<float*>(out_)) : divide(reinterpret_cast<double*>(out_));
  }

 private:
  static constexpr i64 block_bytes = 16 * 1024;  // half of an L1 cache

  static Shape shape_of(Span<const Operand> in) {
    Shape s = in[0].shape();
    for (const Operand& x : in.subspan(1)) {
      while (s.rank() < x.shape().rank()) s.insert(0, 1);
      for (int d = 1; d <= x.shape().rank(); ++d)
        if (s.dim(-d) == 1) s.set(s.rank() - d, x.shape().dim(-d));
    }
    return s;
  }
  i64 length_of(const char* op) const {
    const std::uint32_t mask = attrs_.axis.mask(op, spec_.shape.rank());
    i64 n = 1;
    for (int d = 0; d < spec_.shape.rank(); ++d)
      if (mask >> d & 1u) n *= spec_.shape.dim(d);
    return n;
  }
  // The number of elements worth handing to another thread.
  i64 grain() const { return static_cast<i64>(detail::fused_grain / (code_.cost() + 0.03)); }

  // A block consists of several rows.
  void fold_rows(const FusedCall& call, i64 block) const {
    const i64 many = block / length_;
    parallel_for((rows_ + many - 1) / many, grain() / (many * length_) + 1, [&](i64 begin, i64 end) {
      FusedTiles tiles(call);
      alignas(64) char values[block_bytes];
      for (; begin < end; ++begin) {
        const i64 first = begin * many, count = std::min(many, rows_ - first);
        tiles.run_into(values, first * length_, count * length_);
        fold_.whole->segments(values, count, length_, length_, nullptr, out_ + first * width_);
      }
    });
  }
  // A row consists of several blocks or, if it is long, a chunk does.
  void fold_long_rows(const FusedCall& call, i64 block) const {
    const i64 chunk = detail::chunk_of(length_), chunks = (length_ + chunk - 1) / chunk;
    const auto part = [&](FusedTiles& tiles, i64 row, i64 begin, i64 end, char* to) {
      alignas(64) char values[block_bytes], carry[128];
      fold_.begin(carry);
      for (; begin < end; begin += block) {
        const i64 n = std::min(block, end - begin);
        tiles.run_into(values, row * length_ + begin, n);
        fold_.piece(values, n, carry);
      }
      fold_.end(carry, to);
    };
    if (chunks > 1)
      return detail::join_chunks(*fold_.whole, rows_, chunks, out_, [&](i64 row, i64 c, char* to) {
        FusedTiles tiles(call);
        part(tiles, row, c * chunk, std::min(length_, (c + 1) * chunk), to);
      });
    parallel_for(rows_, grain() / length_ + 1, [&](i64 begin, i64 end) {
      FusedTiles tiles(call);
      for (; begin < end; ++begin) part(tiles, begin, 0, length_, out_ + begin * width_);
    });
  }
  template <class T>
  void divide(T* y) const {
    for (i64 i = 0; i < rows_; ++i) y[i] /= static_cast<T>(static_cast<double>(length_));
  }

  const FusedCode& code_;
  const rules::FusedReduceAttrs& attrs_;
  const PieceKernel& fold_;
  const Spec spec_;  // of the reduced value
  const Operand whole_;
  const i64 rows_, length_, width_;
  char* const out_;
  const KernelCall program_call_;
};

TANDEM_INLINE void FusedCode::reduce(const KernelCall& c) const { FusedReduction(*this, c).run(); }

}  // namespace TANDEM_NS::cpu
