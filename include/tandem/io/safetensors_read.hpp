// Reading safetensors from files that may be torn or hostile (implementation half of io/safetensors.hpp).
#pragma once
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tandem/io/safetensors_format.hpp"

namespace TANDEM_NS::io {

namespace detail {

[[noreturn]] inline void raise_damaged(const std::string& path, const std::string& what) {
  errors::raise<errors::DataLossError>("load", path + " is damaged or no safetensors file: " + what);
}

struct Entry {
  std::string name;
  Spec spec;
  std::size_t begin, end;  // within the data
};

// The header, checked against the size of the data behind it.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::size_t data_size, const std::string& path) : path_(path), size_(data_size) {
    std::set<std::string> seen;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& x) {
      if (depth > 3) raise_damaged(path_, "its header nests too deep");
      if (event == nlohmann::json::parse_event_t::key && depth == 1 && !seen.insert(x.get<std::string>()).second)
        raise_damaged(path_, "its header names an entry twice");
      return true;
    };
    const nlohmann::json header = nlohmann::json::parse(text.begin(), text.end(), watch, false);
    if (!header.is_object()) raise_damaged(path_, "its header is no JSON object");
    for (const auto& [name, value] : header.items()) {
      if (name == metadata_key) read_metadata(value);
      else read_entry(name, value);
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end < b.end);
    });
    std::size_t at = 0;
    for (const Entry& e : entries) {
      if (e.begin != at) raise_damaged(path_, "the data of '" + e.name + "' overlaps or leaves a gap");
      at = e.end;
    }
    if (at != size_)
      raise_damaged(path_, "its header describes " + std::to_string(at) + " bytes of data, the file has " +
                               std::to_string(size_));
  }

  std::vector<Entry> entries;
  Metadata metadata;

 private:
  void read_metadata(const nlohmann::json& value) {
    if (!value.is_object()) raise_damaged(path_, "its metadata is no JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) raise_damaged(path_, "metadata '" + key + "' is no string");
      metadata[key] = text.get<std::string>();
    }
  }
  static bool is_size(const nlohmann::json& x) { return x.is_number_unsigned() && x.get<u64>() < (u64{1} << 62); }
  static bool is_size_list(const nlohmann::json& x) {
    if (!x.is_array()) return false;
    for (const nlohmann::json& n : x)
      if (!is_size(n)) return false;
    return true;
  }
  void read_entry(const std::string& name, const nlohmann::json& e) {
    const auto bad = [&](const char* what) { raise_damaged(path_, "entry '" + name + "' has a bad " + what); };
    if (!e.is_object() || !e.contains("dtype") || !e.contains("shape") || !e.contains("data_offsets"))
      bad("description");
    const FormatName* format = e["dtype"].is_string() ? find_format(e["dtype"].get<std::string>()) : nullptr;
    if (!format) bad("dtype");
    if (!is_size_list(e["shape"]) || e["shape"].size() > max_rank) bad("shape");
    if (!is_size_list(e["data_offsets"]) || e["data_offsets"].size() != 2) bad("range");
    Entry r{name,
            {{}, format->dtype, {}},
            e["data_offsets"][0].get<std::size_t>(),
            e["data_offsets"][1].get<std::size_t>()};
    if (r.begin > r.end || r.end > size_) bad("range");
    u64 bytes = size_of(format->dtype);
    for (const nlohmann::json& n : e["shape"]) {
      if (__builtin_mul_overflow(bytes, n.get<u64>(), &bytes)) bad("shape");
      r.spec.shape.push(n.get<i64>());
    }
    if (bytes != r.end - r.begin) bad("size");
    entries.push_back(std::move(r));
  }
  const std::string& path_;
  std::size_t size_;
};

inline u64 header_length(const char* p) {
  u64 n = 0;
  for (int i = 0; i < 8; ++i) n |= u64{static_cast<unsigned char>(p[i])} << (8 * i);
  return n;
}
inline void check_header_length(u64 n, std::size_t file, const std::string& path) {
  if (file < 8 || n > file - 8) raise_damaged(path, "it ends within its header");
  if (n > max_header)
    raise_damaged(path, "its header claims " + std::to_string(n) + " bytes, above the limit of 32 MiB");
}

TANDEM_INLINE std::ifstream open_file(const std::string& path, std::size_t& size) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) errors::raise<errors::NotFoundError>("load", "cannot read " + path + ": " + std::strerror(errno));
  const auto end = in.tellg();
  if (end < 0) errors::raise<errors::NotFoundError>("load", path + " is no regular file");
  size = static_cast<std::size_t>(end);
  in.seekg(0);
  return in;
}

TANDEM_INLINE Tensor read_tensor(const Entry& e, const char* data, const Metadata& metadata, const std::string& path) {
  Tensor t = Tensor::allocate(e.spec);
  if (e.end > e.begin) std::memcpy(t.raw(), data + e.begin, e.end - e.begin);
  if (e.spec.dtype == DType::bool_)
    for (std::size_t i = e.begin; i < e.end; ++i)
      if (static_cast<unsigned char>(data[i]) > 1)
        raise_damaged(path, "entry '" + e.name + "' has a bool that is neither 0 nor 1");
  if (const auto crc = metadata.find(crc_prefix + e.name); crc != metadata.end())
    if (crc->second != std::to_string(crc32(t.raw(), e.end - e.begin)))
      raise_damaged(path, "the checksum of '" + e.name + "' does not match its data");
  return t;
}
inline Metadata without_checksums(Metadata m) {
  std::erase_if(m, [](const auto& item) { return item.first.starts_with(crc_prefix); });
  return m;
}

}  // namespace detail

TANDEM_INLINE Safetensors parse_safetensors(const char* data, std::size_t size, const std::string& path) {
  if (size < 8) detail::raise_damaged(path, "it is shorter than 8 bytes");
  const u64 n = detail::header_length(data);
  detail::check_header_length(n, size, path);
  const detail::HeaderReader header({data + 8, n}, size - 8 - n, path);
  Safetensors r;
  for (const detail::Entry& e : header.entries)
    r.tensors.push_back({e.name, detail::read_tensor(e, data + 8 + n, header.metadata, path)});
  r.metadata = detail::without_checksums(header.metadata);
  return r;
}
TANDEM_INLINE Safetensors load_safetensors(const std::string& path) {
  std::size_t size = 0;
  std::ifstream in = detail::open_file(path, size);
  const memory::Scratch bytes(size);
  if (!in.read(static_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    detail::raise_damaged(path, "it cannot be read to its end");
  return parse_safetensors(static_cast<const char*>(bytes.data()), size, path);
}
TANDEM_INLINE Metadata load_safetensors_metadata(const std::string& path) {
  std::size_t size = 0;
  std::ifstream in = detail::open_file(path, size);
  char length[8];
  if (size < 8 || !in.read(length, 8)) detail::raise_damaged(path, "it is shorter than 8 bytes");
  const u64 n = detail::header_length(length);
  detail::check_header_length(n, size, path);
  std::string text(n, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(n)))
    detail::raise_damaged(path, "it cannot be read to its end");
  return detail::without_checksums(detail::HeaderReader(text, size - 8 - n, path).metadata);
}
TANDEM_INLINE const Tensor& Safetensors::at(const std::string& name) const {
  for (const NamedTensor& t : tensors)
    if (t.name == name) return t.tensor;
  errors::raise<errors::NotFoundError>("load", "the file has no tensor named '" + name + "'");
}

}  // namespace TANDEM_NS::io
