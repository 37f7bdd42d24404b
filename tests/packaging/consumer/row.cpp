// The other unit of two_units.
#include <tandem/tandem.hpp>

const void* row_of_other_unit() { return &tandem::add_op; }
