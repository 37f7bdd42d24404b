// Atomic replacement of a file.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// Atomically replaces the content of a file by these bytes; on failure the file is unchanged. Threads and processes
/// may replace one file concurrently; a reader always sees one complete version. The permissions of the old file are
/// kept; where the file system cannot set them, those that the umask clears are cleared. A symbolic link is kept too:
/// its target is replaced. Temporary files that a killed process left behind in an earlier call for this path are
/// removed.
///   throws  errors::FailedPreconditionError for a directory, a device, a pipe; errors::ResourceExhaustedError for a
///           full disk, errors::UnavailableError for other system errors; each names the path
TANDEM_API void replace_file(const std::string& path, const std::vector<std::pair<const void*, std::size_t>>& parts);

namespace detail {
/// Removes the temporary files that killed processes left of files in a folder whose names begin with `start`.
TANDEM_API void remove_abandoned(const std::string& folder, const std::string& start);
/// The same as replace_file for a writer that opens a file by its name: it writes path(), and commit() makes that file
/// the one at `path`. Without commit() it is removed.
class TANDEM_API Replacement {
 public:
  ///   throws  as replace_file
  explicit Replacement(const std::string& path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();
  const std::string& path() const;
  /// Called once, after the writer has closed the file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
}  // namespace detail

}  // namespace TANDEM_NS::io
