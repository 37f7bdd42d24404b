// Settings for Tandem: the number of threads.
#include "tandem.hpp"

void bench::prepare(int threads) { tandem::config::set_intra_op_parallelism_threads(threads); }
