#define TANDEM_IMPLEMENT_AUTODIFF 1
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
