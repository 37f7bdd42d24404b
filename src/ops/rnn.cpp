#define TANDEM_IMPLEMENT_RNN 1
#include "tandem/ops/nn/gru.hpp"
#include "tandem/ops/nn/lstm.hpp"
