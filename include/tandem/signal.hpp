// Fourier and cosine transforms, frames, windows, short-time transforms, the mel scale, layers for sounds. The
// component tandem::signal.
#pragma once
#include "tandem/signal/fft.hpp"
#include "tandem/signal/frames.hpp"
#include "tandem/signal/layers.hpp"
#include "tandem/signal/mel.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/cpu/signal/fft.inl"
#include "tandem/cpu/signal/frames.inl"
#include "tandem/cpu/signal/plan.inl"
#include "tandem/cpu/signal/real.inl"
#include "tandem/signal/fft.inl"
#include "tandem/signal/frames.inl"
#include "tandem/signal/layers.inl"
#include "tandem/signal/mel.inl"
#include "tandem/tandem.hpp"
#endif
