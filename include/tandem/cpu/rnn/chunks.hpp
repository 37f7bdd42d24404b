// The steps of a sequence in chunks, and operands as float32 a chunk at a time where they are stored as half precision.
// For the definitions of cpu/rnn/rnn.hpp.
#pragma once
#include <algorithm>
#include <optional>
#include <type_traits>

#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/rnn/rnn.hpp"

namespace TANDEM_NS::cpu::detail {

/// Scratch for numbers, for a scope.
template <class T>
struct Numbers {
  memory::Scratch scratch;
  explicit Numbers(i64 n) : scratch(static_cast<std::size_t>(n) * sizeof(T)) {}
  T* data() const { return static_cast<T*>(scratch.data()); }
};

/// Whether numbers of T may be copies of half precision, and whether those of x are.
template <class T>
inline constexpr bool may_widen = (kernels_take_half && std::is_same_v<T, float>);
template <class T>
bool is_widened(const Operand& x) {
  return may_widen<T> && x.is_half();
}

/// A part of an operand at a time: in place, or of half precision a float32 copy.
template <class T>
class Part {
 public:
  /// `most`: numbers of a part.
  Part(const Operand& x, i64 most) : x_(x), widened_(is_widened<T>(x)), room_(widened_ ? most : 0) {}
  explicit Part(const Operand& x) : Part(x, x.size()) {}

  /// Elements [at, at + n).
  const T* read(i64 at, i64 n) {
    T* const to = open(at, n);
    if constexpr (may_widen<T>)
      if (widened_)
        parallel_for(n, grain, [&](i64 begin, i64 end) {
          half_rows(x_.spec->dtype).widen(half() + begin, 0, to + begin, 0, 1, end - begin);
        });
    return to;
  }
  const T* read() { return read(0, x_.size()); }
  /// Room for elements [at, at + n), which write() stores.
  T* open(i64 at, i64 n) {
    at_ = at, n_ = n;
    return widened_ ? room_.data() : x_.as<T>() + at;
  }
  T* open() { return open(0, x_.size()); }
  void write() const {
    if constexpr (may_widen<T>)
      if (widened_)
        parallel_for(n_, grain, [&](i64 begin, i64 end) {
          half_rows(x_.spec->dtype).round(room_.data() + begin, 0, half() + begin, 0, 1, end - begin);
        });
  }

 private:
  static constexpr i64 grain = 1 << 15;
  std::uint16_t* half() const { return x_.as<std::uint16_t>() + at_; }

  const Operand& x_;
  const bool widened_;
  const Numbers<T> room_;
  i64 at_ = 0, n_ = 0;
};

/// Results that begin as zeros.
template <class T>
T* begin_as_zeros(Part<T>& to, const Operand& y) {
  return std::fill_n(to.open(), y.size(), T(0)) - y.size();
}
/// Results that begin as a copy of an operand.
template <class T>
T* begin_as(Part<T>& to, const Operand& from) {
  Part<T> start(from);
  const T* const x = start.read();
  return std::copy(x, x + from.size(), to.open()) - from.size();
}

struct RnnSizes {
  i64 steps, batch, in, units;
  RnnSizes(const Shape& x, const Shape& h0) : steps(x.dim(0)), batch(x.dim(1)), in(x.dim(2)), units(h0.dim(1)) {}
  i64 rows() const { return steps * batch; }
};

/// Steps [begin, end).
struct StepRange {
  i64 begin, end;
  i64 count() const { return end - begin; }
};

/// The steps in chunks. They depend on the shapes only, as the order of sums over all steps must.
struct Chunks {
  i64 steps, size, count;

  /// `numbers`: of scratch for each row of a step. Few rows make products slow, whatever their scratch.
  Chunks(const RnnSizes& s, i64 numbers) : steps(s.steps) {
    const i64 rows = std::clamp<i64>((1 << 20) / std::max<i64>(1, numbers), 512, 4096);
    size = std::clamp<i64>(rows / std::max<i64>(1, s.batch), 1, std::max<i64>(1, steps));
    count = (steps + size - 1) / size;
  }
  static Chunks one(const RnnSizes& s) {
    Chunks c(s, 0);
    c.size = std::max<i64>(1, s.steps), c.count = s.steps > 0;
    return c;
  }
  StepRange operator[](i64 i) const { return {i * size, std::min(steps, (i + 1) * size)}; }
};

/// Rows [batch, width] of consecutive steps.
template <class T>
struct StepRows {
  T* x;
  i64 first, batch, width;
  T* at(i64 step, i64 row = 0) const { return x + ((step - first) * batch + row) * width; }
};

/// Some steps at a time of an operand [steps, batch, width].
template <class T>
class StepPart {
 public:
  /// `most`: how many steps.
  StepPart(const Operand& x, i64 batch, i64 width, i64 most)
      : part_(x, most * batch * width), batch_(batch), width_(width) {}

  StepRows<const T> read(StepRange s) {
    const i64 step = batch_ * width_;
    return {part_.read(s.begin * step, s.count() * step), s.begin, batch_, width_};
  }
  StepRows<T> open(StepRange s) {
    const i64 step = batch_ * width_;
    return {part_.open(s.begin * step, s.count() * step), s.begin, batch_, width_};
  }
  void write() const { part_.write(); }

 private:
  Part<T> part_;
  const i64 batch_, width_;
};

/// How the weights of a product are read: columns [column, column + (transposed ? k : n)) of rows `ld` wide.
struct WeightsLayout {
  i64 ld;
  bool transposed;
  i64 k, n, column = 0;
};

/// The right operand of a product that is repeated in every step.
template <class T>
class PackedWeights {
 public:
  PackedWeights(const Operand& w, const WeightsLayout& l) : room_(packed_b_size<T>(l.k, l.n)) {
    Part<T> whole(w);
    pack_b(whole.read() + l.column, l.ld, l.transposed, l.k, l.n, room_.data());
  }
  const T* data() const { return room_.data(); }

 private:
  const Numbers<T> room_;
};

/// The right operand of a product that is repeated in every chunk: packed if there are several. Results have the bits
/// of one product of all rows.
template <class T>
class ChunkWeights {
 public:
  ChunkWeights(const Operand& w, const WeightsLayout& l, const Chunks& chunks)
      : layout_(l), packs_(chunks.count > 1), whole_(w, packs_ ? 0 : w.size()) {
    if (packs_) packed_.emplace(w, l);
    else b_ = whole_.read() + l.column;
  }
  void set(Gemm<T>& g) const {
    g.n = layout_.n, g.k = layout_.k;
    g.b = b_, g.ldb = layout_.ld, g.transpose_b = layout_.transposed;
    g.packed_b = packs_ ? packed_->data() : nullptr;
  }

 private:
  const WeightsLayout layout_;
  const bool packs_;
  Part<T> whole_;
  std::optional<PackedWeights<T>> packed_;
  const T* b_ = nullptr;
};

}  // namespace TANDEM_NS::cpu::detail
