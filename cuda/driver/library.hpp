// Library: the functions of a library that is loaded at run time.
#pragma once
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// A library's functions, or the reason why they are not available.
template <class Functions>
struct Library {
  Functions functions{};
  std::string error;  // empty if the functions are available

  bool is_open() const { return error.empty(); }
};

}  // namespace TANDEM_NS::cuda
