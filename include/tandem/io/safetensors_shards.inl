// Definitions of io/safetensors_shards.hpp.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tandem/io/file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/safetensors_format.hpp"
#include "tandem/io/safetensors_shards.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace impl {

inline std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }
inline std::string crc_of_tensor(const Tensor& t) {
  const Tensor x = t.cpu();
  return detail::checksum_text(crc32c({static_cast<const char*>(x.raw()), x.spec().bytes()}));
}

// The index: which tensors are in which file, by the names of the files.
struct ShardIndex {
  std::map<std::string, std::vector<std::string>> files;
  std::map<std::string, std::string> checksums;  // of tensors; empty in files of others

  static ShardIndex read(const std::string& path) {
    const auto damaged = [&](const std::string& what) {
      errors::raise<errors::DataLossError>("load", path + " is damaged or not an index of safetensors: " + what);
    };
    ShardIndex r;
    try {
      const nlohmann::json all = nlohmann::json::parse(detail::read_regular_file("load", path));
      for (const auto& [name, file] : all.at("weight_map").items()) r.files[file.get<std::string>()].push_back(name);
      if (all.contains("crc32c")) r.checksums = all["crc32c"].get<std::map<std::string, std::string>>();
    } catch (const nlohmann::json::exception&) {
      damaged("it has no weight_map of names");
    }
    for (const auto& [file, names] : r.files)
      if (file.empty() || file.find('/') != file.npos || !file.ends_with(".safetensors"))
        damaged("it lists the file " + tandem::detail::escaped_text(file));
    return r;
  }
};

// How many of the tensors from `first` on are in the same file.
TANDEM_INLINE std::size_t shard_length(const std::vector<NamedTensor>& tensors, std::size_t first, i64 most) {
  i64 bytes = 0;
  std::size_t n = 0;
  for (; first + n < tensors.size(); ++n) {
    bytes += static_cast<i64>(tensors[first + n].tensor.spec().bytes());
    if (n > 0 && bytes > most) break;
  }
  return n;
}

inline std::string shard_path(const std::string& stem, std::size_t number, std::size_t of, const char* end) {
  char name[64];
  std::snprintf(name, sizeof name, "-%05zu-of-%05zu", number, of);
  return stem + name + end;
}

// The shards of an earlier save of the same name; none if there is no index that says so.
TANDEM_INLINE std::vector<std::string> shards_before(const std::string& index_path, const std::string& stem) {
  std::vector<std::string> r;
  try {
    r = list_safetensors_shards(index_path);
  } catch (const errors::OpError&) {
    return r;
  }
  std::erase_if(r, [&](const std::string& path) { return !path.starts_with(stem + "-"); });
  return r;
}

}  // namespace impl

TANDEM_INLINE void save_safetensors_shards(const std::string& index_path, const std::vector<NamedTensor>& tensors,
                                           const Metadata& metadata, i64 max_shard_bytes) {
  const std::string_view suffix = shards_suffix;
  if (!index_path.ends_with(suffix))
    errors::raise<errors::InvalidArgumentError>(
        "save", "the name of an index ends in " + std::string(suffix) + ": " + index_path);
  if (max_shard_bytes < 1)
    errors::raise<errors::InvalidArgumentError>("save", "shards of " + std::to_string(max_shard_bytes) + " bytes");
  std::set<std::string> names;
  for (const NamedTensor& t : tensors) {  // before anything changes
    detail::check_tensor(t);
    if (!names.insert(t.name).second)
      errors::raise<errors::InvalidArgumentError>(
          "save", "the name " + tandem::detail::escaped_text(t.name) + " is given twice");
  }
  const std::string stem = index_path.substr(0, index_path.size() - suffix.size());
  const std::vector<std::string> before = impl::shards_before(index_path, stem);
  std::vector<std::size_t> lengths;
  for (std::size_t at = 0; at < tensors.size(); at += lengths.back())
    lengths.push_back(impl::shard_length(tensors, at, max_shard_bytes));
  const char* const first_save = ".safetensors";
  const bool is_taken = !before.empty() && before.front() == impl::shard_path(stem, 1, lengths.size(), first_save);
  const char* const end = is_taken ? second_save : first_save;

  nlohmann::json weight_map = nlohmann::json::object(), checksums = nlohmann::json::object();
  std::vector<std::string> written;
  std::size_t total = 0, at = 0;
  try {
    for (const std::size_t n : lengths) {
      const std::string path = impl::shard_path(stem, written.size() + 1, lengths.size(), end);
      const auto begin = tensors.begin() + static_cast<std::ptrdiff_t>(at);
      const std::vector<NamedTensor> part(begin, begin + static_cast<std::ptrdiff_t>(n));
      written.push_back(path);
      save_safetensors(path, part, metadata);
      for (const NamedTensor& t : part) {
        weight_map[t.name] = path.substr(impl::folder_of(path).size());
        checksums[t.name] = impl::crc_of_tensor(t.tensor);
        total += t.tensor.spec().bytes();
      }
      at += n;
    }
    const nlohmann::json all{{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}, {"crc32c", checksums}};
    const std::string text = all.dump(1) + "\n";
    replace_file(index_path, {{text.data(), text.size()}});
  } catch (...) {
    for (const std::string& path : written) ::unlink(path.c_str());
    throw;
  }
  for (const std::string& path : before)
    if (std::find(written.begin(), written.end(), path) == written.end()) ::unlink(path.c_str());
}
TANDEM_INLINE std::vector<std::string> list_safetensors_shards(const std::string& index_path) {
  std::vector<std::string> r;
  for (const auto& [file, names] : impl::ShardIndex::read(index_path).files)
    r.push_back(impl::folder_of(index_path) + file);
  return r;
}
TANDEM_INLINE Safetensors load_safetensors_shards(const std::string& index_path) {
  const impl::ShardIndex index = impl::ShardIndex::read(index_path);
  Safetensors all;
  for (const auto& [file, names] : index.files) {
    const std::string path = impl::folder_of(index_path) + file;
    const auto foreign = [&](const std::string& name, const char* what) {
      errors::raise<errors::DataLossError>(
          "load", path + " does not belong to " + index_path + ": " + tandem::detail::escaped_text(name) + what);
    };
    Safetensors shard = load_safetensors(path);
    std::map<std::string, Tensor> tensors;
    for (NamedTensor& t : shard.tensors) tensors.emplace(std::move(t.name), std::move(t.tensor));
    if (all.tensors.empty()) all.metadata = std::move(shard.metadata);
    for (const std::string& name : names) {
      const auto at = tensors.find(name);
      if (at == tensors.end()) foreign(name, " is not in it");
      const auto crc = index.checksums.find(name);
      if (crc != index.checksums.end() && crc->second != impl::crc_of_tensor(at->second))
        foreign(name, " has another checksum");
      all.tensors.push_back({name, at->second});
    }
  }
  return all;
}

}  // namespace TANDEM_NS::io
