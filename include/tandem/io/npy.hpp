// .npy files: one tensor each, as numpy.save writes and numpy.load reads them (NEP 1, format 1.0; 2.0 and 3.0 are
// read).
#pragma once
#include <string>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::io {

/// Writes a tensor of any shape and device, row-major and little-endian. The file is replaced as a whole or left as it
/// was.
///   throws  errors::InvalidArgumentError for bfloat16, quantized and string tensors, which NumPy has no dtype for;
///           errors::TraceError for a traced tensor; otherwise as replace_file (safetensors.hpp)
TANDEM_API void save_npy(const std::string& path, const Tensor& tensor);
/// Reads a tensor, to the CPU: either byte order, row- or column-major. Memory and time are in proportion to the file's
/// size.
///   throws  errors::NotFoundError if there is no regular file of that name; errors::DataLossError saying what is wrong
///           with it; errors::InvalidArgumentError for dtypes that a tensor cannot have: Python objects (pickles, which
///           are not read), structures, texts, dates; errors::UnavailableError if the system cannot read it
TANDEM_API Tensor load_npy(const std::string& path);
/// Reads from memory; `path` is for the error texts.
TANDEM_API Tensor parse_npy(const char* data, std::size_t size, const std::string& path);

}  // namespace TANDEM_NS::io
