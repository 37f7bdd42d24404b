// Fourier and cosine transforms, frames, windows, short-time transforms. The component tandem::signal.
#pragma once
#include "tandem/signal/fft.hpp"
#include "tandem/signal/frames.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/cpu/signal/fft.inl"
#include "tandem/cpu/signal/frames.inl"
#include "tandem/cpu/signal/plan.inl"
#include "tandem/cpu/signal/real.inl"
#include "tandem/signal/fft.inl"
#include "tandem/signal/frames.inl"
#include "tandem/tandem.hpp"
#endif
