// The control-flow steps of random programs.
#include "tandem/graph/control/scan.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/random_program.hpp"

namespace programs {

using namespace tandem;

namespace {

constexpr double threshold = 0.25;  // sums of small integers never equal it

Tensor as_real(const Tensor& t) { return cast(t, DType::float64); }
Tensors from(const Tensors& list, std::size_t first) {
  return {list.begin() + static_cast<std::ptrdiff_t>(first), list.end()};
}
Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

// Moves all results to the device of the program's data; shapes are always in host memory.
Tensors Machine::run_here(const Program& body, const Tensors& in) {
  Tensors out = run(body, in);
  for (Tensor& t : out) t = here(t);
  return out;
}
Tensors Machine::branch(const Step& s, const Tensors& in) {
  const Tensors captured = from(in, 1);
  return cond(
      reduce_sum(as_real(in[0])) > threshold, [&] { return run_here(*s.body, captured); },
      [&] { return run_here(*s.other, captured); });
}
// A loop with a data-dependent count of at most three; it also stops once the first loop variable is large.
Tensors Machine::loop(const Step& s, const Tensors& in) {
  const auto carried = static_cast<std::size_t>(s.numbers[0]);
  const Tensor times = floormod(count_nonzero(as_real(in[0]) > threshold), 4);
  const Tensors captured = from(in, 1 + carried);
  Tensors start{zeros_like(times)};
  for (std::size_t i = 1; i <= carried; ++i) start.push_back(here(in[i]));
  std::vector<Shape> open;
  for (const Tensor& t : start) {
    open.push_back(t.shape());
    for (int a = 0; a < t.rank(); ++a) open.back().set(a, none);
  }
  if (!s.numbers[1]) open.clear();
  const Tensors end = while_loop(
      [&](const Tensors& vars) { return logical_and(vars[0] < times, reduce_sum(as_real(vars[1])) < 50 + threshold); },
      [&](const Tensors& vars) { return joined({vars[0] + 1}, run_here(*s.body, joined(from(vars, 1), captured))); },
      start);
  return from(end, 1);
}
Tensors Machine::scan(const Step& s, const Tensors& in) {
  const Tensors captured = from(in, 2);
  const Tensor start = here(in[1]);
  const auto f = [&](const Tensor& state, const Tensor& row) {
    return run_here(*s.body, joined({state, row}, captured))[0];
  };
  if (s.kind == Step::fold) return {foldl(f, in[0], start)};
  if (s.kind == Step::fold_back) return {foldr(f, in[0], start)};
  return {tandem::scan(f, in[0], start, {.reverse = s.kind == Step::scan_back})};
}
Tensors Machine::map(const Step& s, const Tensors& in) {
  const Tensors captured = from(in, 1);
  return map_fn([&](const Tensor& row) { return run_here(*s.body, joined({row}, captured)); }, in[0]);
}

}  // namespace programs
