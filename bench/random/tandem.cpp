// Random numbers in Tandem. Their values cannot be compared with another library's.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::random_numbers;

template <class F>
bool add(const char* name, F f) {
  return bench::add(name, [f] {
    bench::Work work = bench::repeat(f);
    work.result = nullptr;
    return work;
  });
}

bench::Work drop() {
  bench::Work work =
      bench::repeat([x = bench::tandem_normal({dropped}, 1)] { return tandem::nn::dropout(x, {.rate = rate}); });
  work.result = nullptr;
  return work;
}

[[maybe_unused]] const bool added[] = {add(normal, [] { return tandem::random::normal({draws}); }),
                                       add(uniform, [] { return tandem::random::uniform({draws}); }),
                                       bench::add(dropout, drop)};
}  // namespace
