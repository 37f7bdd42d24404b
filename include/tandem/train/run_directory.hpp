// RunDirectory: the folder of one run of training, with what it was started with, used by one process at a time.
#pragma once
#include <memory>
#include <string>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

struct RunDirectoryOptions {
  Metadata notes = {};  ///< what may differ when the run goes on: versions, the machine; of its first start
  bool lock = true;     ///< false: for a file system without locks, where nobody else uses the folder
};

/// Makes the folder of a run, or opens it to go on with the run.
///
///   train::RunDirectory run("runs/a", {{"batch", "100"}, {"seed", "1"}, {"data", fingerprint}});
///   train::CheckpointManager manager(checkpoint, run.checkpoints());
///
/// The file run.json keeps the configuration, texts by name; it is there as a whole or not at all. A process that goes
/// on must have the same configuration. The folder is locked while the object lives; the system takes the lock from a
/// process that ends, however it ends.
class TANDEM_API RunDirectory {
 public:
  ///   throws  errors::FailedPreconditionError, which lists what differs, if the run has another configuration;
  ///           errors::UnavailableError, which names the process and its machine, if the folder is in use, and if it
  ///           cannot be made or written; errors::DataLossError if run.json is damaged
  explicit RunDirectory(std::string path, const Metadata& configuration = {}, const RunDirectoryOptions& options = {});
  RunDirectory(RunDirectory&&) noexcept;
  RunDirectory& operator=(RunDirectory&&) noexcept;
  ~RunDirectory();

  /// Whether there was no run in the folder.
  bool is_new() const;
  const std::string& path() const;
  const Metadata& configuration() const;
  const Metadata& notes() const;
  /// Where the parts of a run are. Their writers make the folders.
  std::string checkpoints() const { return file("checkpoints"); }
  std::string events() const { return file("events"); }
  std::string report() const { return file("report.html"); }
  /// The path of another file.
  std::string file(const std::string& name) const { return path() + "/" + name; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::train
