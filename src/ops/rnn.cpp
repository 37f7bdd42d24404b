#include "tandem/ops/rnn/common.inl"
#include "tandem/ops/rnn/gru.inl"
#include "tandem/ops/rnn/last_relevant.inl"
#include "tandem/ops/rnn/lstm.inl"
