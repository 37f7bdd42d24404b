// Definitions of serving/manager.hpp: other parameters of batching for versions in memory.
#pragma once
#include <mutex>
#include <utility>
#include <vector>

#include "tandem/serving/manager.hpp"
#include "tandem/serving/manager_shared.hpp"

namespace TANDEM_NS::serving::impl {

// A version in memory that is batched in another way. It is another Servable, so that its requests have queues of their
// own.
TANDEM_INLINE Lease with_batching(const Servable& servable, const Batching& batching, u64 id) {
  Servable r = servable;
  r.id = id, r.batching = batching;
  if (!batching.pad_variable_length_inputs)
    for (auto& [signature, facts] : r.batched) facts.padding.reset();
  return std::make_shared<const Servable>(std::move(r));
}
TANDEM_INLINE bool Manager::Shared::is_batched_as_all(const Model& model) const {
  return !model.config.batching && !options.enable_per_model_batching_parameters && options.batching.enabled;
}
// What the versions in memory would take with another Options::batching, and of those that change as much each.
TANDEM_INLINE i64 Manager::Shared::reserved_with(const Batching& other, std::vector<std::pair<Lease, i64>>& changed) {
  i64 sum = reserved();
  for (const auto& [name, model] : models)
    for (const auto& [number, v] : model.versions)
      if (v.servable && is_batched_as_all(model)) {
        changed.emplace_back(v.servable, bytes_with_a_call(v.servable->loaded, other));
        sum += changed.back().second - v.reserved;
      }
  return sum;
}
TANDEM_INLINE void Manager::set_batching(const Batching& batching) {
  Shared& s = *shared_;
  check_batching(batching, "");
  const Batching& first = s.options.batching;
  if (batching.enabled != first.enabled || batching.num_batch_threads != first.num_batch_threads)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "whether requests are batched, and num_batch_threads, which is " +
                       std::to_string(first.num_batch_threads) +
                       ", stay as they are until the server starts again; the other options of batching can be set");
  std::vector<Lease> dropped;  // freed without the lock
  const std::lock_guard lock(s.mutex);
  std::vector<std::pair<Lease, i64>> changed;
  const i64 sum = s.options.memory_limit ? s.reserved_with(batching, changed) : 0;
  if (s.options.memory_limit && sum > s.options.memory_limit && sum > s.reserved())
    errors::raise<errors::ResourceExhaustedError>(
        "serving", "with batches of " + std::to_string(batching.max_batch_size) + " rows the models in memory take " +
                       std::to_string(sum) + " bytes, the limit is " + std::to_string(s.options.memory_limit));
  s.batching = batching;
  for (auto& [name, model] : s.models)
    for (auto& [number, v] : model.versions) {
      if (!v.servable || !s.is_batched_as_all(model)) continue;
      for (const auto& [servable, bytes] : changed)
        if (servable == v.servable) v.reserved = bytes;
      dropped.push_back(std::exchange(v.servable, with_batching(*v.servable, batching, s.next_id++)));
    }
}

}  // namespace TANDEM_NS::serving::impl
