// Definitions of train/callbacks.hpp.
#pragma once
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/train/callbacks.hpp"
#include "tandem/train/replicas.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train {

namespace impl {
inline bool is_maximized(const std::string& name) {
  for (const char* part : maximized_names)
    if (name.find(part) != name.npos) return true;
  return false;
}
inline void check_at_least(const char* callback, const char* option, double value, double least) {
  if (!(value >= least))
    errors::raise<errors::InvalidArgumentError>(callback, std::string(option) + " must be at least " +
                                                              tandem::detail::shortest_text(least) + ", not " +
                                                              tandem::detail::shortest_text(value));
}
/// A number that a callback keeps.
template <class T>
Variable add_number(const SavedState& state, const char* name, T initial) {
  const DeviceScope host(Device{});
  return state.add_variable(name, constant(initial, dtype_of<T>()), false);
}
}  // namespace impl

namespace detail {
TANDEM_INLINE Monitor::Monitor(const char* callback, std::string name, Mode mode, double min_delta)
    : callback_(callback),
      name_(std::move(name)),
      maximizes_(mode == Mode::max || (mode == Mode::automatic && train::impl::is_maximized(name_))),
      min_delta_(min_delta) {
  train::impl::check_at_least(callback, "min_delta", min_delta, 0);
}
// `names`: those that there are.
[[noreturn, gnu::cold]] inline void raise_unknown_value(const char* callback, const std::string& name,
                                                        const std::string& use, const std::vector<std::string>& names,
                                                        const char* advice = "") {
  std::string list;
  for (const std::string& other : names) list += (list.empty() ? "" : ", ") + other;
  errors::raise<errors::NotFoundError>(
      callback, "the epoch has no value '" + name + "' " + use + "; it has: " + list +
                    (name.starts_with("val_") ? " (.validation_data of fit gives the values with val_)" : "") + advice);
}
TANDEM_INLINE std::optional<double> value_of(const Run& run, const char* callback, const std::string& name,
                                             const std::string& use) {
  const Values& values = run.values();
  if (values.contains(name)) return values[name];
  if (name.starts_with("val_") && run.has_validation() && !run.is_validated()) return {};
  std::vector<std::string> names;
  for (const auto& [other, value] : values) names.push_back(other);
  raise_unknown_value(callback, name, use, names);
}
TANDEM_INLINE void Monitor::check(const Run& run) const {
  const std::vector<std::string>* const names = run.value_names();
  if (names && Replicas().is_first() && std::find(names->begin(), names->end(), name_) == names->end())
    raise_unknown_value(callback_, name_, "to monitor", *names,
                        "; a callback that adds it must return true from may_set_values()");
}
TANDEM_INLINE std::optional<double> Monitor::value(const Run& run) const {
  return value_of(run, callback_, name_, "to monitor");
}
// One message: what the first process has found, and the bits of the value.
TANDEM_INLINE std::optional<double> Monitor::shared_value(const Run& run) const {
  const Replicas replicas;
  if (!replicas.are_several()) return value(run);
  enum Found : i64 { nothing, number, error };
  std::vector<i64> found(2, std::numeric_limits<i64>::min());
  std::exception_ptr raised;
  if (replicas.is_first()) try {
      const std::optional<double> own = value(run);
      found = {own ? number : nothing, std::bit_cast<i64>(own.value_or(0))};
    } catch (...) {  // raised again below, when the others know
      found[0] = error, raised = std::current_exception();
    }
  replicas.largest(found);
  if (raised) std::rethrow_exception(raised);
  if (found[0] == error)
    errors::raise<errors::NotFoundError>(callback_, "the epoch of rank 0 has no value '" + name_ + "' to monitor");
  return found[0] == number ? std::optional(std::bit_cast<double>(found[1])) : std::nullopt;
}
TANDEM_INLINE bool Monitor::is_better(double value, double best) const {
  return maximizes_ ? value > best + min_delta_ : value < best - min_delta_;
}
TANDEM_INLINE std::unique_ptr<WeightAverage::Swap> Monitor::measured_weights(const Run& run) const {
  const bool averaged = run.averages() && name_.starts_with("val_");
  return std::unique_ptr<WeightAverage::Swap>(averaged ? new WeightAverage::Swap(run.averages()->swap_in()) : nullptr);
}
TANDEM_INLINE double Monitor::worst() const { return std::numeric_limits<double>::infinity() * (maximizes_ ? -1 : 1); }

TANDEM_INLINE bool Writes::attempt(const AnyFunction<void()>& write, bool together) {
  error_ = nullptr;
  std::string what;
  const auto go_on_after = [&](const errors::OpError& e) { error_ = std::current_exception(), what = e.what(); };
  bool is_other = false;  // an error that ends the training
  try {
    write();
    return true;
  } catch (const errors::ResourceExhaustedError& e) {
    go_on_after(e);
  } catch (const errors::UnavailableError& e) {
    go_on_after(e);
  } catch (const errors::AbortedError& e) {  // of another process, which says below what it was
    go_on_after(e);
    is_other = !together;
  } catch (...) {  // raised again below, when the others know
    error_ = std::current_exception();
    is_other = true;
  }
  if (together ? Replicas().any(is_other) : is_other) std::rethrow_exception(std::exchange(error_, nullptr));
  if (!std::exchange(warned_, true))
    tandem::detail::warn((std::string(callback_) + ": a file could not be written; training goes on. " + what).c_str());
  return false;
}
}  // namespace detail

TANDEM_INLINE EarlyStopping::EarlyStopping(EarlyStoppingOptions o)
    : options_(std::move(o)), monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  impl::check_at_least("EarlyStopping", "patience", static_cast<double>(options_.patience), 0);
  make_state();
}
namespace impl {
// A Variable of a state with the value of a weight; of which each process has its own, or some rows, as of the weight.
inline Variable add_copy(const SavedState& state, const std::string& name, const Variable& weight) {
  const Variable copy(
      weight.value_untracked(),
      {.name = name, .trainable = false, .aggregate = weight.aggregate(), .whole_rows = weight.whole_rows()});
  state.add_variables({{.path = name, .variable = copy}});
  return copy;
}
}  // namespace impl
TANDEM_INLINE void EarlyStopping::make_state() {
  state_ = SavedState();
  best_ = impl::add_number(state_, "best", options_.baseline.value_or(monitor_.worst()));
  best_epoch_ = impl::add_number(state_, "best_epoch", i64{-1});
  wait_ = impl::add_number(state_, "wait", i64{0});
  kept_.clear();
}
TANDEM_INLINE void EarlyStopping::on_begin(Run& run) {
  monitor_.check(run);
  make_state();  // anew: the callback may have served another model
  if (!options_.restore_best_weights) return;
  if (!run.model())
    errors::raise<errors::FailedPreconditionError>(
        "EarlyStopping", "restore_best_weights needs a model, which a Trainer with a step of its own does not have");
  for (std::size_t i = 0; const Variable& v : run.model()->variables())
    kept_.emplace_back(v, impl::add_copy(state_, "weight_" + std::to_string(i++), v));
}
TANDEM_INLINE void EarlyStopping::on_epoch_end(Run& run) {
  if (run.epoch() < options_.start_from_epoch) return;
  const std::optional<double> value = monitor_.shared_value(run);
  if (!value) return;
  if (monitor_.is_better(*value, best())) {
    best_.assign(*value), best_epoch_.assign(run.epoch()), wait_.assign(i64{0});
    const auto measured = monitor_.measured_weights(run);
    for (const auto& [weight, best] : kept_) best.set_untracked(weight.value_untracked());
    return;
  }
  const i64 wait = wait_.item<i64>() + 1;
  wait_.assign(wait);
  if (wait < std::max<i64>(options_.patience, 1)) return;
  run.stop("EarlyStopping: " + monitor_.name() + " has not improved on " + tandem::detail::shortest_text(best()) +
           " for " + std::to_string(wait) + (wait == 1 ? " epoch" : " epochs"));
}
TANDEM_INLINE void EarlyStopping::on_end(Run& run) {
  if (best_epoch() < 0) return;
  const bool averaged = monitor_.measured_weights(run) != nullptr;
  for (const auto& [weight, best] : kept_) {
    weight.set_untracked(best.value_untracked());
    if (averaged && run.averages()->has_average(weight)) run.averages()->average(weight).assign(best.value_untracked());
  }
}

TANDEM_INLINE ModelCheckpoint::ModelCheckpoint(std::string path, ModelCheckpointOptions o)
    : path_(std::move(path)),
      options_(std::move(o)),
      monitor_("ModelCheckpoint", options_.monitor, options_.mode, 0),
      best_(impl::add_number(state_, "best", monitor_.worst())) {
  impl::check_at_least("ModelCheckpoint", "save_freq", static_cast<double>(options_.save_freq), 0);
}
TANDEM_INLINE void ModelCheckpoint::on_begin(Run& run) {
  if (options_.save_best_only && options_.save_freq == 0) monitor_.check(run);
  best_.reset();
  writes_.begin();
  if (!run.model())
    errors::raise<errors::FailedPreconditionError>(
        "ModelCheckpoint", "a Trainer with a step of its own has no model whose weights could be saved");
  has_rows_ = false;
  for (const Module::Named& v : run.model()->named_variables()) {
    if (!v.variable.aggregate() && v.variable.whole_rows() == 0)
      errors::raise<errors::UnimplementedError>(
          "ModelCheckpoint", "the Variable '" + v.path +
                                 "' has another value in each process (.aggregate = false), of which one file cannot "
                                 "have all (.whole_rows, if it is rows rank, rank + p, ... of a tensor)");
    has_rows_ = has_rows_ || v.variable.whole_rows() > 0;
  }
}
TANDEM_INLINE void ModelCheckpoint::on_step_end(Run& run) {
  if (options_.save_freq > 0 && run.step() % options_.save_freq == 0) save(run);
}
TANDEM_INLINE void ModelCheckpoint::on_epoch_end(Run& run) {
  if (options_.save_freq > 0) return;
  const double before = best();
  const bool decides = has_rows_ || detail::Replicas().is_first();
  const bool saves = !options_.save_best_only || (decides && is_better(run));
  if (saves && !save(run)) best_.assign(before);
}
// By the value of the first process, which may be one that a callback of its own has added.
TANDEM_INLINE bool ModelCheckpoint::is_better(const Run& run) {
  const std::optional<double> value = has_rows_ ? monitor_.shared_value(run) : monitor_.value(run);
  if (!value || !monitor_.is_better(*value, best())) return false;
  best_.assign(*value);
  return true;
}
// Nothing in an epoch without a validation that the path has values of.
TANDEM_INLINE std::optional<std::string> ModelCheckpoint::path_for(const Run& run) const {
  std::string path = path_;
  for (std::size_t at = 0; (at = path.find('{', at)) != path.npos;) {
    const std::size_t end = path.find('}', at);
    if (end == path.npos) break;
    const std::string name = path.substr(at + 1, end - at - 1);
    std::string text;
    if (name == "epoch") text = std::to_string(run.epoch());
    else if (name == "step") text = std::to_string(run.step());
    else if (const auto value = detail::value_of(run, "ModelCheckpoint", name, "for the path '" + path_ + "'"))
      text = tandem::detail::shortest_text(*value);
    else return {};
    path.replace(at, end - at + 1, text);
    at += text.size();
  }
  return path;
}
// That of the first process, in all that write; empty where path_for() has none.
TANDEM_INLINE std::string ModelCheckpoint::shared_path(const Run& run) const {
  if (!has_rows_) return path_for(run).value_or("");
  const detail::Replicas replicas;
  std::string path;
  std::exception_ptr error;
  if (replicas.is_first()) try {
      path = path_for(run).value_or("");
    } catch (...) {  // raised again below, when the others know
      error = std::current_exception();
    }
  if (replicas.others_raised(error))
    errors::raise<errors::AbortedError>("ModelCheckpoint", "rank 0 could not name the file " + path_);
  return replicas.shared(path);
}
// Returns false if no file was written.
TANDEM_INLINE bool ModelCheckpoint::save(const Run& run) {
  if (!detail::Replicas().is_first() && !has_rows_) return true;
  const std::string path = shared_path(run);
  if (path.empty()) return false;
  const auto measured = monitor_.measured_weights(run);
  const bool saved = writes_.attempt([&] { save_weights(*run.model(), path); }, has_rows_);
  if (saved) latest_ = path;
  return saved;
}

TANDEM_INLINE ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions o)
    : options_(std::move(o)), monitor_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {}
TANDEM_INLINE void ReduceLROnPlateau::on_begin(Run& run) {
  monitor_.check(run);
  state_ = SavedState();  // anew: the callback may have served another optimizer
  plateau_.emplace(run.optimizer_for("ReduceLROnPlateau"),
                   optimizers::ReduceLROnPlateauOptions{
                       .factor = options_.factor,
                       .patience = options_.patience,
                       .mode = monitor_.maximizes() ? optimizers::PlateauMode::max : optimizers::PlateauMode::min,
                       .min_delta = options_.min_delta,
                       .cooldown = options_.cooldown,
                       .min_lr = options_.min_lr});
  state_.add_module("plateau", *plateau_);
}
TANDEM_INLINE void ReduceLROnPlateau::on_epoch_end(Run& run) {
  if (const std::optional<double> value = monitor_.shared_value(run)) plateau_->update(*value);
}

TANDEM_INLINE LearningRateScheduler::LearningRateScheduler(AnyFunction<double(i64, double)> schedule)
    : schedule_(std::move(schedule)) {}
TANDEM_INLINE void LearningRateScheduler::on_begin(Run& run) {
  if (run.optimizer_for("LearningRateScheduler").has_schedule())
    errors::raise<errors::InvalidArgumentError>(
        "LearningRateScheduler",
        "the optimizer's learning rate is a schedule, which sets it anew at each step; give "
        "the optimizer a number");
}
TANDEM_INLINE void LearningRateScheduler::on_epoch_begin(Run& run) {
  const Variable& rate = run.optimizer_for("LearningRateScheduler").learning_rate();
  const double next = schedule_(run.epoch(), detail::number_of(rate));
  if (!std::isfinite(next) || next < 0)
    errors::raise<errors::InvalidArgumentError>(
        "LearningRateScheduler",
        "the schedule returned " + tandem::detail::shortest_text(next) + ", which is not a learning rate");
  rate.assign(next);
}

TANDEM_INLINE void CSVLogger::on_begin(Run&) {
  writes_.begin();
  // An error now, not after an epoch; what is in the file stays until this run has an epoch.
  if (!std::ofstream(path_, std::ios::app))
    errors::raise<errors::UnavailableError>("CSVLogger", "cannot write " + path_ + ": " + std::strerror(errno));
}
TANDEM_INLINE void CSVLogger::on_epoch_end(Run& run) {
  History history = run.history();
  history.add(run.values());
  writes_.attempt([&] { write(history); });
}
TANDEM_INLINE void CSVLogger::write(const History& history) const {
  const std::vector<Values>& epochs = history.epochs();
  const std::vector<std::string> names = history.names();
  const auto cell = [&](const std::string& name) {
    if (name.find_first_of(std::string("\"") + separator_) == name.npos) return name;
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
  };
  std::string text = "epoch";
  for (const std::string& name : names) text += separator_ + cell(name);
  text += "\n";
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    text += std::to_string(i);
    for (const std::string& name : names)
      text += separator_ + (epochs[i].contains(name) ? tandem::detail::shortest_text(epochs[i][name]) : "");
    text += "\n";
  }
  io::replace_file(path_, {{text.data(), text.size()}});
}

}  // namespace TANDEM_NS::train
