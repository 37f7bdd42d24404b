#include "tandem/ops/nn/gru.inl"
#include "tandem/ops/nn/lstm.inl"
#include "tandem/ops/nn/rnn_common.inl"
