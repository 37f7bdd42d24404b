// Our side of program.py: writes scalars of one tag to a folder, and prints how many nanoseconds a call takes: of the
// clock, and of the processor time of the calling thread, which other programs on the machine do not change.
#include <fmt/format.h>

#include <tandem/summary.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double thread_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: summary_sizes DIR COUNT\n", stderr), 2;
  const tandem::i64 count = std::atoll(argv[2]);
  tandem::summary::FileWriter writer(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  const double thread_begin = thread_nanoseconds();
  for (tandem::i64 i = 0; i < count; ++i) writer.scalar("loss", static_cast<float>(i % 100) / 64, i);
  const double thread_time = thread_nanoseconds() - thread_begin, calls = static_cast<double>(count);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  writer.close();
  fmt::print("{:.0f} {:.0f} {}\n", time.count() / calls, thread_time / calls, writer.stats().waits);
}
