#include "tandem/cpu/attention/attention.inl"
