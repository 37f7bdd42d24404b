// Writes safetensors. Content that could not be read back is rejected.
#pragma once
#include <cstdio>
#include <map>

#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/io/safetensors_format.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

[[noreturn]] TANDEM_INLINE void raise_unsaved(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("save", what);
}
TANDEM_INLINE void check_text(const char* what, const std::string& text) {
  if (!tandem::detail::is_utf8(text))
    raise_unsaved(std::string(what) + " " + tandem::detail::escaped_text(text) +
                  " is not UTF-8, which the safetensors format requires");
}
TANDEM_INLINE void check_metadata(const Metadata& metadata) {
  for (const auto& [key, text] : metadata) {
    check_text("the metadata key", key);
    check_text(("the value of the metadata key " + tandem::detail::escaped_text(key) + ",").c_str(), text);
    if (is_checksum(key))
      raise_unsaved("the metadata key " + tandem::detail::escaped_text(key) + " is reserved for checksums");
  }
}
TANDEM_INLINE const char* check_tensor(const NamedTensor& t) {
  check_text("the name", t.name);
  const std::string name = tandem::detail::escaped_text(t.name);
  if (t.name == metadata_key) raise_unsaved("the name " + name + " is reserved");
  if (t.tensor.is_symbolic())
    errors::raise<errors::TraceError>(
        "save", name + " is a traced tensor, which has no value to save: " + to_string(t.tensor.spec()));
  const char* const dtype = format_name(t.tensor.dtype());
  if (!dtype)
    raise_unsaved(name + " is " + to_string(t.tensor.spec()) +
                  ", a dtype that the safetensors format does not support");
  return dtype;
}

// Appends a text, which is UTF-8, as a JSON string in ASCII.
TANDEM_INLINE void append_json(std::string& json, const std::string& text) {
  json += '"';
  const auto escape = [&](unsigned unit) {
    json += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) json += "0123456789abcdef"[unit >> shift & 15];
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = tandem::detail::utf8_length(text, i);
    const char c = text[i];
    static constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (const std::size_t at = special.find(c); at != special.npos) {
      (json += '\\') += letters[at];
    } else if (n == 1 && c >= 0x20 && c < 0x7f) {
      json += c;
    } else {
      unsigned point = static_cast<unsigned char>(c) & (n == 1 ? 0xffu : 0xffu >> (n + 1));
      for (std::size_t k = 1; k < n; ++k) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
      if (point >= 0x10000) escape(0xd800 + ((point - 0x10000) >> 10)), point = 0xdc00 + (point & 0x3ff);
      escape(point);
    }
    i += n;
  }
  json += '"';
}
TANDEM_INLINE std::string json_of(const Metadata& metadata) {
  std::string json = "{";
  for (const auto& [key, text] : metadata) {
    if (json.size() > 1) json += ',';
    append_json(json, key);
    append_json(json += ':', text);
  }
  return json += '}';
}
// The header: an object with an entry for each name, padded so that the data is aligned to 8 bytes. It is written as
// text: the destructor of a JSON library's tree allocates, so that it would end a program that is out of memory.
TANDEM_INLINE std::string header_text(const std::map<std::string, std::string>& entries) {
  std::string text = "{";
  for (const auto& [name, json] : entries) {
    if (text.size() > 1) text += ',';
    append_json(text, name);
    (text += ':') += json;
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > max_header)
    raise_unsaved("names, shapes and metadata take " + std::to_string(text.size()) +
                  " bytes as JSON, above the limit of " + std::to_string(max_header) +
                  ": store long texts in a separate file");
  return text;
}

}  // namespace detail

TANDEM_INLINE void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                    const Metadata& metadata) {
  const tandem::detail::OutsideTrace outside;
  detail::check_metadata(metadata);
  std::map<std::string, std::string> entries;  // by name, in JSON
  Metadata all = metadata;
  std::vector<Tensor> host;
  std::size_t at = 0;
  for (const NamedTensor& t : tensors) {
    const char* const dtype = detail::check_tensor(t);
    if (entries.contains(t.name))
      detail::raise_unsaved("the name " + tandem::detail::escaped_text(t.name) + " is given twice");
    const Tensor& x = host.emplace_back(t.tensor.cpu());
    const std::size_t bytes = x.spec().bytes();
    entries[t.name] = detail::json_of(dtype, x.shape(), at, at + bytes);
    at += bytes;
    all[detail::crc_prefix + t.name] = detail::checksum_text(crc32c({static_cast<const char*>(x.raw()), bytes}));
  }
  all[detail::header_crc] = detail::header_checksum(entries, all);
  entries[detail::metadata_key] = detail::json_of(all);
  const std::string text = detail::header_text(entries);
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(static_cast<u64>(text.size()) >> (8 * i));
  std::vector<std::pair<const void*, std::size_t>> parts{{length, 8}, {text.data(), text.size()}};
  for (const Tensor& x : host) parts.emplace_back(x.raw(), x.spec().bytes());
  replace_file(path, parts);
}

}  // namespace TANDEM_NS::io
