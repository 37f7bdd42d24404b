// Reading of event files, those of TensorFlow and PyTorch too. Part of the component tandem::summary.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/summary/event.hpp"

namespace TANDEM_NS::summary {

/// Reads the events of a file, or of all event files of a folder, in the order of their names, one after the other.
///
///   summary::EventReader reader("logs/run1");
///   for (summary::Event event; reader.next(event);)
///     for (const summary::Value& v : event.values)
///       if (const double* x = std::get_if<double>(&v.content)) use(v.tag, event.step, *x);
class TANDEM_API EventReader {
 public:
  ///   path    a file, or a folder: its files with "tfevents" in their names, not those of folders in it
  ///   throws  errors::NotFoundError if there is no such file; errors::UnavailableError if the system cannot list the
  ///           folder
  explicit EventReader(const std::string& path);
  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;
  ~EventReader();

  /// Reads the next event; false at the end. A record that the end of its file cuts off has not been written
  /// completely, and is not returned.
  ///   throws  errors::DataLossError, naming file, record and byte offset, for a checksum that does not match and bytes
  ///           that are not an event: the next call goes on behind them, or with the next file where a length is
  ///           damaged; errors::UnavailableError if the system cannot read the file, or it became shorter
  bool next(Event& event);
  /// The file that the last event is from.
  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All events of a file or folder.
///   throws  as EventReader
TANDEM_API std::vector<Event> read_events(const std::string& path);

}  // namespace TANDEM_NS::summary
