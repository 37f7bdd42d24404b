// Runs a graph the way a traced function does.
#pragma once
#include <vector>

#include "tandem/graph/exec/concrete.hpp"

namespace testing {

inline std::vector<tandem::Tensor> call(const tandem::Ref<tandem::Graph>& g, const std::vector<tandem::Tensor>& in) {
  return (*tandem::make_ref<tandem::ConcreteFunction>(g))(in);
}

}  // namespace testing
