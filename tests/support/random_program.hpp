// Random programs over the public API, with control flow, nested functions, gradients, Variables and random numbers.
// They are generated from a seed, run by a Machine eagerly or in traced functions, printed, and reduced when they
// fail. Not here: the comparison of their results (tests/graph/random_program_test.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/optim/optimizer.hpp"

namespace programs {

using tandem::Tensor;
using Tensors = std::vector<Tensor>;
using Numbers = std::vector<std::int64_t>;

/// A generator that gives the same numbers for a seed on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next();
  /// An integer in [0, n).
  std::int64_t below(std::int64_t n) {
    return n > 0 ? static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)) : 0;
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class List>
  auto& pick(List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  std::uint64_t state_;
};

/// A library function that programs may call. Its numbers (axes, sizes) are chosen once, for operands of known
/// shapes, and are part of the program.
struct Op {
  const char* name;
  int inputs;  // at least 1; -1: one to three
  Tensor (*call)(tandem::Span<const Tensor> in, const Numbers& numbers);
  Numbers (*choose)(Random&, tandem::Span<const Tensor> in) = nullptr;
};
tandem::Span<const Op> ops();

struct Program;
struct Step {
  enum Kind {
    op,
    constant,
    read,
    assign,
    assign_add,
    train,
    uniform,
    dropout,
    call,
    gradient,
    branch,  // in: the condition, then the captures of both bodies
    loop,    // in: the iteration count, the loop variables, the captures
    scan,    // in: the sequence, the state, the captures; likewise for the next three
    scan_back,
    fold,
    fold_back,
    map  // in: the sequence, the captures
  } kind = op;
  const Op* row = nullptr;
  std::vector<int> in{};  // registers
  Numbers numbers{};  // op: its own; uniform: the shape; loop: the number of loop variables, whether their sizes are
                      // unknown; train: whether to clip
  int variable = 0;   // read, assign, assign_add
  Tensors results{};  // from its generation; constant: always
  std::shared_ptr<Program> body{};   // of calls, gradients and control flow
  std::shared_ptr<Program> other{};  // branch: the else body
  int first_out = 0, outputs = 1;    // registers
  bool dropped = false;              // by the reducer; its registers stay unset
};
/// A sequence of steps over registers, the first of which are the arguments.
struct Program {
  std::uint64_t seed = 0;
  std::vector<tandem::Spec> arguments;
  std::vector<Step> steps;
  std::vector<int> outputs;
  int registers = 0;
  Tensors variables;  // their initial values; only in the outermost program
  bool wild = false;  // values may be huge, infinite or NaN
};

/// Generates the program of a seed. Nested programs call and differentiate each other, read and assign Variables,
/// and draw random numbers. Every step has run once on arguments_of(program, 0).
std::shared_ptr<Program> make_program(std::uint64_t seed);
Tensors arguments_of(const Program& program, std::uint64_t call);
std::string to_string(const Program& program);
bool has_control_flow(const Program& program);
/// Whether a gradient goes through control flow, in which case its summation order differs from eager code.
bool differentiates_control_flow(const Program& program);
/// Whether there may be sums of matrix products, for which the combine_products pass changes the summation order.
bool multiplies_matrices(const Program& program);

struct MachineOptions {
  bool trace_calls = false;               ///< call nested programs as traced functions
  tandem::FunctionOptions function = {};  ///< options of these functions
  tandem::Device device = {};             ///< device of Variables and constants
  bool watches = false;                   ///< check that all values stay finite; in eager code on the host
};
/// The state of a running program: Variables, weights and their optimizer, a generator, and the traced functions of
/// its nested programs.
class Machine {
 public:
  explicit Machine(const Program& program, MachineOptions options = {});
  Machine(const Machine&) = delete;
  ~Machine();

  Tensors run(const Program& program, const Tensors& arguments);
  /// Runs one step; `registers` has room for its outputs.
  void step(const Step& s, Tensors& registers);
  const std::vector<tandem::Variable>& variables() const { return variables_; }
  const std::vector<tandem::Variable>& weights() const { return weights_; }
  const tandem::random::Generator& generator() const { return generator_; }
  /// Whether all steps so far, including nested programs, produced finite values; true if values are not watched.
  bool stayed_finite() const { return stayed_finite_; }

 private:
  struct Traced;
  Tensors call(const std::shared_ptr<Program>& body, const Tensors& in);
  Tensors gradient(const Program& body, const Tensors& given);
  Tensor train(const Tensor& x, bool clip);
  Tensors run_here(const Program& body, const Tensors& in);
  Tensors branch(const Step& s, const Tensors& in);
  Tensors loop(const Step& s, const Tensors& in);
  Tensors scan(const Step& s, const Tensors& in);
  Tensors map(const Step& s, const Tensors& in);
  Tensor here(const Tensor& t) const { return t.to(options_.device); }

  MachineOptions options_;
  std::vector<tandem::Variable> variables_, weights_;
  tandem::optimizers::Adam adam_{{.learning_rate = 0.0731}};  // a round step size would land where round() jumps
  tandem::random::Generator generator_{7};
  std::vector<std::unique_ptr<Traced>> traced_;
  bool stayed_finite_ = true;
};

/// Reduces a failing program: returns one that still fails, with fewer results and steps, also in nested programs,
/// and with other steps replaced by constants.
std::shared_ptr<Program> reduced(const Program& program, const std::function<bool(const Program&)>& fails);

}  // namespace programs
