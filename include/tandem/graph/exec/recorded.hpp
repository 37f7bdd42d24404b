// ConcreteFunction::Recorded: the state that a traced function keeps for calls under a tape. For the definitions of
// concrete.hpp.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

struct ConcreteFunction::Recorded final : Opaque {
  const char* kind() const override { return "derivative"; }
  TANDEM_LAZY Recorded(const Graph& g, const ExecutionOptions& o);

  /// The backward function for a demand, and which of its outputs belong to which input.
  struct Backward {
    Ref<ConcreteFunction> function;
    std::vector<char> set, sparse;
  };
  TANDEM_LAZY const Backward& backward(const RequestedGradients& demand);

  Derivative derivative;
  ExecutionOptions options;
  Ref<ConcreteFunction> augmented;  // returns outputs, reads, saved
  std::vector<Variable> in_bodies;  // the Variables that control flow reads: it may return their values
  std::mutex mutex;
  std::map<RequestedGradients, Backward> backwards;  // guarded by mutex
};

}  // namespace TANDEM_NS
