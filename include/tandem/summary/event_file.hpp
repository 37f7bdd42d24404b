// EventFile: an event file that is appended to. For the definitions of the writer. Not here: what is in an event
// (wire.hpp), when it is written (recorder.hpp).
#pragma once
#include <string>
#include <string_view>

#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::summary::detail {

class TANDEM_API EventFile {
 public:
  /// Creates a file of a new name, events.out.tfevents.SECONDS.HOST.PID.NUMBER + suffix, in a folder that is made if
  /// there is none. NUMBER counts the files of this process. SECONDS is the time; where the folder has a later name, as
  /// when the clock was set back, a second more than that.
  ///   throws  as io::ensure_directory; errors::ResourceExhaustedError for a full disk, errors::UnavailableError for
  ///           other system errors
  EventFile(const std::string& folder, const std::string& suffix);

  const std::string& path() const { return path_; }
  /// Appends bytes and returns how many of them the system took: fewer than all if it fails, and error() says why.
  std::size_t append(std::string_view bytes);
  int error() const { return error_; }
  bool is_open() const { return file_.get() >= 0; }
  void close() { file_ = io::detail::Descriptor(); }
  /// Closes the file and removes it from its folder.
  void remove();
  /// "cannot write PATH: No space left on device"
  std::string error_text() const;
  [[noreturn]] void raise_error(const std::string& more) const;

 private:
  std::string path_;
  io::detail::Descriptor file_;
  int error_ = 0;
};

/// The bytes of an event as a record of the file: its length, a checksum of that, the bytes, a checksum of them.
/// `begin_record` reserves the head; the event is then appended to the same string.
std::size_t begin_record(std::string& to);
void end_record(std::string& to, std::size_t begin);

}  // namespace TANDEM_NS::summary::detail
