// Passes over graphs, compiled once.
#define TANDEM_IMPLEMENT_PASSES 1
#include "tandem/graph/passes.hpp"
