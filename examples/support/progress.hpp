// The progress line of the examples: fraction done, the program's own figures, and the time left.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

/// Formats seconds as "1:05" or "2:00:07".
inline std::string clock_text(double seconds) {
  const long long s = static_cast<long long>(std::max(0.0, seconds) + 0.5);
  char text[32];
  if (s >= 3600) std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}

/// A progress line that is rewritten in place on a terminal and otherwise printed every ten seconds.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { end(); }  // before the message of an error
  /// share: the fraction done, 0 to 1. report: the program's own figures. now: shows the line regardless of the
  /// time.
  void show(double share, double seconds_left, const std::string& report, bool now = false) {
    const auto t = std::chrono::steady_clock::now();
    if (!now && t - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000))) return;
    last_ = t;
    constexpr int width = 24;
    share = std::clamp(share, 0.0, 1.0);
    std::string line(static_cast<std::size_t>(share * width), '#');
    line.resize(width, ' ');
    char percent[16];
    std::snprintf(percent, sizeof percent, "] %3.0f %%  ", 100 * share);
    line = "[" + line + percent + report + "  " + clock_text(seconds_left) + " left";
    const int blanks = std::max(0, static_cast<int>(shown_) - static_cast<int>(line.size()));
    shown_ = line.size();
    std::printf("%s%s%*s%s", terminal_ ? "\r" : "", line.c_str(), terminal_ ? blanks : 0, "", terminal_ ? "" : "\n");
    std::fflush(stdout);
  }
  /// Ends the line, so that other text may follow.
  void end() {
    if (terminal_ && shown_) std::printf("\n"), std::fflush(stdout);
    shown_ = 0;
  }

 private:
  bool terminal_ = ::isatty(1);
  std::size_t shown_ = 0;  // length of the line that is on the terminal
  std::chrono::steady_clock::time_point last_{};
};
