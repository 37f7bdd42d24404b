#define TANDEM_IMPLEMENT_LAYERS 1
#include "tandem/nn/beam_search.hpp"
#include "tandem/nn/model.hpp"
#include "tandem/nn/rnn.hpp"
