// Random programs that read Variables before a tape begins, while it is paused, between nested tapes, in functions and
// branches, and between assignments: the gradients of eager code and of traced code, call after call, are those of a
// forward-mode reference in which a read counts to a tape if that tape is recording when it happens, and nothing else.
// TANDEM_RANDOM_PROGRAMS=100000 TANDEM_RANDOM_SEED=5000 test_graph "random reads*" runs others.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/random_program.hpp"

using namespace tandem;
using programs::Random;
using List = std::vector<Tensor>;
using Doubles = std::vector<double>;

namespace {

constexpr int variables = 2, registers = 8, calls = 3, most_products = 4;

struct Step {
  enum Kind {
    add,
    subtract,
    multiply,
    negative,
    stop,
    read,
    assign,
    assign_add,
    tape,
    pause,
    watch,
    call,
    branch
  } kind;
  int a = 0, b = 0, out = 0;  // registers
  int variable = 0;
  int level = 0;             // tape: how many are around it; pause, watch: of which tape
  bool persistent = false;   // tape: asked twice
  bool accessed = true;      // tape: it watches what is read
  std::vector<Step> body{};  // tape: then the gradients of a to all Variables, from out on; pause, call, branch
};
using Steps = std::vector<Step>;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}
  /// `first` is the outermost tape of which pause and watch may speak: not of those around a function.
  Steps make(int depth, int level, int first) {
    Steps s;
    for (i64 n = random_.below(5) + 2; n > 0; --n) s.push_back(step(depth, level, first));
    return s;
  }

 private:
  Step step(int depth, int level, int first) {
    Step s{Step::read};
    if (random_.chance(65)) s.kind = static_cast<Step::Kind>(random_.below(Step::tape));
    if (depth < 4 && random_.chance(35)) s.kind = static_cast<Step::Kind>(Step::tape + random_.below(5));
    if (s.kind == Step::tape && level == 2) s.kind = Step::read;
    if ((s.kind == Step::pause || s.kind == Step::watch) && first >= level) s.kind = Step::read;
    if (s.kind == Step::multiply && ++products_ > most_products) s.kind = Step::add;
    s.a = register_(), s.b = register_(), s.out = register_();
    s.variable = static_cast<int>(random_.below(variables));
    s.persistent = random_.chance(30), s.accessed = random_.chance(80);
    s.level = s.kind == Step::tape ? level : first + static_cast<int>(random_.below(level - first));
    if (s.kind == Step::tape) s.body = make(depth + 1, level + 1, first);
    if (s.kind == Step::pause) s.body = make(depth + 1, level, level);
    if (s.kind == Step::call || s.kind == Step::branch) s.body = make(depth + 1, level, level);
    return s;
  }
  int register_() { return static_cast<int>(random_.below(registers)); }

  Random random_;
  int products_ = 0;
};

// The registers that steps write.
void add_written(const Steps& steps, std::set<int>& to) {
  for (const Step& s : steps) {
    if (s.kind < Step::assign) to.insert(s.out);
    for (int i = 0; s.kind == Step::tape && i < variables; ++i) to.insert((s.out + i) % registers);
    add_written(s.body, to);
  }
}

// By tensors. A function and a branch get all registers and return those that they write.
struct Machine {
  std::vector<Variable> v;

  void run(const Steps& steps, List& r, std::vector<GradientTape*>& tapes) const {
    for (const Step& s : steps) run(s, r, tapes);
  }
  List run_alone(const Steps& steps, List r, const std::set<int>& results, std::vector<GradientTape*> tapes) const {
    run(steps, r, tapes);
    List out;
    for (const int i : results) out.push_back(r[at(i)]);
    return out;
  }
  void run_apart(const Step& s, List& r, const std::vector<GradientTape*>& tapes) const {
    std::set<int> results;
    add_written(s.body, results);
    const auto body = [&](const List& in) { return run_alone(s.body, in, results, tapes); };
    const Tensor yes = r[0].is_symbolic() ? r[0] * 0. < 1. : constant(true);
    const List made = s.kind == Step::call
                          ? function(body)(r)
                          : cond(
                                yes, [&] { return body(r); }, [&] { return run_alone({}, r, results, {}); });
    std::size_t from = 0;
    for (const int i : results) r[at(i)] = made[from++];
  }
  void run(const Step& s, List& r, std::vector<GradientTape*>& tapes) const {
    const Tensor a = r[at(s.a)], b = r[at(s.b)];
    Tensor& out = r[at(s.out)];
    const Variable& x = v[at(s.variable)];
    switch (s.kind) {
      case Step::add: out = a + b; break;
      case Step::subtract: out = a - b; break;
      case Step::multiply: out = a * b; break;
      case Step::negative: out = -a; break;
      case Step::stop: out = stop_gradient(a); break;
      case Step::read: out = x.read_value(); break;
      case Step::assign: x.assign(a); break;
      case Step::assign_add: x.assign_add(a); break;
      case Step::tape: run_tape(s, r, tapes); break;
      case Step::pause: {
        const auto pause = tapes[at(s.level)]->stop_recording();
        run(s.body, r, tapes);
        break;
      }
      case Step::watch: tapes[at(s.level)]->watch(x); break;
      case Step::call:
      case Step::branch: run_apart(s, r, tapes);
    }
  }
  void run_tape(const Step& s, List& r, std::vector<GradientTape*>& tapes) const {
    GradientTape tape({.persistent = s.persistent, .watch_accessed_variables = s.accessed});
    tapes.push_back(&tape);
    run(s.body, r, tapes);
    const Tensor y = r[at(s.a)];
    const std::vector<Source> all(v.begin(), v.end());
    std::vector<Gradient> g;
    for (int times = s.persistent ? 2 : 1; times > 0; --times)
      g = tape.gradients(y, all, {.unconnected_gradients = UnconnectedGradients::zero});
    for (std::size_t i = 0; i < g.size(); ++i) r[(at(s.out) + i) % registers] = g[i].tensor();
    tapes.pop_back();
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

// A number with its derivatives to the Variables as the outer tape knows them; one with those as the inner tape does,
// which are such numbers themselves, for the outer tape sees the inner one's gradient.
struct Outer {
  double value = 0;
  double d[variables] = {};
};
struct Number {
  Outer value;
  Outer d[variables];
};

// By numbers.
class Reference {
 public:
  explicit Reference(Doubles state) : state_(std::move(state)) {}
  const Doubles& state() const { return state_; }
  void run(const Steps& steps, std::vector<Number>& r) {
    for (const Step& s : steps) run(s, r);
  }

 private:
  struct Tape {
    bool lives = false, accessed = false;
    int pauses = 0;
    bool watched[variables] = {};
    bool records() const { return lives && pauses == 0; }
    bool counts(std::size_t v) const { return records() && (accessed || watched[v]); }
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void run(const Step& s, std::vector<Number>& r) {
    const Number a = r[at(s.a)], b = r[at(s.b)];
    Number& out = r[at(s.out)];
    double& x = state_[at(s.variable)];
    switch (s.kind) {
      case Step::add: out = sum(a, b, 1); break;
      case Step::subtract: out = sum(a, b, -1); break;
      case Step::multiply: out = product(a, b); break;
      case Step::negative: out = sum(Number{}, a, -1); break;
      case Step::stop: out = constant_of(a.value.value); break;
      case Step::read: out = read(at(s.variable)); break;
      case Step::assign: x = a.value.value; break;
      case Step::assign_add: x += a.value.value; break;
      case Step::tape: run_tape(s, r); break;
      case Step::pause:
        ++tapes_[s.level].pauses;
        run(s.body, r);
        --tapes_[s.level].pauses;
        break;
      case Step::watch: tapes_[s.level].watched[s.variable] = true; break;
      case Step::call:
      case Step::branch: run(s.body, r);
    }
  }
  void run_tape(const Step& s, std::vector<Number>& r) {
    for (Number& n : r)  // what was made before is a constant to the new tape
      for (int v = 0; v < variables; ++v)
        if (s.level == 0) n.value.d[v] = 0;
        else n.d[v] = {};
    tapes_[s.level] = {.lives = true, .accessed = s.accessed};
    run(s.body, r);
    const Number y = r[at(s.a)];
    tapes_[s.level] = {};
    for (std::size_t v = 0; v < variables; ++v) {
      Number& g = r[(at(s.out) + v) % registers];
      if (s.level == 0) g = constant_of(y.value.d[v]);
      else g = {seen(y.d[v]), {}};
    }
  }
  static Number constant_of(double x) { return {.value = {.value = x}, .d = {}}; }
  // What the outer tape knows of an op's value.
  Outer seen(Outer x) const {
    if (!tapes_[0].records())
      for (double& d : x.d) d = 0;
    return x;
  }
  Number read(std::size_t v) const {
    Number n = constant_of(state_[v]);
    n.value.d[v] = tapes_[0].counts(v);
    n.d[v].value = tapes_[1].counts(v);
    return n;
  }
  static Outer sum(Outer a, const Outer& b, double sign) {
    a.value += sign * b.value;
    for (int v = 0; v < variables; ++v) a.d[v] += sign * b.d[v];
    return a;
  }
  static Outer product(const Outer& a, const Outer& b) {
    Outer r{.value = a.value * b.value};
    for (int v = 0; v < variables; ++v) r.d[v] = a.d[v] * b.value + a.value * b.d[v];
    return r;
  }
  // The inner derivatives are made of the operands when the inner tape is asked: whether the outer one records then
  // decides (run_tape), not whether it does now.
  Number sum(const Number& a, const Number& b, double sign) const {
    Number r{.value = seen(sum(a.value, b.value, sign)), .d = {}};
    for (int v = 0; tapes_[1].records() && v < variables; ++v) r.d[v] = sum(a.d[v], b.d[v], sign);
    return r;
  }
  Number product(const Number& a, const Number& b) const {
    Number r{.value = seen(product(a.value, b.value)), .d = {}};
    for (int v = 0; tapes_[1].records() && v < variables; ++v)
      r.d[v] = sum(product(a.d[v], b.value), product(a.value, b.d[v]), 1);
    return r;
  }

  Doubles state_;
  Tape tapes_[2];
};

// Fresh values of the Variables where they have grown, or by the seed.
Doubles start_of(std::uint64_t seed, int call, Doubles state) {
  Random r(seed * 7 + static_cast<std::uint64_t>(call));
  for (double& x : state)
    if (call == 0 || std::abs(x) > 3 || r.chance(30)) x = static_cast<double>(r.below(7)) - 3;
  return state;
}
// The registers after each call, then the Variables.
Doubles expected(const Steps& p, std::uint64_t seed) {
  Doubles all, state(variables);
  for (int call = 0; call < calls; ++call) {
    Reference reference(state = start_of(seed, call, std::move(state)));
    std::vector<Number> r(registers);
    for (std::size_t i = 0; i < registers; ++i) r[i].value.value = static_cast<double>(i % 3) + 1;
    reference.run(p, r);
    for (const Number& n : r) all.push_back(n.value.value);
    state = reference.state();
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}
Tensor number(double x) { return constant(x, {.dtype = float64}); }
Doubles found(const Steps& p, std::uint64_t seed, bool traced) {
  Machine machine{{Variable(number(0)), Variable(number(0))}};
  std::set<int> all_registers;
  for (int i = 0; i < registers; ++i) all_registers.insert(i);
  const auto body = [&](const List& in) { return machine.run_alone(p, in, all_registers, {}); };
  const auto f = function(body);
  Doubles all, state(variables);
  for (int call = 0; call < calls; ++call) {
    const Doubles start = start_of(seed, call, state);
    for (std::size_t i = 0; i < variables; ++i)
      if (start[i] != state[i] || call == 0) machine.v[i].assign(number(start[i]));
    List in;
    for (std::size_t i = 0; i < registers; ++i) in.push_back(number(static_cast<double>(i % 3) + 1));
    for (const Tensor& t : traced ? f(in) : body(in)) all.push_back(t.item<double>());
    for (std::size_t i = 0; i < variables; ++i) all.push_back(state[i] = machine.v[i].item<double>());
  }
  return all;
}
std::optional<std::string> failure(const Steps& p, std::uint64_t seed, bool traced) {
  const Doubles want = expected(p, seed), got = found(p, seed, traced);
  if (want.size() != got.size()) return "another number of results";
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(want[i] - got[i]) <= 1e-9 * std::max(1., std::abs(want[i]))))
      return "number " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " + std::to_string(want[i]);
  return {};
}

std::string text_of(const Steps& steps, const std::string& indent) {
  static constexpr const char* kinds[] = {"add",        "subtract", "multiply", "negative", "stop", "read",  "assign",
                                          "assign_add", "tape",     "pause",    "watch",    "call", "branch"};
  std::string t;
  for (const Step& s : steps) {
    t += indent + kinds[s.kind] + "(r" + std::to_string(s.a) + ", r" + std::to_string(s.b) + ") to r" +
         std::to_string(s.out) + ", v" + std::to_string(s.variable) + ", tape " + std::to_string(s.level);
    t += std::string(s.persistent ? ", persistent" : "") + (s.accessed ? "" : ", not accessed") + "\n";
    t += text_of(s.body, indent + "    ");
  }
  return t;
}
// Without the steps that the failure does not need, in bodies too.
void reduce(Steps& part, const std::function<bool()>& fails) {
  for (std::size_t i = part.size(); i-- > 0;) {
    const Step was = part[i];
    part.erase(part.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails()) continue;
    part.insert(part.begin() + static_cast<std::ptrdiff_t>(i), was);
    reduce(part[i].body, fails);
  }
}

}  // namespace

TEST_CASE("random reads: a read of a Variable counts to the tapes that see it, and to no other") {
  const std::uint64_t first = testing::number_from("TANDEM_RANDOM_SEED", 1),
                      count = testing::number_from("TANDEM_RANDOM_PROGRAMS", 1500);
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    Steps p = Maker(seed).make(0, 0, 0);
    for (const bool traced : {false, true}) {
      const auto why = failure(p, seed, traced);
      if (!why) continue;
      ++failures;
      Steps small = p;
      reduce(small, [&] { return failure(small, seed, traced).has_value(); });
      FAIL_CHECK((traced ? "traced" : "eager") << ", seed " << seed << ": " << *why << "\nreduced: "
                                               << failure(small, seed, traced).value_or("passes") << "\n"
                                               << text_of(small, "  "));
    }
  }
  CHECK(failures == 0);
}
