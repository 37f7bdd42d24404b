// How assertions raise errors. Used by the definitions of ops/debug/assert.hpp.
#pragma once
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/base/name.hpp"

namespace TANDEM_NS::debugging::impl {

/// Raises an error in the name of the check, beginning with the user's message.
[[noreturn, gnu::cold]] inline void raise_assert(const char* check, const std::string& message, const std::string& what,
                                                 Name name = {}) {
  errors::InvalidArgumentError e(check, message.empty() ? what : message + ": " + what);
  if (name) e.set_name(name.view());
  throw e;
}
template <class Options>
[[noreturn]] void raise_assert(const char* check, const Options& o, const std::string& what) {
  raise_assert(check, o.message, what, o.name);
}

}  // namespace TANDEM_NS::debugging::impl
