// Lines: the output of a process, line by line behind its rank.
#pragma once
#include <string>
#include <string_view>

namespace launcher {

/// Writes everything to a descriptor; false if it cannot be written any more.
bool write_all(int fd, std::string_view text);

/// Collects what a process writes and passes complete lines on, so that those of several processes do not mix.
class Lines {
 public:
  /// `to`: a descriptor; `prefix`: what each line begins with.
  Lines(int to, std::string prefix) : to_(to), prefix_(std::move(prefix)) {}
  /// Passes on the lines that are complete now; false if they cannot be written.
  bool add(std::string_view bytes);
  /// Passes on what is left, as a line.
  bool finish();

 private:
  bool write_line(std::string_view line);

  int to_;
  std::string prefix_, rest_ = {};
};

}  // namespace launcher
