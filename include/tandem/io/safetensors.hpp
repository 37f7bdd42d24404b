// safetensors files: named tensors after a JSON header (https://github.com/huggingface/safetensors, format 0.x). A
// file is written under a temporary name, flushed and renamed: a failed or killed write leaves the existing file
// intact. The reader's memory is bounded by the file size, and it checks everything before it allocates.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"
#include "tandem/io/mapped_file.hpp"
#include "tandem/io/replace_file.hpp"

namespace TANDEM_NS::io {

using Metadata = std::map<std::string, std::string>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
struct Safetensors {
  std::vector<NamedTensor> tensors;
  Metadata metadata;

  /// Returns the tensor of that name. throws errors::NotFoundError, with the name, if there is none
  const Tensor& at(const std::string& name) const;
};

/// Saves tensors of any dtype except string, quantized and complex128, on any device. The metadata keep a CRC-32C of
/// each tensor, in hexadecimal, under "crc32c.NAME", and one of the header under "crc32c"; readers here check them. All
/// other keys belong to the caller, except "crc32.NAME", the checksums of earlier versions. Every file that is written
/// can be read back.
///   throws  errors::InvalidArgumentError for a dtype that the format does not support, a duplicate name, or names
///           or metadata that are not UTF-8 or, as JSON with the shapes, exceed 32 MiB; errors::TraceError for a
///           traced tensor; otherwise as replace_file
TANDEM_API void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                 const Metadata& metadata = {});
/// The same for a map, in the order of the names.
template <std::same_as<std::map<std::string, Tensor>> M>  // a template, so that braces select the list overload above
void save_safetensors(const std::string& path, const M& tensors, const Metadata& metadata = {}) {
  std::vector<NamedTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back({name, tensor});
  save_safetensors(path, list, metadata);
}
/// Loads all tensors of a file to the CPU. Memory and time are proportional to its size; with .map, to that of its
/// header.
///   throws  errors::NotFoundError if there is no regular file of that name; errors::DataLossError, naming the
///           defect, if it is damaged; errors::UnavailableError if the system cannot read it
TANDEM_API Safetensors load_safetensors(const std::string& path, LoadTensorsOptions options = {});
/// Loads only the metadata of a file, without the tensors.
TANDEM_API Metadata load_safetensors_metadata(const std::string& path);
/// Parses a safetensors file in memory; `path` is used in error messages only.
TANDEM_API Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path);

}  // namespace TANDEM_NS::io
