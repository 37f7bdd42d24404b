#define TANDEM_IMPLEMENT_CORE 1
#include "tandem/core/variable.hpp"
