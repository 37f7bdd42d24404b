// Reads safetensors from files that may be truncated or hostile.
#pragma once
#include <algorithm>
#include "tandem/io/safetensors_format.hpp"
#include "tandem/util/format.hpp"

#include "tandem/io/regular_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/io/safetensors_header.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline u64 header_length(const char* p) {
  u64 n = 0;
  for (int i = 0; i < 8; ++i) n |= u64{static_cast<unsigned char>(p[i])} << (8 * i);
  return n;
}
inline void check_header_length(u64 n, std::size_t file, const std::string& path) {
  if (file < 8 || n > file - 8) raise_damaged(path, "it ends within its header");
  if (n > max_header)
    raise_damaged(
        path, "its header claims " + std::to_string(n) + " bytes, above the limit of " + std::to_string(max_header));
}

template <class Source>
SafetensorsHeader read_header(Source& source, const std::string& path) {
  char length[8];
  if (source.size() < 8) raise_damaged(path, "it is shorter than 8 bytes");
  source.read(length, 8);
  const u64 n = header_length(length);
  check_header_length(n, source.size(), path);
  std::string text(n, '\0');
  source.read(text.data(), n);
  return SafetensorsHeader(text, source.size() - 8 - n, path);
}
// Reads the data of one entry. The entries are contiguous and in the order of their data.
template <class Source>
Tensor read_tensor(Source& source, const Entry& e, const Metadata& metadata, const std::string& path) {
  Tensor t = Tensor::allocate(e.spec);
  const std::size_t size = e.end - e.begin;
  source.read(t.raw(), size);
  const auto* const bytes = static_cast<const unsigned char*>(t.raw());
  if (e.spec.dtype == DType::bool_ && std::any_of(bytes, bytes + size, [](unsigned char b) { return b > 1; }))
    raise_damaged(path, "entry " + tandem::detail::escaped_text(e.name) + " has a bool that is neither 0 nor 1");
  if (const auto crc = metadata.find(crc_prefix + e.name); crc != metadata.end())
    if (crc->second != std::to_string(crc32(bytes, size)))
      raise_damaged(path, "the checksum of " + tandem::detail::escaped_text(e.name) + " does not match its data");
  return t;
}
inline Metadata without_checksums(Metadata m) {
  std::erase_if(m, [](const auto& item) { return item.first.starts_with(crc_prefix); });
  return m;
}

template <class Source>
Safetensors read_all(Source& source, const std::string& path) {
  SafetensorsHeader header = read_header(source, path);
  Safetensors r;
  r.tensors.reserve(header.entries.size());
  for (Entry& e : header.entries) {
    Tensor t = read_tensor(source, e, header.metadata, path);
    r.tensors.push_back({std::move(e.name), std::move(t)});
  }
  r.metadata = without_checksums(std::move(header.metadata));
  return r;
}

}  // namespace detail

TANDEM_INLINE Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path) {
  detail::MemorySource source(data, size);
  return detail::read_all(source, path);
}
TANDEM_INLINE Safetensors load_safetensors(const std::string& path) {
  detail::RegularFile source("load", path);
  return detail::read_all(source, path);
}
TANDEM_INLINE Metadata load_safetensors_metadata(const std::string& path) {
  detail::RegularFile source("load", path);
  return detail::without_checksums(detail::read_header(source, path).metadata);
}
TANDEM_INLINE const Tensor& Safetensors::at(const std::string& name) const {
  for (const NamedTensor& t : tensors)
    if (t.name == name) return t.tensor;
  errors::raise<errors::NotFoundError>("load", "the file has no tensor named " + tandem::detail::escaped_text(name));
}

}  // namespace TANDEM_NS::io
