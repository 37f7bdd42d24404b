// All layers.
#pragma once
#include "tandem/nn/layers/dense.hpp"
#include "tandem/nn/layers/embedding.hpp"
#include "tandem/nn/layers/merge.hpp"
#include "tandem/nn/layers/sequential.hpp"
#include "tandem/nn/layers/shape.hpp"
