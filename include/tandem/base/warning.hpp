// Warnings: lines of text for the user, which a program can redirect.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS {

/// Sets a handler that gets each warning as one line: a function that is traced again and again, a layer that infers
/// in what looks like training. The default writes to stderr. Null disables it.
TANDEM_API void set_warning_handler(void (*handler)(const char* text));

namespace detail {
/// Gives a line to the handler.
TANDEM_API void warn(const char* text);
}  // namespace detail

}  // namespace TANDEM_NS
