// A minimal recording Stager: records every op, read and assignment of a traced function and replays them in order.
// Not here: passes, plans, subgraphs; the library's own tracer is in tandem/graph.
#pragma once
#include <unordered_map>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"

namespace testing {

class Recorder final : public tandem::Stager {
 public:
  using List = std::vector<tandem::Tensor>;

  /// Runs f(arguments) once, staged, on symbols of these specs, of which those without a device are on the current one.
  /// f returns a list of outputs.
  template <class F>
  void trace(const std::vector<tandem::Spec>& arguments, const F& f) {
    List symbols;
    for (tandem::Spec s : arguments) {
      if (s.device == tandem::Device{}) s.device = tandem::current_device();
      symbols.push_back(value(s, "an argument"));
    }
    arguments_ = symbols.size();
    const Staging staging(*this);
    keep_outputs(f(symbols));
  }
  /// Replays the recording on these arguments: kernels, reads and assignments in program order.
  List replay(const List& arguments);

  /// The number of ops, reads and assignments, and of staged ops with a given name.
  std::size_t ops() const { return count(Step::op); }
  std::size_t reads() const { return count(Step::read); }
  std::size_t assigns() const { return count(Step::assign); }
  std::size_t staged(const tandem::OpDef& op) const;

 private:
  // An input of a step: a value of the trace, or a tensor that it captured.
  struct Operand {
    int value = -1;
    tandem::Tensor captured;
  };
  struct Step {
    enum Kind { op, read, assign } kind;
    const tandem::OpDef* row;
    tandem::Attrs attrs;
    std::vector<Operand> in;
    int first_out;
    tandem::Variable variable;
  };
  // Installs the stager for the scope and restores the previous one, also on an exception.
  struct Staging {
    tandem::Stager* outer = tandem::context.stager;
    explicit Staging(Recorder& r) { tandem::context.stager = &r; }
    ~Staging() { tandem::context.stager = outer; }
  };

  tandem::Tensors stage(const tandem::InferCall&, const tandem::Specs&) override;
  tandem::Tensor read(const tandem::Variable&) override;
  void assign(const tandem::Variable&, const tandem::Tensor& value) override;
  void lift(tandem::Callable body) override;
  void created(const tandem::Variable&) override {}
  std::string origin(const tandem::Tensor&) override;

  tandem::Tensor value(const tandem::Spec&, std::string made_by);
  Operand operand(const tandem::Tensor&, const char* op, bool shape_only);
  void keep_outputs(const List& outputs);
  std::size_t count(Step::Kind kind) const;
  void run_step(const Step& s, List& values) const;

  std::vector<Step> steps_;
  std::vector<Operand> outputs_;
  std::unordered_map<tandem::u64, int> by_id_;
  std::vector<std::string> made_by_;
  List symbols_;  // keeps their ids alive
  std::size_t arguments_ = 0;
};

}  // namespace testing
