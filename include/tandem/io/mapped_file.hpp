// LoadTensorsOptions: tensors in the memory of their file. Not here: the formats (safetensors.hpp, npy.hpp).
#pragma once
#include <cstddef>
#include <string>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::io {

/// How a file of tensors is loaded.
struct LoadTensorsOptions {
  /// Maps the file, so that tensors are its bytes: opening reads nothing but the header, pages are read when they are
  /// first used, and processes that map one file share them. Values that are not as a tensor has them are copied as
  /// without it: those that are not aligned to their dtype, bools (which are checked), and in .npy files another byte
  /// order or column-major ones. Checksums of what is not copied are not checked.
  ///
  /// While such a tensor exists, the file must neither change nor become shorter: what it then has changes, too, and
  /// the system ends a program (SIGBUS) that reads pages which are no longer there, or which the disk cannot read.
  /// Replacing the file by another of its name, as the functions of io do, is safe.
  bool map = false;
};

namespace detail {

class RegularFile;

/// A file in memory, as long as something refers to it.
class TANDEM_API MappedFile final : public Opaque {
 public:
  ///   throws  errors::UnavailableError in the name of `op` if the system cannot map it
  MappedFile(const char* op, const RegularFile& file, const std::string& path);
  TANDEM_INLINE ~MappedFile() override;
  TANDEM_INLINE const char* kind() const override;
  const char* data() const { return data_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_;
};
/// The values at an offset of a file as a tensor; unset where they have to be copied.
TANDEM_API Tensor mapped_tensor(const Ref<MappedFile>& file, std::size_t offset, const Spec& spec);

}  // namespace detail
}  // namespace TANDEM_NS::io
