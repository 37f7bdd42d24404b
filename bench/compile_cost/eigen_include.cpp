// Measures the cost of compiling Eigen's dense header.
#include <Eigen/Dense>

int main() {}
