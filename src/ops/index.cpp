// Ops that move rows by index, masks, order.
#define TANDEM_IMPLEMENT_INDEX 1
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"
#include "tandem/ops/index/rows.hpp"
#include "tandem/ops/index/sort.hpp"
