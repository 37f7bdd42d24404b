// The other unit of two_units.
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

const void* op_of_other_unit() { return &tandem::add_op; }
