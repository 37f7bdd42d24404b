// Small helpers of several definitions in graph/.
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS::detail {

inline bool agree(const Spec& a, const Spec& b) {
  return a.dtype == b.dtype && a.device == b.device && a.shape.is_compatible_with(b.shape);
}
inline std::vector<Spec> specs_of(Inputs tensors) {
  std::vector<Spec> r;
  for (const Tensor* t : tensors) r.push_back(t->spec());
  return r;
}
inline bool has_derivative(const Spec& s) { return is_floating(s.dtype) || is_complex(s.dtype); }

/// The specs that the op's own rule gives for inputs of these specs; constants are known to it by their values.
Specs infer_again(const Node& n, std::span<const Tensor> by_value);

// Whatever goes on around: what is traced or run now is a thing of its own.
struct Alone {
  Stager* stager = std::exchange(context.stager, nullptr);
  Observer* observers = std::exchange(context.observers, nullptr);
  Alone() = default;
  Alone(const Alone&) = delete;
  ~Alone() { context.stager = stager, restore_observers(observers); }
};

}  // namespace TANDEM_NS::detail
