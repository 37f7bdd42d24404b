// Definitions of train/checkpoint.hpp and train/save_together.hpp: what knows of rows that other processes have.
#pragma once
#include <chrono>

#include "tandem/ops/shape/slice.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/save_together.hpp"

namespace TANDEM_NS::train {

namespace detail {
TANDEM_INLINE bool is_of_several(const Checkpoint& checkpoint) {
  return Replicas().are_several() && !checkpoint.sharded().empty();
}
TANDEM_INLINE ShardSet write_rows(const Checkpoint& checkpoint, const std::string& path) {
  const Replicas replicas;
  std::vector<i64> id{replicas.is_first() ? std::chrono::system_clock::now().time_since_epoch().count() : 0};
  replicas.largest(id);
  const ShardSet set{replicas.size(), id[0]};
  together("save", path, [&] { ShardFiles(checkpoint, replicas.rank(), replicas.size()).write(path, set); });
  return set;
}
}  // namespace detail

TANDEM_INLINE void Checkpoint::save(const std::string& path, const Metadata& metadata) const {
  if (!detail::is_of_several(*this)) return io::save_safetensors(path, values(), metadata);
  const detail::ShardSet set = detail::write_rows(*this, path);
  Metadata texts = metadata;
  texts["shards"] = set.text();
  detail::together("save", path, [&] {
    if (detail::Replicas().is_first()) io::save_safetensors(path, without_sharded().values(), texts);
  });
  detail::ShardFiles::remove_others(path, set);
}
TANDEM_INLINE RestoreReport Checkpoint::restore(const std::string& path, const RestoreOptions& options) const {
  const Metadata texts = skips_sharded_ ? Metadata() : read_metadata(path);
  const auto set = texts.find("shards");
  const detail::Replicas replicas;
  const detail::ShardFiles rows(*this, replicas.rank(), replicas.size());
  if (set == texts.end() || (rows.empty() && options.partial)) return restore_file(path, options);
  const auto values = rows.read(path, detail::ShardSet::parse(set->second), options.partial);
  RestoreReport report = without_sharded().restore_file(path, options);
  detail::ShardFiles::set(values);
  for (const auto& n : sharded()) report.restored.push_back(n.path);
  return report;
}
// The rows of this process, of a whole table that one process has saved.
TANDEM_INLINE Tensor Checkpoint::own_rows(const Variable& variable, const Tensor& value) {
  const detail::Replicas replicas;
  const i64 whole = variable.whole_rows();
  if (whole == 0 || !replicas.are_several() || value.rank() == 0 || value.shape()[0] != whole) return value;
  return value(Slice(replicas.rank(), none, replicas.size()));
}

// The same for slots that an optimizer has not made yet.
TANDEM_INLINE void Checkpoint::take_own_rows(TensorMap& values) const {
  for (const Module::Named& weight : sharded())
    for (auto& [name, value] : values) {
      const std::string_view of = std::string_view(name).substr(0, name.rfind('/'));
      if (of == weight.path || of.ends_with("/" + weight.path)) value = own_rows(weight.variable, value);
    }
}

TANDEM_INLINE void save_weights(const Module& module, const std::string& path) {
  Checkpoint({{"", module}}).save(path);
}
TANDEM_INLINE RestoreReport load_weights(const Module& module, const std::string& path, const RestoreOptions& options) {
  return Checkpoint({{"", module}}).restore(path, options);
}

}  // namespace TANDEM_NS::train
