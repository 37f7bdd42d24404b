// Optimizers, learning rate schedules, clipping of gradients, averages of weights. Includes tensor.hpp.
#pragma once
#include "tandem/optim/adafactor.hpp"
#include "tandem/optim/average.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/muon.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/optim/plateau.hpp"
#include "tandem/optim/schedules.hpp"
#include "tandem/tensor.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/optim/adafactor.inl"
#include "tandem/optim/average.inl"
#include "tandem/optim/check_options.inl"
#include "tandem/optim/clip.inl"
#include "tandem/optim/gradient_checks.inl"
#include "tandem/optim/learning_rate.inl"
#include "tandem/optim/muon.inl"
#include "tandem/optim/optimizer.inl"
#include "tandem/optim/optimizers.inl"
#include "tandem/optim/options.inl"
#include "tandem/optim/plateau.inl"
#include "tandem/optim/schedules.inl"
#include "tandem/optim/slots.inl"
#endif
