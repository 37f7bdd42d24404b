// Generates random programs. Each step is run as it is drawn, and kept if it succeeds and its values stay moderate.
#include <algorithm>
#include <cmath>

#include "tandem/ops/all.hpp"
#include "tests/support/random_program.hpp"

namespace programs {

using namespace tandem;

namespace {

constexpr i64 most_elements = 200;
constexpr int deepest = 3;

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
// Whether no value is huge or NaN; otherwise the following values would often be the same infinity. Wild programs
// may have such values.
bool is_tame(const Tensor& t) {
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
    p->wild = wild_ = random_.chance(15);
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
  // Adds up to `steps` steps; returns the final values of the registers.
  Tensors add_steps(Program& p, Tensors registers, i64 steps, int depth) {
    p.registers = static_cast<int>(registers.size());
    for (i64 tries = 6 * steps; steps > 0 && tries > 0; --tries) steps -= add_step(p, registers, depth);
    // The last values and one arbitrary value; in the body of a gradient, only differentiable values count.
    const auto last = static_cast<int>(registers.size()) - 1;
    for (int r = last; r >= 0 && r > last - 3; --r) p.outputs.push_back(r);
    p.outputs.push_back(static_cast<int>(random_.below(last + 1)));
    return registers;
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
    const auto is_kept = [&](const Tensor& t) { return t.size() <= most_elements && (wild_ || is_tame(t)); };
    if (!std::all_of(with.begin() + s.first_out, with.end(), is_kept)) return false;
    s.results.assign(with.begin() + s.first_out, with.end());
    registers = std::move(with);
    p.registers = static_cast<int>(registers.size());
    p.steps.push_back(std::move(s));
    return true;
  }
  // A random register; later ones are more likely.
  int a_register(const Tensors& registers) {
    const auto n = static_cast<i64>(registers.size());
    return static_cast<int>(std::max(random_.below(n), random_.below(n)));
  }
  bool choose(Step& s, const Tensors& registers, int depth) {
    const i64 kind = random_.below(100);
    s.variable = static_cast<int>(random_.below(static_cast<i64>(machine_->variables().size())));
    if (kind < 55) return choose_op(s, registers);
    if (kind < 58) return s.kind = Step::train, s.numbers = {random_.below(2)}, s.in = {a_register(registers)}, true;
    if (kind < 61) return s.kind = Step::constant, s.results = {some_values(random_, some_spec(random_))}, true;
    if (kind < 67) return s.kind = Step::read, true;
    if (kind < 75) return s.kind = kind < 71 ? Step::assign : Step::assign_add, choose_value(s, registers);
    if (kind < 77) return s.kind = Step::uniform, s.numbers = random_.chance(50) ? Numbers{2, 3} : Numbers{3}, true;
    if (kind < 79) return s.kind = Step::dropout, s.in = {a_register(registers)}, true;
    if (depth == deepest) return false;
    if (kind < 88) {
      s.kind = kind < 83 ? Step::call : Step::gradient;
      return choose_body(s, registers, depth);
    }
    if (kind < 92) return choose_branch(s, registers, depth);
    if (kind < 96) return choose_loop(s, registers, depth);
    return choose_rows(s, registers, depth);
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
  // For an assignment: chooses a register with the spec of the Variable.
  bool choose_value(Step& s, const Tensors& registers) {
    s.outputs = 0;
    const Spec& want = machine_->variables()[static_cast<std::size_t>(s.variable)].spec();
    for (std::size_t i = registers.size(); i-- > 0;)
      if (registers[i].spec() == want && (s.in.empty() || random_.chance(30))) s.in = {static_cast<int>(i)};
    return !s.in.empty();
  }
  // Chooses further operands of the step; returns their values.
  Tensors choose_operands(Step& s, const Tensors& registers, i64 count) {
    Tensors in;
    for (; count > 0; --count) {
      s.in.push_back(a_register(registers));
      in.push_back(registers[static_cast<std::size_t>(s.in.back())]);
    }
    return in;
  }
  // Makes a nested program; returns its final register values.
  Tensors make_body(std::shared_ptr<Program>& body, const Tensors& in, int depth) {
    body = std::make_shared<Program>();
    for (const Tensor& t : in) body->arguments.push_back(t.spec());
    return add_steps(*body, in, 2 + random_.below(5), depth + 1);
  }
  bool choose_body(Step& s, const Tensors& registers, int depth) {
    const Tensors in = choose_operands(s, registers, 1 + random_.below(3));
    make_body(s.body, in, depth);
    s.outputs = static_cast<int>(s.body->outputs.size());
    if (s.kind == Step::call) return true;
    s.outputs = 0;
    for (const Tensor& t : in) s.outputs += is_floating(t.dtype());
    for (const Variable& v : machine_->variables()) s.outputs += is_floating(v.dtype());
    return true;
  }
  // The last register with this spec, or -1.
  static int find_spec(const Tensors& registers, const Spec& want) {
    for (std::size_t i = registers.size(); i-- > 0;)
      if (registers[i].spec() == want) return static_cast<int>(i);
    return -1;
  }
  bool choose_branch(Step& s, const Tensors& registers, int depth) {
    s.kind = Step::branch;
    choose_operands(s, registers, 1);
    const Tensors in = choose_operands(s, registers, 1 + random_.below(3));
    const Tensors first = make_body(s.body, in, depth);
    Tensors second = make_body(s.other, in, depth);
    s.other->outputs.clear();
    for (const int r : s.body->outputs) {
      const Spec& want = first[static_cast<std::size_t>(r)].spec();
      if (find_spec(second, want) < 0) {
        Step made;
        made.kind = Step::constant, made.results = {some_values(random_, want)}, made.first_out = s.other->registers++;
        second.push_back(made.results[0]);
        s.other->steps.push_back(std::move(made));
      }
      s.other->outputs.push_back(find_spec(second, want));
    }
    s.outputs = static_cast<int>(s.body->outputs.size());
    return true;
  }
  // Makes a body whose results have the specs of its first arguments.
  void make_loop_body(Step& s, const Tensors& in, std::size_t carried, int depth) {
    const Tensors end = make_body(s.body, in, depth);
    s.body->outputs.clear();
    for (std::size_t i = 0; i < carried; ++i) s.body->outputs.push_back(find_spec(end, in[i].spec()));
    s.outputs = static_cast<int>(carried);
  }
  bool choose_loop(Step& s, const Tensors& registers, int depth) {
    s.kind = Step::loop;
    choose_operands(s, registers, 1);
    const i64 carried = 1 + random_.below(2);
    s.numbers = {carried, random_.below(2)};
    const Tensors in = choose_operands(s, registers, carried + random_.below(3));
    make_loop_body(s, in, static_cast<std::size_t>(carried), depth);
    return true;
  }
  bool choose_rows(Step& s, const Tensors& registers, int depth) {
    static constexpr Step::Kind kinds[] = {Step::scan, Step::scan_back, Step::fold, Step::fold_back, Step::map};
    s.kind = random_.pick(kinds);
    const Tensor rows = choose_operands(s, registers, 1)[0];
    if (rows.rank() == 0 || rows.shape()[0] == 0) return false;
    Tensors in = choose_operands(s, registers, 1 + random_.below(3));
    if (s.kind == Step::map) {
      in.insert(in.begin(), rows[0]);
      make_body(s.body, in, depth);
      s.outputs = static_cast<int>(s.body->outputs.size());
    } else {
      in.insert(in.begin() + 1, rows[0]);
      make_loop_body(s, in, 1, depth);
    }
    return true;
  }

  Random random_;
  bool wild_ = false;
  Machine* machine_ = nullptr;
  tandem::Span<const Op> rows_ = ops();
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
