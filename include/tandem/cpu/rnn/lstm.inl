// The LSTM's kernels.
#pragma once
#include "tandem/cpu/rnn/common.hpp"
#include "tandem/cpu/rnn/rnn.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <class T>
struct LstmForward {
  RnnSizes s;
  StepCounts counts;
  const T *h0, *c0;
  T *y, *h, *c, *gates, *cells;
  const T* packed_wh;

  // Runs rows [from, to) of the batch through all steps; h and c carry the state.
  void run(i64 from, i64 to) const {
    static constexpr void (*row[])(T*, const T*, T*, T*, i64) = TANDEM_EACH_ISA(lstm_row<T>);
    const i64 u = s.units;
    std::copy(h0 + from * u, h0 + to * u, h + from * u);
    std::copy(c0 + from * u, c0 + to * u, c + from * u);
    for (i64 t = 0; t < s.steps; ++t) {
      const i64 base = t * s.batch;
      gemm(Gemm<T>{.m = to - from,
                   .n = 4 * u,
                   .k = u,
                   .a = h + from * u,
                   .lda = u,
                   .c = gates + (base + from) * 4 * u,
                   .ldc = 4 * u,
                   .accumulate = true,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b) {
        T *cell = cells + (base + b) * u, *out = y + (base + b) * u;
        if (counts.runs(b, t)) {
          row[isa()](gates + (base + b) * 4 * u, c + b * u, cell, out, u);
          std::copy(cell, cell + u, c + b * u);
          std::copy(out, out + u, h + b * u);
        } else {
          std::fill(out, out + u, T(0));
          std::copy(c + b * u, c + (b + 1) * u, cell);
        }
      }
    }
  }
};

template <class T>
void lstm_forward(const KernelCall& k) {
  const RnnSizes s(k.in[0].shape(), k.in[1].shape());
  const i64 u = s.units;
  T* gates = k.out[3].as<T>();
  gemm(Gemm<T>{.m = s.steps * s.batch,
               .n = 4 * u,
               .k = s.in,
               .a = k.in[0].as<T>(),
               .lda = s.in,
               .b = k.in[3].as<T>(),
               .ldb = 4 * u,
               .c = gates,
               .ldc = 4 * u,
               .bias = k.in[5].as<T>()});
  const PackedWeights<T> wh(k.in[4].as<T>(), 4 * u, false, u, 4 * u);
  const LstmForward<T> f{s,
                         StepCounts(k, k.in.size() > 6 ? &k.in[6] : nullptr, s),
                         k.in[1].as<T>(),
                         k.in[2].as<T>(),
                         k.out[0].as<T>(),
                         k.out[1].as<T>(),
                         k.out[2].as<T>(),
                         gates,
                         k.out[4].as<T>(),
                         wh.room.data()};
  for_batch_shares(s.batch, 8.0 * static_cast<double>(s.steps * s.batch * u * u), [&](i64 a, i64 b) { f.run(a, b); });
}

template <class T>
struct LstmBackward {
  RnnSizes s;
  StepCounts counts;
  const T *c0, *gates, *cells, *dy;
  T *dh, *dc, *dz;  // dh, dc: the state's gradient after the last step, then those of h0 and c0
  const T* packed_wh;

  void run(i64 from, i64 to) const {
    static constexpr void (*row[])(const T*, const T*, const T*, const T*, T*, T*, i64) =
        TANDEM_EACH_ISA(lstm_row_grad<T>);
    static constexpr void (*add[])(T*, const T*, i64) = TANDEM_EACH_ISA(add_row<T>);
    const i64 u = s.units;
    const Numbers<T> next((to - from) * u);
    for (i64 t = s.steps; t-- > 0;) {
      const i64 base = t * s.batch;
      for (i64 b = from; b < to; ++b) {
        T* d = dz + (base + b) * 4 * u;
        if (!counts.runs(b, t)) {
          std::fill(d, d + 4 * u, T(0));
          continue;
        }
        add[isa()](dh + b * u, dy + (base + b) * u, u);
        const T* c_prev = t ? cells + (base - s.batch + b) * u : c0 + b * u;
        row[isa()](gates + (base + b) * 4 * u, c_prev, cells + (base + b) * u, dh + b * u, dc + b * u, d, u);
      }
      gemm(Gemm<T>{.m = to - from,
                   .n = u,
                   .k = 4 * u,
                   .a = dz + (base + from) * 4 * u,
                   .lda = 4 * u,
                   .c = next.data(),
                   .ldc = u,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b)
        if (counts.runs(b, t)) std::copy(next.data() + (b - from) * u, next.data() + (b - from + 1) * u, dh + b * u);
    }
  }
};

template <class T>
void lstm_backward(const KernelCall& k) {
  const RnnSizes s(k.in[0].shape(), k.in[1].shape());
  const i64 u = s.units, rows = s.steps * s.batch;
  const T *x = k.in[0].as<T>(), *h0 = k.in[1].as<T>(), *wx = k.in[3].as<T>(), *wh = k.in[4].as<T>(),
          *y = k.in[6].as<T>();
  T *dh = k.out[1].as<T>(), *dc = k.out[2].as<T>();
  std::copy(k.in[10].as<T>(), k.in[10].as<T>() + s.batch * u, dh);
  std::copy(k.in[11].as<T>(), k.in[11].as<T>() + s.batch * u, dc);
  const Numbers<T> dz(rows * 4 * u);
  {
    const PackedWeights<T> packed(wh, 4 * u, true, 4 * u, u);
    const LstmBackward<T> f{s,
                            StepCounts(k, k.in.size() > 12 ? &k.in[12] : nullptr, s),
                            k.in[2].as<T>(),
                            k.in[7].as<T>(),
                            k.in[8].as<T>(),
                            k.in[9].as<T>(),
                            dh,
                            dc,
                            dz.data(),
                            packed.room.data()};
    for_batch_shares(s.batch, 8.0 * static_cast<double>(rows * u * u), [&](i64 a, i64 b) { f.run(a, b); });
  }
  weight_gradient(x, s.in, dz.data(), 4 * u, 4 * u, rows, k.out[3].as<T>(), 4 * u, false);
  T* dwh = k.out[4].as<T>();
  weight_gradient(h0, u, dz.data(), 4 * u, 4 * u, s.steps ? s.batch : 0, dwh, 4 * u, false);
  if (s.steps > 1)  // past a row's length dz is 0, so y's zeros there do no harm
    weight_gradient(y, u, dz.data() + s.batch * 4 * u, 4 * u, 4 * u, rows - s.batch, dwh, 4 * u, true);
  column_sums(dz.data(), rows, 4 * u, 4 * u, k.out[5].as<T>());
  if (k.out[0].size())
    gemm(Gemm<T>{.m = rows,
                 .n = s.in,
                 .k = 4 * u,
                 .a = dz.data(),
                 .lda = 4 * u,
                 .b = wx,
                 .ldb = 4 * u,
                 .c = k.out[0].as<T>(),
                 .ldc = s.in,
                 .transpose_b = true});
}

}  // namespace detail

TANDEM_INLINE void lstm(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::lstm_forward<double>(c);
  else detail::lstm_forward<float>(c);
}
TANDEM_INLINE void lstm_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::lstm_backward<double>(c);
  else detail::lstm_backward<float>(c);
}

}  // namespace TANDEM_NS::cpu
