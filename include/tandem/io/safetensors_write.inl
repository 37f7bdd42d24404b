// Writes safetensors. Content that could not be read back is rejected.
#pragma once
#include <nlohmann/json.hpp>

#include "tandem/base/format.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/io/safetensors_format.hpp"
#include "tandem/ops/create/outside_trace.hpp"

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
    if (key.starts_with(crc_prefix))
      raise_unsaved("the metadata key " + tandem::detail::escaped_text(key) +
                    " begins with the prefix that is reserved for checksums");
  }
}
// Checks that a tensor can be written; returns the name of its dtype in the format.
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

}  // namespace detail

TANDEM_INLINE void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                    const Metadata& metadata) {
  const tandem::detail::OutsideTrace outside;
  detail::check_metadata(metadata);
  nlohmann::json header = nlohmann::json::object();
  Metadata all = metadata;
  std::vector<Tensor> host;
  std::size_t at = 0;
  for (const NamedTensor& t : tensors) {
    const char* const dtype = detail::check_tensor(t);
    if (header.contains(t.name))
      detail::raise_unsaved("the name " + tandem::detail::escaped_text(t.name) + " is given twice");
    const Tensor& x = host.emplace_back(t.tensor.cpu());
    const std::size_t bytes = x.spec().bytes();
    header[t.name] = {{"dtype", dtype},
                      {"shape", std::vector<i64>(x.shape().begin(), x.shape().end())},
                      {"data_offsets", {at, at + bytes}}};
    at += bytes;
    all[detail::crc_prefix + t.name] = std::to_string(detail::crc32(x.raw(), bytes));
  }
  header[detail::metadata_key] = all;
  std::string text = header.dump(-1, ' ', true);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data to 8 bytes
  if (text.size() > detail::max_header)
    detail::raise_unsaved("names, shapes and metadata take " + std::to_string(text.size()) +
                          " bytes as JSON, above the limit of " + std::to_string(detail::max_header) +
                          ": store long texts in a separate file");
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(static_cast<u64>(text.size()) >> (8 * i));
  std::vector<std::pair<const void*, std::size_t>> parts{{length, 8}, {text.data(), text.size()}};
  for (const Tensor& x : host) parts.emplace_back(x.raw(), x.spec().bytes());
  replace_file(path, parts);
}

}  // namespace TANDEM_NS::io
