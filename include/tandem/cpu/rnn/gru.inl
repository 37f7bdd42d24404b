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
  const T* candidate_bias;
  T* h;  // the state
  const T* packed_wh;

  // Runs rows [from, to) of the batch through some steps. gates: the sums of the inputs on entry.
  void run(i64 from, i64 to, StepRange steps, StepRows<T> y, StepRows<T> gates, StepRows<T> hu) const {
    static constexpr auto row = TANDEM_SETS_OF(T, gru_row<T>);
    const i64 u = s.units;
    const Numbers<T> sums((to - from) * 3 * u);
    for (i64 t = steps.begin; t < steps.end; ++t) {
      gemm(Gemm<T>{.m = to - from,
                   .n = 3 * u,
                   .k = u,
                   .a = h + from * u,
                   .lda = u,
                   .c = sums.data(),
                   .ldc = 3 * u,
                   .packed_b = packed_wh});
      for (i64 b = from; b < to; ++b) {
        T *out = y.at(t, b), *from_state = hu.at(t, b);
        if (counts.runs(b, t)) {
          row.get()(gates.at(t, b), sums.data() + (b - from) * 3 * u, candidate_bias, h + b * u, from_state, out, u);
          std::copy(out, out + u, h + b * u);
        } else {
          std::fill(out, out + u, T(0));
          std::fill(from_state, from_state + u, T(0));
        }
      }
    }
  }
};

template <class T>
void gru_forward(const KernelCall& k) {
  const RnnSizes s(k.in[0].shape(), k.in[1].shape());
  const i64 u = s.units;
  const double flops = 6.0 * static_cast<double>(u * u);  // of a row
  const Chunks chunks = is_widened<T>(k.in[0]) ? Chunks(s, s.in + 5 * u) : Chunks::one(s);
  Part<T> h(k.out[1]), biases(k.in[4]);
  const T *bias = biases.read(), *second = bias + 3 * u;  // [2, 3u]: the input's, the state's
  const Numbers<T> both(3 * u);
  for (i64 i = 0; i < 3 * u; ++i) both.data()[i] = bias[i] + (i < 2 * u ? second[i] : T(0));
  const ChunkWeights<T> wx(k.in[2], {3 * u, false, s.in, 3 * u}, chunks);
  const PackedWeights<T> wh(k.in[3], {3 * u, false, u, 3 * u});
  const GruForward<T> f{s, StepCounts(k, 5, s), second + 2 * u, begin_as(h, k.in[1]), wh.data()};
  StepPart<T> x(k.in[0], s.batch, s.in, chunks.size), y(k.out[0], s.batch, u, chunks.size),
      gates(k.out[2], s.batch, 3 * u, chunks.size), hu(k.out[3], s.batch, u, chunks.size);
  Gemm<T> inputs{.lda = s.in, .ldc = 3 * u, .bias = both.data()};
  wx.set(inputs);
  for (i64 i = 0; i < chunks.count; ++i) {
    const StepRange steps = chunks[i];
    const StepRows<T> to = y.open(steps), sums = gates.open(steps), from_state = hu.open(steps);
    inputs.m = steps.count() * s.batch;
    inputs.a = x.read(steps).x, inputs.c = sums.x;
    gemm(inputs);
    for_batch_shares(s.batch, flops * static_cast<double>(inputs.m), flops * static_cast<double>(s.rows()),
                     [&](i64 from, i64 past) { f.run(from, past, steps, to, sums, from_state); });
    for (const StepPart<T>* p : {&y, &gates, &hu}) p->write();
  }
  h.write();
}

template <class T>
struct GruBackward {
  RnnSizes s;
  StepCounts counts;
  const T* h0;
  T* dh;  // the state's gradient after the steps, then before them
  const T* packed_wh;

  struct Saved {
    StepRows<const T> y, gates, hu, dy;
  };
  // Runs rows [from, to) of the batch back through some steps. ds: the gradients of the state's sums; da: of the
  // candidate's input sum.
  void run(i64 from, i64 to, StepRange steps, const Saved& saved, StepRows<T> ds, StepRows<T> da) const {
    static constexpr auto row = TANDEM_SETS_OF(T, gru_row_grad<T>);
    static constexpr auto add = TANDEM_SETS_OF(T, add_row<T>);
    const i64 u = s.units;
    for (i64 t = steps.end; t-- > steps.begin;) {
      for (i64 b = from; b < to; ++b) {
        T *d = ds.at(t, b), *a = da.at(t, b);
        if (!counts.runs(b, t)) {
          std::fill(d, d + 3 * u, T(0));
          std::fill(a, a + u, T(0));
          continue;
        }
        add.get()(dh + b * u, saved.dy.at(t, b), u);
        const T* h_prev = t ? saved.y.at(t - 1, b) : h0 + b * u;
        row.get()(saved.gates.at(t, b), saved.hu.at(t, b), h_prev, dh + b * u, d, a, u);
      }
      gemm(Gemm<T>{.m = to - from,
                   .n = u,
                   .k = 3 * u,
                   .a = ds.at(t, from),
                   .lda = 3 * u,
                   .c = dh + from * u,
                   .ldc = u,
                   .accumulate = true,
                   .packed_b = packed_wh});
    }
  }
};

/// The backward pass, from the last chunk to the first, each of which adds to the gradients of the weights.
template <class T>
class GruGradients {
 public:
  explicit GruGradients(const KernelCall& k)
      : k_(k),
        s_(k.in[0].shape(), k.in[1].shape()),
        chunks_(s_, 2 * s_.in + 10 * s_.units),
        x_(k.in[0], s_.batch, s_.in, chunks_.size),
        y_(k.in[5], s_.batch, s_.units, chunks_.size),
        gates_(k.in[6], s_.batch, 3 * s_.units, chunks_.size),
        hu_(k.in[7], s_.batch, s_.units, chunks_.size),
        dy_(k.in[8], s_.batch, s_.units, chunks_.size),
        dx_(k.out[0], s_.batch, s_.in, k.out[0].size() ? chunks_.size : 0),
        ds_(chunks_.size * s_.batch * 3 * s_.units),
        da_(chunks_.size * s_.batch * s_.units),
        db_(k, chunks_, 4 * s_.units) {}

  void run() {
    const i64 u = s_.units;
    Part<T> h0(k_.in[1]), dh(k_.out[1]), dwx(k_.out[2]), dwh(k_.out[3]), db(k_.out[4]);
    const PackedWeights<T> wh(k_.in[3], {3 * u, true, 3 * u, u});
    const GruBackward<T> f{s_, StepCounts(k_, 10, s_), h0.read(), begin_as(dh, k_.in[9]), wh.data()};
    const bool empty = chunks_.count == 0;
    const Sums sums{empty ? begin_as_zeros(dwx, k_.out[2]) : dwx.open(),
                    empty ? begin_as_zeros(dwh, k_.out[3]) : dwh.open()};
    std::optional<InputWeights> wx;
    if (k_.out[0].size()) wx.emplace(k_.in[2], s_, chunks_);
    for (i64 i = chunks_.count; i-- > 0;) chunk(chunks_[i], f, sums, wx ? &*wx : nullptr);
    T* const to = db.open();  // [2, 3u]: the input's, the state's
    db_.write(to + 2 * u);
    std::copy(to + 3 * u, to + 5 * u, to);
    for (const Part<T>* p : {&dh, &dwx, &dwh, &db}) p->write();
  }

 private:
  struct Sums {
    T *dwx, *dwh;
  };
  // dA = [ds_z, ds_r, da]: the input's sums differ from the state's only in the candidate.
  struct InputWeights {
    ChunkWeights<T> gates, candidate;
    InputWeights(const Operand& wx, const RnnSizes& s, const Chunks& c)
        : gates(wx, {3 * s.units, true, 2 * s.units, s.in}, c),
          candidate(wx, {3 * s.units, true, s.units, s.in, 2 * s.units}, c) {}
  };
  void chunk(StepRange steps, const GruBackward<T>& f, const Sums& to, const InputWeights* wx) {
    const i64 u = s_.units, rows = steps.count() * s_.batch, before = std::max<i64>(0, steps.begin - 1);
    const bool more = steps.end < s_.steps;  // the sums have begun
    const StepRows<T> ds{ds_.data(), steps.begin, s_.batch, 3 * u}, da{da_.data(), steps.begin, s_.batch, u};
    const typename GruBackward<T>::Saved saved{y_.read({before, steps.end - 1}), gates_.read(steps), hu_.read(steps),
                                               dy_.read(steps)};
    const double flops = 6.0 * static_cast<double>(u * u);  // of a row
    for_batch_shares(s_.batch, flops * static_cast<double>(rows), flops * static_cast<double>(s_.rows()),
                     [&](i64 from, i64 past) { f.run(from, past, steps, saved, ds, da); });
    recurrent_gradient(f.h0, saved.y, ds, steps, to.dwh, more);
    if (s_.in > 0) {
      const T* const x = x_.read(steps).x;
      weight_gradient(x, s_.in, ds.x, 3 * u, 2 * u, rows, to.dwx, 3 * u, more);
      weight_gradient(x, s_.in, da.x, u, u, rows, to.dwx + 2 * u, 3 * u, more);
    }
    db_.set(steps, 0, da.x, rows, u);
    db_.set(steps, u, ds.x, rows, 3 * u);
    if (!wx) return;
    Gemm<T> of_gates{.m = rows, .a = ds.x, .lda = 3 * u, .c = dx_.open(steps).x, .ldc = s_.in};
    wx->gates.set(of_gates);
    gemm(of_gates);
    Gemm<T> of_candidate{.m = rows, .a = da.x, .lda = u, .c = of_gates.c, .ldc = s_.in, .accumulate = true};
    wx->candidate.set(of_candidate);
    gemm(of_candidate);
    dx_.write();
  }

  const KernelCall& k_;
  const RnnSizes s_;
  const Chunks chunks_;
  StepPart<T> x_, y_, gates_, hu_, dy_, dx_;
  const Numbers<T> ds_, da_;
  const ColumnSums<T> db_;  // [the candidate's of the input, the state's three]
};

}  // namespace detail

TANDEM_INLINE void gru(const KernelCall& c) {
  if (c.out[0].spec->dtype == DType::float64) detail::gru_forward<double>(c);
  else detail::gru_forward<float>(c);
}
TANDEM_INLINE void gru_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::GruGradients<double>(c).run();
  else detail::GruGradients<float>(c).run();
}

}  // namespace TANDEM_NS::cpu
