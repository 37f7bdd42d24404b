// The progress line of the examples: fraction done, the time left, and the program's own figures.
#pragma once
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

/// Formats seconds as "1:05" or "2:00:07".
inline std::string clock_text(double seconds) {
  const auto s = static_cast<long long>(std::max(0.0, seconds) + 0.5);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

/// A progress line that is rewritten in place on a terminal and otherwise printed every ten seconds. It is cut to the
/// width of the terminal: a line that goes on in the next row could not be rewritten.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { end(); }  // before the message of an error
  /// share: the fraction done, 0 to 1. report: the program's own figures. now: shows the line regardless of the time.
  void show(double share, const std::string& report, bool now = false) {
    const Clock::time_point t = Clock::now();
    share = std::clamp(share, 0.0, 1.0);
    if (begin_ == Clock::time_point()) begin_ = t, share_at_begin_ = share;  // after the first step, which also traces
    if (!now && t - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000))) return;
    last_ = t;
    std::string figures = fmt::format("{:3.0f} %  ", 100 * share);
    const double done = share - share_at_begin_;
    if (done > 0)
      figures += clock_text(std::chrono::duration<double>(t - begin_).count() * (1 - share) / done) + " left  ";
    print(line(share, figures + report, terminal_ ? columns() - 1 : 1000));
  }
  /// Ends the line, so that other text may follow.
  void end() {
    if (terminal_ && shown_) std::putchar('\n');  // does not throw, as fmt::print would, in the destructor
    shown_ = 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static std::size_t columns() {
    winsize size{};
    return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
  }
  // A bar, as long as there is room for one beside the figures, and as much of them as there is room for.
  static std::string line(double share, const std::string& figures, std::size_t room) {
    constexpr std::size_t longest = 24, shortest = 4, brackets = 3;
    const std::size_t left = room > figures.size() + brackets ? room - figures.size() - brackets : 0;
    const std::size_t width = std::min(left, longest);
    if (width < shortest) return figures.substr(0, room);
    std::string bar(static_cast<std::size_t>(share * static_cast<double>(width)), '#');
    bar.resize(width, ' ');
    return "[" + bar + "] " + figures;
  }
  void print(const std::string& line) {
    if (terminal_) fmt::print("\r{:{}}", line, shown_);  // with blanks over the end of the line before
    else fmt::print("{}\n", line);
    std::fflush(stdout);
    shown_ = line.size();
  }

  bool terminal_ = ::isatty(1);
  std::size_t shown_ = 0;  // length of the line that is on the terminal
  Clock::time_point begin_{}, last_{};
  double share_at_begin_ = 0;
};
