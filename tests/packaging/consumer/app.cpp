// Uses the package as a user does, and checks what it says about itself.
#include <tandem/tandem.hpp>

int main() {
  static_assert(TANDEM_VERSION_MAJOR == 0 && TANDEM_VERSION_MINOR >= 1);
  const tandem::Tensor x = tandem::constant({1.f, 2.f, 3.f});
  return (x + x).to_vector<float>() == std::vector<float>{2, 4, 6} ? 0 : 1;
}
