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
  return std::make_shared<const Servable>(std::move(r));
}
TANDEM_INLINE bool Manager::Shared::is_batched_as_all(const Model& model) const {
  return !model.config.batching && !options.enable_per_model_batching_parameters && options.batching.enabled;
}
// A version that is wanted again while requests use it: it is available at once. One that is batched in another way by
// now, and does not fit into the memory so, is loaded again when they end.
TANDEM_INLINE void Manager::Shared::take_up(const Model& model, Version& version, std::vector<Lease>& dropped) {
  Lease there = version.in_use();
  if (!there) return;
  dropped.push_back(there);  // perhaps by now the last one
  if (is_batched_as_all(model) && there->batching != batching) {
    const i64 limit = options.memory_limit, bytes = limit ? bytes_with_a_call(there->loaded, batching) : 0;
    if (limit && bytes > version.reserved && reserved() - version.reserved + bytes > limit) return;
    Lease other = with_batching(*there, batching, next_id++);
    version.replaced.push_back(there);
    version.reserved = bytes;
    there = std::move(other);
  }
  version.servable = std::move(there);
  version.status.state = State::available;
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
  // What is to change is made first, so that nothing has changed if there is no memory for it.
  struct Change {
    Version& version;
    Lease servable;
    i64 reserved;
  };
  std::vector<Change> changes;  // then what it was, which is freed without the lock
  const std::lock_guard lock(s.mutex);
  i64 sum = s.reserved();
  const i64 before = sum;
  for (auto& [name, model] : s.models)
    for (auto& [number, v] : model.versions) {
      if (!v.servable || !s.is_batched_as_all(model)) continue;
      const i64 bytes = s.options.memory_limit ? bytes_with_a_call(v.servable->loaded, batching) : 0;
      sum += bytes - v.reserved;
      changes.push_back({v, with_batching(*v.servable, batching, s.next_id++), bytes});
      std::erase_if(v.replaced, [](const auto& other) { return other.expired(); });
      v.replaced.reserve(v.replaced.size() + 1);
    }
  if (s.options.memory_limit && sum > s.options.memory_limit && sum > before)
    errors::raise<errors::ResourceExhaustedError>(
        "serving", "with batches of " + std::to_string(batching.max_batch_size) + " rows the models in memory take " +
                       std::to_string(sum) + " bytes, the limit is " + std::to_string(s.options.memory_limit));
  s.batching = batching;
  for (Change& c : changes) {
    c.version.replaced.push_back(c.version.servable);
    c.version.reserved = c.reserved;
    std::swap(c.version.servable, c.servable);
  }
}

}  // namespace TANDEM_NS::serving::impl
