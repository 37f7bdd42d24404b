// Definitions of train/steps.hpp: a step of the user's own.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/optim/gradient_checks.hpp"
#include "tandem/train/step_checks.hpp"
#include "tandem/train/steps.hpp"

namespace TANDEM_NS::train::detail {

TANDEM_INLINE OwnSteps::OwnSteps(std::vector<CheckpointItem> items, OfBatch<Outputs> step, FunctionOptions options)
    : items_(std::move(items)), step_(std::move(step)) {
  const auto train = function([this](const Batch& batch, bool checked) { return run(batch, checked); },
                              impl::named(std::move(options), "train"));
  train_ = train;
  trace_ = [train](const Batch& batch) { train.get_concrete_function(batch, false); };
  save_failure_ = [train](const Batch& batch, bool checked, const io::FailureOptions& o) {
    io::call_or_save(*train.get_concrete_function(batch, checked), batch, o);
  };
  add_ = function(
      [this](const std::vector<Tensor>& outputs) {
        for (std::size_t i = 0; i < outputs.size(); ++i) means_[i].update_state(outputs[i]);
      },
      {.name = "means"});
}
TANDEM_INLINE std::vector<Tensor> OwnSteps::run(const Batch& batch, bool checked) {
  if (step_.inputs >= 0 && batch.size() != static_cast<std::size_t>(step_.inputs))
    errors::raise<errors::InvalidArgumentError>(
        "Trainer", "a batch has " + impl::count_text(batch.size(), "tensor") + ", but the step takes " +
                       impl::count_text(static_cast<std::size_t>(step_.inputs), "tensor"));
  const training_scope training(true);
  const tandem::detail::GradientChecks gradients(checked);
  const Outputs outputs = step_.call(batch);
  note(outputs);
  std::vector<Tensor> r;
  for (const auto& [name, value] : outputs) {
    const bool check = checked && dtypes::floating.has(value.dtype());
    Replication* const all = tandem::detail::replication;
    if (check && all) debugging::check_numerics(TANDEM_VIRTUAL(*all, Replication::sum)(value), name);
    r.push_back(check && !all ? debugging::check_numerics(value, name) : value);
  }
  return r;
}
TANDEM_INLINE void OwnSteps::note(const Outputs& outputs) {
  std::vector<std::string> names;
  for (const auto& [name, value] : outputs) {
    if (value.rank() != 0)
      errors::raise<errors::InvalidArgumentError>(
          "Trainer", "the step's output '" + name + "' must be a scalar, not " + to_string(value.spec()));
    for (const std::string& other : names)
      if (name == other)
        errors::raise<errors::InvalidArgumentError>("Trainer", "the step has two outputs named '" + name + "'");
    names.push_back(name);
  }
  if (names.empty()) errors::raise<errors::InvalidArgumentError>("Trainer", "the step returns no output");
  if (!names_.empty() && names != names_)
    errors::raise<errors::InvalidArgumentError>("Trainer",
                                                "the step returns other outputs than for the batches before");
  if (!names_.empty()) return;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == "loss") loss_ = i;
  names_ = std::move(names);
}
TANDEM_INLINE void OwnSteps::build(const Batch& batch) {
  trace_(batch);
  while (means_.size() < names_.size()) means_.emplace_back();
}
TANDEM_INLINE Tensor OwnSteps::train(const Batch& batch, Kind kind, Ask*) {
  const std::vector<Tensor> outputs = train_(batch, kind.checked);
  add_(outputs);
  return outputs[loss_];
}
TANDEM_INLINE void OwnSteps::reset() {
  for (const metrics::Mean& m : means_) m.reset_state();
}
TANDEM_INLINE void OwnSteps::read(Values& values) const {
  for (std::size_t i = 0; i < means_.size(); ++i) values.set(names_[i], number_of(means_[i].result()));
}
TANDEM_INLINE std::vector<CheckpointItem> OwnSteps::measures() const {
  std::vector<CheckpointItem> r;
  for (std::size_t i = 0; i < means_.size(); ++i) r.push_back({"means/" + names_[i], means_[i]});
  return r;
}
TANDEM_INLINE std::vector<CheckpointItem> OwnSteps::items() const {
  std::vector<CheckpointItem> r = items_;
  for (CheckpointItem& m : measures()) r.push_back(std::move(m));
  return r;
}

}  // namespace TANDEM_NS::train::detail
