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

TANDEM_INLINE OwnSteps::OwnSteps(std::vector<CheckpointItem> items, OfBatch<Outputs> step, StepOptions options)
    : items_(std::move(items)),
      step_(std::move(step)),
      evaluate_(std::move(options.evaluate)),
      ema_(impl::averages_of(options.ema)) {
  for (const CheckpointItem& item : items_)
    if (item.name() == "means" || (ema_ && item.name() == "ema"))
      errors::raise<errors::InvalidArgumentError>(
          "Trainer", "the item '" + item.name() + "' has the name under which the Trainer saves its own: rename it");
  const auto train = function([this](const Batch& batch, bool checked) { return run(batch, checked); },
                              impl::named(options.function, "train"));
  train_ = train;
  trace_ = [train](const Batch& batch) { train.get_concrete_function(batch, false); };
  save_failure_ = [train](const Batch& batch, bool checked, const io::FailureOptions& o) {
    io::call_or_save(*train.get_concrete_function(batch, checked), batch, o);
  };
  const auto test = function(
      [this](const Batch& batch) {
        const training_scope inference(false);
        std::vector<Tensor> r;
        for (const auto& [name, value] : tested_.call(evaluate_.function(), batch)) r.push_back(value);
        return r;
      },
      impl::named(std::move(options.function), "test"));
  test_ = test;
  trace_test_ = [test](const Batch& batch) { test.get_concrete_function(batch); };
}
TANDEM_INLINE std::vector<Tensor> OwnSteps::run(const Batch& batch, bool checked) {
  const training_scope training(true);
  const tandem::detail::GradientChecks gradients(checked);
  std::vector<Tensor> r;
  for (const auto& [name, value] : trained_.call(step_, batch)) {
    const bool check = checked && dtypes::floating.has(value.dtype());
    Replication* const all = tandem::detail::replication;
    if (check && all) debugging::check_numerics(TANDEM_VIRTUAL(*all, Replication::sum)(value), name);
    r.push_back(check && !all ? debugging::check_numerics(value, name) : value);
  }
  if (ema_) ema_->apply(weights());
  return r;
}

TANDEM_INLINE OwnSteps::Measured::Measured(const char* function) : what(function) {
  update = tandem::function(
      [this](const std::vector<Tensor>& outputs) {
        for (std::size_t i = 0; i < outputs.size(); ++i) means[i].update_state(outputs[i]);
      },
      {.name = "means"});
}
// The function's outputs, which must be those of the batches before.
TANDEM_INLINE Outputs OwnSteps::Measured::call(const OfBatch<Outputs>& f, const Batch& batch) {
  const auto fail = [](const std::string& text) { errors::raise<errors::InvalidArgumentError>("Trainer", text); };
  const std::string function = what;
  if (f.inputs >= 0 && batch.size() != static_cast<std::size_t>(f.inputs))
    fail("a batch has " + impl::count_text(batch.size(), "tensor") + ", but " + function + " takes " +
         impl::count_text(static_cast<std::size_t>(f.inputs), "tensor"));
  Outputs outputs = f.call(batch);
  std::vector<std::string> seen;
  for (const auto& [name, value] : outputs) {
    if (value.rank() != 0)
      fail("the output '" + name + "' of " + function + " must be a scalar, not " + to_string(value.spec()));
    for (const std::string& other : seen)
      if (name == other) fail(function + " has two outputs named '" + name + "'");
    seen.push_back(name);
  }
  if (seen.empty()) fail(function + " returns no output");
  if (!names.empty() && seen != names) fail(function + " returns other outputs than for the batches before");
  if (!names.empty()) return outputs;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] == "loss") loss = i;
  names = std::move(seen);
  return outputs;
}
TANDEM_INLINE void OwnSteps::Measured::make_means() {
  while (means.size() < names.size()) means.emplace_back();
}
TANDEM_INLINE void OwnSteps::Measured::add(const std::vector<Tensor>& outputs) {
  make_means();
  update(outputs);
}

TANDEM_INLINE void OwnSteps::build(const Batch& batch) {
  trace_(batch);
  trained_.make_means();
}
TANDEM_INLINE Tensor OwnSteps::train(const Batch& batch, Kind kind, Ask*) {
  const std::vector<Tensor> outputs = train_(batch, kind.checked);
  trained_.add(outputs);
  return outputs[trained_.loss];
}
TANDEM_INLINE void OwnSteps::test(const Batch& batch) {
  check_test();
  tested_.add(test_(batch));
}
TANDEM_INLINE void OwnSteps::check_test() const {
  if (!evaluate_)
    errors::raise<errors::FailedPreconditionError>(
        "evaluate",
        "this Trainer has a step of its own, and does not know what to measure: give it .evaluate, a function of a "
        "batch that returns values by name (StepOptions)");
}
TANDEM_INLINE void OwnSteps::build_averages(const Batch& batch) {
  trace_test_(batch);
  if (ema_) ema_->build(weights());
}
TANDEM_INLINE std::vector<Variable> OwnSteps::weights() const {
  std::vector<Variable> r;
  for (const CheckpointItem& item : items_)
    for (const Module::Named& n : item.variables()) {
      bool is_new = n.variable.trainable();  // an item may be part of another
      for (const Variable& other : r) is_new = is_new && other.id() != n.variable.id();
      if (is_new) r.push_back(n.variable);
    }
  return r;
}
TANDEM_INLINE void OwnSteps::reset(Phase phase) {
  for (const metrics::Mean& m : of(phase).means) m.reset_state();
}
TANDEM_INLINE void OwnSteps::read(Phase phase, Values& values) const {
  const Measured& m = of(phase);
  for (std::size_t i = 0; i < m.means.size(); ++i) values.set(m.names[i], number_of(m.means[i].result()));
}
TANDEM_INLINE std::optional<std::vector<std::string>> OwnSteps::names(Phase phase) const {
  const Measured& m = of(phase);
  return m.names.empty() ? std::nullopt : std::optional(m.names);
}
TANDEM_INLINE std::vector<CheckpointItem> OwnSteps::measures(Phase phase) const {
  const Measured& m = of(phase);
  std::vector<CheckpointItem> r;
  for (std::size_t i = 0; i < m.means.size(); ++i) r.push_back({"means/" + m.names[i], m.means[i]});
  return r;
}
TANDEM_INLINE std::vector<CheckpointItem> OwnSteps::items() const {
  std::vector<CheckpointItem> r = items_;
  for (CheckpointItem& m : measures(Phase::training)) r.push_back(std::move(m));
  if (ema_) r.push_back({"ema", *ema_});
  return r;
}

}  // namespace TANDEM_NS::train::detail
