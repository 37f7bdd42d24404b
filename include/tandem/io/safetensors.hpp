// safetensors files: named tensors behind a JSON header (https://github.com/huggingface/safetensors, format 0.x).
// Written to a temporary name, flushed and renamed: a failed or killed write leaves the file that was there. The reader
// is bounded by the file's size and checks everything before it allocates.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"
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

  /// throws errors::NotFoundError naming what is missing
  const Tensor& at(const std::string& name) const;
};

/// Writes tensors of any dtype but string, quantized and complex128, on any device. A CRC-32 of each tensor goes into
/// the metadata ("crc32.NAME"), whose other keys are the caller's. What is written can be read.
///   throws  errors::InvalidArgumentError for a dtype the format lacks, a name given twice, names or metadata that are
///           not UTF-8 or, as JSON with the shapes, longer than 32 MiB; errors::TraceError for a traced tensor;
///           otherwise as replace_file
TANDEM_API void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                 const Metadata& metadata = {});
/// The same from a map, in the order of the names.
template <std::same_as<std::map<std::string, Tensor>> M>  // a template: braces make the list above
void save_safetensors(const std::string& path, const M& tensors, const Metadata& metadata = {}) {
  std::vector<NamedTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back({name, tensor});
  save_safetensors(path, list, metadata);
}
/// Reads a whole file, to the CPU; memory and time are in proportion to its size.
///   throws  errors::NotFoundError if there is no regular file of that name; errors::DataLossError saying what is wrong
///           with it; errors::UnavailableError if the system cannot read it
TANDEM_API Safetensors load_safetensors(const std::string& path);
/// Its metadata alone, without the tensors.
TANDEM_API Metadata load_safetensors_metadata(const std::string& path);
/// Reads from memory; `path` is for the error texts.
TANDEM_API Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path);

}  // namespace TANDEM_NS::io
