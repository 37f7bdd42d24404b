// Definitions of train/run_keeper.hpp.
#pragma once
#include <string>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/io/git_commit.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/checkpoint_index.hpp"
#include "tandem/train/run_facts.hpp"
#include "tandem/train/run_keeper.hpp"
#include "tandem/util/host_name.hpp"

namespace TANDEM_NS::train::detail {

namespace impl {
inline std::vector<Variable> add_counters(const SavedState& counters) {
  const DeviceScope host(Device{});
  std::vector<Variable> r;
  for (const char* name : {"epoch", "step", "step_in_epoch", "stopped", "data_epoch", "data_index"})
    r.push_back(counters.add_variable(name, constant(i64{0}), false));
  return r;
}
// What may differ when the run goes on: with what, where and from which seed it was started.
inline Metadata notes(const Metadata& facts) {
  Metadata r{{"tandem", TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
                            TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH)},
             {"compiler", __VERSION__},
             {"machine", tandem::detail::host_name()},
             {"seed of the global generator",
              std::to_string(random::global_generator().state().read_value().cpu().to_vector<i64>()[0])}};
  if (std::string commit = io::git_commit(); !commit.empty()) r["git commit"] = std::move(commit);
  r.insert(facts.begin(), facts.end());
  return r;
}
// Values as a history of one epoch; none are no text.
inline void set_text(Metadata& texts, const char* name, const Values& values) {
  if (values.empty()) return;
  History h;
  h.add(values);
  texts[name] = h.to_text();
}
inline Values values_of(const Metadata& texts, const char* name) {
  const auto at = texts.find(name);
  return at == texts.end() ? Values() : History::parse(at->second).epochs().at(0);
}
}  // namespace impl

TANDEM_INLINE RunKeeper::RunKeeper(const FitOptions& options, const Metadata& facts, const Module* model)
    : directory_(options.directory, options.configuration, {.notes = impl::notes(facts)}),
      save_steps_(options.save_steps),
      falls_back_(options.fall_back),
      numbers_(impl::add_counters(counters_)) {
  check_facts(directory_, facts, model);
}
TANDEM_INLINE void RunKeeper::keep(const FitOptions& options, std::vector<CheckpointItem> items) {
  items.push_back({"run", counters_});
  items.push_back({"random", random::global_generator().state()});
  int number = 0;  // of those with a state: others come and go
  for (const AnyCallback& c : options.callbacks)
    if (const SavedState* const state = c->state(); state && !state->variables().empty())
      items.push_back({"callbacks/" + std::to_string(number++), *state});
  manager_.emplace(Checkpoint(std::move(items)).without_sharded(), directory_.checkpoints(),
                   CheckpointManagerOptions{.max_to_keep = options.max_to_keep, .async = true});
}
TANDEM_INLINE bool RunKeeper::restore(RunPlace& place, History& history) {
  const RestoredCheckpoint restored = manager_->restore_or_initialize({.fall_back = falls_back_});
  if (!restored) return false;
  const auto number = [&](std::size_t i) { return numbers_[i].item<i64>(); };
  const Metadata texts = read_metadata(restored.path);
  place = {number(0),
           number(1),
           number(2),
           number(3) != 0,
           {number(4), number(5)},
           texts.contains("seek_points") ? texts.at("seek_points") : std::string(),
           impl::values_of(texts, "validation"),
           impl::values_of(texts, "part"),
           restored.path.substr(restored.path.rfind('/') + 1),
           texts.contains("shards") ? ShardSet::parse(texts.at("shards")) : ShardSet()};
  history = History::parse(texts.at("history"));
  history.stop_reason = texts.at("stop_reason");
  return true;
}
TANDEM_INLINE bool RunKeeper::save(const RunPlace& place, const History& history, bool last) {
  const i64 numbers[] = {place.epoch,        place.step,       place.step_in_epoch,
                         i64{place.stopped}, place.data.epoch, place.data.index};
  for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i].assign(numbers[i]);
  Metadata texts{{"history", history.to_text()}, {"stop_reason", history.stop_reason}};
  if (!place.seek_points.empty()) texts["seek_points"] = place.seek_points;
  if (place.shards.files > 0) texts["shards"] = place.shards.text();
  impl::set_text(texts, "validation", place.validation);
  impl::set_text(texts, "part", place.part);
  const auto save = [&] {
    manager_->save(place.step, {.metadata = texts});
    if (last) manager_->wait();
  };
  const auto warn_of = [&](const errors::OpError& e) {
    if (!warned_)
      tandem::detail::warn(
          ("fit: a checkpoint could not be saved; training goes on. " + std::string(e.what())).c_str());
    warned_ = true;
  };
  try {
    save();
    return true;
  } catch (const errors::ResourceExhaustedError& e) {
    if (!last) warn_of(e);
  } catch (const errors::UnavailableError& e) {
    if (!last) warn_of(e);
  }
  if (last) save();  // the error may be that of an earlier write
  return last;
}
namespace impl {
inline i64 step_of(const std::string& path) {
  return train::impl::step_of_file(path.substr(path.rfind('/') + 1), "ckpt");
}
}  // namespace impl
TANDEM_INLINE i64 RunKeeper::newest() const {
  const std::string latest = manager_->latest_checkpoint();
  return latest.empty() ? -1 : impl::step_of(latest);
}
TANDEM_INLINE i64 RunKeeper::oldest() const {
  const std::vector<std::string> all = manager_->checkpoints();
  return all.empty() ? 0 : impl::step_of(all.front());
}
TANDEM_INLINE bool RunKeeper::is_due(i64 step) {
  return (save_steps_ > 0 && step % save_steps_ == 0) | interrupt_.save_requested();
}

}  // namespace TANDEM_NS::train::detail
