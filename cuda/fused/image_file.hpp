// Images of compiled kernels as files, which processes share: a file is complete or not there.
#pragma once
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// The file of the folder for a key.
std::string image_path(const std::string& folder, const std::string& key);
/// The image that was written for the key; empty if there is none, or its file is damaged or of something else.
std::string read_image(const std::string& folder, const std::string& key);
/// Writes it, or replaces what is there. Makes the folder; does nothing where files cannot be written.
void write_image(const std::string& folder, const std::string& key, const std::string& image);

}  // namespace TANDEM_NS::cuda
