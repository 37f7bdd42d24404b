// Activations, compiled once.
#define TANDEM_IMPLEMENT_ACTIVATION 1
#include "tandem/ops/pointwise/activation.hpp"
