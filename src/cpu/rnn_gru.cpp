#include "tandem/cpu/rnn/gru.inl"
