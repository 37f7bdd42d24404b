// Files of tensors: safetensors, .npy.
#define TANDEM_IMPLEMENT_IO 1
#include "tandem/io/npy.hpp"
#include "tandem/io/safetensors.hpp"
