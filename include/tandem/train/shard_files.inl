// Definitions of train/shard_files.hpp.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/train/checkpoint_index.hpp"
#include "tandem/train/shard_files.hpp"

namespace TANDEM_NS::train::detail {

namespace impl {
inline constexpr std::string_view shard_mark = ".shard-";
// "ckpt-7.shard-" for "ckpt-7.safetensors".
inline std::string shard_prefix(const std::string& checkpoint) {
  return checkpoint.substr(0, checkpoint.rfind(".safetensors")) + std::string(shard_mark);
}
// "ckpt-7.shard-00001-of-00003-5f3a.safetensors".
inline std::string shard_path(const std::string& checkpoint, i64 rank, const ShardSet& set) {
  char part[80];
  std::snprintf(part, sizeof part, "%05lld-of-%05lld-%llx.safetensors", static_cast<long long>(rank),
                static_cast<long long>(set.files), static_cast<unsigned long long>(set.id));
  return shard_prefix(checkpoint) + part;
}
inline i64 rows_of_rank(i64 rows, i64 rank, i64 ranks) { return (rows - rank + ranks - 1) / ranks; }
// Removes the .safetensors files of a folder ("" is the present one) whose name is_old accepts.
template <class IsOld>
void remove_files(const std::string& folder, const IsOld& is_old) {
  std::error_code error;
  std::vector<std::string> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error))
    if (const std::string file = entry.path().filename().string(); file.ends_with(".safetensors") && is_old(file))
      old.push_back(entry.path().string());
  for (const std::string& path : old) ::unlink(path.c_str());
}
[[noreturn]] TANDEM_INLINE void raise_shards(const std::string& message) {
  errors::raise<errors::DataLossError>("restore", message);
}
}  // namespace impl

TANDEM_INLINE ShardSet ShardSet::parse(const std::string& text) {
  ShardSet r;
  const char* const end = text.data() + text.size();
  const auto files = std::from_chars(text.data(), end, r.files);
  if (files.ec == std::errc() && files.ptr != end && *files.ptr == ' ') {
    const auto id = std::from_chars(files.ptr + 1, end, r.id);
    if (id.ec == std::errc() && id.ptr == end && r.files >= 0) return r;
  }
  impl::raise_shards("the checkpoint's text 'shards' is damaged: '" + text + "'");
}

TANDEM_INLINE ShardFiles::ShardFiles(const Checkpoint& checkpoint, i64 rank, i64 ranks)
    : variables_(checkpoint.sharded()), rank_(rank), ranks_(ranks) {}

TANDEM_INLINE void ShardFiles::check_rows(const char* op, const Module::Named& v) const {
  const Variable& x = v.variable;
  if (const i64 rows = impl::rows_of_rank(x.whole_rows(), rank_, ranks_); x.rank() < 1 || x.shape()[0] != rows)
    errors::raise<errors::FailedPreconditionError>(
        op, "'" + v.path + "' is " + to_string(x.spec()) + ", but process " + std::to_string(rank_) + " of " +
                std::to_string(ranks_) + " has " + std::to_string(rows) + " of its " + std::to_string(x.whole_rows()) +
                " rows: train in the scope of a strategy with the processes that have the table");
}
TANDEM_INLINE void ShardFiles::write(const std::string& checkpoint, const ShardSet& set) const {
  std::vector<io::NamedTensor> tensors;
  for (const Module::Named& v : variables_) {
    check_rows("save", v);
    tensors.push_back({v.path, v.variable.value_untracked()});
  }
  if (const std::string folder = std::filesystem::path(checkpoint).parent_path().string(); !folder.empty())
    io::ensure_directory(folder);
  io::save_safetensors(impl::shard_path(checkpoint, rank_, set), tensors,
                       {{"shards", set.text() + " " + std::to_string(rank_)}});
}
// Row k of process s among p is row k p + s of the whole.
TANDEM_INLINE Tensor ShardFiles::value_of(const Module::Named& v, const std::vector<io::Safetensors>& files) const {
  const Spec& want = v.variable.spec();
  const i64 whole = v.variable.whole_rows(), then = static_cast<i64>(files.size());
  const auto refuse = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>(
        "restore", "the files with the rows of processes belong to another model: of '" + v.path + "', " +
                       std::to_string(whole) + " rows in all, " + what);
  };
  std::vector<const Tensor*> parts(files.size());  // those of other processes stay null if this one needs none of them
  for (i64 s = 0; s < then; ++s) {
    if (then == ranks_ && s != rank_) continue;
    const Tensor*& part = parts[static_cast<std::size_t>(s)];
    for (const io::NamedTensor& t : files[static_cast<std::size_t>(s)].tensors)
      if (t.name == v.path) part = &t.tensor;
    Shape shape = want.shape;
    shape.set(0, impl::rows_of_rank(whole, s, then));
    const std::string whose = "that of process " + std::to_string(s) + " of " + std::to_string(then);
    if (!part) refuse(whose + " does not have it");
    if (part->dtype() != want.dtype || part->shape() != shape)
      refuse(whose + " has " + to_string(part->spec()) + ", not " + to_string(Spec{shape, want.dtype, {}}));
  }
  const Tensor own = Tensor::allocate({want.shape, want.dtype, {}});
  const i64 rows = want.shape.dim(0);
  const auto width = rows ? static_cast<std::size_t>(own.size() / rows) * size_of(want.dtype) : 0;
  for (i64 k = 0; k < rows && width; ++k) {
    const i64 row = k * ranks_ + rank_;
    std::memcpy(static_cast<char*>(own.raw()) + static_cast<std::size_t>(k) * width,
                static_cast<const char*>(parts[static_cast<std::size_t>(row % then)]->raw()) +
                    static_cast<std::size_t>(row / then) * width,
                width);
  }
  return own.to(want.device);
}
TANDEM_INLINE void ShardFiles::check_all_wanted(const std::string& checkpoint, const io::Safetensors& file) const {
  for (const io::NamedTensor& t : file.tensors)
    if (std::none_of(variables_.begin(), variables_.end(), [&](const Module::Named& v) { return v.path == t.name; }))
      errors::raise<errors::InvalidArgumentError>(
          "restore",
          "the files with the rows of " + checkpoint + " have '" + t.name +
              "', which no Variable is: build the model first (call it; build() the optimizer of its weights), or "
              "pass .partial = true");
}
TANDEM_INLINE ShardFiles::Values ShardFiles::read(const std::string& checkpoint, const ShardSet& set,
                                                  bool partial) const {
  if (set.files == 0)
    impl::raise_shards(checkpoint + " has no files with the rows of processes" +
                       (variables_.empty() ? "" : ", which '" + variables_[0].path + "' needs") +
                       ": it is of another model");
  for (const Module::Named& v : variables_) check_rows("restore", v);
  const auto load = [&](i64 rank) {
    const std::string path = impl::shard_path(checkpoint, rank, set);
    io::Safetensors f;
    try {
      f = io::load_safetensors(path, {.map = true});
    } catch (const errors::NotFoundError&) {
      impl::raise_shards("there is no " + path + ", which process " + std::to_string(rank) + " of " +
                         std::to_string(set.files) +
                         " has written: with another number of processes all must be "
                         "able to read the files of all");
    }
    const auto id = f.metadata.find("shards");
    if (id == f.metadata.end() || id->second != set.text() + " " + std::to_string(rank))
      impl::raise_shards(path + " does not belong to " + checkpoint + ": another save or process has written it");
    return f;
  };
  std::vector<io::Safetensors> files(static_cast<std::size_t>(set.files));
  for (i64 rank = 0; rank < set.files; ++rank)
    if (set.files != ranks_ || rank == rank_) {
      files[static_cast<std::size_t>(rank)] = load(rank);
      if (!partial) check_all_wanted(checkpoint, files[static_cast<std::size_t>(rank)]);
    }
  Values values;
  for (const Module::Named& v : variables_) values.emplace_back(v.variable, value_of(v, files));
  return values;
}
TANDEM_INLINE void ShardFiles::set(const Values& values) {
  for (const auto& [variable, value] : values) variable.set_untracked(value);
}
TANDEM_INLINE void ShardFiles::remove_others(const std::string& checkpoint, const ShardSet& set) {
  const std::filesystem::path prefix = impl::shard_prefix(checkpoint);
  std::set<std::string> present;
  for (i64 rank = 0; rank < set.files; ++rank)
    present.insert(std::filesystem::path(impl::shard_path(checkpoint, rank, set)).filename().string());
  impl::remove_files(prefix.parent_path().string(), [&](const std::string& file) {
    return file.starts_with(prefix.filename().string()) && !present.contains(file);
  });
}
TANDEM_INLINE void ShardFiles::remove_before(const std::string& directory, i64 step, const std::string& name,
                                             const std::vector<std::string>& kept) {
  impl::remove_files(directory, [&](const std::string& file) {
    const std::size_t mark = file.find(impl::shard_mark);
    if (mark == file.npos) return false;
    const i64 of = train::impl::step_of_file(file.substr(0, mark) + ".safetensors", name);
    return of >= 0 && of < step && std::none_of(kept.begin(), kept.end(), [&](const std::string& k) {
             return k.substr(0, k.rfind(".safetensors")) == file.substr(0, mark);
           });
  });
}

}  // namespace TANDEM_NS::train::detail
