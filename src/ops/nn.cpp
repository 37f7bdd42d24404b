#define TANDEM_IMPLEMENT_NN_OPS 1
#include "tandem/ops/nn/cross_entropy.hpp"
#include "tandem/ops/nn/moments.hpp"
