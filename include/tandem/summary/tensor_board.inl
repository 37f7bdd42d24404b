// Definitions of summary/tensor_board.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/summary/tensor_board.hpp"

namespace TANDEM_NS::summary {

TANDEM_INLINE TensorBoard::TensorBoard(std::string logdir, TensorBoardOptions options)
    : logdir_(std::move(logdir)), options_(std::move(options)) {
  for (const auto& [name, value] :
       {std::pair("update_freq", options_.update_freq), {"histogram_freq", options_.histogram_freq}})
    if (value < 0)
      errors::raise<errors::InvalidArgumentError>(
          "TensorBoard", std::string(name) + " must not be negative, but is " + std::to_string(value));
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
  train_.reset(), validation_.reset();
}
TANDEM_INLINE void TensorBoard::on_step_end(train::Run& run) {
  if (first_step_ < 0) first_step_ = run.step();
  if (options_.update_freq == 0 || run.step() % options_.update_freq != 0) return;
  for (const auto& [name, value] : run.values()) writer(train_, "train").scalar("step_" + name, value, run.step());
}
TANDEM_INLINE void TensorBoard::on_epoch_end(train::Run& run) {
  if (first_step_ < 0) first_step_ = run.step();  // a run that goes on at the end of an epoch
  const std::string_view validation = "val_";
  for (const auto& [name, value] : run.values())
    if (name.starts_with(validation))
      writer(validation_, "validation").scalar(std::string_view(name).substr(validation.size()), value, run.step());
    else writer(train_, "train").scalar(name, value, run.step());
  if (options_.histogram_freq == 0 || (run.epoch() + 1) % options_.histogram_freq != 0 || !run.model()) return;
  for (const Module::Named& n : run.model()->named_variables())
    if (n.variable.trainable() && dtypes::floating.has(n.variable.dtype()))
      writer(train_, "train").histogram(n.path, n.variable.read_value(), {.step = run.step()});
}
TANDEM_INLINE void TensorBoard::on_exception(train::Run&, std::exception_ptr) {
  for (auto* w : {&train_, &validation_})
    if (*w) (*w)->flush();
}
TANDEM_INLINE void TensorBoard::on_end(train::Run&) {
  for (auto* w : {&train_, &validation_})
    if (*w) (*w)->close();
}

}  // namespace TANDEM_NS::summary
