// Includes the public declarations of all ops.
#pragma once
#include "tandem/ops/nn.hpp"
#include "tandem/ops/tensor.hpp"
