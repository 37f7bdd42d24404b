// TensorBoard: a callback of train::Trainer that writes summaries. Part of the component tandem::summary.
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/report_server.hpp"
#include "tandem/train/callback.hpp"

namespace TANDEM_NS::summary {

/// Steps of a training, the last one included.
struct ProfileSteps {
  i64 first = 0;  ///< 0: none. At least 2: the first step of a training is traced
  i64 last = 0;   ///< 0: the first one alone
};

struct TensorBoardOptions {
  i64 update_freq = 0;     ///< every so many steps also the means so far, as "step_loss" and so on; 0: never
  i64 histogram_freq = 0;  ///< every so many epochs histograms of the trainable Variables; 0: never
  /// The steps whose ops are written for the page "Profile", under the name "steps_FIRST_LAST" (write_profile), and
  /// each to logdir/profile_step_N.json, which ui.perfetto.dev and chrome://tracing show. A step begins where the one
  /// before it has ended, or a validation in between: it has the reading of its batch.
  ProfileSteps profile_steps = {};
  /// Written to logdir: to_hparams(h). So is how the run has ended: well, or with an exception or a signal. A run that
  /// goes on afterwards, or is started again, takes back what the last one has written of its end.
  HParams hparams = {};
  /// The port of this machine (127.0.0.1) on which browsers see the report of logdir while fit runs (ReportServer).
  std::optional<int> status_port = {};
  FileWriterOptions writer = {};
};

/// Writes the values of each epoch, as the callback of this name in Keras: those of training to the folder
/// logdir/train, those of the validation ("val_loss" as "loss") to logdir/validation, so that TensorBoard draws both
/// into one picture. The step is the number of training steps that are done; a validation within an epoch
/// (FitOptions::validation_every) has its own.
///
///   trainer.fit(ds, {.validation_data = test, .callbacks = {summary::TensorBoard("logs/run1")}});
///
/// Where a run in a folder (FitOptions::directory) goes on, TensorBoard drops what was written behind its checkpoint.
/// An exception that ends the training is a text "exception" of logdir/train, at the step after which it was thrown.
///
/// A full disk, or a folder that cannot be written, is one warning, and training goes on. A file that could not be made
/// is tried again when an epoch, a validation or a checkpoint has new values, and values up to then are lost.
///   throws  from fit, when training has ended: system errors of FileWriter, write_profile and Profiler::write; before
///           a step of .profile_steps, which ends the training: errors::FailedPreconditionError if a Profiler is
///           active; with .status_port, before the first step, as ReportServer
class TANDEM_API TensorBoard : public train::Callback {
 public:
  ///   throws  errors::InvalidArgumentError for a negative frequency, or profile_steps that begin below 2 or end before
  ///           they begin, or a status_port that is not from 1 to 65535
  explicit TensorBoard(std::string logdir, TensorBoardOptions options = {});
  void on_begin(train::Run& run) override;
  bool is_for_first_replica() const override { return true; }
  bool may_stop_after_step() const override { return false; }
  bool may_set_values() const override { return !is_exactly<TensorBoard>(); }
  void on_epoch_begin(train::Run& run) override;
  void on_step_end(train::Run& run) override;
  void on_evaluate(train::Run& run) override;
  void on_epoch_end(train::Run& run) override;
  void on_checkpoint_begin(train::Run& run) override;
  void on_exception(train::Run& run, std::exception_ptr) override;
  void on_end(train::Run& run) override;
  void on_interrupt(train::Run& run) override;

 private:
  void flush();
  void begin_steps(const train::Run& run, i64 first);
  void go_on_after(const errors::OpError& e);
  void write_training(const std::string& tag, double value, i64 step);
  void write_validation(const std::string& name, double value, i64 step);
  void profile(i64 step);
  void begin_profiled_step_again();
  void end_profile();
  FileWriter* writer(std::optional<FileWriter>& w, const std::string& folder, std::string_view suffix = {});
  template <class F>
  void or_go_on(const F& write);
  void forget_end();
  void end_run(Status status);
  std::string logdir_;
  TensorBoardOptions options_;
  i64 first_step_ = -1;      // of this process
  train::Values validated_;  // the values of the latest validation of the epoch, which are written
  std::optional<FileWriter> train_, validation_, run_;
  bool is_started_ = false;  // run_ has the hyper-parameters
  struct ProfiledStep;
  std::vector<std::shared_ptr<ProfiledStep>> profiled_;  // the last one records unless it has ended
  std::shared_ptr<ReportServer> server_;
  std::exception_ptr error_;                                            // after which training has gone on
  detail::Warned warned_ = std::make_shared<std::atomic<bool>>(false);  // of this callback and its writers
  bool may_open_ = true;  // false from a failure on, until the next moment at which files are tried again
};

}  // namespace TANDEM_NS::summary
