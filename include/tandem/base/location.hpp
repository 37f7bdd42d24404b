// The fields that begin every op's options: the call's name and the caller's source location (std::source_location
// is missing from clang 14).
#pragma once
#include <string>

#include "tandem/base/name.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS {

struct SourceLocation {
  const char* file = nullptr;
  const char* function = nullptr;
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION(), int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

// The first two fields of every op's options. A macro, because a base class would make `{.name = ...}` ill-formed.
#define TANDEM_OP_OPTIONS   \
  ::tandem::Name name = {}; \
  ::tandem::SourceLocation where = ::tandem::SourceLocation::current()

/// Options of an op that has no others.
struct OpOptions {
  TANDEM_OP_OPTIONS;
};
inline constexpr OpOptions no_options{{}, {}};

namespace detail {
/// "model.cpp:12". Empty if the location is unknown or inside the library, which users did not write.
[[gnu::cold]] inline std::string line_text(const SourceLocation& where) {
  const std::string file = where.file ? where.file : "";
  return file.empty() || file.find("include/tandem/") != file.npos ? "" : file + ":" + std::to_string(where.line);
}
}  // namespace detail

}  // namespace TANDEM_NS
