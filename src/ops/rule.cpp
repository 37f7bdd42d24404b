// The shape rule of pointwise ops, compiled once.
#define TANDEM_IMPLEMENT_POINTWISE 1
#include "tandem/ops/rule.hpp"
