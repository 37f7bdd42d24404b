// The name of this machine in a network. For definitions.
#pragma once
#include <unistd.h>

#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// "localhost" where the machine has no name.
inline std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

}  // namespace TANDEM_NS::detail
