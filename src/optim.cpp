#define TANDEM_IMPLEMENT_OPTIM 1
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
