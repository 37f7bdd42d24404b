// RNN: any recurrent cell over a sequence, cells of one's own included. StackedRNNCells: several cells as one.
// Not here: LSTM, GRU and SimpleRNN as layers of their own (rnn_stack.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tandem/layers/rnn_call.hpp"
#include "tandem/layers/rnn_states.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

namespace detail {

/// zero_state(batch), of a cell that takes a number, or a Dim, which may be unknown.
template <class Cell>
auto zero_state_of(const Cell& cell, const DimValue& batch) {
  if constexpr (requires { cell.zero_state(Dim(batch)); }) {
    return cell.zero_state(Dim(batch));
  } else {
    if (!batch.is_known())
      errors::raise<errors::InvalidArgumentError>(
          "RNN", "the batch size is unknown, but the cell's zero_state takes a number: let it take a Dim");
    return cell.zero_state(batch.number);
  }
}
template <class Cell>
using CellState = decltype(zero_state_of(std::declval<const Cell&>(), DimValue()));

/// Runs a cell over all steps of x [time, batch, ...].
template <class Cell, class State>
RnnSteps<State> run_cell(const char* layer, const Cell& cell, const Tensor& x, const State& start,
                         const Tensor& lengths) {
  if constexpr (requires { cell.run_sequence(layer, x, start, lengths); }) {
    return cell.run_sequence(layer, x, start, lengths);
  } else {
    const auto code = [&](Span<const Tensor> in) {
      State state = start;
      control::refill(state, in.first(in.size() - 1));
      const auto result = cell(in.back(), std::as_const(state));
      std::vector<Tensor> out = control::tensors_of(state_of(result));
      out.push_back(output_of(result));
      return out;
    };
    RnnSteps<std::vector<Tensor>> all = run_loop(layer, x, control::tensors_of(start), lengths, control::code_of(code));
    RnnSteps<State> r{std::move(all.output), start};
    control::refill(r.state, all.state);
    return r;
  }
}
/// The last output of each row.
template <class Cell, class State>
Tensor last_output(const Cell& cell, const RnnSteps<State>& all, const Tensor& lengths) {
  using Result = decltype(cell(all.output, all.state));
  if constexpr (requires { cell.last_output(all, lengths); }) return cell.last_output(all, lengths);
  else if constexpr (std::same_as<std::decay_t<Result>, State>) return output_of(all.state);
  else return last_step(all.output, lengths);
}

}  // namespace detail

struct RnnOptions {
  bool return_sequences = false;  ///< return the output of every step, not only the last one of each row
  bool time_major = false;        ///< inputs and sequences [time, batch, ...]; saves two transposes
  GoBackwards go_backwards = {};  ///< run from the last step to the first (RnnLayerOptions)
  RnnDropout dropout = {};        ///< of the inputs, the same elements of a row at each step, in training
  /// Begin each call where the last one ended, row by row, for batches of one size: the states are Variables, which
  /// are not trained. reset_states() sets them back.
  bool stateful = false;
};
/// Runs a cell over a sequence. A cell of one's own has two functions; its state is a tensor, or a struct, tuple or
/// vector of tensors [batch, ...]:
///
///   struct Leaky : layers::Layer {
///     Tensor zero_state(const Dim& batch) const { return zeros({batch, 3}); }
///     Tensor operator()(const Tensor& x, const Tensor& h) const { return h * 0.9 + x; }  // the next state
///   };
///   layers::RNN rnn{Leaky(), {.return_sequences = true}};
///
/// The output of a step is the state, its member h, or what the cell says with std::pair(output, next state). LSTMCell
/// and GRUCell run in their fused kernels. Other cells run in a loop, which in a traced function with many steps or an
/// unknown number of them is one node of the graph.
///   x         [batch, time, ...]; sizes of batch and time may be unknown
///   returns   the last output of each row [batch, ...], or with .return_sequences [batch, time, ...]; the state
///   throws    errors::InvalidArgumentError if shapes do not match, or a length is outside of [0, time]
///   gradient  to all floating inputs and weights, through all steps
template <class Cell>
class RNN : public Layer {
 public:
  using State = detail::CellState<Cell>;
  using Call = RnnCall<std::optional<State>>;
  explicit RNN(Cell cell, const RnnOptions& options = {}) : Layer("rnn"), options_(options) {
    detail::checked_rate("RNN", options.dropout.rate());
    cells_.push_back(std::move(cell));
    if constexpr (std::derived_from<Cell, Module>) add_module(cells_[0]);
    if (options.stateful) add_module("states", states_.emplace_back());
  }
  RnnOutput<State> operator()(const Tensor& x, const Call& call = {}) const {
    const InCall here(*this);
    const RnnOrder order{options_.time_major, options_.go_backwards};
    detail::Sequence s = order.begin("RNN", x, call.mask, call.sequence_length);
    const State start = start_of(call, get_shape(s.x)[1]);
    const bool first = !is_built();
    if (first) build_cell(s.x, start);
    const training_scope scope(call.is_training(options_.dropout.rate() != 0));  // for the cell, too
    const Tensor inputs = options_.dropout(s.x, is_training());
    detail::RnnSteps<State> all = detail::run_cell("RNN", cell(), inputs, start, s.lengths);
    RnnOutput<State> r{{}, std::move(all.state)};
    r.output = options_.return_sequences
                   ? order.end(all.output, s)
                   : detail::last_output(cell(), detail::RnnSteps<State>{all.output, r.state}, s.lengths);
    if (options_.stateful) states_[0].end(control::tensors_of(r.state));
    if (first) note_output(*this, r.output.shape());
    return r;
  }
  /// For Sequential: with .return_sequences, the result has the mask of x.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    Tensor y = (*this)(x, {.mask = mask}).output;
    if (!options_.return_sequences) mask = {};
    else if (options_.go_backwards) mask = mask.reversed(options_.time_major);
    return y;
  }
  const Cell& cell() const { return cells_[0]; }
  const RnnOptions& options() const { return options_; }
  /// With .stateful: sets the states to the cell's zero_state.
  ///   throws  errors::FailedPreconditionError without .stateful
  void reset_states() const {
    detail::check_stateful("RNN", options_.stateful);
    states_[0].reset([&](i64 rows) { return control::tensors_of(detail::zero_state_of(cell(), DimValue{rows})); });
  }
  const char* kind() const { return "rnn"; }

 private:
  // Makes the weights of the cell before a loop calls it.
  void build_cell(const Tensor& x, const State& start) const {
    {
      const tandem::detail::DryRun specs_only;
      Shape row = x.shape();
      row.erase(0);
      cell()(Tensor::symbol({row, x.dtype(), x.device()}), start);
    }
    build_once([] {});
  }
  State start_of(const Call& call, const DimValue& rows) const {
    if (!options_.stateful) return call.initial_state ? *call.initial_state : detail::zero_state_of(cell(), rows);
    std::optional<State> zero;  // its structure, and the initial values
    const std::vector<Tensor> kept = states_[0].begin(
        "RNN", rows, [&](i64 n) { return control::tensors_of(*(zero = detail::zero_state_of(cell(), DimValue{n}))); });
    if (call.initial_state) return *call.initial_state;
    State state = zero ? *zero : detail::zero_state_of(cell(), rows);
    control::refill(state, kept);
    return state;
  }
  RnnOptions options_;
  LeanVector<Cell> cells_;                // one. Not a member: a Model would take it for one of its own
  LeanVector<detail::RnnStates> states_;  // one with .stateful, otherwise none
};

/// Several cells as one: the output of each is the input of the next. The state is a list, one for each cell. Cells of
/// one class are a list, StackedRNNCells({LSTMCell(8), LSTMCell(4)}), with a vector of states; cells of several classes
/// are arguments, StackedRNNCells(LSTMCell(8), GRUCell(4)), with a tuple of states.
///   returns   the output of the last cell, and the next state
template <class... Cells>
class StackedRNNCells : public Layer {
 public:
  using State = std::tuple<detail::CellState<Cells>...>;
  explicit StackedRNNCells(Cells... cells) : Layer("stacked_rnn_cells") {
    cells_.emplace_back(std::move(cells)...);
    std::apply([&](const auto&... c) { (add_module(c), ...); }, cells_[0]);
  }
  std::pair<Tensor, State> operator()(const Tensor& x, const State& state) const {
    std::pair<Tensor, State> r{x, state};
    each(
        [&](const auto& cell, auto& s) {
          const auto result = cell(r.first, s);
          r.first = detail::output_of(result);
          s = detail::state_of(result);
        },
        r.second);
    return r;
  }
  State zero_state(const Dim& batch) const {
    return std::apply([&](const auto&... c) { return State(c.zero_state(batch)...); }, cells_[0]);
  }
  /// For layers: all steps of x [time, batch, ...], cell by cell.
  detail::RnnSteps<State> run_sequence(const char* layer, const Tensor& x, const State& state,
                                       const Tensor& lengths) const {
    detail::RnnSteps<State> r{x, state};
    each(
        [&](const auto& cell, auto& s) {
          auto all = detail::run_cell(layer, cell, r.output, s, lengths);
          r.output = std::move(all.output);
          s = std::move(all.state);
        },
        r.state);
    return r;
  }
  /// For layers: the last output of each row.
  Tensor last_output(const detail::RnnSteps<State>& all, const Tensor& lengths) const {
    const auto& state = std::get<sizeof...(Cells) - 1>(all.state);
    return detail::last_output(std::get<sizeof...(Cells) - 1>(cells_[0]),
                               detail::RnnSteps<std::decay_t<decltype(state)>>{all.output, state}, lengths);
  }

 private:
  template <class F>
  void each(const F& f, State& state) const {
    [&]<std::size_t... i>(std::index_sequence<i...>) { (f(std::get<i>(cells_[0]), std::get<i>(state)), ...); }
    (std::index_sequence_for<Cells...>());
  }
  std::vector<std::tuple<Cells...>> cells_;  // one. Not a member, as in RNN
};
template <class Cell>
class StackedRNNCells<Cell> : public Layer {
 public:
  using State = std::vector<detail::CellState<Cell>>;
  explicit StackedRNNCells(std::vector<Cell> cells) : Layer("stacked_rnn_cells"), cells_(std::move(cells)) {
    detail::positive("StackedRNNCells", "the number of cells", static_cast<i64>(cells_.size()));
    for (const Cell& c : cells_) add_module(c);
  }
  StackedRNNCells(std::initializer_list<Cell> cells) : StackedRNNCells(std::vector<Cell>(cells)) {}
  std::pair<Tensor, State> operator()(const Tensor& x, const State& state) const {
    check_states(state);
    std::pair<Tensor, State> r{x, state};
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto result = cells_[i](r.first, state[i]);
      r.first = detail::output_of(result);
      r.second[i] = detail::state_of(result);
    }
    return r;
  }
  State zero_state(const Dim& batch) const {
    State r;
    for (const Cell& c : cells_) r.push_back(c.zero_state(batch));
    return r;
  }
  /// For layers: all steps of x [time, batch, ...], cell by cell.
  detail::RnnSteps<State> run_sequence(const char* layer, const Tensor& x, const State& state,
                                       const Tensor& lengths) const {
    check_states(state);
    detail::RnnSteps<State> r{x, {}};
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      auto all = detail::run_cell(layer, cells_[i], r.output, state[i], lengths);
      r.output = std::move(all.output);
      r.state.push_back(std::move(all.state));
    }
    return r;
  }
  /// For layers: the last output of each row.
  Tensor last_output(const detail::RnnSteps<State>& all, const Tensor& lengths) const {
    return detail::last_output(cells_.back(), detail::RnnSteps<detail::CellState<Cell>>{all.output, all.state.back()},
                               lengths);
  }
  std::size_t size() const { return cells_.size(); }
  const Cell& cell(std::size_t i) const { return cells_[i]; }

 private:
  void check_states(const State& state) const {
    if (state.size() != cells_.size())
      errors::raise<errors::InvalidArgumentError>(
          "StackedRNNCells", std::to_string(state.size()) + " states for " + std::to_string(cells_.size()) + " cells");
  }
  std::vector<Cell> cells_;
};
template <class Cell>
StackedRNNCells(std::initializer_list<Cell>) -> StackedRNNCells<Cell>;
template <class Cell>
StackedRNNCells(std::vector<Cell>) -> StackedRNNCells<Cell>;

}  // namespace TANDEM_NS::layers
