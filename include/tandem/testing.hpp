// Gradient checks by finite differences, for tests.
#pragma once
#include "tandem/autodiff/check.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/autodiff/check.inl"
#include "tandem/tandem.hpp"
#endif
