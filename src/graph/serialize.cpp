#define TANDEM_IMPLEMENT_SERIALIZE 1
#include "tandem/graph/serialize.hpp"
