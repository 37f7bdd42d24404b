// Images of compiled kernels as files, which the processes of a user share: a file is complete or not there. Its code
// runs in the process that reads it, so files that another user can write are not read.
#pragma once
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// The file of the folder for a key.
std::string image_path(const std::string& folder, const std::string& key);
/// The image that was written for the key; empty if there is none, or its file is damaged, of something else, not a
/// regular file, another user's, or writable by others.
std::string read_image(const std::string& folder, const std::string& key);
/// Writes it, or replaces what is there, for this user alone. Makes the folder; does nothing where files cannot be
/// written.
void write_image(const std::string& folder, const std::string& key, const std::string& image);

}  // namespace TANDEM_NS::cuda
