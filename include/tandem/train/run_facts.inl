// Definitions of train/run_facts.hpp.
#pragma once
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/checkpoint_manager.hpp"
#include "tandem/train/run_facts.hpp"
#include "tandem/util/fnv1a.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train::detail {

namespace impl {

// "4 Variables, 82 numbers, hash 0123456789abcdef": of all names, dtypes and shapes. A table that is divided among
// processes counts as a whole, as any number of them may go on.
inline std::string text_of_weights(const Module& model) {
  i64 variables = 0, numbers = 0;
  u64 hash = tandem::detail::fnv1a_start;
  for (const Module::Named& v : model.named_variables()) {
    Shape shape = v.variable.shape();
    if (v.variable.whole_rows() > 0) shape.set(0, v.variable.whole_rows());
    ++variables, numbers += shape.size();
    hash = tandem::detail::fnv1a(v.path + " " + to_string(Spec(shape, v.variable.dtype())) + "\n", hash);
  }
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return std::to_string(variables) + " Variables, " + std::to_string(numbers) + " numbers, hash " + hex;
}
// A line for each of the model's values that differs from those of a checkpoint, the first ten.
inline std::string weights_that_differ(const Module& model, const std::string& checkpoint) try {
  std::map<std::string, std::pair<std::string, std::string>> specs;  // by name, in the file and of the model
  for (const io::NamedTensor& t : io::load_safetensors(checkpoint, {.map = true}).tensors)
    if (t.name.starts_with("model/")) specs[t.name].first = to_string(t.tensor.spec());
  for (const io::NamedTensor& t : Checkpoint({{"model", model}}).without_sharded().values())
    specs[t.name].second = to_string(t.tensor.spec());
  constexpr int most = 10;
  int count = 0;
  std::string r;
  for (const auto& [name, of] : specs) {
    if (of.first == of.second || ++count > most) continue;
    r += "\n    " + name;
    r += of.second.empty()  ? " is not in the model"
         : of.first.empty() ? " is new"
                            : " was " + of.first + ", is " + of.second;
  }
  return count > most ? r + "\n    and " + std::to_string(count - most) + " more" : r;
} catch (const errors::OpError& e) {
  return "\n    (" + checkpoint + " does not tell which: " + e.what() + ")";
}
inline std::string advice_for(const std::string& key, const std::string& was) {
  if (key == "fit.optimizer")
    return "\n    (the learning rate is that of the checkpoint; to change it, leave the optimizer as it was and set the"
           " rate by a callback, such as LearningRateScheduler)";
  if (key == "fit.steps_per_epoch") return "\n    (.steps_per_epoch = " + was + " keeps the length of epochs)";
  return {};
}

}  // namespace impl

TANDEM_INLINE Metadata run_facts(const Run& run, const TrainerOptions* options) {
  Metadata r;
  if (run.steps_per_epoch() >= 0) r["fit.steps_per_epoch"] = std::to_string(run.steps_per_epoch());
  if (run.optimizer()) r["fit.optimizer"] = run.optimizer()->settings();
  if (run.model()) r["fit.weights"] = impl::text_of_weights(*run.model());
  if (options) {
    r["fit.accumulate_steps"] = std::to_string(options->accumulate_steps);
    r["fit.ema"] = tandem::detail::shortest_text(options->ema);
  }
  return r;
}

TANDEM_INLINE void check_facts(const RunDirectory& directory, const Metadata& facts, const Module* model) {
  std::string wrong;
  const Metadata& notes = directory.notes();
  for (const auto& [key, is] : facts) {
    const auto at = notes.find(key);
    if (at == notes.end() || at->second == is) continue;
    wrong += "\n  " + key + " was " + tandem::detail::escaped_text(at->second) + ", is " +
             tandem::detail::escaped_text(is) + impl::advice_for(key, at->second);
    if (const std::string latest = latest_checkpoint(directory.checkpoints());
        key == "fit.weights" && model && !latest.empty())
      wrong += impl::weights_that_differ(*model, latest);
  }
  if (wrong.empty()) return;
  errors::raise<errors::FailedPreconditionError>(
      "fit", directory.path() +
                 " has a run that began with other data or another Trainer; name another folder, or go on "
                 "as it began (without a name in the \"notes\" of " +
                 directory.file("run.json") + ", it is not compared):" + wrong);
}

}  // namespace TANDEM_NS::train::detail
