// Hello world in Eigen: add two vectors, print their sum.
#include <Eigen/Core>
#include <cstdio>

int main() {
  const Eigen::VectorXf a = Eigen::VectorXf::Ones(32), b = Eigen::VectorXf::Ones(32);
  std::printf("hello, %g\n", (a + b).sum());
}
