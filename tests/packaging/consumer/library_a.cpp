// Library a of two_libraries: all is hidden but what main asks for.
#include <tandem/tensor.hpp>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const void* row_a() { return &tandem::add_op; }
EXPORT const void* slots_a() { return &tandem::context; }

// A tensor made here is used and freed there.
EXPORT void* make_a() { return new tandem::Tensor(tandem::constant({1.f, 2.f}) + 1); }
