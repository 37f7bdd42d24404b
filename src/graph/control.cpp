#define TANDEM_IMPLEMENT_CONTROL 1
#include "tandem/graph/control.hpp"
#include "tandem/graph/scan.hpp"
#include "tandem/graph/tensor_array.hpp"
#include "tandem/graph/while_loop.hpp"
