// .npy files: one tensor each, as numpy.save writes and numpy.load reads them (NEP 1, format 1.0; 2.0 and 3.0 are
// read).
#pragma once
#include <string>

#include "tandem/core/tensor.hpp"
#include "tandem/io/mapped_file.hpp"

namespace TANDEM_NS::io {

/// Saves a tensor of any shape and device, row-major and little-endian. The file is replaced atomically: on failure
/// it is left unchanged.
///   throws  errors::InvalidArgumentError for bfloat16, quantized and string tensors, for which NumPy has no dtype;
///           errors::TraceError for a traced tensor; otherwise as replace_file (io/replace_file.hpp)
TANDEM_API void save_npy(const std::string& path, const Tensor& tensor);
/// Loads a tensor to the CPU: either byte order, row- or column-major. Memory and time are proportional to the file
/// size, except with .map.
///   throws  errors::NotFoundError if there is no regular file of that name; errors::DataLossError, naming the
///           defect, if it is damaged; errors::InvalidArgumentError for dtypes that a tensor cannot have: Python
///           objects (pickles, which are not read), structured types, text, dates; errors::UnavailableError if the
///           system cannot read it
TANDEM_API Tensor load_npy(const std::string& path, LoadTensorsOptions options = {});
/// Parses an .npy file in memory; `path` is used in error messages only.
TANDEM_API Tensor parse_npy(const char* data, std::size_t size, const std::string& path);

namespace detail {
/// Bytes that are read from their beginning on, of any source with size() and read(to, n).
class ByteSource {
 public:
  template <class Source>
  explicit ByteSource(Source& source)
      : size_(source.size()),
        read_([](void* self, void* to, std::size_t n) { static_cast<Source*>(self)->read(to, n); }),
        source_(&source) {}
  std::size_t size() const { return size_; }
  void read(void* to, std::size_t n) const { read_(source_, to, n); }

 private:
  std::size_t size_;
  void (*read_)(void* self, void* to, std::size_t n);
  void* source_;
};
/// Reads an .npy file: its header, then the data straight into the tensor.
TANDEM_API Tensor read_npy(const ByteSource& source, const std::string& path);
/// The bytes that precede the data of an .npy file of this tensor.
///   throws  as save_npy, in the name of `op`
TANDEM_API std::string npy_start(const char* op, const Tensor& tensor);
}  // namespace detail

}  // namespace TANDEM_NS::io
