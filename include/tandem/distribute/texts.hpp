// Words for numbers and operations in errors. Part of the component tandem::distribute. For definitions.
#pragma once
#include <string>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// "0.25 s", "120 s".
TANDEM_API std::string seconds_text(double s);
/// "512 bytes", "16.4 kB", "2.1 MB".
TANDEM_API std::string bytes_text(i64 n);
/// The part of a call that must be the same in all ranks, in words.
TANDEM_API std::string common_text(const Collective& c);

}  // namespace TANDEM_NS::distribute::impl
