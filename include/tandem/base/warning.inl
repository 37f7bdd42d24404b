// Definitions of base/warning.hpp.
#pragma once
#include <atomic>
#include <cstdio>

#include "tandem/base/warning.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE std::atomic<void (*)(const char*)>& warning_handler() {
  static constinit std::atomic<void (*)(const char*)> handler{
      [](const char* text) { std::fprintf(stderr, "tandem: %s\n", text); }};
  return handler;
}
}  // namespace detail

[[gnu::cold]] TANDEM_INLINE void detail::warn(const char* text) { warning_handler().load()(text); }
TANDEM_INLINE void set_warning_handler(void (*handler)(const char*)) {
  detail::warning_handler().store(handler ? handler : [](const char*) {});
}

}  // namespace TANDEM_NS
