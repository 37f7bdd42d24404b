// Definitions of train/steps.hpp: the steps of a model. Not here: a step of the user's own (own_steps.inl).
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/optim/gradient_checks.hpp"
#include "tandem/train/shards.hpp"
#include "tandem/train/step_checks.hpp"
#include "tandem/train/steps.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train::detail {

namespace impl {
TANDEM_INLINE std::optional<ExponentialMovingAverage> averages_of(double ema) {
  if (!(ema >= 0 && ema < 1)) raise_options("ema is a decay in [0, 1), not " + tandem::detail::shortest_text(ema));
  return ema > 0 ? std::optional(ExponentialMovingAverage(ema)) : std::nullopt;
}
inline TrainerOptions checked(TrainerOptions o) {
  if (o.accumulate_steps < 1)
    raise_options("accumulate_steps must be at least 1, not " + std::to_string(o.accumulate_steps));
  std::vector<std::string> names{"loss", "learning_rate", "global_step"};
  for (const auto* list : {&o.metrics, &o.weighted_metrics})
    for (const metrics::PredictionMetric& m : *list) {
      for (const std::string& name : names)
        if (m.name() == name)
          raise_options("two values have the name '" + name + "'; give the metric another one (.name)");
      names.push_back(m.name());
    }
  if (o.loss && o.loss->reduction() == losses::Reduction::none)
    raise_options("the loss " + o.loss->name() + " has Reduction::none; training needs one number");
  return o;
}
// Whether gradients of some of the weights are not the same in all processes.
inline bool differ_between_processes(const std::vector<Variable>& weights) {
  return tandem::detail::replication &&
         std::any_of(weights.begin(), weights.end(), [](const Variable& w) { return !w.aggregate(); });
}
// A shard may have no rows of a last batch.
inline bool has_no_rows(const Tensor& labels) { return labels.rank() > 0 && labels.shape().dim(0) == 0; }
inline const losses::Loss& loss_for(const std::optional<losses::Loss>& loss) {
  if (!loss) errors::raise<errors::FailedPreconditionError>("Trainer", "training and evaluating need the option .loss");
  return *loss;
}
inline const Optimizer& optimizer_for(const std::optional<Optimizer>& optimizer) {
  if (!optimizer)
    errors::raise<errors::FailedPreconditionError>("fit", "training needs the Trainer's option .optimizer");
  return *optimizer;
}
}  // namespace impl

TANDEM_INLINE ModelSteps::ModelSteps(const Module& m, OfBatch<Tensor> call, TrainerOptions o)
    : model(m), options(impl::checked(std::move(o))), ema(impl::averages_of(options.ema)), call_(std::move(call)) {
  const auto train = function([this](const Batch& batch, Kind kind) { return train_once(batch, kind); },
                              impl::named(options.function, "train"));
  train_ = train;
  save_failure_ = [train](const Batch& batch, Kind kind, const io::FailureOptions& failure) {
    io::call_or_save(*train.get_concrete_function(batch, kind), batch, failure);
  };
  train_asking_ = function(
      [this](const Batch& batch, Kind kind, const Tensor& asks) {
        Tensor of_all = asks;
        const Tensor loss = train_once(batch, kind, &of_all);
        return std::array<Tensor, 2>{loss, of_all};
      },
      impl::named(options.function, "train"));
  const auto test = function(
      [this](const Batch& batch) {
        const training_scope inference(false);
        const Parts parts = parts_of(batch);
        const Tensor predictions = call_.call(parts.inputs);
        Replication* const r = tandem::detail::replication;
        const bool is_part = r && options.loss && options.loss->reduction() == losses::Reduction::sum;
        Tensor loss = loss_of(parts, predictions, is_part ? 1. / TANDEM_VIRTUAL(*r, Replication::size)() : 1);
        if (is_part) loss = TANDEM_VIRTUAL(*r, Replication::sum)(loss);
        measure(parts, predictions, loss);
      },
      impl::named(options.function, "test"));
  test_ = test;
  trace_ = [test](const Batch& batch) { test.get_concrete_function(batch); };
  predict_ = function(
      [this](const Batch& inputs) {
        const training_scope inference(false);
        return call_.call(inputs);
      },
      impl::named(options.function, "predict"));
}

TANDEM_INLINE Batch ModelSteps::inputs_of(const Batch& batch) const {
  const std::size_t n = batch.size();
  const std::size_t inputs = call_.inputs >= 0 ? static_cast<std::size_t>(call_.inputs) : n;
  if (n < inputs || n > inputs + 2)
    errors::raise<errors::InvalidArgumentError>(
        "predict", "a batch has " + impl::count_text(n, "tensor") + ", but the model takes " +
                       impl::count_text(inputs, "input") + " (labels and weights may follow)");
  return Batch(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(inputs));
}
TANDEM_INLINE ModelSteps::Parts ModelSteps::parts_of(const Batch& batch) const {
  const std::size_t n = batch.size();
  if (call_.inputs < 0 && n < 2)
    errors::raise<errors::InvalidArgumentError>(
        "Trainer", "a batch has " + impl::count_text(n, "tensor") + "; it needs inputs and, behind them, labels");
  const std::size_t inputs = call_.inputs >= 0 ? static_cast<std::size_t>(call_.inputs) : n - 1;
  if (n != inputs + 1 && n != inputs + 2)
    errors::raise<errors::InvalidArgumentError>(
        "Trainer", "a batch has " + impl::count_text(n, "tensor") + ", but the model takes " +
                       impl::count_text(inputs, "input") +
                       ", behind which the labels come, and sample weights if there are some");
  Parts r{Batch(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(inputs)), batch[inputs], {}};
  if (n == inputs + 2) r.weights = batch[inputs + 1];
  return r;
}
TANDEM_INLINE Batch ModelSteps::weighted(const Batch& batch, const ClassWeights& class_weights) const {
  if (call_.inputs < 0)
    errors::raise<errors::InvalidArgumentError>(
        "fit",
        "class_weight needs a model that takes one to four tensors: in a list of them, sample weights could not "
        "be told from inputs");
  const Parts parts = parts_of(batch);
  Tensor weights = class_weights.of(parts.labels);
  if (parts.weights.is_set()) weights = weights * cast(reshape(parts.weights, weights.shape()), DType::float32);
  Batch r = parts.inputs;
  r.push_back(parts.labels), r.push_back(weights);
  return r;
}

// share: the part of the penalties that counts here.
TANDEM_INLINE Tensor ModelSteps::loss_of(const Parts& parts, const Tensor& predictions, double share) const {
  Tensor loss = impl::loss_for(options.loss)(parts.labels, predictions, parts.weights);
  for (const Tensor& penalty : model.losses()) loss = loss + cast(share == 1 ? penalty : penalty * share, loss.dtype());
  return loss;
}
TANDEM_INLINE Tensor ModelSteps::train(const Batch& batch, Kind kind, Ask* ask) {
  if (!ask) return train_(batch, kind);
  const auto own = [&] {
    const DeviceScope host(Device{});
    const auto number = [](bool asked) { return asked ? 1.f : 0.f; };
    return constant({number(ask->interrupted), number(ask->save), number(ask->newcomers)});
  }();
  const std::array<Tensor, 2> r = train_asking_(batch, kind, own);
  const std::vector<float> of_all = r[1].to_vector<float>();
  *ask = {of_all[0] > 0, of_all[1] > 0, of_all[2] > 0};
  return r[0];
}
// asks: of this process, replaced by the sums of all.
TANDEM_INLINE Tensor ModelSteps::train_once(const Batch& batch, Kind kind, Tensor* asks) const {
  const training_scope training(true);
  Shards shards;
  std::vector<Parts> parts;
  std::vector<Tensor> predictions;
  std::vector<std::vector<Gradient>> of_shards;
  std::vector<Variable> weights;
  for (i64 i = 0; i < shards.count(); ++i) {
    const DeviceScope there(shards.device(i));
    parts.push_back(parts_of(shards.begin(batch, i)));
    of_shards.push_back(gradients_of(parts.back(), shards.in_all(), predictions.emplace_back(), weights));
  }
  shards.end();
  std::vector<Gradient> gradients = Shards::sum(std::move(of_shards));
  Tensor loss = mean_of_all(gradients, shards.in_all(), weights, asks);
  if (kind.checked) loss = debugging::check_numerics(loss, "the loss");  // before the weights change
  if (kind.checked && !options.loss_scale) check(gradients, weights);
  if (options.loss_scale) options.loss_scale->unscale(gradients);
  accumulate(gradients, weights, kind.update);
  if (kind.update && options.loss_scale) {
    const Tensor finite = are_finite(gradients, weights);
    cond(
        finite, [&] { apply(gradients, weights); }, [] {});
    options.loss_scale->update(finite);
  } else if (kind.update) {
    apply(gradients, weights);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) measure(parts[i], predictions[i], loss);
  return loss;
}
// The gradients of the loss of a shard, and behind them the loss. If there are others, whose gradients are added to
// these, all are multiplied by the number of rows, which comes last; those of a loss that is a sum are as they are.
TANDEM_INLINE std::vector<Gradient> ModelSteps::gradients_of(const Parts& parts, i64 shards, Tensor& predictions,
                                                             std::vector<Variable>& weights) const {
  const bool is_sum = options.loss && options.loss->reduction() == losses::Reduction::sum;
  Tensor rows;
  if (shards > 1 && !is_sum)
    rows = parts.labels.rank() == 0 ? constant(1.f) : cast(shape(parts.labels)[0], DType::float32);
  GradientTape tape;
  predictions = call_.call(parts.inputs);
  Tensor loss = loss_of(parts, predictions, is_sum ? 1. / static_cast<double>(shards) : 1);
  weights = model.trainable_variables();
  if (rows.is_set()) loss = loss * cast(rows, loss.dtype());
  const Tensor scaled = options.loss_scale ? options.loss_scale->scaled(loss) : loss;
  std::vector<Gradient> r = tape.gradient(scaled, weights);
  r.push_back(loss);
  if (rows.is_set()) r.push_back(rows);
  if (shards > 1 && impl::has_no_rows(parts.labels)) {  // means of nothing; a shard's gradient is that of other rows
    for (std::size_t i = 0; i < r.size(); ++i)
      if (r[i].is_set() && (i >= weights.size() || weights[i].aggregate()))
        r[i] = r[i].with_values(zeros_like(r[i].values()));
    if (is_sum) add_penalties(r, weights, 1. / static_cast<double>(shards));
  }
  return r;
}
// Adds a share of the penalties of weights, which do not depend on rows, to gradients and a loss of zeros.
TANDEM_INLINE void ModelSteps::add_penalties(std::vector<Gradient>& gradients, const std::vector<Variable>& weights,
                                             double share) const {
  const DType dtype = gradients[weights.size()].values().dtype();
  std::vector<Tensor> penalties;
  GradientTape tape;
  for (const Variable& w : weights)
    for (const Module::Named& v : model.named_variables()) {
      if (!v.regularizer || v.is_frozen || v.variable.id() != w.id()) continue;
      penalties.push_back(cast(v.regularizer(w) * share, dtype));
      break;  // it is listed under each name of its module
    }
  if (penalties.empty()) return;
  const Tensor loss = add_n(penalties);
  const Tensor scaled = options.loss_scale ? loss * cast(options.loss_scale->value(), dtype) : loss;
  const std::vector<Gradient> of_penalties = tape.gradient(scaled, weights);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (of_penalties[i].is_set() && weights[i].aggregate()) gradients[i] = of_penalties[i];
  gradients[weights.size()] = loss;
}
// Makes the gradients those of the mean over all rows; returns that loss, which was behind them. The asks travel with
// them, in the loss's dtype, so that they need no sum of their own.
TANDEM_INLINE Tensor ModelSteps::mean_of_all(std::vector<Gradient>& gradients, i64 shards,
                                             const std::vector<Variable>& weights, Tensor* asks) const {
  Replication* const r = tandem::detail::replication;
  Tensor factor;
  if (shards > 1 && gradients.size() > weights.size() + 1) factor = gradients.back().dense();
  if (options.loss_scale) factor = factor.is_set() ? options.loss_scale->scaled(factor) : options.loss_scale->value();
  if (asks) gradients.push_back(cast(*asks, gradients[weights.size()].values().dtype()));
  if (r && TANDEM_VIRTUAL(*r, Replication::size)() > 1)
    gradients = TANDEM_VIRTUAL(*r, Replication::sum_gradients)(gradients, weights, factor);
  if (asks) *asks = cast(gradients.back().dense(), DType::float32), gradients.pop_back();
  if (shards > 1 && gradients.size() > weights.size() + 1) {
    const Tensor rows = gradients.back().dense();
    gradients.pop_back();
    for (Gradient& g : gradients)
      if (g.is_set()) g = g.with_values(g.values() / cast(rows, g.values().dtype()));
  }
  const Tensor loss = gradients.back().dense();
  gradients.pop_back();
  return loss;
}
// Whether all gradients are finite, in this process; if some of the processes have others, in all of them.
TANDEM_INLINE Tensor ModelSteps::are_finite(const std::vector<Gradient>& gradients,
                                            const std::vector<Variable>& weights) const {
  const Tensor here = detail::are_finite(gradients);
  return impl::differ_between_processes(weights) ? detail::true_in_all(here) : here;
}
// Raises if a gradient is not finite, in all processes if one has it. With a loss scale such steps are left out
// instead.
TANDEM_INLINE void ModelSteps::check(std::vector<Gradient>& gradients, const std::vector<Variable>& weights) const {
  Tensor of_all;
  if (impl::differ_between_processes(weights)) of_all = where(are_finite(gradients, weights), 0.f, std::nanf(""));
  gradients = tandem::detail::checked_gradients(gradients, weights);
  if (of_all.is_set()) debugging::check_numerics(of_all, "a gradient of another process");
}
// Adds the gradients to the sums of .accumulate_steps batches; those of the last one become the means of all. If one
// batch has a gradient that is not finite, so has the mean. The sum of a weight that was frozen meanwhile is dropped.
TANDEM_INLINE void ModelSteps::accumulate(std::vector<Gradient>& gradients, const std::vector<Variable>& weights,
                                          bool update) const {
  const i64 n = options.accumulate_steps;
  const auto is_trained = [&](const Variable& weight) {
    return std::any_of(weights.begin(), weights.end(), [&](const Variable& w) { return w.id() == weight.id(); });
  };
  if (update)
    for (const auto& entry : sum_of_)
      if (!is_trained(entry.first)) entry.second.assign(zeros_like(entry.second.read_value()));
  for (std::size_t i = 0; n > 1 && i < weights.size(); ++i)
    for (const auto& [weight, sum] : sum_of_) {
      if (weight.id() != weights[i].id() || !gradients[i].is_set()) continue;
      const Tensor total = sum.read_value() + tandem::detail::widened(gradients[i].tensor()) / static_cast<double>(n);
      sum.assign(update ? zeros_like(total) : total);
      gradients[i] = cast(total, weight.dtype());
    }
}
TANDEM_INLINE void ModelSteps::apply(const std::vector<Gradient>& gradients,
                                     const std::vector<Variable>& weights) const {
  const ReplicationScope alone(nullptr);  // they are those of all replicas
  impl::optimizer_for(options.optimizer).apply_gradients(gradients, weights);
  if (ema) ema->apply(weights);
}
TANDEM_INLINE void ModelSteps::measure(const Parts& parts, const Tensor& predictions, const Tensor& loss) const {
  const Shape& shape = parts.labels.shape();
  if (tandem::detail::replication && impl::has_no_rows(parts.labels)) return;
  // The mean of the losses of batches counts each as often as it has examples.
  const bool is_known = shape.rank() == 0 || shape.dim(0) != none;
  loss_.update_state(loss, is_known ? constant(shape.rank() > 0 ? static_cast<double>(shape[0]) : 1.)
                                    : cast(tandem::shape(parts.labels)[0], DType::float32));
  each_metric([&](const metrics::PredictionMetric& m, bool weighted) {
    m.update_state(parts.labels, predictions, weighted ? parts.weights : Tensor());
  });
}

TANDEM_INLINE void ModelSteps::build(const Batch& batch) {
  const Optimizer& optimizer = impl::optimizer_for(options.optimizer);
  trace_(batch);  // also the state of metrics that depends on the number of classes
  if (parts_of(batch).labels.rank() == 0)
    tandem::detail::warn(
        "fit: the label of the first batch is a scalar, so that each element of the data set is a batch of its own; "
        "data.batch(32) makes batches of 32 elements");
  const std::vector<Variable> weights = model.trainable_variables();
  if (options.loss_scale)
    for (const Module::Named& w : model.named_variables())
      if (w.variable.trainable() && w.variable.dtype() == DType::float16)
        errors::raise<errors::InvalidArgumentError>(
            "Trainer", "loss_scale needs weights in float32: '" + w.path +
                           "' is float16, in which its gradients, divided by the scale, become 0. Keep the weights in "
                           "float32 and cast them in the model's call, or take bfloat16, which needs no scale");
  optimizer.build(weights);
  if (ema) ema->build(weights);
  if (options.accumulate_steps == 1) return;
  for (const Variable& w : model.variables()) {
    bool has_one = !w.trainable();  // frozen ones have a sum: they may be unfrozen
    for (const auto& [weight, sum] : sum_of_) has_one |= weight.id() == w.id();
    if (has_one) continue;
    const std::string name = "sum_" + std::to_string(sum_of_.size());
    const Variable sum(
        zeros_like(tandem::detail::widened(w.read_value())),
        {.name = name.c_str(), .trainable = false, .aggregate = w.aggregate(), .whole_rows = w.whole_rows()});
    sums_.add_variables({{.path = name, .variable = sum}});
    sum_of_.emplace_back(w, sum);
  }
}
TANDEM_INLINE void ModelSteps::build_averages(const Batch& batch) {
  trace_(batch);
  if (ema) ema->build(model.trainable_variables());
}
TANDEM_INLINE void ModelSteps::reset(Phase) {
  loss_.reset_state();
  each_metric([](const metrics::PredictionMetric& m, bool) { m.reset_state(); });
}
TANDEM_INLINE void ModelSteps::read(Phase, Values& values) const {
  values.set("loss", number_of(loss_.result()));
  each_metric([&](const metrics::PredictionMetric& m, bool) {
    const Tensor result = m.result();
    if (result.rank() == 0) values.set(m.name(), number_of(result));
  });
}
TANDEM_INLINE std::optional<std::vector<std::string>> ModelSteps::names(Phase) const {
  std::vector<std::string> r{"loss"};
  each_metric([&](const metrics::PredictionMetric& m, bool) {
    bool is_scalar = false;  // by a trace: no epoch has begun, and a result without examples may not be a number
    function([&] {
      const Tensor result = m.result();
      is_scalar = result.rank() == 0;
      return result;
    }).get_concrete_function();
    if (is_scalar) r.push_back(m.name());
  });
  return r;
}
TANDEM_INLINE std::vector<CheckpointItem> ModelSteps::measures(Phase) const {
  std::vector<CheckpointItem> r{{"loss", loss_}};
  each_metric([&](const metrics::PredictionMetric& m, bool) {
    r.push_back({"metrics/" + std::to_string(r.size()), m});
  });
  return r;
}
TANDEM_INLINE std::vector<CheckpointItem> ModelSteps::items() const {
  std::vector<CheckpointItem> r = measures(Phase::training);
  r.push_back({"model", model}), r.push_back({"optimizer", impl::optimizer_for(options.optimizer)});
  if (ema) r.push_back({"ema", *ema});
  if (options.loss_scale) r.push_back({"loss_scale", *options.loss_scale});
  if (!sum_of_.empty()) r.push_back({"gradients", sums_});
  return r;
}

}  // namespace TANDEM_NS::train::detail
