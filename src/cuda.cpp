// The answers of a library without CUDA; with it, cuda/public.cpp has them.
#define TANDEM_IMPLEMENT_CUDA 1
#include "tandem/cuda.hpp"
