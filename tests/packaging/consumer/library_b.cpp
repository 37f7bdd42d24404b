// Library b of two_libraries: all is hidden but what main asks for.
#include <tandem/tandem.hpp>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const void* row_b() { return &tandem::add_op; }
EXPORT const void* slots_b() { return &tandem::context; }

EXPORT float take_b(void* made) {
  const auto* x = static_cast<tandem::Tensor*>(made);
  const float last = (*x + *x).to_vector<float>()[1];
  delete x;
  return last;
}
