// Sets the number of threads that kernels may use, for a scope.
#pragma once
#include "tandem/cpu/parallel.hpp"

namespace testing {

class Threads {
 public:
  explicit Threads(int n) : before_(tandem::config::intra_op_parallelism_threads()) {
    tandem::config::set_intra_op_parallelism_threads(n);
  }
  Threads(const Threads&) = delete;
  ~Threads() { tandem::config::set_intra_op_parallelism_threads(before_); }

 private:
  int before_;
};

}  // namespace testing
