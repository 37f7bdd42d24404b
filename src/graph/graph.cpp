#define TANDEM_IMPLEMENT_GRAPH 1
#include "tandem/graph/graph.hpp"
#include "tandem/graph/trace.hpp"
