#include "tandem/ops/rnn/gru.inl"
#include "tandem/ops/rnn/lstm.inl"
#include "tandem/ops/rnn/common.inl"
