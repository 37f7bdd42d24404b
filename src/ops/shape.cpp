// Shape and layout ops, copies between devices.
#define TANDEM_IMPLEMENT_SHAPE 1
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/transfer.hpp"
