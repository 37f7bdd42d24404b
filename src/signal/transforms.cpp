#include "tandem/cpu/signal/fft.inl"
#include "tandem/cpu/signal/plan.inl"
#include "tandem/cpu/signal/real.inl"
