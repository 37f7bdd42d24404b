// Definitions of summary/tensor_board.hpp.
#pragma once
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/summary/tensor_board.hpp"

namespace TANDEM_NS::summary {

namespace impl {
inline bool is_of_validation(const std::string& name) { return name.starts_with("val_"); }
inline std::string without_prefix(const std::string& name) { return name.substr(4); }
}  // namespace impl

TANDEM_INLINE TensorBoard::TensorBoard(std::string logdir, TensorBoardOptions options)
    : logdir_(std::move(logdir)), options_(std::move(options)) {
  for (const auto& [name, value] :
       {std::pair("update_freq", options_.update_freq), {"histogram_freq", options_.histogram_freq}})
    if (value < 0)
      errors::raise<errors::InvalidArgumentError>(
          "TensorBoard", std::string(name) + " must not be negative, but is " + std::to_string(value));
  if (options_.profile_step < 0 || options_.profile_step == 1)
    errors::raise<errors::InvalidArgumentError>(
        "TensorBoard", "profile_step must be at least 2, as the first step is traced, or 0 for none, but is " +
                           std::to_string(options_.profile_step));
}
TANDEM_INLINE FileWriter& TensorBoard::writer(std::optional<FileWriter>& w, const char* name) {
  if (!w) {
    FileWriterOptions o = options_.writer;
    o.restart_step = first_step_;
    w.emplace(logdir_ + "/" + name, std::move(o));
  }
  return *w;
}
TANDEM_INLINE void TensorBoard::on_begin(train::Run&) {
  first_step_ = -1;
  validated_ = {};
  train_.reset(), validation_.reset(), run_.reset(), profiler_.reset();
  if (!options_.hparams.empty()) run_.emplace(logdir_, options_.writer).hparams(options_.hparams);
}
// At the first step of this process: the values of a validation that the epoch had before are written.
TANDEM_INLINE void TensorBoard::begin_steps(const train::Run& run) {
  if (first_step_ >= 0) return;
  first_step_ = run.step();
  if (run.is_validated()) validated_ = run.values();
}
// Forgets what was recorded before the step: a validation.
TANDEM_INLINE void TensorBoard::restart_profiler() {
  if (!profiler_) return;
  profiler_.reset();  // only one may be active
  profiler_ = std::make_shared<Profiler>();
}
TANDEM_INLINE void TensorBoard::on_epoch_begin(train::Run&) {
  validated_ = {};
  restart_profiler();
}
TANDEM_INLINE void TensorBoard::on_step_end(train::Run& run) {
  begin_steps(run);
  if (profiler_) {
    profiler_->stop();
    profiler_->write(logdir_ + "/profile_step_" + std::to_string(run.step()) + ".json");
    profiler_.reset();
  }
  if (run.step() + 1 == options_.profile_step) {
    io::ensure_directory(logdir_);
    profiler_ = std::make_shared<Profiler>();
  }
  if (options_.update_freq == 0 || run.step() % options_.update_freq != 0) return;
  for (const auto& [name, value] : run.values())
    if (!impl::is_of_validation(name)) writer(train_, "train").scalar("step_" + name, value, run.step());
}
TANDEM_INLINE void TensorBoard::on_evaluate(train::Run& run) {
  begin_steps(run);
  restart_profiler();
  validated_ = run.values();
  for (const auto& [name, value] : validated_)
    if (impl::is_of_validation(name))
      writer(validation_, "validation").scalar(impl::without_prefix(name), value, run.step());
}
TANDEM_INLINE void TensorBoard::on_epoch_end(train::Run& run) {
  begin_steps(run);  // a run that goes on at the end of an epoch
  for (const auto& [name, value] : run.values())
    if (!impl::is_of_validation(name)) writer(train_, "train").scalar(name, value, run.step());
    else if (!validated_.contains(name))
      writer(validation_, "validation").scalar(impl::without_prefix(name), value, run.step());
  if (options_.histogram_freq == 0 || (run.epoch() + 1) % options_.histogram_freq != 0 || !run.model()) return;
  for (const Module::Named& n : run.model()->named_variables())
    if (n.variable.trainable() && dtypes::floating.has(n.variable.dtype()))
      writer(train_, "train").histogram(n.path, n.variable.read_value(), {.step = run.step()});
}
TANDEM_INLINE void TensorBoard::on_exception(train::Run&, std::exception_ptr) {
  profiler_.reset();
  if (run_) run_->hparams_end(Status::failure);
  for (auto* w : {&train_, &validation_, &run_})
    if (*w) (*w)->flush();
}
TANDEM_INLINE void TensorBoard::on_end(train::Run&) {
  profiler_.reset();
  if (run_) run_->hparams_end(Status::success);
  for (auto* w : {&train_, &validation_, &run_})
    if (auto writer = std::exchange(*w, {})) writer->close();
}

}  // namespace TANDEM_NS::summary
