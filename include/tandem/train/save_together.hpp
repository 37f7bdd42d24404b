// A checkpoint with tables of which every process has some rows (VariableOptions::whole_rows), saved by all processes
// of a strategy. Behind checkpoint.hpp and checkpoint_manager.hpp. Not here: the files with rows (shard_files.hpp).
#pragma once
#include <exception>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/train/replicas.hpp"
#include "tandem/train/shard_files.hpp"

namespace TANDEM_NS::train::detail {

/// Whether all processes save and restore the checkpoint together: several are in the scope of a strategy, and each of
/// them has rows of it.
TANDEM_API bool is_of_several(const Checkpoint& checkpoint);
/// Calls f in every process. What it raises in one of them is an error in all.
///   throws  what f raises; errors::AbortedError in the processes where it has not
template <class F>
void together(const char* op, const std::string& path, const F& f) {
  std::exception_ptr error;
  try {
    f();
  } catch (...) {  // raised again below, when the others know
    error = std::current_exception();
  }
  if (!Replicas().others_raised(error)) return;
  errors::raise<errors::AbortedError>(op, std::string("another process could not ") + op + " its part of " + path);
}
/// Writes the rows of every process to a file beside a checkpoint that is to follow.
///   returns  which files these are: the checkpoint's text "shards"
///   throws   in all processes, as ShardFiles::write
TANDEM_API ShardSet write_rows(const Checkpoint& checkpoint, const std::string& path);

}  // namespace TANDEM_NS::train::detail
