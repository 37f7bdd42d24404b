// What it costs to compile Eigen's dense header.
#include <Eigen/Dense>

int main() {}
