// Losses: Keras' classes with reductions and sample weights, and functions. Includes nn.hpp.
#pragma once
#include "tandem/losses/circle.hpp"
#include "tandem/losses/crossentropy.hpp"
#include "tandem/losses/focal.hpp"
#include "tandem/losses/hinge.hpp"
#include "tandem/losses/overlap.hpp"
#include "tandem/losses/regression.hpp"
#include "tandem/losses/sparse.hpp"
#include "tandem/nn.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/losses/circle.inl"
#include "tandem/losses/crossentropy.inl"
#include "tandem/losses/focal.inl"
#include "tandem/losses/hinge.inl"
#include "tandem/losses/loss.inl"
#include "tandem/losses/overlap.inl"
#include "tandem/losses/pair.inl"
#include "tandem/losses/regression.inl"
#include "tandem/losses/sparse.inl"
#endif
