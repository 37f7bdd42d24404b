// Making random programs: steps are tried out as they are drawn, and kept if they run and their values stay tame.
#include <algorithm>
#include <cmath>

#include "tandem/ops/all.hpp"
#include "tests/support/random_program.hpp"

namespace programs {

using namespace tandem;

namespace {

constexpr i64 most_elements = 200;
constexpr int deepest = 2;

Tensor some_values(Random& r, const Spec& spec) {
  std::vector<double> values(static_cast<std::size_t>(spec.shape.size()));
  for (double& x : values)
    x = is_floating(spec.dtype)      ? static_cast<double>(r.below(3001)) / 1000 - 1.5
        : spec.dtype == DType::bool_ ? static_cast<double>(r.below(2))
                                     : static_cast<double>(r.below(9)) - 3;
  return cast(constant(values, {.shape = spec.shape}), spec.dtype);
}
Spec some_spec(Random& r) {
  static const Shape shapes[] = {{}, {3}, {1}, {2, 3}, {2, 3}, {1, 3}, {2, 1}, {3, 2}, {0}, {0, 3}, {2, 3, 2}, {3, 3}};
  static constexpr DType dtypes[] = {DType::float32, DType::float32, DType::float32, DType::float32,
                                     DType::float64, DType::int32,   DType::int64,   DType::bool_};
  const Shape& shape = r.pick(shapes);
  return {shape, r.pick(dtypes), {}};
}
// Neither huge nor NaN: their bits would agree all the same, but what follows would be the same infinity.
bool is_tame(const Tensor& t) {
  if (t.size() > most_elements) return false;
  const double limit = is_floating(t.dtype()) ? 1e3 : 1e6;
  const Tensor values = cast(t, DType::float64);
  return std::ranges::all_of(values.data<double>(), [&](double x) { return std::abs(x) <= limit; });
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::shared_ptr<Program> make(std::uint64_t seed) {
    auto p = std::make_shared<Program>();
    p->seed = seed;
    for (i64 n = random_.below(3); n >= 0; --n) {
      Spec s = some_spec(random_);
      if (n == 0) s = {{2, 3}, DType::float32, {}};
      p->variables.push_back(some_values(random_, s));
    }
    for (i64 n = random_.below(3); n >= 0; --n) p->arguments.push_back(some_spec(random_));
    Machine machine(*p);
    machine_ = &machine;
    add_steps(*p, arguments_of(*p, 0), 4 + random_.below(12), 0);
    machine_ = nullptr;
    return p;
  }

 private:
  void add_steps(Program& p, Tensors registers, i64 steps, int depth) {
    p.registers = static_cast<int>(registers.size());
    for (i64 tries = 6 * steps; steps > 0 && tries > 0; --tries) steps -= add_step(p, registers, depth);
    // The last values, and one from anywhere; of a gradient's body those that have a gradient count.
    const auto last = static_cast<int>(registers.size()) - 1;
    for (int r = last; r >= 0 && r > last - 3; --r) p.outputs.push_back(r);
    p.outputs.push_back(static_cast<int>(random_.below(last + 1)));
  }
  bool add_step(Program& p, Tensors& registers, int depth) {
    Step s;
    s.first_out = static_cast<int>(registers.size());
    Tensors with = registers;
    try {
      if (!choose(s, registers, depth)) return false;
      with.resize(with.size() + static_cast<std::size_t>(s.outputs));
      machine_->step(s, with);
    } catch (const errors::OpError&) {
      return false;  // operands that do not fit
    }
    if (!std::all_of(with.begin() + s.first_out, with.end(), &is_tame)) return false;
    registers = std::move(with);
    p.registers = static_cast<int>(registers.size());
    p.steps.push_back(std::move(s));
    return true;
  }
  // Later registers more often.
  int a_register(const Tensors& registers) {
    const auto n = static_cast<i64>(registers.size());
    return static_cast<int>(std::max(random_.below(n), random_.below(n)));
  }
  bool choose(Step& s, const Tensors& registers, int depth) {
    const i64 kind = random_.below(100);
    s.variable = static_cast<int>(random_.below(static_cast<i64>(machine_->variables().size())));
    if (kind < 66) return choose_op(s, registers);
    if (kind < 69) return s.kind = Step::train, s.numbers = {random_.below(2)}, s.in = {a_register(registers)}, true;
    if (kind < 71) return s.kind = Step::constant, s.value = some_values(random_, some_spec(random_)), true;
    if (kind < 76) return s.kind = Step::read, true;
    if (kind < 84) return s.kind = kind < 80 ? Step::assign : Step::assign_add, choose_value(s, registers);
    if (kind < 87) return s.kind = Step::uniform, s.numbers = random_.chance(50) ? Numbers{2, 3} : Numbers{3}, true;
    if (kind < 90) return s.kind = Step::dropout, s.in = {a_register(registers)}, true;
    if (depth == deepest) return false;
    s.kind = kind < 95 ? Step::call : Step::gradient;
    return choose_body(s, registers, depth);
  }
  bool choose_op(Step& s, const Tensors& registers) {
    s.row = &random_.pick(rows_);
    Tensors in;
    for (i64 n = s.row->inputs < 0 ? 1 + random_.below(3) : s.row->inputs; n > 0; --n) {
      s.in.push_back(a_register(registers));
      in.push_back(registers[static_cast<std::size_t>(s.in.back())]);
    }
    if (s.row->choose) s.numbers = s.row->choose(random_, in);
    return true;
  }
  // For an assignment: a register of the Variable's spec.
  bool choose_value(Step& s, const Tensors& registers) {
    s.outputs = 0;
    if (s.kind == Step::assign) s.variable = 0;
    const Spec& want = machine_->variables()[static_cast<std::size_t>(s.variable)].spec();
    for (std::size_t i = registers.size(); i-- > 0;)
      if (registers[i].spec() == want && (s.in.empty() || random_.chance(30))) s.in = {static_cast<int>(i)};
    return !s.in.empty();
  }
  bool choose_body(Step& s, const Tensors& registers, int depth) {
    Tensors in;
    for (i64 n = random_.below(3); n >= 0; --n) {
      s.in.push_back(a_register(registers));
      in.push_back(registers[static_cast<std::size_t>(s.in.back())]);
    }
    s.body = std::make_shared<Program>();
    for (const Tensor& t : in) s.body->arguments.push_back(t.spec());
    add_steps(*s.body, in, 2 + random_.below(5), depth + 1);
    s.outputs = static_cast<int>(s.body->outputs.size());
    if (s.kind == Step::call) return true;
    s.outputs = 0;
    for (const Tensor& t : in) s.outputs += is_floating(t.dtype());
    for (std::size_t i = 1; i < machine_->variables().size(); ++i)
      s.outputs += is_floating(machine_->variables()[i].dtype());
    return true;
  }

  Random random_;
  Machine* machine_ = nullptr;
  std::span<const Op> rows_ = ops();
};

}  // namespace

std::shared_ptr<Program> make_program(std::uint64_t seed) { return Maker(seed).make(seed); }

Tensors arguments_of(const Program& program, std::uint64_t call) {
  Random random(program.seed * 1000 + call);
  Tensors r;
  for (const Spec& s : program.arguments) r.push_back(some_values(random, s));
  return r;
}

}  // namespace programs
