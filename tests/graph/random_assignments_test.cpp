// Random programs of few ops that read, assign, update and swap Variables, also in branches and loops: eager code,
// plans, graphs run op by op and the `sim` device give the same results and leave the same Variables, call after call,
// and what a caller holds never changes.
// TANDEM_RANDOM_PROGRAMS=1000000 TANDEM_RANDOM_SEED=5000 test_graph "random assignments*" runs others.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using programs::Random;
using List = std::vector<Tensor>;
using Floats = std::vector<float>;

namespace {

constexpr int arguments = 2, registers = 7, calls = 3;
const Shape shape{2};

Tensor summed_up(const Tensor& a, const Tensor& b) { return a - reduce_sum(b) * 0.25f; }
Tensor stacked(const Tensor& a, const Tensor& b) { return stack({a + b, b - a})[1]; }
Tensor joined(const Tensor& a, const Tensor& b) { return reshape(concat({a, b}, 0), {2, 2})[0]; }
struct Op {
  const char* name;
  Tensor (*call)(const Tensor& a, const Tensor& b);
};
const Op ops[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return a + b; }},
    {"subtract", [](const Tensor& a, const Tensor& b) { return a - b; }},
    {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }},
    {"first + sin(second)", [](const Tensor& a, const Tensor& b) { return a + sin(b); }},
    {"half of the first", [](const Tensor& a, const Tensor&) { return a * 0.5f; }},
    {"negative", [](const Tensor& a, const Tensor&) { return -a; }},
    {"summed_up", &summed_up},
    {"stacked", &stacked},
    {"joined", &joined},
};

// A step on registers, which all hold tensors of one shape; steps may be left out.
struct Step {
  enum Kind { op, read, assign, assign_add, assign_sub, swap, branch, loop } kind;
  const Op* row = nullptr;
  int a = 0, b = 0, out = 0;    // registers
  int variable = 0, other = 0;  // of swap: both
  std::vector<Step> body{};     // of branch and loop: it may assign Variables, and returns its register `out`
};
struct Code {
  std::uint64_t seed = 0;
  int variables = 1;
  std::vector<Step> steps;
  std::vector<int> outputs;
  std::uint32_t owns = 0, holds = 0, touches = 0;  // by Variable; by call: the results are kept; by call: eager updates
};

std::vector<Step> make_steps(Random& r, int variables, bool nested, i64 count);
int last_made(const std::vector<Step>& steps) {
  return std::find_if(steps.rbegin(), steps.rend(), [](const Step& s) { return s.kind == Step::op; })->out;
}
Step make_step(Random& r, int variables, bool nested) {
  static constexpr Step::Kind kinds[] = {Step::op,         Step::op,         Step::op,   Step::op,
                                         Step::read,       Step::read,       Step::read, Step::assign,
                                         Step::assign_add, Step::assign_sub, Step::swap};
  Step s{r.pick(kinds)};
  if (s.kind == Step::op) s.row = &r.pick(ops);
  if (!nested && r.chance(3)) s.kind = r.chance(50) ? Step::branch : Step::loop;
  s.a = static_cast<int>(r.below(registers)), s.b = static_cast<int>(r.below(registers));
  s.out = static_cast<int>(r.below(registers - arguments)) + arguments;
  s.variable = static_cast<int>(r.below(variables)), s.other = static_cast<int>(r.below(variables));
  if (s.kind >= Step::branch) s.body = make_steps(r, variables, true, r.below(4) + 1);
  return s;
}
// Often of what the step before wrote, and often several assignments in a row.
std::vector<Step> make_steps(Random& r, int variables, bool nested, i64 count) {
  std::vector<Step> steps;
  for (; count > 0; --count) {
    const int before = steps.empty() ? 0 : steps.back().out;
    steps.push_back(make_step(r, variables, nested));
    if (r.chance(50)) steps.back().a = before;
    if (steps.back().kind != Step::op || !r.chance(40)) continue;
    for (i64 n = r.below(3) + 1; n > 0; --n) {
      Step s = make_step(r, variables, true);
      s.kind = Step::assign, s.row = nullptr;
      if (n == 1) s.a = last_made(steps);
      steps.push_back(s);
    }
  }
  return steps;
}
Code make(std::uint64_t seed) {
  Random r(seed);
  Code c{.seed = seed, .steps = {}, .outputs = {}};
  c.variables = static_cast<int>(r.below(3)) + 1;
  c.owns = static_cast<std::uint32_t>(r.below(8)), c.holds = static_cast<std::uint32_t>(r.below(8) & r.below(8));
  c.touches = static_cast<std::uint32_t>(r.below(8) & r.below(8));
  c.steps = make_steps(r, c.variables, false, r.below(7) + 3);
  for (i64 n = r.below(3); n > 0; --n) c.outputs.push_back(static_cast<int>(r.below(registers)));
  return c;
}

using State = std::vector<Variable>;
void run(const std::vector<Step>& steps, const State& v, List& x);
Tensor run_body(const Step& s, const State& v, List x) {
  run(s.body, v, x);
  return x[static_cast<std::size_t>(s.out)];
}
void run(const Step& s, const State& v, List& x) {
  const Tensor a = x[static_cast<std::size_t>(s.a)], b = x[static_cast<std::size_t>(s.b)];
  Tensor& out = x[static_cast<std::size_t>(s.out)];
  const Variable &variable = v[static_cast<std::size_t>(s.variable)], &other = v[static_cast<std::size_t>(s.other)];
  switch (s.kind) {
    case Step::op: out = s.row->call(a, b); break;
    case Step::read: out = variable.read_value(); break;
    case Step::assign: variable.assign(a); break;
    case Step::assign_add: variable.assign_add(a); break;
    case Step::assign_sub: variable.assign_sub(a); break;
    case Step::swap: {
      const Tensor old = variable.read_value();
      variable.assign(other), other.assign(old);
      break;
    }
    case Step::branch:
      out = cond(
          reduce_sum(a) > 0.f, [&] { return run_body(s, v, x); }, [&] { return b; });
      break;
    case Step::loop: {
      const auto body = [&](const Tensor& i, const Tensor&) { return std::pair(i + 1, run_body(s, v, x)); };
      out = while_loop([](const Tensor& i, const Tensor&) { return i < 2; }, body, std::pair(constant(0), b)).second;
    }
  }
}
void run(const std::vector<Step>& steps, const State& v, List& x) {
  for (const Step& s : steps) run(s, v, x);
}

struct Way {
  const char* name;
  ExecutionOptions execution = {};
  bool traced = true, on_device = false;
};
const Way eager{.name = "eager", .traced = false};
const Way ways[] = {{.name = "traced"},
                    {.name = "traced, without passes", .execution = {.passes = testing::no_passes}},
                    {.name = "traced, without a plan", .execution = {.plan = false}},
                    {.name = "traced, on the sim device", .on_device = true}};

// What the calls of a program give, one after the other, and what is left.
class Calls {
 public:
  Calls(const Code& code, const Way& way) : code_(code), device_(way.on_device ? sim::device : Device{}) {
    for (int i = 0; i < code.variables; ++i) {
      variables_.emplace_back(numbers(i + 7));
      if (code.owns >> i & 1) variables_.back().assign_add(numbers(0) * 0.f);  // nobody else has its buffer then
    }
    const auto body = [this](const List& in) {
      List x(registers, in[0]);
      x[1] = in[1];
      run(code_.steps, variables_, x);
      List out;
      for (const int r : code_.outputs) out.push_back(x[static_cast<std::size_t>(r)]);
      return out;
    };
    const auto traced = function(body, {.name = "program", .execution = way.execution});
    for (int call = 0; call < calls; ++call) {
      List in{numbers(call), numbers(-1 - call)};
      add(way.traced ? traced(in) : body(in), call);
    }
    for (const auto& [t, was] : held_)
      if (t.to_vector<float>() != was) changed_ = true;
  }
  const Floats& values() const { return values_; }
  bool held_has_changed() const { return changed_; }

 private:
  Tensor numbers(int seed) const {
    const float x = static_cast<float>(seed);
    return constant({x + 0.5f, 2 - x * 0.25f}).to(device_);
  }
  void add(List results, int call) {
    for (const Variable& v : variables_)
      if (const Tensor now = v.read_value(); code_.holds >> call & 1) results.push_back(now);
      else add(now.to_vector<float>());
    for (Tensor& t : results) {
      Floats now = t.to_vector<float>();
      add(now);
      if (code_.holds >> call & 1) held_.emplace_back(std::move(t), std::move(now));
    }
    if (code_.touches >> call & 1) variables_[0].assign_add(numbers(call));
  }
  void add(const Floats& more) { values_.insert(values_.end(), more.begin(), more.end()); }

  const Code& code_;
  Device device_;
  State variables_;
  std::vector<std::pair<Tensor, Floats>> held_;
  Floats values_;
  bool changed_ = false;
};

std::optional<std::string> failure(const Code& c, const Way& w) {
  const Calls want(c, eager), got(c, w);
  if (want.held_has_changed() || got.held_has_changed()) return "a value that the caller holds has changed";
  if (want.values().size() != got.values().size()) return "another number of results";
  for (std::size_t i = 0; i < want.values().size(); ++i)
    if (std::memcmp(&want.values()[i], &got.values()[i], sizeof(float)) != 0)
      return "number " + std::to_string(i) + " is " + std::to_string(got.values()[i]) + ", not " +
             std::to_string(want.values()[i]);
  return {};
}

std::string text_of(const std::vector<Step>& steps, const std::string& indent) {
  static constexpr const char* kinds[] = {"", "read", "assign", "assign_add", "assign_sub", "swap", "branch", "loop"};
  std::string t;
  for (const Step& s : steps) {
    const std::string a = "r" + std::to_string(s.a), b = "r" + std::to_string(s.b), v = std::to_string(s.variable);
    t += indent + "r" + std::to_string(s.out) + ": " + (s.row ? s.row->name : kinds[s.kind]) + "(" + a + ", " + b +
         ") v" + v + ", v" + std::to_string(s.other) + "\n" + text_of(s.body, indent + "    ");
  }
  return t;
}
std::string text_of(const Code& c) {
  std::string s = "seed " + std::to_string(c.seed) + ", " + std::to_string(c.variables) + " Variables, owns " +
                  std::to_string(c.owns) + ", holds " + std::to_string(c.holds) + ", touches " +
                  std::to_string(c.touches) + "\n" + text_of(c.steps, "  ") + "  return";
  for (const int r : c.outputs) s += " r" + std::to_string(r);
  return s + "\n";
}
// Without the steps that the failure does not need.
Code reduced(Code c, const Way& w) {
  for (std::size_t i = c.steps.size(); i-- > 0;) {
    Code less = c;
    less.steps.erase(less.steps.begin() + static_cast<std::ptrdiff_t>(i));
    if (failure(less, w)) c = std::move(less);
  }
  return c;
}

}  // namespace

TEST_CASE("random assignments: every way leaves eager's values in results and Variables") {
  const sim::Installed installed;
  const std::uint64_t first = testing::number_from("TANDEM_RANDOM_SEED", 1),
                      count = testing::number_from("TANDEM_RANDOM_PROGRAMS", 3000);
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    const Code c = make(seed);
    const Calls want(c, eager);
    for (const Way& w : ways) {
      if (w.on_device && seed % 16 != 0) continue;  // its memory is slow
      const Calls got(c, w);
      if (!got.held_has_changed() && got.values().size() == want.values().size() &&
          std::memcmp(got.values().data(), want.values().data(), want.values().size() * sizeof(float)) == 0)
        continue;
      ++failures;
      const Code small = reduced(c, w);
      FAIL_CHECK(w.name << ", seed " << seed << ": " << failure(c, w).value_or("passes")
                        << "\nreduced: " << failure(small, w).value_or("passes") << "\n"
                        << text_of(small));
    }
  }
  CHECK(failures == 0);
}
