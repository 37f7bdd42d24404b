#define TANDEM_IMPLEMENT_CORE 1
#include "tandem/base/scalar.hpp"
#include "tandem/core/variable.hpp"
