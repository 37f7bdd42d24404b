// Checkpoints. Part of the component tandem::io.
#pragma once
#include "tandem/train/checkpoint.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/io.hpp"
#include "tandem/train/checkpoint.inl"
#endif
