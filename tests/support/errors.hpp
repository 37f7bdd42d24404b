// Error messages in tests.
#pragma once
#include <string>

#include "tandem/base/error.hpp"

namespace testing {

/// The message of the error that f raises; "no error" if it raises none.
template <class Error = tandem::errors::OpError, class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace testing
