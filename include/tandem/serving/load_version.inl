// Definitions of serving/load_version.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tandem/base/warning.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/saved_model/manifest.hpp"
#include "tandem/serving/config_file.hpp"
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

TANDEM_INLINE void check_batching(const Batching& b, const std::string& whose) {
  const std::vector<i64>& sizes = b.allowed_batch_sizes;
  if (b.max_batch_size < 1 || (!sizes.empty() && (sizes[0] < 1 || !std::is_sorted(sizes.begin(), sizes.end()) ||
                                                  sizes.back() != b.max_batch_size)))
    errors::raise<errors::InvalidArgumentError>(
        "serving",
        whose + "max_batch_size must be positive, and allowed_batch_sizes ascending numbers that end with it");
  if (b.max_enqueued_batches < 0 || b.num_batch_threads < 0)
    errors::raise<errors::InvalidArgumentError>(
        "serving", whose + "max_enqueued_batches is " + std::to_string(b.max_enqueued_batches) +
                       " and num_batch_threads " + std::to_string(b.num_batch_threads) +
                       ", but must not be negative; 0 is no limit");
}
TANDEM_INLINE void check_batching_of(const ModelConfig& model) {
  if (!model.batching) return;
  const std::string whose = "the model '" + model.name + "': ";
  check_batching(*model.batching, whose);
  if (model.batching->num_batch_threads != 0)
    errors::raise<errors::InvalidArgumentError>(
        "serving", whose + "num_batch_threads is of all models together: set it in Options::batching");
  if (!model.batching->enabled && *model.batching != Batching())
    errors::raise<errors::InvalidArgumentError>(
        "serving", whose +
                       ".enabled is false, which turns batching off, but other options of batching are set: "
                       "set .enabled = true, or use Batching()");
}

// How a version is batched: by its file if there may be one, else as its model, else as all.
TANDEM_INLINE Batching batching_of(const VersionPlace& place, const Options& options) {
  const bool by_files = options.enable_per_model_batching_parameters && options.batching.enabled;
  const std::string path = place.directory + "/" + saved_model::impl::batching_file;
  std::error_code error;
  const bool has_file = by_files && std::filesystem::exists(path, error);
  if (error) errors::raise<errors::UnavailableError>("serving", "cannot look for " + path + ": " + error.message());
  if (!has_file) return place.batching ? *place.batching : by_files ? Batching() : place.of_all;
  io::detail::RegularFile file("serving", path);
  constexpr std::size_t most = 64 << 10;
  if (file.size() > most)
    errors::raise<errors::InvalidArgumentError>(
        "serving", path + " has " + std::to_string(file.size()) + " bytes, at most " + std::to_string(most));
  std::string text(file.size(), '\0');
  file.read(text.data(), text.size());
  Batching b = parse_batching(text, path, {.enabled = true});
  check_batching(b, path + ": ");
  if (b.num_batch_threads != 0)
    detail::warn(("serving: " + path + ": num_batch_threads is of all models together and is passed over").c_str());
  b.num_batch_threads = 0;
  return b;
}

TANDEM_INLINE Lease load_version(const VersionPlace& place, const Options& options, MemoryBudget& budget) {
  const Batching batching = batching_of(place, options);
  // Variables are mapped: until a call reads them they take no memory of the process.
  auto made = std::make_shared<Servable>(
      Servable{place.model,
               place.version,
               place.id,
               saved_model::load(place.directory, {.ops = options.ops, .memory_limit = place.room}),
               {},
               batching});
  if (options.memory_limit) budget.reserve(bytes_with_a_call(made->loaded, batching), made->loaded.bytes());
  if (options.enable_model_warmup) warm_up(made->loaded);
  if (batching.enabled) made->batched = batchable_signatures(place.model, made->loaded, batching);
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
