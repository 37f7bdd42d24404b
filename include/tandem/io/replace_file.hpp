// Replacing a file as a whole, or not at all.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// Replaces a file by these bytes, or leaves it as it was. Threads and processes may replace one file at the same time;
/// whoever reads sees one of them whole. The permissions of the old file are kept, and a symbolic link: its target is
/// replaced. What a killed process has left of an earlier call for this path is removed.
///   throws  errors::FailedPreconditionError for a directory, a device, a pipe; errors::ResourceExhaustedError for a
///           full disk, errors::UnavailableError for other failures of the system: each names the path
TANDEM_API void replace_file(const std::string& path, const std::vector<std::pair<const void*, std::size_t>>& parts);

}  // namespace TANDEM_NS::io
