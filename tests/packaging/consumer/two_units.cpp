// Two translation units of one program, both of which include every umbrella, see one definition of each op; otherwise
// an op that is compared by its address would be two.
#include <tandem/cuda.hpp>
#include <tandem/tandem.hpp>
#include <tandem/testing.hpp>
#ifdef WITH_DATA
#include <tandem/data.hpp>
#endif
#ifdef WITH_IO
#include <tandem/train.hpp>
#endif
#ifdef WITH_LINALG
#include <tandem/linalg.hpp>
#endif
#ifdef WITH_SIGNAL
#include <tandem/signal.hpp>
#endif
#ifdef WITH_STRINGS
#include <tandem/strings.hpp>
#endif

const void* op_of_other_unit();

int main() {
  const tandem::Tensor x = tandem::constant({1.f, 2.f, 3.f});
  if ((x + x).to_vector<float>() != std::vector<float>{2, 4, 6}) return 1;
  return op_of_other_unit() == &tandem::add_op ? 0 : 2;
}
