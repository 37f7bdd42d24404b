#define TANDEM_IMPLEMENT_REDUCE 1
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/statistics.hpp"
