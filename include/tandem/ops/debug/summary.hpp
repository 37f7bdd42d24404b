// How asserts and prints shorten values. Used by the definitions of ops/debug/assert.hpp and ops/debug/print.hpp.
#pragma once
#include "tandem/core/op.hpp"
#include "tandem/core/print.hpp"

namespace TANDEM_NS::debugging::impl {

inline void check_summarize(const char* op, i64 summarize) {
  if (summarize < -1)
    errors::raise<errors::InvalidArgumentError>(
        op, ".summarize is " + std::to_string(summarize) + "; give the number of values at both ends, or -1 for all");
}
/// Formats the values, at most `summarize` at both ends of each axis; -1: all.
inline std::string summary(const Operand& x, i64 summarize) {
  return values_to_string(x, {.threshold = summarize < 0 ? x.size() : 0, .edge = summarize});
}

}  // namespace TANDEM_NS::debugging::impl
