// Definition of a benchmark case, and the inputs that all competitors share. Not here: how cases are paired and
// printed (driver/), and what each competitor needs (support/).
//
// How a comparison runs. Each competitor is one executable (a *worker*) that contains all its cases: two runtimes in
// one process would compete for OpenMP, the allocator and the cores. The driver starts one worker per competitor and
// number of threads, asks each in turn for a sample over a pipe, and stops (SIGSTOP) all other workers, so that a
// pool that spins while idle does not affect its competitor. A round asks each competitor once, in alternating
// order. The ratio of a round is peer time / our time; the reported figure is the median over the rounds, with its
// quartiles. Before any sample counts, the results of both sides are compared. The limit of the machine
// (support/limit.hpp) is an additional competitor in the same rounds. Started without --serve, a worker is an
// ordinary Google Benchmark program, for profiling one side in isolation.
#pragma once
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A case that is ready to run.
///   run     does the work the given number of times; it contains the loop, so that a 40 ns operation is not measured
///           through a std::function
///   result  the numbers to compare with those of the other side; called once, before the first run; empty if there is
///           nothing to compare
///   units   operations per iteration of run; reported times are per operation
struct Work {
  std::function<void(std::int64_t)> run;
  std::function<std::vector<float>()> result;
  double units = 1;
};

/// Registers a case. Its name is `scenario/case`, followed by `@variant` if a competitor has more than one way to do
/// the same work. `make` only runs when the case is requested. Returns true, so that the call can initialize a
/// namespace-scope constant.
bool add(std::string name, std::function<Work()> make);

/// The number of threads that this worker was told to use.
int threads();

/// Defined once by each competitor (support/<competitor>.cpp): sets its number of threads and everything that makes
/// it fast.
void prepare(int threads);

/// Extracts the numbers of a competitor's result; support/<competitor>.hpp specializes it for its types.
template <class T>
struct Values;

template <>
struct Values<std::vector<float>> {
  static std::vector<float> of(const std::vector<float>& values) { return values; }
};

/// Work that calls f repeatedly. The return value of f is kept alive until the end of its iteration and is what the
/// two sides compare.
template <class F>
Work repeat(F f, double units = 1) {
  Work work;
  work.run = [f](std::int64_t n) mutable {
    for (std::int64_t i = 0; i < n; ++i) {
      auto value = f();
      benchmark::DoNotOptimize(value);
    }
  };
  work.result = [f]() mutable {
    const auto value = f();
    return Values<std::decay_t<decltype(value)>>::of(value);
  };
  work.units = units;
  return work;
}

/// Work that calls f, which writes to memory that it owns; `out` then returns what was written.
template <class F, class Out>
Work repeat_into(F f, Out out) {
  Work work;
  work.run = [f](std::int64_t n) mutable {
    for (std::int64_t i = 0; i < n; ++i) {
      f();
      benchmark::ClobberMemory();
    }
  };
  work.result = [f, out]() mutable {
    f();
    return out();
  };
  return work;
}

/// Work whose iterations change a state (a training step). `check` returns what to compare and leaves the state
/// usable for further runs.
template <class F, class Check>
Work steps(F step, Check check) {
  Work work;
  work.run = [step](std::int64_t n) mutable {
    for (std::int64_t i = 0; i < n; ++i) step();
  };
  work.result = check;
  return work;
}

/// Work of steps that return their loss; the losses of the first `checked` steps are compared.
template <class Step>
Work training(Step step, int checked) {
  return steps([step] { step(); },
               [step, checked] {
                 std::vector<float> losses;
                 for (int i = 0; i < checked; ++i) losses.push_back(Values<decltype(step())>::of(step()).at(0));
                 return losses;
               });
}

/// Normally distributed numbers times `scale`, the same for every competitor; they repeat after 65536.
std::vector<float> normal(std::int64_t count, std::uint32_t seed, float scale = 1);

/// Integers in [0, bound), the same for every competitor.
std::vector<std::int64_t> indices(std::int64_t count, std::int64_t bound, std::uint32_t seed);

/// The digest by which results are compared: length, two weighted sums, and numbers sampled at a fixed stride.
struct Digest {
  std::int64_t count = 0;
  double sum_abs = 0;
  double weighted = 0;
  std::vector<float> samples;
};

Digest digest(const std::vector<float>& values);
}  // namespace bench
