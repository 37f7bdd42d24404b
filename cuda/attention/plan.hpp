// Where the operands of attention lie, for its kernels: which matrices belong together, and which keys a query sees.
#pragma once
#include <cmath>

#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/attention.hpp"
#include "tandem/attrs/matrix_places.hpp"

namespace TANDEM_NS::cuda {

/// What the kernels know of a call. Matrices of queries are counted in row-major order of their leading axes.
struct AttentionPlan {
  MatrixPlaces of_q, of_k, of_v, of_y;
  int axes = 0;  // leading ones
  i64 q_size[max_rank] = {}, k_size[max_rank] = {}, mask_step[max_rank] = {};
  i64 m, n, d, e;                               // queries, keys, width of both, width of values
  i64 batches = 1, key_batches = 1, users = 1;  // matrices of queries; of keys; of queries for one of keys
  bool causal;
  double scale;
  int mask_kind = 0;  // 0: none, 1: flags, 2: added to the scores
  const void* mask = nullptr;
  i64 mask_row = 0, mask_column = 0;
  double keep_scale = 0;  // with dropout what the weights that stay are multiplied by
  std::uint32_t threshold = 0;
  const i64* key = nullptr;  // of dropout: on the device, where it has no fixed place among the inputs

  /// Inputs `first` to `first` + 2 are q, k and v; the mask, if there is one, is input `others`, the key the last.
  AttentionPlan(const KernelCall& c, std::size_t first, std::size_t others)
      : AttentionPlan(c.attrs.get<rules::AttentionAttrs>(), c.in[first].shape(), c.in[first + 1].shape(),
                      c.in[first + 2].shape()) {
    const double rate = c.attrs.get<rules::AttentionAttrs>().dropout;
    if (rate > 0) {
      key = c.in[c.in.size() - 1].as<const i64>();
      threshold = static_cast<std::uint32_t>(std::min(rate * 0x1p32, 0xffffffffp0));
      keep_scale = 1 / (1 - rate);
    }
    if (c.in.size() - (rate > 0) > others) set_mask(c.in[others]);
  }
  bool hides() const { return mask_kind || causal; }

  /// The matrix of keys of matrix `i` of queries: of fewer heads, each serves several adjacent ones.
  TANDEM_HD i64 keys_of(i64 i) const {
    i64 at = 0, step = 1;
    for (int a = axes; a-- > 0; i /= q_size[a], step *= k_size[a]) at += i % q_size[a] * k_size[a] / q_size[a] * step;
    return at;
  }
  /// The `user`-th of the matrices of queries that matrix `key` of keys serves.
  TANDEM_HD i64 user_of(i64 key, i64 user) const {
    i64 at = 0, step = 1;
    for (int a = axes; a-- > 0; key /= k_size[a], step *= q_size[a]) {
      const i64 each = q_size[a] / k_size[a];
      at += (key % k_size[a] * each + user % each) * step;
      user /= each;
    }
    return at;
  }
  /// The element of the mask for matrix `i` of queries, query 0 and key 0.
  TANDEM_HD i64 mask_of(i64 i) const {
    i64 at = 0;
    for (int a = axes; a-- > 0; i /= q_size[a]) at += i % q_size[a] * mask_step[a];
    return at;
  }

 private:
  static Shape with_width(Shape s, i64 width) {
    s.set(s.rank() - 1, width);
    return s;
  }
  AttentionPlan(const rules::AttentionAttrs& a, const Shape& queries, const Shape& keys, const Shape& values)
      : of_q(queries, a.steps_first),
        of_k(keys, a.steps_first),
        of_v(values, a.steps_first),
        of_y(with_width(queries, values.dim(-1)), a.steps_first),
        e(values.dim(-1)),
        causal(a.causal) {
    const Shape q = a.heads_first(queries), k = a.heads_first(keys);
    m = q.dim(-2), n = k.dim(-2), d = q.dim(-1);
    scale = a.by_width ? 1 / std::sqrt(static_cast<double>(std::max<i64>(d, 1))) : a.scale;
    axes = q.rank() - 2;
    for (int i = 0; i < axes; ++i) {
      q_size[i] = q[i], k_size[i] = k[i];
      batches *= q[i], key_batches *= k[i];
    }
    users = key_batches ? batches / key_batches : 0;
  }
  void set_mask(const Operand& of) {
    mask = of.data, mask_kind = of.spec->dtype == DType::bool_ ? 1 : 2;
    const Shape& s = of.shape();
    if (s.rank() > 0 && s.dim(-1) != 1) mask_column = 1;
    if (s.rank() > 1 && s.dim(-2) != 1) mask_row = s.dim(-1);
    i64 step = (s.rank() > 0 ? s.dim(-1) : 1) * (s.rank() > 1 ? s.dim(-2) : 1);
    for (int a = axes - 1, b = s.rank() - 3; a >= 0 && b >= 0; --a, --b) {
      mask_step[a] = s[b] == 1 ? 0 : step;
      step *= s[b];
    }
  }
};

}  // namespace TANDEM_NS::cuda
