// Compares an eager call, an op-by-op run and a run of the program.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>

#include "tandem/core/scope.hpp"
#include "tandem/graph/debug/debug.hpp"
#include "tandem/graph/debug/texts.hpp"
#include "tandem/graph/exec/replay_ops.hpp"
#include "tandem/graph/ir/variable_set.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_LAZY TANDEM_INLINE void collect_variables(const Graph& g, VariableSet& out) {
  for (const Variable& v : g.variables) out.insert(v);
  for (const Node& n : g.nodes)
    for (const Graph* inner : subgraphs(n)) collect_variables(*inner, out);
}

// x + 1; not x for bool; x itself for strings.
TANDEM_LAZY TANDEM_INLINE Tensor other_value(const Tensor& x) {
  const OutsideTrace outside;
  if (x.dtype() == DType::string) return x;
  const Tensor old = x.cpu(), other = Tensor::allocate(old.spec());
  const std::size_t bytes = old.spec().bytes(), size = size_of(x.dtype());
  std::memcpy(other.raw(), old.raw(), bytes);
  auto* const at = static_cast<unsigned char*>(other.raw());
  for (std::size_t i = 0; i < bytes; i += size) {
    const auto add_one = [&]<class T>(T) {
      T value;
      std::memcpy(&value, at + i, sizeof value);
      value = static_cast<T>(value + 1);
      std::memcpy(at + i, &value, sizeof value);
    };
    switch (x.dtype()) {
      case DType::bool_: at[i] ^= 1; break;
      case DType::float32:
      case DType::complex64: add_one(0.f); break;
      case DType::float64:
      case DType::complex128: add_one(0.); break;
      case DType::float16:
        reinterpret_cast<Half&>(at[i]) = Half(static_cast<float>(reinterpret_cast<Half&>(at[i])) + 1);
        break;
      case DType::bfloat16:
        reinterpret_cast<BFloat16&>(at[i]) = BFloat16(static_cast<float>(reinterpret_cast<BFloat16&>(at[i])) + 1);
        break;
      default:  // integers: changing the lowest byte is enough
        at[i] = static_cast<unsigned char>(at[i] + 1);
    }
  }
  return other.to(x.device());
}
TANDEM_LAZY_INLINE Perturbed::Perturbed(const Graph& graph) {
  VariableSet variables;
  collect_variables(graph, variables);
  for (const Variable& v : variables.list()) before_.emplace_back(v, v.value_untracked());
  for (const auto& [v, value] : before_) v.set_untracked(other_value(value));
}
TANDEM_INLINE Perturbed::~Perturbed() {
  for (const auto& [v, value] : before_) v.set_untracked(value);
}

// The state of a graph's Variables, to start each run from the same state.
class State {
 public:
  TANDEM_LAZY explicit State(const Graph& graph) {
    collect_variables(graph, variables_);
    before_ = now();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { restore(); }
  TANDEM_LAZY std::vector<Tensor> now() const {
    std::vector<Tensor> r;
    for (const Variable& v : variables_.list()) r.push_back(v.value_untracked());
    return r;
  }
  void restore() const {
    for (std::size_t i = 0; i < before_.size(); ++i) variables_.list()[i].set_untracked(before_[i]);
  }
  TANDEM_LAZY const std::string& name(std::size_t i) const { return variables_.list()[i].name(); }

 private:
  VariableSet variables_;
  std::vector<Tensor> before_;
};

// Records every op of an eager run with its values.
class EagerRecord final : public Observer {
 public:
  struct Step {
    const OpDef* op;
    std::vector<Tensor> out;
  };
  TANDEM_LAZY EagerRecord() : checking_(is_checking()) {
    observe(*this);
    checking_slot() = true;
  }
  EagerRecord(const EagerRecord&) = delete;
  EagerRecord& operator=(const EagerRecord&) = delete;
  ~EagerRecord() { stop(); }
  void stop() {
    unobserve(*this);
    checking_slot() = checking_;
  }
  TANDEM_LAZY const LeanVector<Step>& steps() const { return steps_; }

 private:
  void record(const Applied& a) override { steps_.push_back({&a.op, {a.out.begin(), a.out.end()}}); }
  void read(const Variable&, const Tensor& value) override { steps_.push_back({&read_variable_op, {value}}); }

  LeanVector<Step> steps_;
  const bool checking_;
};

// The outcome of one of the three runs.
struct DebugRun {
  std::vector<Tensor> results, variables;
  std::optional<std::string> error;
};
template <class Run>
DebugRun run_from(const State& state, const Run& run) {
  DebugRun r;
  state.restore();
  try {
    r.results = run();
  } catch (const errors::OpError& e) {
    r.error = e.what();
  }
  r.variables = state.now();
  return r;
}

// Aligns eager steps with nodes: a longest common subsequence by op and specs, since eager code runs ops that the
// graph lacks (constants computed while tracing) and the graph has some that no observer sees (updates of
// Variables).
TANDEM_LAZY class Alignment {
 public:
  Alignment(const Graph& graph, const LeanVector<EagerRecord::Step>& steps) : g_(graph), steps_(steps) {
    for (const NodeId i : g_.nodes.ids())
      if (const Node& n = g_.nodes[i]; n.outputs && n.op != &argument_op && n.op != &constant_op) nodes_.push_back(i);
  }
  /// Pairs {node, step} in order.
  LeanVector<std::pair<NodeId, std::size_t>> pairs() const {
    return nodes_.size() * steps_.size() <= most_cells ? longest() : greedy();
  }

 private:
  static constexpr std::size_t most_cells = 16'000'000;
  bool alike(std::size_t node, std::size_t step) const {
    const Node& n = g_.nodes[nodes_[node]];
    const EagerRecord::Step& s = steps_[step];
    if (n.op != s.op || static_cast<std::size_t>(n.outputs) != s.out.size()) return false;
    for (int k = 0; k < n.outputs; ++k) {
      const Tensor& t = s.out[static_cast<std::size_t>(k)];
      if (t.is_set() && !g_.spec(n.first_out + k).shape.is_compatible_with(t.shape())) return false;
    }
    return true;
  }
  LeanVector<std::pair<NodeId, std::size_t>> longest() const {
    const std::size_t rows = nodes_.size(), columns = steps_.size();
    LeanVector<std::uint32_t> best((rows + 1) * (columns + 1));  // of the remaining suffixes
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return best[i * (columns + 1) + j]; };
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t j = columns; j-- > 0;)
        at(i, j) = alike(i, j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    LeanVector<std::pair<NodeId, std::size_t>> r;
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      if (alike(i, j)) r.emplace_back(nodes_[i++], j++);
      else if (at(i + 1, j) >= at(i, j + 1)) ++i;
      else ++j;
    }
    return r;
  }
  LeanVector<std::pair<NodeId, std::size_t>> greedy() const {
    LeanVector<std::pair<NodeId, std::size_t>> r;
    std::size_t from = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::size_t j = from; j < std::min(steps_.size(), from + 64); ++j)
        if (alike(i, j)) {
          r.emplace_back(nodes_[i], j);
          from = j + 1;
          break;
        }
    return r;
  }

  const Graph& g_;
  const LeanVector<EagerRecord::Step>& steps_;
  LeanVector<NodeId> nodes_;
};

// Describes the first node whose value differs from that of the eager step; empty if all agree.
TANDEM_LAZY TANDEM_INLINE std::string first_wrong_node(const Graph& g, const LeanVector<EagerRecord::Step>& steps,
                                                       const ById<ValueId, Tensor>& values) {
  for (const auto& [node, step] : Alignment(g, steps).pairs())
    for (std::size_t k = 0; k < steps[step].out.size(); ++k) {
      const Tensor& traced = values[g.nodes[node].first_out + static_cast<int>(k)];
      if (!traced.is_set() || g.nodes[node].op->flags.nondeterministic) continue;
      const std::string d = value_difference(steps[step].out[k], traced);
      if (!d.empty()) return "the first node that differs is " + location_of(g, node) + ": " + d;
    }
  return {};
}
TANDEM_LAZY TANDEM_INLINE std::string outcome_difference(const Graph& g, const State& state, const DebugRun& want,
                                                         const DebugRun& got) {
  if (want.error || got.error) {
    if (want.error && got.error) return {};
    return want.error ? "it succeeds, where the eager call raises: " + *want.error : "it raises: " + *got.error;
  }
  if (want.results.size() != got.results.size()) return "it has a different number of results";
  const ById<ValueId, NodeId> producers = g.producers();
  for (std::size_t i = 0; i < want.results.size(); ++i)
    if (const std::string d = value_difference(want.results[i], got.results[i]); !d.empty())
      return "result " + std::to_string(i) + " differs (" + location_of(g, producers[g.outputs[i]]) + "): " + d;
  for (std::size_t i = 0; i < want.variables.size(); ++i)
    if (const std::string d = value_difference(want.variables[i], got.variables[i]); !d.empty())
      return "variable '" + state.name(i) + "' differs after the call: " + d;
  return {};
}
TANDEM_LAZY [[noreturn]] TANDEM_INLINE void raise_not_eager(const Graph& g, const std::string& what,
                                                            const std::string& more) {
  errors::raise<errors::FailedPreconditionError>(
      g.name.c_str(), "its traced call differs from an eager one: " + what + (more.empty() ? "" : "; " + more) +
                          ". If the code has changed what it does since it was traced, " + frozen_remedy);
}

}  // namespace detail

TANDEM_LAZY_INLINE void check_against_eager(ConcreteFunction& function, Inputs arguments,
                                            Span<const unsigned char> plain, FunctionBody eager) {
  if (context.stager || detail::is_checking()) return;
  const detail::Unobserved quiet;
  const Graph& g = function.graph();
  const detail::State state(g);
  std::vector<Tensor> own;
  for (const Tensor* t : arguments) own.push_back(*t);
  detail::EagerRecord record;
  bool other_result = false;
  const detail::DebugRun want = detail::run_from(state, [&] {
    FunctionRun run = eager.call(eager.self, own.data());
    other_result = !std::equal(plain.begin(), plain.end(), run.plain.begin(), run.plain.end());
    return std::move(run.outputs);
  });
  record.stop();
  if (other_result) detail::raise_not_eager(g, "a plain value in its result differs", {});

  ById<ValueId, Tensor> values;
  const detail::DebugRun by_op = detail::run_from(state, [&] {
    const Tensors out = detail::replay_ops(
        g, arguments, [&](const Node& n) { return variable_of(g, n).value_untracked(); },
        [&](const Node& n, const Tensor& value) { variable_of(g, n).set_untracked(value); }, &values);
    return std::vector<Tensor>(out.begin(), out.end());
  });
  if (const std::string d = detail::outcome_difference(g, state, want, by_op); !d.empty())
    detail::raise_not_eager(g, d, detail::first_wrong_node(g, record.steps(), values));
  const detail::DebugRun program = detail::run_from(state, [&] {
    const Tensors out = function.call(arguments);
    return std::vector<Tensor>(out.begin(), out.end());
  });
  if (const std::string d = detail::outcome_difference(g, state, want, program); !d.empty())
    detail::raise_not_eager(g, d, "run op by op, the graph agrees with the eager code: the plan or a pass is wrong");
}

}  // namespace TANDEM_NS
