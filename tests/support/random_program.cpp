// Runs, prints and reduces random programs.
#include "tests/support/random_program.hpp"

#include <algorithm>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/optim/clip.hpp"

namespace programs {

using namespace tandem;

std::uint64_t Random::next() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct Machine::Traced {
  struct Body {
    Machine* machine;
    std::shared_ptr<Program> program;
    Tensors operator()(const Tensors& in) const { return machine->run(*program, in); }
  };
  std::shared_ptr<Program> program;
  Function<Body> function;
};

Machine::Machine(const Program& program, MachineOptions options) : options_(std::move(options)) {
  const auto add = [&](std::vector<Variable>& to, const char* name, const Tensor& initial) {
    const std::string numbered = name + std::to_string(to.size());  // saved graphs distinguish Variables by name
    to.emplace_back(here(initial), VariableOptions{.name = numbered.c_str()});
  };
  for (const Tensor& t : program.variables) add(variables_, "v", t);
  for (const Shape& s : {Shape{2, 3}, Shape{3}, Shape{}, Shape{0, 2}}) add(weights_, "w", ones(s));
  adam_.build(weights_);
}
Machine::~Machine() = default;

Tensors Machine::call(const std::shared_ptr<Program>& body, const Tensors& in) {
  if (!options_.trace_calls) return run(*body, in);
  for (const auto& t : traced_)
    if (t->program == body) return t->function(in);
  traced_.push_back(std::make_unique<Traced>(Traced{body, Function(Traced::Body{this, body}, options_.function)}));
  const Function<Traced::Body> f = traced_.back()->function;  // the call may add others
  return f(in);
}
Tensors Machine::gradient(const Program& body, const Tensors& given) {
  GradientTape tape;
  std::vector<Source> sources;
  Tensors in;  // a value returned twice is one object in eager code but may be two from a traced call: here always two
  for (const Tensor& t : given) in.push_back(identity(t));
  for (const Tensor& t : in)
    if (is_floating(t.dtype())) {
      tape.watch(t);
      sources.emplace_back(t);
    }
  for (const Variable& v : variables_)
    if (is_floating(v.dtype())) sources.emplace_back(v);
  Tensors targets;
  for (const Tensor& y : run(body, in))
    if (is_floating(y.dtype())) targets.push_back(y);
  Tensors out;
  for (const Gradient& g : tape.gradients(targets, sources, {.unconnected_gradients = UnconnectedGradients::zero}))
    out.push_back(g.tensor());
  return out;
}
Tensor Machine::train(const Tensor& x, bool clip) {
  const Tensor factor = tanh(reduce_sum(cast(x, DType::float32)));
  std::vector<Gradient> g;
  for (const Variable& w : weights_) g.push_back(w.read_value() * factor);
  adam_.apply_gradients(clip ? clip_by_global_norm(g, 0.5).gradients : g, weights_);
  return weights_[0].read_value();
}
void Machine::step(const Step& s, Tensors& registers) {
  Tensors in, out;
  for (const int r : s.in) in.push_back(registers[static_cast<std::size_t>(r)]);
  const auto variable = [&]() -> const Variable& { return variables_[static_cast<std::size_t>(s.variable)]; };
  switch (s.kind) {
    case Step::op: out = {s.row->call(in, s.numbers)}; break;
    case Step::constant:
      for (const Tensor& t : s.results) out.push_back(here(t));
      break;
    case Step::read: out = {variable().read_value()}; break;
    case Step::assign: variable().assign(in[0]); break;
    case Step::assign_add: variable().assign_add(in[0]); break;
    case Step::train: out = {train(in[0], s.numbers[0] == 1)}; break;
    case Step::uniform: {
      const Shape shape{tandem::Span<const i64>(s.numbers)};
      out = {here(random::uniform(shape, {.generator = &generator_}))};
      break;
    }
    case Step::dropout: out = {nn::dropout(in[0], {.rate = 0.25, .generator = &generator_})}; break;
    case Step::call: out = call(s.body, in); break;
    case Step::gradient: out = gradient(*s.body, in); break;
    case Step::branch: out = branch(s, in); break;
    case Step::loop: out = loop(s, in); break;
    case Step::map: out = map(s, in); break;
    case Step::scan:
    case Step::scan_back:
    case Step::fold:
    case Step::fold_back: out = scan(s, in); break;
  }
  for (const Tensor& t : out)
    if (options_.watches && is_floating(t.dtype())) stayed_finite_ &= reduce_all(is_finite(t)).item<bool>();
  for (std::size_t i = 0; i < out.size(); ++i) registers[static_cast<std::size_t>(s.first_out) + i] = out[i];
}
Tensors Machine::run(const Program& program, const Tensors& arguments) {
  Tensors registers = arguments;
  registers.resize(static_cast<std::size_t>(program.registers));
  for (const Step& s : program.steps)
    if (!s.dropped) step(s, registers);
  Tensors out;
  for (const int r : program.outputs) out.push_back(registers[static_cast<std::size_t>(r)]);
  return out;
}

namespace {

std::string list_of(const std::vector<int>& registers) {
  std::string s;
  for (const int r : registers) s += (s.empty() ? "r" : ", r") + std::to_string(r);
  return s;
}
std::string text_of(const Program& p, const std::string& indent);
std::string text_of(const Step& s, const std::string& indent) {
  static constexpr const char* kinds[] = {"",        "constant",  "read", "assign",    "assign_add", "train",
                                          "uniform", "dropout",   "call", "gradient",  "branch",     "loop",
                                          "scan",    "scan_back", "fold", "fold_back", "map"};
  static_assert(std::size(kinds) == Step::map + 1);
  std::string t = indent;
  for (int i = 0; i < s.outputs; ++i) t += (i ? ", r" : "r") + std::to_string(s.first_out + i);
  t += s.outputs ? " = " : "";
  t += s.kind == Step::op ? s.row->name : kinds[s.kind];
  if (s.kind == Step::read || s.kind == Step::assign || s.kind == Step::assign_add)
    t += " v" + std::to_string(s.variable);
  t += "(" + list_of(s.in) + ")";
  for (std::size_t i = 0; i < s.numbers.size(); ++i) t += (i ? ", " : " {") + std::to_string(s.numbers[i]);
  if (!s.numbers.empty()) t += "}";
  for (const Tensor& value : s.results)
    if (s.kind == Step::constant) t += " " + tandem::to_string(value);
  t += "\n";
  if (s.body) t += text_of(*s.body, indent + "    ");
  return s.other ? t + indent + "  otherwise\n" + text_of(*s.other, indent + "    ") : t;
}
std::string text_of(const Program& p, const std::string& indent) {
  std::string s = indent + "arguments:";
  for (const Spec& a : p.arguments) s += " " + tandem::to_string(a);
  s += "\n";
  for (const Step& step : p.steps)
    if (!step.dropped) s += text_of(step, indent);
  return s + indent + "return " + list_of(p.outputs) + "\n";
}

bool uses(const Step& s, const Step& maker) {
  return std::any_of(s.in.begin(), s.in.end(),
                     [&](int r) { return r >= maker.first_out && r < maker.first_out + maker.outputs; });
}
bool is_used(const Program& p, const Step& maker) {
  Step end;
  end.in = p.outputs;
  return uses(end, maker) ||
         std::any_of(p.steps.begin(), p.steps.end(), [&](const Step& s) { return !s.dropped && uses(s, maker); });
}

// A deep copy of the program; `all` receives the copies of it and its nested programs, innermost first.
std::shared_ptr<Program> copy(const Program& program, std::vector<std::shared_ptr<Program>>& all) {
  auto p = std::make_shared<Program>(program);
  for (Step& s : p->steps)
    for (std::shared_ptr<Program>* body : {&s.body, &s.other})
      if (*body) *body = copy(**body, all);
  all.push_back(p);
  return p;
}
bool is_control_flow(const Step& s) { return s.kind >= Step::branch; }
template <class Is>
bool any_step(const Program& p, const Is& is) {
  return std::any_of(p.steps.begin(), p.steps.end(), [&](const Step& s) {
    return !s.dropped && (is(s) || (s.body && any_step(*s.body, is)) || (s.other && any_step(*s.other, is)));
  });
}

}  // namespace

std::string to_string(const Program& program) {
  std::string s = "program of seed " + std::to_string(program.seed) + "\n";
  for (std::size_t i = 0; i < program.variables.size(); ++i)
    s += "  v" + std::to_string(i) + " = " + tandem::to_string(program.variables[i]) + "\n";
  return s + text_of(program, "  ");
}

bool has_control_flow(const Program& program) { return any_step(program, &is_control_flow); }
bool differentiates_control_flow(const Program& program) {
  return any_step(program,
                  [](const Step& s) { return s.kind == Step::gradient && any_step(*s.body, &is_control_flow); });
}
bool multiplies_matrices(const Program& program) {
  return any_step(program, [](const Step& s) {
    const std::string name = s.kind == Step::op ? s.row->name : "";
    return name == "matmul" || name == "gram" || name == "sum_of_products" || name == "products_of_rows";
  });
}

std::shared_ptr<Program> reduced(const Program& program, const std::function<bool(const Program&)>& fails) {
  std::vector<std::shared_ptr<Program>> all;
  auto p = copy(program, all);
  for (const int r : program.outputs) {
    p->outputs = {r};
    if (fails(*p)) break;
    p->outputs = program.outputs;
  }
  std::reverse(all.begin(), all.end());  // outermost first
  for (const auto& part : all)
    for (std::size_t i = part->steps.size(); i-- > 0;) {
      Step& s = part->steps[i];
      if (s.kind == Step::constant && is_used(*part, s)) continue;
      const Step before = s;
      if (!is_used(*part, s)) s.dropped = true;
      else s.kind = Step::constant, s.in.clear(), s.numbers.clear(), s.body.reset(), s.other.reset();
      if (!fails(*p)) s = before;
    }
  return p;
}

}  // namespace programs
