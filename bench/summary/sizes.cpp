// Our side of program.py: writes scalars of one tag to a folder, and prints how many nanoseconds a call takes from the
// thread that makes it.
#include <fmt/format.h>

#include <tandem/summary.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: summary_sizes DIR COUNT\n", stderr), 2;
  const tandem::i64 count = std::atoll(argv[2]);
  tandem::summary::FileWriter writer(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  for (tandem::i64 i = 0; i < count; ++i) writer.scalar("loss", static_cast<float>(i % 100) / 64, i);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  writer.close();
  fmt::print("{:.0f} {}\n", time.count() / static_cast<double>(count), writer.stats().waits);
}
