// Creation: constants, fills, sequences.
#define TANDEM_IMPLEMENT_CREATE 1
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
