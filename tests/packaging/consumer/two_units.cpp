// Two translation units of one program see one op row; else an op found by address would be two.
#include <tandem/tandem.hpp>

const void* row_of_other_unit();

int main() {
  const tandem::Tensor x = tandem::constant({1.f, 2.f, 3.f});
  if ((x + x).to_vector<float>() != std::vector<float>{2, 4, 6}) return 1;
  return row_of_other_unit() == &tandem::add_op ? 0 : 2;
}
