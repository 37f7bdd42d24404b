// Reads safetensors from files that may be truncated or hostile.
#pragma once
#include <algorithm>

#include "tandem/io/mapped_file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/io/safetensors_format.hpp"
#include "tandem/io/safetensors_header.hpp"
#include "tandem/util/format.hpp"

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

// Whether an entry of the metadata is a checksum. Programs that know nothing of ours may have a "crc32c" of their own.
inline bool is_checksum_entry(const std::string& key, std::string_view value) {
  if (key != header_crc) return is_checksum(key);
  return value.size() == 8 && value.find_first_not_of("0123456789abcdef") == value.npos;
}
// A file with checksums has one for each tensor, and no other; so a name that has changed is found, too.
inline void check_checksums(const SafetensorsHeader& header, const std::string& path) {
  std::size_t count = 0;
  for (const auto& [key, value] : header.metadata) count += key.starts_with(crc_prefix);
  const auto crc = header.metadata.find(header_crc);
  if ((crc == header.metadata.end() || !is_checksum_entry(crc->first, crc->second)) && count == 0) return;
  std::map<std::string, std::string> entries;
  for (const Entry& e : header.entries) {
    if (!header.metadata.contains(crc_prefix + e.name))
      raise_damaged(path, "there is no checksum of " + tandem::detail::escaped_text(e.name));
    entries[e.name] = json_of(format_name(e.spec.dtype), e.spec.shape, e.begin, e.end);
  }
  if (crc == header.metadata.end() || crc->second != header_checksum(entries, header.metadata))
    raise_damaged(path, "the checksum of its header does not match");
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
  SafetensorsHeader header(text, source.size() - 8 - n, path);
  check_checksums(header, path);
  return header;
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
  const auto check = [&](const char* prefix, const auto& checksum) {
    const auto crc = metadata.find(prefix + e.name);
    if (crc != metadata.end() && crc->second != checksum())
      raise_damaged(path, "the checksum of " + tandem::detail::escaped_text(e.name) + " does not match its data");
  };
  check(crc_prefix, [&] { return checksum_text(crc32c({static_cast<const char*>(t.raw()), size})); });
  check(old_crc_prefix, [&] { return std::to_string(crc32(bytes, size)); });
  return t;
}
inline Metadata without_checksums(Metadata m) {
  std::erase_if(m, [](const auto& item) { return is_checksum_entry(item.first, item.second); });
  return m;
}

// All entries of a header; read(entry, metadata) makes the tensors.
template <class Read>
Safetensors tensors_of(SafetensorsHeader header, const Read& read) {
  Safetensors r;
  r.tensors.reserve(header.entries.size());
  for (Entry& e : header.entries) {
    Tensor t = read(e, header.metadata);
    r.tensors.push_back({std::move(e.name), std::move(t)});
  }
  r.metadata = without_checksums(std::move(header.metadata));
  return r;
}
template <class Source>
Safetensors read_all(Source& source, const std::string& path) {
  return tensors_of(read_header(source, path),
                    [&](const Entry& e, const Metadata& m) { return read_tensor(source, e, m, path); });
}
TANDEM_INLINE Safetensors map_all(RegularFile& source, const std::string& path) {
  SafetensorsHeader header = read_header(source, path);
  const std::size_t start = source.size() - (header.entries.empty() ? 0 : header.entries.back().end);
  const auto file = make_ref<MappedFile>("load", source, path);
  return tensors_of(std::move(header), [&](const Entry& e, const Metadata& m) {
    Tensor t = mapped_tensor(file, start + e.begin, e.spec);
    if (t.is_set()) return t;
    MemorySource part(file->data() + start + e.begin, e.end - e.begin);
    return read_tensor(part, e, m, path);
  });
}

}  // namespace detail

TANDEM_INLINE Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path) {
  detail::MemorySource source(data, size);
  return detail::read_all(source, path);
}
TANDEM_INLINE Safetensors load_safetensors(const std::string& path, LoadTensorsOptions options) {
  detail::RegularFile source("load", path);
  return options.map ? detail::map_all(source, path) : detail::read_all(source, path);
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
