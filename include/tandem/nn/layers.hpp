// All layers.
#pragma once
#include "tandem/nn/layers/bidirectional.hpp"
#include "tandem/nn/layers/dense.hpp"
#include "tandem/nn/layers/embedding.hpp"
#include "tandem/nn/layers/merge.hpp"
#include "tandem/nn/layers/rnn.hpp"
#include "tandem/nn/layers/rnn_stack.hpp"
#include "tandem/nn/layers/sequential.hpp"
#include "tandem/nn/layers/shape.hpp"
#include "tandem/nn/layers/time_distributed.hpp"
