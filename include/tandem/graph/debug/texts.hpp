// Texts shared by comparisons of traces and of runs. For the definitions of debug.hpp.
#pragma once
#include <string>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

inline constexpr const char* frozen_remedy =
    "a host value was frozen into the trace: pass it as an argument or keep it in a Variable";

/// "Mul_1 (multiply) at model.cpp:12"; for a constant, which has no source line, also its user.
TANDEM_LAZY std::string location_of(const Graph& g, NodeId node);

}  // namespace TANDEM_NS::detail
