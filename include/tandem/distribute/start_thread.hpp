// start_thread(): a thread, or the library's error. For definitions only.
#pragma once
#include <system_error>
#include <thread>
#include <utility>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::distribute::detail {

/// Starts a thread that runs f().
///   throws  errors::ResourceExhaustedError in the name of `op` if the system has no thread left
template <class F>
std::thread start_thread(const char* op, F f) {
  try {
    return std::thread(std::move(f));
  } catch (const std::system_error& e) {
    errors::raise<errors::ResourceExhaustedError>(op, std::string("cannot start a thread: ") + e.what());
  }
}

}  // namespace TANDEM_NS::distribute::detail
