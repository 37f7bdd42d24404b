// The GRU's kernels, reset_after form.
#pragma once
#include "tandem/cpu/rnn/common.hpp"
#include "tandem/cpu/rnn/rnn.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

template <class T>
struct GruForward {
  RnnSizes s;
  StepCounts counts;
  const T *h0, *candidate_bias;
  T *y, *h, *gates, *hu;
  const T* packed_wh;

  void run(i64 from, i64 to) const {
    static constexpr void (*row[])(T*, const T*, const T*, const T*, T*, T*, i64) = TANDEM_EACH_ISA(gru_row<T>);
    const i64 u = s.units;
    const Numbers<T> sums((to - from) * 3 * u);
    std::copy(h0 + from * u, h0 + to * u, h + from * u);
    for (i64 t = 0; t < s.steps; ++t) {
      const i64 base = t * s.batch;
      gemm(Gemm<T>{.m = to - from,
                   .n = 3 * u,
                   .k = u,
                   .a = h + from * u,
                   .lda = u,
                   .c = sums.data(),
                   .ldc = 3 * u,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b) {
        T* out = y + (base + b) * u;
        if (counts.runs(b, t)) {
          row[isa()](gates + (base + b) * 3 * u, sums.data() + (b - from) * 3 * u, candidate_bias, h + b * u,
                     hu + (base + b) * u, out, u);
          std::copy(out, out + u, h + b * u);
        } else {
          std::fill(out, out + u, T(0));
          std::fill(hu + (base + b) * u, hu + (base + b + 1) * u, T(0));
        }
      }
    }
  }
};

template <class T>
void gru_forward(const KernelCall& k) {
  const RnnSizes s(k.in[0].shape(), k.in[1].shape());
  const i64 u = s.units;
  const T *bias = k.in[4].as<T>(), *second = bias + 3 * u;  // [2, 3u]: the input's, the state's
  const Numbers<T> both(3 * u);
  for (i64 i = 0; i < 3 * u; ++i) both.data()[i] = bias[i] + (i < 2 * u ? second[i] : T(0));
  T* gates = k.out[2].as<T>();
  gemm(Gemm<T>{.m = s.steps * s.batch,
               .n = 3 * u,
               .k = s.in,
               .a = k.in[0].as<T>(),
               .lda = s.in,
               .b = k.in[2].as<T>(),
               .ldb = 3 * u,
               .c = gates,
               .ldc = 3 * u,
               .bias = both.data()});
  const PackedWeights<T> wh(k.in[3].as<T>(), 3 * u, false, u, 3 * u);
  const GruForward<T> f{s,
                        StepCounts(k, k.in.size() > 5 ? &k.in[5] : nullptr, s),
                        k.in[1].as<T>(),
                        second + 2 * u,
                        k.out[0].as<T>(),
                        k.out[1].as<T>(),
                        gates,
                        k.out[3].as<T>(),
                        wh.room.data()};
  for_batch_shares(s.batch, 6.0 * static_cast<double>(s.steps * s.batch * u * u), [&](i64 a, i64 b) { f.run(a, b); });
}

template <class T>
struct GruBackward {
  RnnSizes s;
  StepCounts counts;
  const T *h0, *y, *gates, *hu, *dy;
  T *dh, *ds, *da;  // ds: of the state's sums [t, b, 3u]; da: of the candidate's input sum [t, b, u]
  const T* packed_wh;

  void run(i64 from, i64 to) const {
    static constexpr void (*row[])(const T*, const T*, const T*, T*, T*, T*, i64) = TANDEM_EACH_ISA(gru_row_grad<T>);
    static constexpr void (*add[])(T*, const T*, i64) = TANDEM_EACH_ISA(add_row<T>);
    const i64 u = s.units;
    for (i64 t = s.steps; t-- > 0;) {
      const i64 base = t * s.batch;
      for (i64 b = from; b < to; ++b) {
        T *d = ds + (base + b) * 3 * u, *a = da + (base + b) * u;
        if (!counts.runs(b, t)) {
          std::fill(d, d + 3 * u, T(0));
          std::fill(a, a + u, T(0));
          continue;
        }
        add[isa()](dh + b * u, dy + (base + b) * u, u);
        const T* h_prev = t ? y + (base - s.batch + b) * u : h0 + b * u;
        row[isa()](gates + (base + b) * 3 * u, hu + (base + b) * u, h_prev, dh + b * u, d, a, u);
      }
      gemm(Gemm<T>{.m = to - from,
                   .n = u,
                   .k = 3 * u,
                   .a = ds + (base + from) * 3 * u,
                   .lda = 3 * u,
                   .c = dh + from * u,
                   .ldc = u,
                   .accumulate = true,
                   .packed_b = packed_wh});
    }
  }
};

// dA = [ds_z, ds_r, da]: the input's sums differ from the state's only in the candidate.
template <class T>
void gru_input_gradients(const KernelCall& k, const RnnSizes& s, const T* ds, const T* da) {
  const i64 u = s.units, rows = s.steps * s.batch;
  const T *x = k.in[0].as<T>(), *wx = k.in[2].as<T>();
  T *dwx = k.out[2].as<T>(), *db = k.out[4].as<T>();
  weight_gradient(x, s.in, ds, 3 * u, 2 * u, rows, dwx, 3 * u, false);
  weight_gradient(x, s.in, da, u, u, rows, dwx + 2 * u, 3 * u, false);
  column_sums(ds, rows, 3 * u, 3 * u, db + 3 * u);
  std::copy(db + 3 * u, db + 5 * u, db);
  column_sums(da, rows, u, u, db + 2 * u);
  if (!k.out[0].size()) return;
  T* dx = k.out[0].as<T>();
  gemm(Gemm<T>{.m = rows,
               .n = s.in,
               .k = 2 * u,
               .a = ds,
               .lda = 3 * u,
               .b = wx,
               .ldb = 3 * u,
               .c = dx,
               .ldc = s.in,
               .transpose_b = true});
  gemm(Gemm<T>{.m = rows,
               .n = s.in,
               .k = u,
               .a = da,
               .lda = u,
               .b = wx + 2 * u,
               .ldb = 3 * u,
               .c = dx,
               .ldc = s.in,
               .transpose_b = true,
               .accumulate = true});
}

template <class T>
void gru_backward(const KernelCall& k) {
  const RnnSizes s(k.in[0].shape(), k.in[1].shape());
  const i64 u = s.units, rows = s.steps * s.batch;
  const T *h0 = k.in[1].as<T>(), *y = k.in[5].as<T>();
  T* dh = k.out[1].as<T>();
  std::copy(k.in[9].as<T>(), k.in[9].as<T>() + s.batch * u, dh);
  const Numbers<T> ds(rows * 3 * u), da(rows * u);
  {
    const PackedWeights<T> packed(k.in[3].as<T>(), 3 * u, true, 3 * u, u);
    const GruBackward<T> f{s,
                           StepCounts(k, k.in.size() > 10 ? &k.in[10] : nullptr, s),
                           h0,
                           y,
                           k.in[6].as<T>(),
                           k.in[7].as<T>(),
                           k.in[8].as<T>(),
                           dh,
                           ds.data(),
                           da.data(),
                           packed.room.data()};
    for_batch_shares(s.batch, 6.0 * static_cast<double>(rows * u * u), [&](i64 a, i64 b) { f.run(a, b); });
  }
  T* dwh = k.out[3].as<T>();
  weight_gradient(h0, u, ds.data(), 3 * u, 3 * u, s.steps ? s.batch : 0, dwh, 3 * u, false);
  if (s.steps > 1) weight_gradient(y, u, ds.data() + s.batch * 3 * u, 3 * u, 3 * u, rows - s.batch, dwh, 3 * u, true);
  gru_input_gradients(k, s, ds.data(), da.data());
}

}  // namespace detail

TANDEM_INLINE void gru(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::gru_forward<double>(c);
  else detail::gru_forward<float>(c);
}
TANDEM_INLINE void gru_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::gru_backward<double>(c);
  else detail::gru_backward<float>(c);
}

}  // namespace TANDEM_NS::cpu
