// What a benchmark case is, and the inputs that every competitor shares. Not here: how cases are paired and printed
// (driver/), and what each competitor needs for itself (support/).
//
// How a comparison runs. Each competitor is one executable (a *worker*) that contains all its cases: two runtimes in
// one process would share OpenMP, the allocator and the cores, and fight. The driver starts a worker per competitor and
// number of threads, asks each for a sample in turn over a pipe, and stops (SIGSTOP) every worker but the one being
// asked, so that a pool that spins while idle takes nothing from its rival. A round asks each competitor once, in an
// order that alternates; the ratio of a round is peer time / our time, and the figure is the median over the rounds
// with its quartiles. Before any sample counts, the results of both sides are compared. The machine's limit
// (support/limit.hpp) is one more competitor in the same rounds. Started without --serve a worker is an ordinary Google
// Benchmark program, for profiling one side alone.
#pragma once
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A case made ready to run.
///   run     does the work the given number of times; the loop stands inside, so a 40 ns operation is not measured
///   through a std::function result  the numbers to compare with the other side's; called once, before the first run;
///   empty when there is nothing to compare units   operations in one of run's iterations; reported times are per
///   operation
struct Work {
  std::function<void(std::int64_t)> run;
  std::function<std::vector<float>()> result;
  double units = 1;
};

/// Adds a case. `scenario/case`, with `@variant` behind it when a competitor has more than one way to do the same work.
/// `make` runs only when the case is asked for. Returns true, so that a namespace-scope constant can hold the call.
bool add(std::string name, std::function<Work()> make);

/// Threads that this worker was told to use.
int threads();

/// Supplied once by each competitor (support/<competitor>.cpp): sets its number of threads and anything that makes it
/// fast.
void prepare(int threads);

/// The numbers in a competitor's result; support/<competitor>.hpp specialises it for its types.
template <class T>
struct Values;

template <>
struct Values<std::vector<float>> {
  static std::vector<float> of(const std::vector<float>& values) { return values; }
};

/// Work that calls f again and again; f's return value is kept alive to the end of its iteration and is what the two
/// sides compare.
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

/// Work that calls f, which writes to memory that it owns; `out` says afterwards what was written.
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

/// Work whose iterations change a state (a training step). `check` says what to compare and leaves the state fit for
/// running on.
template <class F, class Check>
Work steps(F step, Check check) {
  Work work;
  work.run = [step](std::int64_t n) mutable {
    for (std::int64_t i = 0; i < n; ++i) step();
  };
  work.result = check;
  return work;
}

/// Steps that return their loss; the first `checked` of them are compared.
template <class Step>
Work training(Step step, int checked) {
  return steps([step] { step(); },
               [step, checked] {
                 std::vector<float> losses;
                 for (int i = 0; i < checked; ++i) losses.push_back(Values<decltype(step())>::of(step()).at(0));
                 return losses;
               });
}

/// The same numbers for every competitor: normally distributed, times `scale`; they repeat after 65536.
std::vector<float> normal(std::int64_t count, std::uint32_t seed, float scale = 1);

/// The same integers for every competitor, in [0, bound).
std::vector<std::int64_t> indices(std::int64_t count, std::int64_t bound, std::uint32_t seed);

/// What stands for a result in the comparison: its length, two weighted sums, and numbers picked at a fixed stride.
struct Digest {
  std::int64_t count = 0;
  double sum_abs = 0;
  double weighted = 0;
  std::vector<float> samples;
};

Digest digest(const std::vector<float>& values);
}  // namespace bench
