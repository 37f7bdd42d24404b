// The gradient of a loop: a loop over its iterations in reverse, which carries the gradients of the carried values
// and the sums of the gradients of the body's captures.
#pragma once
#include <algorithm>

#include "tandem/graph/control/backward_body.hpp"
#include "tandem/graph/control/body.hpp"
#include "tandem/graph/control/loop_layout.hpp"
#include "tandem/graph/control/loop_sums.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/index/rows.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/two_sum.hpp"

namespace TANDEM_NS {
namespace detail {

// Values of the body that the gradients read and that the body does not return. Captures and rows are inputs of the
// gradient anyway; carried values must be saved, and with unknown dimensions also for the shape of zeros.
TANDEM_LAZY TANDEM_INLINE LeanVector<ValueId> values_to_record(const rules::LoopAttrs& a) {
  const Derivative& d = Body::of(*a.body).derivative();
  const LoopLayout at(a);
  std::vector<char> at_hand(a.body->arguments.size(), 1);
  for (std::size_t i = 0; i < at.carried; ++i) at_hand[i] = 0;
  LeanVector<ValueId> needed = needed_values(d, at_hand, at.carried);
  const auto has = [&](ValueId v) {
    const LeanVector<ValueId>& outputs = d.forward().outputs;
    return std::find(needed.begin(), needed.end(), v) != needed.end() ||
           std::find(outputs.begin() + a.carried, outputs.end(), v) != outputs.end();
  };
  for (std::size_t i = 0; i < at.carried; ++i) {
    const ValueId v = d.input_value(i);
    const Spec& s = d.forward().spec(v);
    if (has_derivative(s) && !s.shape.is_fully_defined() && !has(v)) needed.push_back(v);
  }
  return needed;
}
TANDEM_LAZY_INLINE Attrs recording_loop(rules::LoopAttrs a) {
  for (;;) {  // as in recorded_branch
    const LeanVector<ValueId> needed = values_to_record(a);
    if (needed.empty()) return a;
    Body& body = Body::of(*a.body);
    a.ragged_results.resize(LoopLayout(a).stacked, 'd');
    for (ValueId v : needed)
      a.ragged_results += body.derivative().forward().spec(v).shape.is_fully_defined() ? 'd' : 'r';
    a.body = body.recorded(needed);
  }
}

TANDEM_LAZY class LoopGradient {
 public:
  explicit LoopGradient(const GradCall& c)
      : c_(c), a_(c.get<rules::LoopAttrs>()), at_(a_), d_(Body::of(*a_.body).derivative()), flows_(at_.carried) {
    for (std::size_t i = 0; i < at_.carried; ++i) flows_[i] = c.g[i].is_set() && has_derivative(c.out[i].spec());
  }
  Grads run() {
    Derivative::Backward backward = derive();
    std::vector<Tensor> starts;  // of the carried values
    for (std::size_t i = 0; i < at_.carried; ++i)
      if (flows_[i]) starts.push_back(c_.g[i].is_set() ? c_.g[i] : zeros_like(c_.out[i]));
    for (std::size_t i = 0; i < a_.body->arguments.size(); ++i)
      if (is_capture(i) && set_[i]) {
        starts.push_back(zeros_like(c_.in[at_.input_of_argument(i)], sum_dtype(argument_spec(i))));
        if (has_errors(i)) starts.push_back(starts.back());
      }
    BackwardBody body(d_, std::move(backward));
    const std::vector<Tensor> sums = declare_carried(body, starts);
    declare_rows(body);
    declare_captures(body);
    rules::LoopAttrs back{};
    back.condition = make_ref<Graph>();
    back.carried = static_cast<i64>(carried_);
    back.rows = static_cast<i64>(rows_);
    back.reverse = !a_.reverse;
    back.ragged_rows = ragged_rows_;
    back.body = finish(body, sums, back);
    const std::vector<Tensor>& outer = body.outer();
    InlinedVector<const Tensor*, 16> in;
    in.push_back(&c_.out[at_.count_output()]);
    for (std::size_t i = 0; i < carried_ + rows_; ++i) in.push_back(&outer[i]);
    for (const Tensor& t : tables_) in.push_back(&t);
    for (std::size_t i = carried_ + rows_; i < outer.size(); ++i) in.push_back(&outer[i]);
    return sort_out(apply_control(loop_op, {in.begin(), in.size()}, back, back.body->outputs.size()));
  }

 private:
  // By body argument: whether a gradient is needed.
  bool wants(std::size_t argument) const {
    if (!has_derivative(d_.forward().spec(d_.input_value(argument)))) return false;
    return argument < at_.carried || c_.needs(at_.input_of_argument(argument));
  }
  RequestedGradients demand() const {
    RequestedGradients d = d_.full_demand();
    for (std::size_t i = 0; i < d.upstream.size(); ++i)
      d.upstream[i] = i < at_.carried ? static_cast<bool>(flows_[i]) : d.upstream[i] && c_.g[i].is_set();
    for (std::size_t i = 0; i < d.wanted.size(); ++i) d.wanted[i] = i < a_.body->arguments.size() && wants(i);
    return d;
  }
  // A gradient that reaches a carried value in one iteration flows on in the next: repeats until no further one is
  // reached.
  Derivative::Backward derive() {
    for (;;) {
      Derivative::Backward b = d_.backward(demand());
      bool more = false;
      for (std::size_t i = 0; i < at_.carried; ++i)
        if (b.set[i] && !flows_[i]) flows_[i] = more = true;
      if (more) continue;
      set_ = b.set, sparse_ = b.sparse;
      return b;
    }
  }

  const Spec& value_spec(ValueId value) const { return d_.forward().spec(value); }
  const Spec& argument_spec(std::size_t i) const { return value_spec(d_.input_value(i)); }
  bool is_row(std::size_t argument) const { return argument >= at_.carried && argument < at_.carried + at_.rows; }
  bool is_capture(std::size_t argument) const {
    return argument >= at_.carried + at_.rows && argument < a_.body->arguments.size();
  }

  // Whether so few iterations follow that one sum of them is as good as another.
  bool has_few_iterations() const {
    const bool known = at_.rows && a_.ragged_rows.find('r') == std::string::npos;
    const i64 iterations = known ? c_.in[at_.first_row()].shape().dim(0) : none;
    return iterations != none && iterations <= LoopSums::block;
  }
  // The dtype in which the gradients of a capture are summed over the iterations. A wider one for half precision, and
  // for what many iterations may read: scalars and vectors.
  DType sum_dtype(const Spec& capture) const {
    constexpr i64 small = 4096;
    const DType d = capture.dtype;
    if (dtypes::half_floating.has(d)) return DType::float32;
    if (has_few_iterations() || !capture.shape.is_fully_defined() || capture.shape.size() > small) return d;
    return d == DType::float32 ? DType::float64 : d == DType::complex64 ? DType::complex128 : d;
  }
  // Whether the error of such a sum would grow with the number of iterations. Dense gradients are then added in blocks
  // (LoopAttrs::sums). Of row-sparse ones, which touch few rows of a sum, the errors are summed, too.
  bool would_drift(std::size_t capture) const {
    const DType d = sum_dtype(argument_spec(capture));
    return !has_few_iterations() && (d == DType::float32 || d == DType::complex64);
  }
  bool has_errors(std::size_t capture) const { return sparse_[capture] && would_drift(capture); }

  // Declares the carried values: incoming gradients, then sums. Returns the sums.
  std::vector<Tensor> declare_carried(BackwardBody& body, const std::vector<Tensor>& starts) {
    std::vector<Tensor> sums;
    for (std::size_t i = 0; i < at_.carried; ++i)
      if (flows_[i]) flowing_.push_back(body.argument(starts[carried_++], argument_spec(i)));
    for (std::size_t i = 0; i < a_.body->arguments.size(); ++i)
      if (is_capture(i) && set_[i]) {
        Spec spec = argument_spec(i);
        spec.dtype = starts[carried_].dtype();
        for (int k = has_errors(i) ? 2 : 1; k > 0; --k) sums.push_back(body.argument(starts[carried_++], spec));
      }
    return sums;
  }
  void declare_rows(BackwardBody& body) {
    const auto from_stack = [&](ValueId value) {
      const std::size_t i = stacked_output(body, value);
      return result_rows(body, c_.out[i], i);
    };
    for (std::size_t i = 0; i < d_.inputs(); ++i) {
      const bool for_zeros = i < at_.carried && flows_[i] && !body.is_known(i);
      if (is_capture(i) || !(body.reads_input(i) || for_zeros)) continue;
      body.input(i, is_row(i) ? input_rows(body, i) : from_stack(d_.input_value(i)));
    }
    for (std::size_t i = 0; i < d_.saved().size(); ++i)
      if (body.reads_saved(i)) body.saved(i, from_stack(d_.saved()[i]));
    const RequestedGradients wants = demand();
    for (std::size_t i = 0, next = 0; i < wants.upstream.size(); ++i)
      if (wants.upstream[i]) body.upstream(i < at_.carried ? flowing_[next++] : result_rows(body, c_.g[i], i));
    rows_ = body.outer().size() - carried_;
  }
  // Adds an argument that gets the rows of output i, or of its incoming gradient.
  Tensor result_rows(BackwardBody& body, const Tensor& rows, std::size_t i) {
    const std::size_t result = i - at_.carried;
    note_rows(is_ragged(a_.ragged_results, result) ? &c_.out[at_.result_table(a_, result)] : nullptr);
    return body.argument(rows, value_spec(d_.forward().outputs[i]));
  }
  Tensor input_rows(BackwardBody& body, std::size_t argument) {
    const std::size_t row = argument - at_.carried;
    note_rows(is_ragged(a_.ragged_rows, row) ? &c_.in[at_.row_table(a_, row)] : nullptr);
    return body.argument(c_.in[at_.input_of_argument(argument)], argument_spec(argument));
  }
  void note_rows(const Tensor* table) {
    ragged_rows_ += table ? 'r' : 'd';
    if (table) tables_.push_back(*table);
  }
  // The output that has the value of each iteration; the carried outputs have only that of the last.
  std::size_t stacked_output(const BackwardBody& body, ValueId value) const {
    return body.output_of(value, at_.carried);
  }
  void declare_captures(BackwardBody& body) {
    for (std::size_t i = 0; i < d_.inputs(); ++i)
      if (is_capture(i) && body.reads_input(i))
        body.input(i, body.argument(c_.in[at_.input_of_argument(i)], argument_spec(i)));
  }

  Ref<Graph> finish(BackwardBody& body, const std::vector<Tensor>& sums, rules::LoopAttrs& back) {
    const std::vector<Gradient> g = body.gradients();
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < at_.carried; ++i)
      if (flows_[i]) outputs.push_back(g[i].is_set() ? g[i].tensor() : zeros_like(body.like(i)));
    for (std::size_t i = 0, next = 0; i < a_.body->arguments.size(); ++i) {
      if (!is_capture(i) || !set_[i]) continue;
      const Tensor& sum = sums[next++];
      if (has_errors(i)) {
        const Tensor values = cast(g[i].values(), sum.dtype());
        for (const Tensor& t : two_sum_rows(sum, sums[next++], g[i].slices().indices, values)) outputs.push_back(t);
        continue;
      }
      back.sums.text.resize(outputs.size(), '-');
      back.sums.text += would_drift(i) ? 's' : '-';
      outputs.push_back(g[i].is_sparse() ? add_rows(sum, g[i].slices().indices, cast(g[i].values(), sum.dtype()))
                                         : sum + cast(g[i].dense(), sum.dtype()));
    }
    if (back.sums.text.find('s') == std::string::npos) back.sums.text.clear();
    for (std::size_t i = 0; i < a_.body->arguments.size(); ++i)
      if (is_row(i) && set_[i]) {
        outputs.push_back(g[i].tensor());
        back.ragged_results += is_ragged(a_.ragged_rows, i - at_.carried) ? 'r' : 'd';
      }
    return body.finish(outputs);
  }
  // Maps the outputs of the backward loop to the gradients of the loop's inputs.
  Grads sort_out(Tensors out) const {
    Grads r;
    r.resize(static_cast<unsigned>(c_.in.size()));
    std::size_t next = 0;
    for (std::size_t i = 0; i < at_.carried; ++i) {
      if (!flows_[i]) continue;
      Tensor& g = out[next++];
      if (wants(i)) r[1 + i] = std::move(g);
    }
    for (const bool rows : {false, true})
      for (std::size_t i = at_.carried; i < a_.body->arguments.size(); ++i)
        if (set_[i] && is_row(i) == rows) {
          Tensor g = std::move(out[next++]);
          if (!rows && has_errors(i)) g = std::move(g) + out[next++];
          r[at_.input_of_argument(i)] = rows ? std::move(g) : cast(g, argument_spec(i).dtype);
        }
    return r;
  }

  const GradCall& c_;
  const rules::LoopAttrs& a_;
  const LoopLayout at_;
  const Derivative& d_;
  std::vector<char> flows_;   // by carried value: whether a gradient reaches it in some iteration
  std::vector<char> set_;     // by input of the body: whether an iteration produces a gradient for it,
  std::vector<char> sparse_;  // and whether that is row-sparse
  std::vector<Tensor> flowing_;
  std::string ragged_rows_;  // of the backward loop
  std::vector<Tensor> tables_;
  std::size_t carried_ = 0, rows_ = 0;  // of the backward loop
};
TANDEM_LAZY_INLINE Grads loop_gradient(const GradCall& c) { return LoopGradient(c).run(); }

}  // namespace detail

}  // namespace TANDEM_NS
