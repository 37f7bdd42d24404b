#include "tandem/cpu/attention/attention.inl"
#include "tandem/cpu/attention/attention_half.inl"
