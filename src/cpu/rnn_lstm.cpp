#include "tandem/cpu/rnn/lstm.inl"
