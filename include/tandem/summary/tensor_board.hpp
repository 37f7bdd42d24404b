// TensorBoard: a callback of train::Trainer that writes summaries. Part of the component tandem::summary.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tandem/core/profile.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/train/callback.hpp"

namespace TANDEM_NS::summary {

struct TensorBoardOptions {
  i64 update_freq = 0;     ///< every so many steps also the means so far, as "step_loss" and so on; 0: never
  i64 histogram_freq = 0;  ///< every so many epochs histograms of the trainable Variables; 0: never
  i64 profile_step = 0;    ///< the step whose ops are written to logdir/profile_step_N.json, which ui.perfetto.dev and
                           ///< chrome://tracing show; 0: none. At least 2: the first one is traced
  HParams hparams = {};    ///< written to logdir, with how the run ended: to_hparams(h)
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
///   throws  from fit: what FileWriter throws when it is made or closed; a full disk in between is a warning; with
///           .profile_step errors::FailedPreconditionError if a Profiler is active then, and what Profiler::write
///           throws
class TANDEM_API TensorBoard : public train::Callback {
 public:
  ///   throws  errors::InvalidArgumentError for a negative frequency, or a profile_step that is negative or 1
  explicit TensorBoard(std::string logdir, TensorBoardOptions options = {});
  void on_begin(train::Run& run) override;
  bool is_for_first_replica() const override { return true; }
  void on_epoch_begin(train::Run& run) override;
  void on_step_end(train::Run& run) override;
  void on_evaluate(train::Run& run) override;
  void on_epoch_end(train::Run& run) override;
  void on_exception(train::Run& run, std::exception_ptr) override;
  void on_end(train::Run& run) override;

 private:
  void begin_steps(const train::Run& run);
  void restart_profiler();
  FileWriter& writer(std::optional<FileWriter>& w, const char* name);
  std::string logdir_;
  TensorBoardOptions options_;
  i64 first_step_ = -1;      // of this process
  train::Values validated_;  // the values of the latest validation of the epoch, which are written
  std::optional<FileWriter> train_, validation_, run_;
  std::shared_ptr<Profiler> profiler_;  // while it records
};

}  // namespace TANDEM_NS::summary
