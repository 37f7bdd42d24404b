// The worker side: the list of cases, the shared inputs, and the two ways to run them (serving a driver, or as a
// Google Benchmark program).
#include "runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <random>
#include <ranges>
#include <sstream>

namespace bench {
namespace {

std::map<std::string, std::function<Work()>>& cases() {
  static std::map<std::string, std::function<Work()>> all;
  return all;
}

int thread_count = 1;

double seconds_for(const Work& work, std::int64_t iterations) {
  const auto start = std::chrono::steady_clock::now();
  work.run(iterations);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Finds, by doubling, the number of iterations that takes about `seconds`; these runs are also the warm-up.
std::int64_t calibrate(const Work& work, double seconds) {
  seconds_for(work, 1);
  std::int64_t iterations = 1;
  for (;;) {
    const double taken = seconds_for(work, iterations);
    if (taken >= seconds / 2 || iterations >= (std::int64_t{1} << 30)) {
      return std::max<std::int64_t>(1, std::llround(static_cast<double>(iterations) * seconds / std::max(taken, 1e-9)));
    }
    iterations *= taken < seconds / 20 ? 8 : 2;
  }
}

std::string print(const Digest& d) {
  return fmt::format("{} {:.9g} {:.9g} {} {:.9g}", d.count, d.sum_abs, d.weighted, d.samples.size(),
                     fmt::join(d.samples, " "));
}

/// The state of a worker that serves a driver: at most one open case.
struct Session {
  Work work;
  std::int64_t iterations = 1;

  std::string open(const std::string& name) {
    const auto found = cases().find(name);
    if (found == cases().end()) return "error no such case";
    work = {};
    work = found->second();
    const Digest result = work.result ? digest(work.result()) : Digest{};
    return "ok " + print(result);
  }

  std::string sample() const {
    work.run(1);  // wakes the pool: the process was stopped before
    const double taken = seconds_for(work, iterations);
    return fmt::format("ok {:.12g}", taken / (static_cast<double>(iterations) * work.units));
  }

  std::string answer(const std::string& line) {
    std::istringstream in(line);
    std::string verb, argument;
    in >> verb >> argument;
    if (verb == "list") return fmt::format("ok {}", fmt::join(std::views::keys(cases()), " "));
    if (verb == "open") return open(argument);
    if (verb == "calibrate") return fmt::format("ok {}", iterations = calibrate(work, std::stod(argument)));
    if (verb == "sample") return sample();
    if (verb == "close") return work = {}, "ok";
    return "error unknown request: " + line;
  }
};

/// Answers each input line with one line until the input ends. Output of libraries goes to stderr.
int serve() {
  const int answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::FILE* out = fdopen(answers, "w");
  Session session;
  for (std::string line; std::getline(std::cin, line);) {
    std::string reply;
    try {
      reply = session.answer(line);
    } catch (const std::exception& error) {
      reply = std::string("error ") + error.what();
      std::replace(reply.begin(), reply.end(), '\n', ' ');
    }
    fmt::print(out, "{}\n", reply);
    std::fflush(out);
  }
  return 0;
}

void run_alone(benchmark::State& state, const std::function<Work()>& make) {
  const Work work = make();
  const auto n = state.max_iterations;
  while (state.KeepRunningBatch(n)) work.run(static_cast<std::int64_t>(n));
  state.SetItemsProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) * work.units));
}
}  // namespace

bool add(std::string name, std::function<Work()> make) {
  return cases().emplace(std::move(name), std::move(make)).second;
}

int threads() { return thread_count; }

std::vector<float> normal(std::int64_t count, std::uint32_t seed, float scale) {
  constexpr std::int64_t block = 65536;
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> values(static_cast<std::size_t>(count));
  const auto fresh = values.begin() + std::min(count, block);
  std::generate(values.begin(), fresh, [&] { return distribution(random); });
  for (std::int64_t i = block; i < count; ++i) values[i] = values[i - block];
  return values;
}

std::vector<std::int64_t> indices(std::int64_t count, std::int64_t bound, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  return values;
}

Digest digest(const std::vector<float>& values) {
  constexpr std::size_t picked = 61;
  Digest d;
  d.count = static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    d.sum_abs += std::fabs(static_cast<double>(values[i]));
    d.weighted += values[i] * (1.0 + static_cast<double>(i % 7) / 7);  // weights detect swapped elements
  }
  const std::size_t stride = std::max<std::size_t>(1, values.size() / picked);
  for (std::size_t i = 0; i < values.size() && d.samples.size() < picked; i += stride) d.samples.push_back(values[i]);
  return d;
}
}  // namespace bench

int main(int argc, char** argv) {
  bool serving = false;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "--serve") == 0) {
      serving = true;
    } else if (std::strncmp(argv[i], "--threads=", 10) == 0) {
      bench::thread_count = std::atoi(argv[i] + 10);
    } else {
      rest.push_back(argv[i]);
    }
  }
  bench::prepare(bench::thread_count);
  if (serving) return bench::serve();
  for (const auto& [name, make] : bench::cases()) {
    benchmark::RegisterBenchmark(name.c_str(), [make = make](benchmark::State& s) {
      bench::run_alone(s, make);
    })->UseRealTime();
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
