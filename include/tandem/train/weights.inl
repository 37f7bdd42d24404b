// Definitions of train/checkpoint.hpp: save_weights and load_weights, which know of rows that other processes have.
#pragma once
#include <chrono>
#include <exception>

#include "tandem/base/error.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/replicas.hpp"
#include "tandem/train/shard_files.hpp"

namespace TANDEM_NS::train {

TANDEM_INLINE void save_weights(const Module& module, const std::string& path) {
  const std::vector<CheckpointItem> items{{"", module}};
  const Checkpoint all(items);
  const detail::Replicas replicas;
  const detail::ShardFiles rows(items, replicas.rank(), replicas.size());
  if (rows.empty() || !replicas.are_several()) return all.save(path);
  // What f raises in one process is raised in all of them.
  const auto together = [&](const auto& f) {
    std::exception_ptr error;
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
    if (!replicas.any(error != nullptr)) return;
    if (error) std::rethrow_exception(error);
    errors::raise<errors::AbortedError>("save_weights", "another process could not save its part of " + path);
  };
  std::vector<i64> id{replicas.is_first() ? std::chrono::system_clock::now().time_since_epoch().count() : 0};
  replicas.largest(id);
  const detail::ShardSet set{replicas.size(), id[0]};
  together([&] { rows.write(path, set); });
  together([&] {
    if (replicas.is_first()) all.without_sharded().save(path, {{"shards", set.text()}});
  });
  detail::ShardFiles::remove_others(path, set);
}
TANDEM_INLINE RestoreReport load_weights(const Module& module, const std::string& path, const RestoreOptions& options) {
  const std::vector<CheckpointItem> items{{"", module}};
  const Checkpoint all(items);
  const Metadata texts = read_metadata(path);
  const auto set = texts.find("shards");
  if (set == texts.end()) return all.restore(path, options);
  const detail::Replicas replicas;
  const detail::ShardFiles rows(items, replicas.rank(), replicas.size());
  const auto values = rows.read(path, detail::ShardSet::parse(set->second), options.partial);
  RestoreReport report = all.without_sharded().restore(path, options);
  detail::ShardFiles::set(values);
  for (const auto& n : all.sharded()) report.restored.push_back(n.path);
  return report;
}

}  // namespace TANDEM_NS::train
