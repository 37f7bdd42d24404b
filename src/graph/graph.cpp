#define TANDEM_IMPLEMENT_GRAPH 1
#include "tandem/graph/graph.hpp"
#include "tandem/graph/prune.hpp"
#include "tandem/graph/trace.hpp"
#include "tandem/graph/bind.hpp"
#include "tandem/graph/plan.hpp"
#include "tandem/graph/program.hpp"
#include "tandem/graph/concrete.hpp"
#include "tandem/graph/function.hpp"
