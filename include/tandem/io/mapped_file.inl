// Definitions of io/mapped_file.hpp.
#pragma once
#include <sys/mman.h>

#include <cstdint>

#include "tandem/io/mapped_file.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::io::detail {

TANDEM_INLINE MappedFile::MappedFile(const char* op, const RegularFile& file, const std::string& path)
    : size_(file.size()) {
  if (size_ == 0) return;
  void* const p = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (p == MAP_FAILED)
    errors::raise<errors::UnavailableError>(
        op, "cannot map " + path + ": " + std::strerror(errno) + "; without .map it is read");
  data_ = static_cast<const char*>(p);
}
TANDEM_INLINE MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}
TANDEM_INLINE const char* MappedFile::kind() const { return "mapped file"; }

TANDEM_INLINE Tensor mapped_tensor(const Ref<MappedFile>& file, std::size_t offset, const Spec& spec) {
  const char* const p = file->data() + offset;
  if (spec.bytes() == 0 || spec.dtype == DType::bool_) return {};
  if (reinterpret_cast<std::uintptr_t>(p) % size_of(spec.dtype) != 0) return {};
  return Tensor::borrow(p, spec, Ref<Opaque>(file.get()));
}

}  // namespace TANDEM_NS::io::detail
