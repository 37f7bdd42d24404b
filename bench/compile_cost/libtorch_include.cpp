// What it costs to compile LibTorch's umbrella header.
#include <torch/torch.h>

int main() {}
