// Lowers a program to steps: which instructions form chains, and where each value is stored.
#pragma once
#include <algorithm>

#include "tandem/cpu/fused/fused.hpp"
#include "tandem/cpu/pointwise/pointwise.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tandem/ops/fused/micro.hpp"
#include "tandem/ops/pointwise/rules.inl"

#define TANDEM_KERNELS "tandem/ops/fused/chain.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

// The opcode of an op whose operand `carried` is the chain's value; -1 if there is none.
TANDEM_INLINE int opcode(const OpDef* op, std::size_t carried) {
  // clang-format off
#define TANDEM_MICRO(name) \
  if (op == &name##_op && carried == 0) return 2 * micro::name;
  TANDEM_FUSED_BINARY(TANDEM_MICRO)
  TANDEM_FUSED_UNARY(TANDEM_MICRO)
#undef TANDEM_MICRO
#define TANDEM_MICRO(name, swapped) \
  if (op == &swapped##_op && carried == 1) return 2 * micro::name;
  TANDEM_FUSED_SWAPPED(TANDEM_MICRO)
#undef TANDEM_MICRO
  // clang-format on
  return carried == 1 && op->flags.commutative ? opcode(op, 0) : -1;
}
TANDEM_INLINE ChainFn chain_of(DType d) {
  static constexpr ByIsa<ChainFn> floats{TANDEM_EACH_ISA(fused_chain<float>)},
      doubles{TANDEM_EACH_ISA_IF_COMPILED(fused_chain<double>)};
  return (d == DType::float32 ? floats : doubles).get();
}

}  // namespace detail

class FusedLowering {
 public:
  FusedLowering(const FusedProgram& p, FusedCode& to)
      : p_(p),
        to_(to),
        inputs_(static_cast<int>(p.inputs.size())),
        slot_(p.inputs.size() + p.code.size(), -1),
        left_(slot_.size()),
        users_(slot_.size()),
        done_(p.code.size()) {
    for (int k = 0; k < count(); ++k)
      for (int v : code(k).in) ++left_[at(v)], users_[at(v)].push_back(k);
    for (int i = 0; i < inputs_; ++i) slot_[at(i)] = i;
    to_.inputs_ = inputs_, to_.outputs_ = static_cast<int>(p.outputs.size());
    to_.dtypes_ = p.inputs;
    for (int v : p.outputs) to_.dtypes_.push_back(p.dtype_of(v));
    to_.written_out_.resize(p.inputs.size());
    to_.last_read_.resize(p.inputs.size(), -1), to_.written_.resize(p.outputs.size());
  }
  void run() {
    for (int k = 0; k < count(); ++k) {
      if (done_[at(k)]) continue;
      const std::size_t carried = starts_with(k);
      if (carried < 2) emit_chain(k, carried);
      else emit_loop(k);
    }
  }

 private:
  using Instruction = FusedProgram::Instruction;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int count() const { return static_cast<int>(p_.code.size()); }
  const Instruction& code(int k) const { return p_.code[at(k)]; }
  int output(int value) const {
    const auto o = std::find(p_.outputs.begin(), p_.outputs.end(), value);
    return o == p_.outputs.end() ? -1 : static_cast<int>(o - p_.outputs.begin());
  }
  bool chains(int k) const {
    const DType d = code(k).dtype;
    if (d != DType::float32 && d != DType::float64) return false;
    return std::all_of(code(k).in.begin(), code(k).in.end(), [&](int v) { return p_.dtype_of(v) == d; });
  }
  // The operand with which a chain can begin at instruction k; 2 if none.
  std::size_t starts_with(int k) const {
    for (std::size_t carried = 0; chains(k) && carried < code(k).in.size(); ++carried)
      if (detail::opcode(code(k).op, carried) >= 0) return carried;
    return 2;
  }
  // The instruction that extends the chain from `value`; -1 if none can yet.
  int next(int value) const {
    for (int k : users_[at(value)])
      if (!done_[at(k)] && chains(k) && carried_operand(k, value) < 2) return k;
    return -1;
  }
  std::size_t carried_operand(int k, int value) const {
    const auto& in = code(k).in;
    if (in.size() == 2 && in[0] == in[1]) return code(k).op == &multiply_op ? 0 : 2;  // as a square
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i] == value && detail::opcode(code(k).op, i) >= 0 && (in.size() == 1 || slot_[at(in[1 - i])] >= 0))
        return i;
    return 2;
  }

  int new_slot(int value) {
    if (const int o = output(value); o >= 0) return slot_[at(value)] = inputs_ + o;
    if (!free_.empty()) {
      slot_[at(value)] = free_.back();
      free_.pop_back();
    } else {
      slot_[at(value)] = static_cast<int>(to_.dtypes_.size());
      to_.dtypes_.push_back(code(value - inputs_).dtype);
    }
    DType& widest = to_.dtypes_[at(slot_[at(value)])];
    if (size_of(code(value - inputs_).dtype) > size_of(widest)) widest = code(value - inputs_).dtype;
    return slot_[at(value)];
  }
  void release(const std::vector<int>& values) {
    for (int v : values)
      if (--left_[at(v)] == 0 && slot_[at(v)] >= inputs_ + to_.outputs_) free_.push_back(slot_[at(v)]);
  }
  // The times of reads and writes decide whether an output may share an input's buffer: the time of a step, or of a
  // chain's action.
  std::uint16_t read(int value, int time) {
    if (value < inputs_) to_.last_read_[at(value)] = time;
    return static_cast<std::uint16_t>(slot_[at(value)]);
  }
  void wrote(int value) {
    if (const int o = output(value); o >= 0) to_.written_[at(o)] = now_;
  }

  void emit_loop(int k) {
    const Instruction& c = code(k);
    FusedStep s;
    s.loop = c.op->loop(p_.dtype_of(c.in[c.in.size() - 1]), c.attrs);
    s.inputs = static_cast<std::uint16_t>(c.in.size());
    ++now_;
    std::vector<int> operands;
    bool as_wide = true;
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      s.in[i] = read(c.in[i], now_);
      if (c.in[i] < inputs_) to_.written_out_[at(c.in[i])] = true;
      as_wide = as_wide && size_of(p_.dtype_of(c.in[i])) == size_of(c.dtype);
      operands.push_back(c.in[i]);
    }
    const int result = inputs_ + k;
    if (as_wide) release(operands);  // the result may then reuse an operand's slot
    s.out = static_cast<std::uint16_t>(new_slot(result));
    if (!as_wide) release(operands);
    s.last_use = output(result) >= 0 && left_[at(result)] == 0;
    wrote(result);
    done_[at(k)] = true;
    to_.cost_ += s.loop.costly ? 0.3 : 0.06;
    to_.steps_.push_back(s);
  }

  void act(int opcode, std::uint16_t slot = 0) {
    to_.micros_.push_back({static_cast<std::uint16_t>(opcode), slot});
    ++now_;
  }
  void emit_chain(int k, std::size_t carried) {
    FusedStep& s = chain_step(code(k).dtype);
    act(2 * micro::load, read(code(k).in[carried], now_ + 1));
    std::vector<int> operands{code(k).in[carried]};
    int value = -1;
    for (; k >= 0; k = next(value)) {
      if (value >= 0) {
        carried = carried_operand(k, value);
        keep_for_others(k, value);
      }
      apply(k, carried, value, operands);
      value = inputs_ + k;
    }
    release(operands);
    act(2 * (output(value) >= 0 && left_[at(value)] == 0 ? micro::put : micro::keep),
        static_cast<std::uint16_t>(new_slot(value)));
    wrote(value);
    s.count = static_cast<std::uint32_t>(to_.micros_.size()) - s.first;
  }
  // The step that a chain of this dtype is added to: chains that follow each other run as one, so that the tile is read
  // from memory while others of its elements are computed.
  FusedStep& chain_step(DType d) {
    const ChainFn chain = detail::chain_of(d);
    if (!to_.steps_.empty() && to_.steps_.back().chain == chain) return to_.steps_.back();
    FusedStep& s = to_.steps_.emplace_back();
    s.chain = chain;
    s.first = static_cast<std::uint32_t>(to_.micros_.size());
    return s;
  }
  // Stores the carried value before instruction k consumes it, if it has other uses.
  void keep_for_others(int k, int value) {
    left_[at(value)] -= code(k).in.size() == 2 && code(k).in[0] == code(k).in[1] ? 2 : 1;
    if (left_[at(value)] == 0 && output(value) < 0) return;
    act(2 * (left_[at(value)] == 0 ? micro::put : micro::keep), static_cast<std::uint16_t>(new_slot(value)));
    wrote(value);
  }
  void apply(int k, std::size_t carried, int value, std::vector<int>& operands) {
    const Instruction& c = code(k);
    done_[at(k)] = true;
    to_.cost_ += rules_cost(c);
    if (c.in.size() == 1) return act(detail::opcode(c.op, 0));
    if (value >= 0 && c.in[0] == c.in[1]) return act(2 * micro::square);
    const int operand = c.in[1 - carried];
    operands.push_back(operand);
    act(detail::opcode(c.op, carried), read(operand, now_ + 1));
  }
  static double rules_cost(const Instruction& c) { return c.op->loop(c.dtype, c.attrs).costly ? 0.25 : 0.03; }

  const FusedProgram& p_;
  FusedCode& to_;
  int inputs_, now_ = 0;
  std::vector<int> slot_, left_, free_;  // by value: its slot, its remaining uses
  std::vector<std::vector<int>> users_;  // by value
  std::vector<bool> done_;               // by instruction
};

TANDEM_INLINE FusedCode::FusedCode(const FusedProgram& program) { FusedLowering(program, *this).run(); }

}  // namespace TANDEM_NS::cpu
