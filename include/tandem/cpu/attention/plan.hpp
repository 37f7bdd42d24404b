// What the forward and backward kernels of attention share: sizes, which keys and which part of the mask belong to a
// batch of queries, and the kernels of the instruction set in use. For the definitions of attention.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/attrs/matrix_places.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/cpu/attention/attention.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/random/random.hpp"
#include "tandem/cpu/reduce/kernels.hpp"
#include "tandem/cpu/simd/packs.hpp"

namespace TANDEM_NS::cpu {

/// A tile of scores and what is known of its rows. Read by every instruction set, so it has no functions.
template <class T>
struct AttentionTile {
  T* s;             // rows x ld: products of queries and keys; weights on return
  T* ds;            // backward: products of gradients and values; gradients of the products on return
  i64 rows, n, ld;  // n: keys
  i64 allowed;      // the number of keys that row 0 sees; row r sees r more (not causal: n, and each row sees all)
  bool causal;
  T scale;
  const T* bias;  // added to the scores, or null; rows bias_ld apart
  i64 bias_ld;
  const T* kept;     // rows x ld: what dropout multiplies the weights by, or null
  T *highest, *sum;  // forward: by row, updated; backward: the logsumexp and delta
  T* y;              // forward: rows x e, the results so far, not yet divided by the sums; rows y_ld apart
  i64 e, y_ld;
};

}  // namespace TANDEM_NS::cpu

#define TANDEM_KERNELS "tandem/cpu/attention/attention.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::detail {

template <class T>
struct AttentionKernels {
  void (*forward)(const AttentionTile<T>&);
  void (*finish)(const AttentionTile<T>&);
  void (*backward)(const AttentionTile<T>&);
  void (*flags)(const void*, i64, i64, void*);
  void (*dots)(const T*, const T*, i64, i64, i64, T*);
};
template <class T>
AttentionKernels<T> attention_kernels() {
  static constexpr auto forward = TANDEM_SETS_OF(T, attention_rows<T>), finish = TANDEM_SETS_OF(T, attention_finish<T>),
                        backward = TANDEM_SETS_OF(T, attention_grad_rows<T>);
  static constexpr auto flags = TANDEM_SETS_OF(T, bias_of_flags<T>);
  static constexpr auto dots = TANDEM_SETS_OF(T, row_dots<T>);
  return {forward.get(), finish.get(), backward.get(), flags.get(), dots.get()};
}

// Numbers of T with the lifetime of a scope, on a cache line.
template <class T>
struct TileRoom {
  memory::Scratch scratch;
  explicit TileRoom(i64 n) : scratch(static_cast<std::size_t>(n) * sizeof(T)) {}
  T* data() const { return static_cast<T*>(scratch.data()); }
};

// Divides n into the fewest parts of at most `most`, of similar size.
struct Tiles {
  i64 count, size, n;
  Tiles(i64 total, i64 most) : count(std::max<i64>(1, (total + most - 1) / most)), n(total) {
    size = (n + count - 1) / count;
    count = size ? (n + size - 1) / size : 0;
  }
  i64 begin(i64 i) const { return i * size; }
  i64 width(i64 i) const { return std::min(size, n - i * size); }
};

struct AttentionPlan {
  const bool steps_first;
  const Shape q, k;  // [..., heads, steps, width]
  const MatrixPlaces of_q, of_k, of_v, of_y;
  const Operand* mask = nullptr;
  double dropout = 0;  // of the weights: as if they were stored as [..., heads, m, n]
  random::Stream random = {};
  i64 batches = 1, key_batches = 1;  // matrices of queries; of keys and values
  i64 m, n, d, e;                    // queries, keys, width of both, width of values
  bool causal;
  double scale;
  i64 mask_row = 0, mask_column = 0;  // strides

  /// Inputs `first` to `first` + 2 are q, k and v; the mask, if there is one, is input `others`, the key the last.
  AttentionPlan(const KernelCall& c, std::size_t first, std::size_t others)
      : AttentionPlan(c, c.in[first].shape(), c.in[first + 1].shape(), c.in[first + 2].shape()) {
    dropout = attrs_of(c).dropout;
    if (dropout > 0) random = random::stream_of(c.in[c.in.size() - 1].as<i64>());
    if (c.in.size() - (dropout > 0) > others) set_mask(&c.in[others]);
  }
  AttentionPlan(const KernelCall& c, const Shape& queries, const Shape& keys, const Shape& values)
      : steps_first(attrs_of(c).steps_first),
        q(attrs_of(c).heads_first(queries)),
        k(attrs_of(c).heads_first(keys)),
        of_q(queries, steps_first),
        of_k(keys, steps_first),
        of_v(values, steps_first),
        of_y(with_width(queries, values.dim(-1)), steps_first),
        m(q.dim(-2)),
        n(k.dim(-2)),
        d(q.dim(-1)),
        e(values.dim(-1)) {
    const rules::AttentionAttrs& a = attrs_of(c);
    causal = a.causal;
    scale = a.by_width ? 1 / std::sqrt(static_cast<double>(std::max<i64>(d, 1))) : a.scale;
    for (int i = 0; i < q.rank() - 2; ++i) batches *= q.dim(i), key_batches *= k.dim(i);
  }
  void set_mask(const Operand* of) {
    mask = of;
    const Shape& s = mask->shape();
    if (s.rank() > 0 && s.dim(-1) != 1) mask_column = 1;
    if (s.rank() > 1 && s.dim(-2) != 1) mask_row = s.dim(-1);
  }
  static const rules::AttentionAttrs& attrs_of(const KernelCall& c) { return c.attrs.get<rules::AttentionAttrs>(); }
  static Shape with_width(Shape s, i64 width) {
    s.set(s.rank() - 1, width);
    return s;
  }
  /// The matrix of keys of matrix `i` of queries: of fewer heads, each serves several adjacent ones.
  i64 keys_of(i64 i) const {
    i64 at = 0, step = 1;
    for (int a = q.rank() - 3; a >= 0; --a) {
      at += i % q.dim(a) * k.dim(a) / q.dim(a) * step;
      i /= q.dim(a);
      step *= k.dim(a);
    }
    return at;
  }
  /// The element of the mask for matrix `i` of queries, query 0 and key 0.
  i64 mask_of(i64 i) const {
    const Shape& s = mask->shape();
    i64 at = 0, step = (s.rank() > 0 ? s.dim(-1) : 1) * (s.rank() > 1 ? s.dim(-2) : 1);
    for (int a = q.rank() - 3, b = s.rank() - 3; a >= 0; --a, --b) {
      if (b >= 0) at += s.dim(b) == 1 ? 0 : i % q.dim(a) * step;
      if (b >= 0) step *= s.dim(b);
      i /= q.dim(a);
    }
    return at;
  }
  /// Whether there may be keys that a query does not see.
  bool hides() const { return mask || causal; }
  bool flags() const { return mask->spec->dtype == DType::bool_; }
  /// The numbers that bias() may write for a tile.
  i64 bias_room(i64 rows, i64 keys) const { return mask && !mask_is_read_in_place() ? rows * keys : 0; }
  bool mask_is_half() const { return kernels_take_half && mask->is_half(); }
  bool mask_is_read_in_place() const { return !flags() && mask_column && !mask_is_half(); }

  /// Sets what is added to the scores of a tile, in `room` unless the mask itself can be read.
  template <class T>
  void bias(AttentionTile<T>& t, const AttentionKernels<T>& kernels, i64 batch, i64 query, i64 key, T* room) const {
    t.bias = nullptr, t.bias_ld = 0;
    if (!mask) return;
    const i64 at = mask_of(batch) + query * mask_row + key * mask_column, rows = mask_row ? t.rows : 1;
    if (mask_is_read_in_place()) {
      t.bias = mask->as<const T>() + at, t.bias_ld = mask_row;
      return;
    }
    for (i64 r = 0; r < rows; ++r) {
      if (flags()) kernels.flags(mask->as<const char>() + at + r * mask_row, mask_column, t.n, room + r * t.n);
      else if (mask_is_half()) widen_mask(at + r * mask_row, t.n, room + r * t.n);
      else std::fill_n(room + r * t.n, t.n, mask->as<const T>()[at + r * mask_row]);
    }
    t.bias = room, t.bias_ld = mask_row ? t.n : 0;
  }
  /// n numbers of a mask of half precision from element `at` on.
  template <class T>
  void widen_mask(i64 at, i64 count, T* to) const {
    if constexpr (kernels_take_half && std::is_same_v<T, float>) {
      half_rows(mask->spec->dtype).widen(mask->as<const std::uint16_t>() + at, 0, to, 0, 1, mask_column ? count : 1);
      if (!mask_column) std::fill_n(to, count, *to);
    } else {
      (void)at, (void)count, (void)to;
    }
  }
  i64 dropout_room(i64 rows, i64 keys) const { return dropout > 0 ? (rows * keys + 15) / 16 * 16 : 0; }
  /// Sets what dropout multiplies a tile's weights by. It depends on the key and the weights' positions only.
  template <class T>
  void drop(AttentionTile<T>& t, i64 batch, i64 query, i64 key, T* room) const {
    t.kept = dropout > 0 ? room : nullptr;
    for (i64 r = 0; t.kept && r < t.rows; ++r)
      dropout_factors(random, dropout, (batch * m + query + r) * n + key, t.n, room + r * t.ld);
  }
  /// Sets which keys a tile's rows see.
  template <class T>
  void visibility(AttentionTile<T>& t, i64 query, i64 key) const {
    t.causal = causal;
    t.allowed = causal ? query + 1 - key : t.n;
  }
};

}  // namespace TANDEM_NS::cpu::detail
