// SeekPoints: where some of the records of files lie, so that a run begins in the middle without reading what is
// before. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tandem/data/dataset/marks.hpp"
#include "tandem/io/file_version.hpp"

namespace TANDEM_NS::data::detail {

/// Of the records of a list of files, one in spacing() has a point, at most 2048 in all: the spacing doubles where
/// there would be more. A point is used only while its file and those before it have the size and the modification time
/// with which they were read. Threads may use it at the same time.
class TANDEM_API SeekPoints {
 public:
  struct Point {
    i64 element = 0;  // its number in the epoch
    std::size_t file = 0;
    i64 position = 0;  // as the reader's seek() takes it
  };
  explicit SeekPoints(std::vector<std::string> paths);

  const std::vector<std::string>& paths() const { return paths_; }
  i64 spacing() const { return spacing_.load(std::memory_order_relaxed); }
  /// Notes the version of a file that a run has opened. Returns what add() and set_end() take: they do nothing once
  /// another run has met other versions.
  u64 open(std::size_t file);
  void add(const Point& point, u64 generation);
  /// Notes how many elements there are in all.
  void set_end(i64 elements, u64 generation);
  /// The last point at or before an element; behind the last file if the elements end before that.
  std::optional<Point> before(i64 element);

  /// The points as a text, and back. read() takes those of as many files.
  std::string text() const;
  ///   returns  whether it did
  ///   throws   errors::InvalidArgumentError for a text that text() has not made
  bool read(std::string_view text);
  /// A number that changes when a file turns out to have changed. With `look`, those that were opened are looked at.
  u64 generation(bool look);

 private:
  void drop_from(std::size_t file);

  const std::vector<std::string> paths_;
  std::atomic<i64> spacing_ = 64;
  mutable std::mutex mutex_;                       // guards what follows
  std::vector<io::detail::FileVersion> versions_;  // by file; zeros: it was not opened
  std::vector<Point> points_;                      // ascending
  i64 end_ = -1;                                   // the number of elements, once it is known
  u64 generation_ = 0;                             // counts changes of versions
};

/// The seek points of all sources of a pipeline and the marks of its stages, a line each.
TANDEM_API std::string seek_points(const StageInfo& last);
TANDEM_API void set_seek_points(const StageInfo& last, const std::string& text);

}  // namespace TANDEM_NS::data::detail
