// safetensors files: named tensors behind a JSON header (https://github.com/huggingface/safetensors, format 0.x).
// Written to a temporary name, flushed and renamed: a failed or killed write leaves the file that was there. The reader
// is bounded by the file's size and checks everything before it allocates.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"

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
/// the metadata ("crc32.NAME"), whose other keys are the caller's.
///   throws  errors::InvalidArgumentError for a dtype the format lacks or a name given twice;
///           errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other failures of the system:
///           each names the path and leaves the previous file as it was
TANDEM_API void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                 const Metadata& metadata = {});
/// Reads a whole file, to the CPU.
///   throws  errors::NotFoundError if there is none; errors::DataLossError saying what is wrong with it
TANDEM_API Safetensors load_safetensors(const std::string& path);
/// Its metadata alone, without the tensors.
TANDEM_API Metadata load_safetensors_metadata(const std::string& path);
/// Reads from memory; `path` is for the error texts.
TANDEM_API Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path);

/// Replaces a file by these bytes, or leaves it as it was; errors as save_safetensors.
TANDEM_API void replace_file(const std::string& path, const std::vector<std::pair<const void*, std::size_t>>& parts);

}  // namespace TANDEM_NS::io

#ifdef TANDEM_IMPLEMENT_IO
#include "tandem/core/apply.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors_read.hpp"
#include "tandem/io/safetensors_write.hpp"
#include "tandem/ops/transfer.hpp"
#endif
