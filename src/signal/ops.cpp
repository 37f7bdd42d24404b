#include "tandem/cpu/signal/frames.inl"
#include "tandem/signal/fft.inl"
#include "tandem/signal/frames.inl"
