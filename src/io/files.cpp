#define TANDEM_IMPLEMENT_IO 1
#include "tandem/io/safetensors.hpp"
