// Random numbers in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::random_numbers;

template <class F>
bool add(const char* name, F f) {
  return bench::add(name, [f] {
    bench::Work work = bench::repeat_no_grad(f);
    work.result = nullptr;
    return work;
  });
}

bench::Work drop() {
  bench::Work work =
      bench::repeat_no_grad([x = bench::torch_normal({dropped}, 1)] { return torch::dropout(x, rate, true); });
  work.result = nullptr;
  return work;
}

[[maybe_unused]] const bool added[] = {add(normal, [] { return torch::randn({draws}); }),
                                       add(uniform, [] { return torch::rand({draws}); }), bench::add(dropout, drop)};
}  // namespace
