// The folds on packs for every instruction set, once in a translation unit (implementation halves only).
#pragma once
#include "tandem/cpu/packs.hpp"
#include "tandem/cpu/reduce_fold.hpp"
#define TANDEM_KERNELS "tandem/cpu/reduce.inc"
#include "tandem/cpu/for_each_isa.inc"
