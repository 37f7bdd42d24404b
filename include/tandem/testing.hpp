// For tests: gradient checks by finite differences, and the checks of an op of one's own.
#pragma once
#include "tandem/autodiff/check.hpp"
#include "tandem/graph/debug/check_op.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/autodiff/check.inl"
#include "tandem/graph/debug/check_op.inl"
#include "tandem/tandem.hpp"
#endif
