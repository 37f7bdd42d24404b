// Writing safetensors (implementation half of io/safetensors.hpp).
#pragma once
#include <nlohmann/json.hpp>

#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors_format.hpp"

namespace TANDEM_NS::io {

TANDEM_INLINE void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                                    const Metadata& metadata) {
  nlohmann::json header = nlohmann::json::object();
  Metadata all = metadata;
  std::vector<Tensor> host;
  std::size_t at = 0;
  for (const NamedTensor& t : tensors) {
    tandem::detail::check_value("save", t.tensor);
    const char* dtype = detail::format_name(t.tensor.dtype());
    if (!dtype)
      errors::raise<errors::InvalidArgumentError>(
          "save", "'" + t.name + "' is " + to_string(t.tensor.spec()) + ", a dtype that safetensors files do not have");
    if (header.contains(t.name) || t.name == detail::metadata_key)
      errors::raise<errors::InvalidArgumentError>("save", "the name '" + t.name + "' is given twice or reserved");
    const Tensor& x = host.emplace_back(t.tensor.cpu());
    const std::size_t bytes = x.spec().bytes();
    header[t.name] = {{"dtype", dtype},
                      {"shape", std::vector<i64>(x.shape().begin(), x.shape().end())},
                      {"data_offsets", {at, at + bytes}}};
    at += bytes;
    all[detail::crc_prefix + t.name] = std::to_string(detail::crc32(x.raw(), bytes));
  }
  header[detail::metadata_key] = all;
  std::string text = header.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data begins on a multiple of 8
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(static_cast<u64>(text.size()) >> (8 * i));
  std::vector<std::pair<const void*, std::size_t>> parts{{length, 8}, {text.data(), text.size()}};
  for (const Tensor& x : host) parts.emplace_back(x.raw(), x.spec().bytes());
  replace_file(path, parts);
}

}  // namespace TANDEM_NS::io
