// Samples of the component tandem::distribute, for a group of one rank: tests/distribute has those of several.
#include "tandem/distribute.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

void reduce_calls(Numbers& n) {
  distribute::all_reduce(n.reals({2, 3}));
  distribute::all_reduce(n.reals({4}), {.op = distribute::ReduceOp::mean});
}
void combine_calls(Numbers& n) {
  distribute::all_reduce(n.reals({4}), {.op = distribute::ReduceOp::prod});
  if (!is_complex(n.real())) distribute::all_reduce(n.reals({4}), {.op = distribute::ReduceOp::max});
}
void broadcast_calls(Numbers& n) { distribute::broadcast(n.reals({2, 3})); }
void gather_calls(Numbers& n) {
  distribute::all_gather(n.reals({2, 3}));
  distribute::all_gather(n.reals({3}), {.equal_rows = true});
}
void scatter_calls(Numbers& n) {
  distribute::reduce_scatter(n.reals({2, 3}));
  back([](const Tensor& x) { return distribute::all_gather(x); }, n.reals({3}));
}
void exchange_calls(Numbers& n) {
  distribute::all_to_all(n.reals({2, 3}));
  distribute::all_to_all(n.reals({3}), constant(std::vector<i64>{3}));
}

}  // namespace

Span<const Sample> distribute_samples() {
  static const Sample list[] = {
      {"all_reduce", reduce_calls}, {"all_combine", combine_calls},    {"broadcast", broadcast_calls},
      {"all_gather", gather_calls}, {"reduce_scatter", scatter_calls}, {"all_to_all", exchange_calls},
  };
  return list;
}

}  // namespace samples::detail
