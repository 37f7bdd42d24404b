#define TANDEM_IMPLEMENT_TRAIN 1
#include "tandem/train/checkpoint.hpp"
