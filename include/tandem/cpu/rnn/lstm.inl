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
  T *h, *c;  // the state
  const T* packed_wh;

  // Runs rows [from, to) of the batch through some steps. gates: the sums of the inputs on entry.
  void run(i64 from, i64 to, StepRange steps, StepRows<T> y, StepRows<T> gates, StepRows<T> cells) const {
    static constexpr auto row = TANDEM_SETS_OF(T, lstm_row<T>);
    const i64 u = s.units;
    for (i64 t = steps.begin; t < steps.end; ++t) {
      gemm(Gemm<T>{.m = to - from,
                   .n = 4 * u,
                   .k = u,
                   .a = h + from * u,
                   .lda = u,
                   .c = gates.at(t, from),
                   .ldc = 4 * u,
                   .accumulate = true,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b) {
        T *cell = cells.at(t, b), *out = y.at(t, b);
        if (counts.runs(b, t)) {
          row.get()(gates.at(t, b), c + b * u, cell, out, u);
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
  const double flops = 8.0 * static_cast<double>(u * u);  // of a row
  const Chunks chunks = is_widened<T>(k.in[0]) ? Chunks(s, s.in + 6 * u) : Chunks::one(s);
  Part<T> h(k.out[1]), c(k.out[2]), bias(k.in[5]);
  const ChunkWeights<T> wx(k.in[3], {4 * u, false, s.in, 4 * u}, chunks);
  const PackedWeights<T> wh(k.in[4], {4 * u, false, u, 4 * u});
  const LstmForward<T> f{s, StepCounts(k, 6, s), begin_as(h, k.in[1]), begin_as(c, k.in[2]), wh.data()};
  StepPart<T> x(k.in[0], s.batch, s.in, chunks.size), y(k.out[0], s.batch, u, chunks.size),
      gates(k.out[3], s.batch, 4 * u, chunks.size), cells(k.out[4], s.batch, u, chunks.size);
  Gemm<T> inputs{.lda = s.in, .ldc = 4 * u, .bias = bias.read()};
  wx.set(inputs);
  for (i64 i = 0; i < chunks.count; ++i) {
    const StepRange steps = chunks[i];
    const StepRows<T> to = y.open(steps), sums = gates.open(steps), states = cells.open(steps);
    inputs.m = steps.count() * s.batch;
    inputs.a = x.read(steps).x, inputs.c = sums.x;
    gemm(inputs);
    for_batch_shares(s.batch, flops * static_cast<double>(inputs.m), flops * static_cast<double>(s.rows()),
                     [&](i64 from, i64 past) { f.run(from, past, steps, to, sums, states); });
    for (const StepPart<T>* p : {&y, &gates, &cells}) p->write();
  }
  h.write(), c.write();
}

template <class T>
struct LstmBackward {
  RnnSizes s;
  StepCounts counts;
  const T* c0;
  T *dh, *dc;  // the state's gradient after the steps, then before them
  const T* packed_wh;

  struct Saved {
    StepRows<const T> gates, cells, dy;
  };
  // Runs rows [from, to) of the batch back through some steps. dz: the gradients of the gates' sums.
  void run(i64 from, i64 to, StepRange steps, const Saved& saved, StepRows<T> dz) const {
    static constexpr auto row = TANDEM_SETS_OF(T, lstm_row_grad<T>);
    static constexpr auto add = TANDEM_SETS_OF(T, add_row<T>);
    const i64 u = s.units;
    const Numbers<T> next((to - from) * u);
    for (i64 t = steps.end; t-- > steps.begin;) {
      for (i64 b = from; b < to; ++b) {
        T* d = dz.at(t, b);
        if (!counts.runs(b, t)) {
          std::fill(d, d + 4 * u, T(0));
          continue;
        }
        add.get()(dh + b * u, saved.dy.at(t, b), u);
        const T* c_prev = t ? saved.cells.at(t - 1, b) : c0 + b * u;
        row.get()(saved.gates.at(t, b), c_prev, saved.cells.at(t, b), dh + b * u, dc + b * u, d, u);
      }
      gemm(Gemm<T>{.m = to - from,
                   .n = u,
                   .k = 4 * u,
                   .a = dz.at(t, from),
                   .lda = 4 * u,
                   .c = next.data(),
                   .ldc = u,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b)
        if (counts.runs(b, t)) std::copy(next.data() + (b - from) * u, next.data() + (b - from + 1) * u, dh + b * u);
    }
  }
};

/// The backward pass, from the last chunk to the first, each of which adds to the gradients of the weights.
template <class T>
class LstmGradients {
 public:
  explicit LstmGradients(const KernelCall& k)
      : k_(k),
        s_(k.in[0].shape(), k.in[1].shape()),
        chunks_(s_, 2 * s_.in + 11 * s_.units),
        x_(k.in[0], s_.batch, s_.in, chunks_.size),
        y_(k.in[6], s_.batch, s_.units, chunks_.size),
        gates_(k.in[7], s_.batch, 4 * s_.units, chunks_.size),
        cells_(k.in[8], s_.batch, s_.units, chunks_.size + 1),
        dy_(k.in[9], s_.batch, s_.units, chunks_.size),
        dx_(k.out[0], s_.batch, s_.in, k.out[0].size() ? chunks_.size : 0),
        dz_(chunks_.size * s_.batch * 4 * s_.units),
        db_(k, chunks_, 4 * s_.units) {}

  void run() {
    const i64 u = s_.units;
    Part<T> h0(k_.in[1]), c0(k_.in[2]), dh(k_.out[1]), dc(k_.out[2]), dwx(k_.out[3]), dwh(k_.out[4]), db(k_.out[5]);
    const PackedWeights<T> wh(k_.in[4], {4 * u, true, 4 * u, u});
    const LstmBackward<T> f{
        s_, StepCounts(k_, 12, s_), c0.read(), begin_as(dh, k_.in[10]), begin_as(dc, k_.in[11]), wh.data()};
    const bool empty = chunks_.count == 0;
    const Sums sums{h0.read(), empty ? begin_as_zeros(dwx, k_.out[3]) : dwx.open(),
                    empty ? begin_as_zeros(dwh, k_.out[4]) : dwh.open()};
    std::optional<ChunkWeights<T>> wx;
    if (k_.out[0].size()) wx.emplace(k_.in[3], WeightsLayout{4 * u, true, 4 * u, s_.in}, chunks_);
    for (i64 i = chunks_.count; i-- > 0;) chunk(chunks_[i], f, sums, wx ? &*wx : nullptr);
    db_.write(db.open());
    for (const Part<T>* p : {&dh, &dc, &dwx, &dwh, &db}) p->write();
  }

 private:
  struct Sums {
    const T* h0;
    T *dwx, *dwh;
  };
  void chunk(StepRange steps, const LstmBackward<T>& f, const Sums& to, const ChunkWeights<T>* wx) {
    const i64 u = s_.units, rows = steps.count() * s_.batch, before = std::max<i64>(0, steps.begin - 1);
    const bool more = steps.end < s_.steps;  // the sums have begun
    const StepRows<T> dz{dz_.data(), steps.begin, s_.batch, 4 * u};
    const typename LstmBackward<T>::Saved saved{gates_.read(steps), cells_.read({before, steps.end}), dy_.read(steps)};
    const double flops = 8.0 * static_cast<double>(u * u);  // of a row
    for_batch_shares(s_.batch, flops * static_cast<double>(rows), flops * static_cast<double>(s_.rows()),
                     [&](i64 from, i64 past) { f.run(from, past, steps, saved, dz); });
    weight_gradient(x_.read(steps).x, s_.in, dz.x, 4 * u, 4 * u, rows, to.dwx, 4 * u, more);
    // Past a row's length dz is 0, so y's zeros there do no harm.
    recurrent_gradient(to.h0, y_.read({before, steps.end - 1}), dz, steps, to.dwh, more);
    db_.set(steps, 0, dz.x, rows, 4 * u);
    if (!wx) return;
    Gemm<T> inputs{.m = rows, .a = dz.x, .lda = 4 * u, .c = dx_.open(steps).x, .ldc = s_.in};
    wx->set(inputs);
    gemm(inputs);
    dx_.write();
  }

  const KernelCall& k_;
  const RnnSizes s_;
  const Chunks chunks_;
  StepPart<T> x_, y_, gates_, cells_, dy_, dx_;
  const Numbers<T> dz_;
  const ColumnSums<T> db_;
};

}  // namespace detail

TANDEM_INLINE void lstm(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::lstm_forward<double>(c);
  else detail::lstm_forward<float>(c);
}
TANDEM_INLINE void lstm_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::LstmGradients<double>(c).run();
  else detail::LstmGradients<float>(c).run();
}

}  // namespace TANDEM_NS::cpu
