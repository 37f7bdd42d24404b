// Definitions of serving/load_version.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/serving/load_version.hpp"
#include "tandem/serving/warm_up.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE i64 bytes_with_a_call(const saved_model::Loaded& model, const Batching& batching) {
  try {
    return model.memory_for(batching.enabled ? batching.max_batch_size : 1);
  } catch (const errors::InvalidArgumentError&) {  // a size that comes with a request
    return model.bytes();
  }
}

TANDEM_INLINE Lease load_version(const VersionPlace& place, const Options& options, MemoryBudget& budget) {
  // Variables are mapped: until a call reads them they take no memory of the process.
  auto made = std::make_shared<Servable>(
      Servable{place.model,
               place.version,
               place.id,
               saved_model::load(place.directory, {.ops = options.ops, .memory_limit = place.room}),
               {}});
  if (options.memory_limit) budget.reserve(bytes_with_a_call(made->loaded, options.batching), made->loaded.bytes());
  if (options.enable_model_warmup) warm_up(made->loaded);
  if (options.batching.enabled) made->batched = batchable_signatures(place.model, made->loaded, options.batching);
  return made;
}
TANDEM_INLINE void tell_speed(LogSink& log, const Servable& servable) {
  for (const auto& [signature, facts] : servable.batched) {
    LogEntry e;
    e.event = "batch_speed", e.model = servable.model, e.version = servable.version, e.signature = signature;
    e.text = "rows a second in batches of ";
    for (const auto& [rows, seconds] : facts.seconds)
      e.text += (rows > 1 ? ", " : "") + std::to_string(rows) + ": " +
                std::to_string(std::llround(static_cast<double>(rows) / std::max(seconds, 1e-9)));
    if (!facts.seconds.empty()) log.write(e);
  }
}

}  // namespace TANDEM_NS::serving::impl
