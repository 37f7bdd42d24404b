// Measures the cost of compiling LibTorch's umbrella header.
#include <torch/torch.h>

int main() {}
