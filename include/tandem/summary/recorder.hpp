// Recorder: the events of one writer on their way to its file. The calling thread appends bytes to a queue, a thread of
// the recorder writes them. For the definitions of the writer (file_writer.hpp).
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::summary {

struct FileWriterOptions;

/// What has become of a writer's events so far.
struct WriterStats {
  i64 events = 0;  ///< handed to the writer
  i64 bytes = 0;   ///< that the system has taken
  i64 waits = 0;   ///< calls that waited for room in the queue
  i64 lost = 0;    ///< events that were dropped because the file could not be written and the queue was full
};

namespace detail {

struct Plugin;

/// Whether there was a warning that a file cannot be written, for all recorders that share it.
using Warned = std::shared_ptr<std::atomic<bool>>;

class TANDEM_API Recorder {
 public:
  ///   warned  null: this recorder has one of its own
  ///   throws  as FileWriter
  Recorder(const std::string& folder, const FileWriterOptions& options, Warned warned = {});
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Closes the file; an error has been a warning.
  ~Recorder();

  /// Adds the value of a tag; `fields` are those of the message Value that hold it. The first value of a tag says which
  /// plugin shows it.
  ///   wall_time  seconds since 1970; 0: now
  ///   throws     errors::InvalidArgumentError, in op's name, for a tag that another plugin shows, that is empty or not
  ///              UTF-8, or with a description that is not; otherwise as check_open
  void add(const char* op, std::string_view tag, const Plugin& plugin, std::string_view fields, i64 step,
           double wall_time, std::string_view description);
  /// Adds an event with this field of type bytes instead of a value.
  void add_event(const char* op, std::uint32_t field, std::string_view bytes, i64 step);
  /// Adds an entry to projector_config.pbtxt, or replaces that of the name.
  void add_embedding(const std::string& name, const std::string& entry);
  ///   throws  errors::FailedPreconditionError, in op's name, once the writer is closed, and in a child after fork()
  void check_open(const char* op) const;

  /// Returns once the system has what was added. A failure is one warning.
  void flush();
  /// flush() for a program that ends, maybe in the middle of a call: gives up after a second without the lock.
  void flush_at_end();
  /// The same in a signal's handler, for a process that the signal ends: writes what is queued, and keeps the lock.
  void write_at_abort() noexcept;
  ///   throws  as FileWriter::close
  void close();

  WriterStats stats() const;
  const std::string& path() const;
  const std::string& folder() const;
  /// Whether scalars and histograms are written in TensorFlow 1's fields.
  bool uses_simple_values() const;
  /// Whether this is a copy that fork() made: it has no thread, and its file belongs to the parent.
  bool is_inherited() const;
  /// Called instead of the destructor for such a copy, whose locks may be held by threads that do not exist.
  void abandon() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail
}  // namespace TANDEM_NS::summary
