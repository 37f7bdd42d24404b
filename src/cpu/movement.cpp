// Data movement: strided copies, layout kernels, indexed rows, masks, order.
#include "tandem/cpu/parallel.hpp"
#define TANDEM_IMPLEMENT_CPU 1
#include "tandem/cpu/index.hpp"
#include "tandem/cpu/layout.hpp"
#include "tandem/cpu/mask.hpp"
#include "tandem/cpu/rows.hpp"
#include "tandem/cpu/sort.hpp"
#include "tandem/cpu/strided_copy.hpp"
