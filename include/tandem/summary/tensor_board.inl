// Definitions of summary/tensor_board.hpp.
#pragma once
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/summary/profile.hpp"
#include "tandem/summary/tensor_board.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary {

namespace impl {
inline bool is_of_validation(const std::string& name) { return name.starts_with("val_"); }
inline constexpr std::string_view end_suffix = ".hparams_end";
inline std::string without_prefix(const std::string& name) { return name.substr(4); }
/// What an exception says, as UTF-8.
TANDEM_INLINE std::string text_of(const std::exception_ptr& error) {
  std::string text = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {  // of another type: fit throws it again
  }
  return tandem::detail::is_utf8(text) ? text : tandem::detail::escaped_text(text);
}
}  // namespace impl

TANDEM_INLINE TensorBoard::TensorBoard(std::string logdir, TensorBoardOptions options)
    : logdir_(std::move(logdir)), options_(std::move(options)) {
  for (const auto& [name, value] :
       {std::pair("update_freq", options_.update_freq), {"histogram_freq", options_.histogram_freq}})
    if (value < 0)
      errors::raise<errors::InvalidArgumentError>(
          "TensorBoard", std::string(name) + " must not be negative, but is " + std::to_string(value));
  auto& [first, last] = options_.profile_steps;
  if (last == 0) last = first;
  if (last != 0 && (first < 2 || last < first))
    errors::raise<errors::InvalidArgumentError>(
        "TensorBoard",
        "profile_steps must begin with at least 2, as step 1 is traced, and must not end before, "
        "but are " +
            std::to_string(first) + " to " + std::to_string(last));
  if (const auto port = options_.status_port; port && (*port < 1 || *port > 65535))
    errors::raise<errors::InvalidArgumentError>("TensorBoard",
                                                "status_port is from 1 to 65535, not " + std::to_string(*port));
}
// Training goes on: one warning, and the error is raised at the end.
TANDEM_INLINE void TensorBoard::go_on_after(const errors::OpError& e) {
  if (!warned_->exchange(true))
    tandem::detail::warn(
        ("TensorBoard: what was measured cannot be written; this does not end the training. " + std::string(e.what()))
            .c_str());
  error_ = std::current_exception();
}
template <class F>
void TensorBoard::or_go_on(const F& write) {
  try {
    write();
  } catch (const errors::ResourceExhaustedError& e) {
    go_on_after(e);
  } catch (const errors::UnavailableError& e) {
    go_on_after(e);
  }
}
// Null if there cannot be one. The values of steps do not try again: there may be thousands until a disk has room.
TANDEM_INLINE FileWriter* TensorBoard::writer(std::optional<FileWriter>& w, const std::string& folder,
                                              std::string_view suffix) {
  if (w || !may_open_) return w ? &*w : nullptr;
  FileWriterOptions o = options_.writer;
  o.filename_suffix += suffix;
  if (first_step_ >= 0) o.restart_step = first_step_;
  or_go_on([&] { w = FileWriter(folder, o, warned_); });
  may_open_ = w.has_value();
  return w ? &*w : nullptr;
}
// Of several ends of a run, TensorBoard shows the first that it reads, and a run that was interrupted may go on: its
// end has a file of its own, which the next start removes.
TANDEM_INLINE void TensorBoard::forget_end() {
  std::error_code error, no_folder;
  std::vector<std::filesystem::path> ends;
  for (std::filesystem::directory_iterator at(logdir_, no_folder), last; !no_folder && at != last;
       at.increment(no_folder))
    if (const std::string name = at->path().filename().string();
        name.starts_with("events.out.tfevents.") && name.ends_with(impl::end_suffix))
      ends.push_back(at->path());
  for (const std::filesystem::path& path : ends)
    if (!std::filesystem::remove(path, error) && error)
      errors::raise<errors::UnavailableError>("TensorBoard", "cannot remove " + path.string() + ": " + error.message());
}
TANDEM_INLINE void TensorBoard::end_run(Status status) {
  if (!is_started_) return;
  may_open_ = true;
  or_go_on([&] {
    forget_end();
    std::optional<FileWriter> end;
    if (!writer(end, logdir_, impl::end_suffix)) return;
    end->hparams_end(status);
    end->close();
  });
}
TANDEM_INLINE void TensorBoard::write_training(const std::string& tag, double value, i64 step) {
  if (FileWriter* const w = writer(train_, logdir_ + "/train")) w->scalar(tag, value, step);
}
TANDEM_INLINE void TensorBoard::write_validation(const std::string& name, double value, i64 step) {
  if (FileWriter* const w = writer(validation_, logdir_ + "/validation"))
    w->scalar(impl::without_prefix(name), value, step);
}
TANDEM_INLINE void TensorBoard::on_begin(train::Run&) {
  first_step_ = -1;
  validated_ = {};
  train_.reset(), validation_.reset(), run_.reset();
  is_started_ = false;
  profiled_.clear();
  error_ = nullptr;
  warned_ = std::make_shared<std::atomic<bool>>(false);
  may_open_ = true;
  if (options_.status_port) server_ = std::make_shared<ReportServer>(logdir_, *options_.status_port);
  if (options_.hparams.empty()) return;
  or_go_on([&] { forget_end(); });
  if (FileWriter* const w = writer(run_, logdir_)) {
    w->hparams(options_.hparams);
    is_started_ = true;
  }
}
// At the first values of this process, whose steps are from `first` on: the values of a validation that the epoch had
// before are written.
TANDEM_INLINE void TensorBoard::begin_steps(const train::Run& run, i64 first) {
  if (first_step_ >= 0) return;
  first_step_ = first;
  if (run.is_validated()) validated_ = run.values();
}
struct TensorBoard::ProfiledStep {
  explicit ProfiledStep(i64 n) : step(n), scope(std::in_place, "step " + std::to_string(n)) {}
  void end() { scope.reset(), profiler.stop(); }
  bool has_ended() const { return !scope; }

  const i64 step;
  const i64 begin = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  Profiler profiler;
  std::optional<ProfileScope> scope;
};
// After this step.
TANDEM_INLINE void TensorBoard::profile(i64 step) {
  const auto [first, last] = options_.profile_steps;
  if (!profiled_.empty()) profiled_.back()->end();
  if (step >= last) end_profile();
  else if (step + 1 >= first) profiled_.push_back(std::make_shared<ProfiledStep>(step + 1));
}
// The step that is to come begins here, after a validation.
TANDEM_INLINE void TensorBoard::begin_profiled_step_again() {
  if (profiled_.empty() || profiled_.back()->has_ended()) return;
  const i64 step = profiled_.back()->step;
  profiled_.pop_back();  // only one profiler may be active
  profiled_.push_back(std::make_shared<ProfiledStep>(step));
}
TANDEM_INLINE void TensorBoard::end_profile() {
  auto steps = std::exchange(profiled_, {});
  if (!steps.empty() && !steps.back()->has_ended()) steps.pop_back();
  if (steps.empty()) return;
  const std::string run = "steps_" + std::to_string(steps.front()->step) + "_" + std::to_string(steps.back()->step);
  or_go_on([&] {
    std::vector<detail::ProfilePart> parts;
    for (const auto& s : steps) parts.push_back({&s->profiler, s->begin});
    detail::write_profile(parts, logdir_, {.run = run});
    for (const auto& s : steps) s->profiler.write(logdir_ + "/profile_step_" + std::to_string(s->step) + ".json");
  });
}
TANDEM_INLINE void TensorBoard::on_epoch_begin(train::Run&) {
  validated_ = {};
  begin_profiled_step_again();
}
TANDEM_INLINE void TensorBoard::on_step_end(train::Run& run) {
  begin_steps(run, run.step());
  profile(run.step());
  if (options_.update_freq == 0 || run.step() % options_.update_freq != 0) return;
  for (const auto& [name, value] : run.values())
    if (!impl::is_of_validation(name)) write_training("step_" + name, value, run.step());
}
TANDEM_INLINE void TensorBoard::on_evaluate(train::Run& run) {
  begin_steps(run, run.step() + 1);  // a run that goes on between the last step and the validation
  begin_profiled_step_again();
  validated_ = run.values();
  may_open_ = true;
  for (const auto& [name, value] : validated_)
    if (impl::is_of_validation(name)) write_validation(name, value, run.step());
}
TANDEM_INLINE void TensorBoard::on_epoch_end(train::Run& run) {
  begin_steps(run, run.step() + 1);
  may_open_ = true;
  for (const auto& [name, value] : run.values())
    if (!impl::is_of_validation(name)) write_training(name, value, run.step());
    else if (!validated_.contains(name)) write_validation(name, value, run.step());
  if (options_.histogram_freq == 0 || (run.epoch() + 1) % options_.histogram_freq != 0 || !run.model()) return;
  FileWriter* const w = writer(train_, logdir_ + "/train");
  if (!w) return;
  for (const Module::Named& n : run.model()->named_variables())
    if (n.variable.trainable() && dtypes::floating.has(n.variable.dtype()))
      w->histogram(n.path, n.variable.read_value(), {.step = run.step()});
}
TANDEM_INLINE void TensorBoard::flush() {
  for (auto* w : {&train_, &validation_, &run_})
    if (*w) (*w)->flush();
}
// A run that is killed afterwards goes on behind these values.
TANDEM_INLINE void TensorBoard::on_checkpoint_begin(train::Run&) {
  flush();
  may_open_ = true;
}
TANDEM_INLINE void TensorBoard::on_exception(train::Run& run, std::exception_ptr error) {
  profiled_.clear();
  server_.reset();
  const std::string text = impl::text_of(error);
  may_open_ = true;
  if (FileWriter* const w = writer(train_, logdir_ + "/train")) w->text("exception", text, {.step = run.step()});
  flush();
  first_step_ = -1;
  end_run(Status::failure);
}
TANDEM_INLINE void TensorBoard::on_interrupt(train::Run&) {
  profiled_.clear();
  server_.reset();
  flush();
  first_step_ = -1;
  end_run(Status::failure);
}
TANDEM_INLINE void TensorBoard::on_end(train::Run&) {
  server_.reset();
  end_profile();             // a training that ends before the last step of the profile
  first_step_ = -1;          // on_exception may follow, whose event file must not take back what was written
  end_run(Status::success);  // on_exception may follow here, too
  for (auto* w : {&train_, &validation_, &run_})
    if (auto writer = std::exchange(*w, {})) or_go_on([&] { writer->close(); });
  if (error_) std::rethrow_exception(error_);
}

}  // namespace TANDEM_NS::summary
