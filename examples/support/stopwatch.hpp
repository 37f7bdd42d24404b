// A stopwatch for the speeds that the examples print.
#pragma once
#include <chrono>

class Stopwatch {
 public:
  void start() { begin_ = Clock::now(); }
  void stop() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// The time between start() and stop(), all together.
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_;
  double seconds_ = 0;
};
