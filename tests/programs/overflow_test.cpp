// Sizes whose product no 64-bit number or no memory holds: every op that makes something larger than its operands
// raises, in its own name, before it allocates.
#include <limits>
#include <string>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_overflow {

using namespace tandem;

namespace {
constexpr i64 huge = i64{1} << 40, most = std::numeric_limits<i64>::max();

template <class F>
void raises(const char* op, const F& f) {
  INFO(op);
  try {
    f();
    FAIL_CHECK("no error");
  } catch (const errors::OpError& e) {
    CHECK(e.op() == op);
  }
}
}  // namespace

TEST_CASE("sizes that overflow: creation and random numbers") {
  raises("zeros", [] { zeros({huge, huge}); });
  raises("ones", [] { ones({most, 2}); });
  raises("fill", [] { fill({huge, huge}, 1.f); });
  // 2^80 elements are 0 in 64 bits, as many as there are.
  raises("constant", [] { constant(std::vector<float>{}, {.shape = {huge, huge}}); });
  raises("eye", [] { eye(huge); });
  raises("eye", [] { eye(2, {.batch_shape = {huge, huge}}); });
  raises("range", [] { range(i64{0}, most); });
  raises("linspace", [] { linspace(0.f, 1.f, most); });
  raises("one_hot", [] { one_hot(zeros({1024}, int32), most / 2); });
  raises("sequence_mask", [] { sequence_mask(constant({1, 2}), most); });
  raises("random::normal", [] { random::normal({huge, huge}); });
  raises("random::uniform", [] { random::uniform({huge, huge}); });
  raises("random::truncated_normal", [] { random::truncated_normal({huge, huge}); });
  raises("random::gamma", [] { random::gamma({huge, huge}, 1.f); });
  raises("categorical", [] { random::categorical(zeros({4, 2}), most); });
}

TEST_CASE("sizes that overflow: copies") {
  const Tensor x = ones({2, 3});
  raises("broadcast_to", [&] { broadcast_to(x, {huge, huge, 2, 3}); });
  raises("tile", [&] { tile(x, {most, most}); });
  raises("repeat", [&] { repeat(x, std::vector<i64>{most, most}, {.axis = 0}); });
  raises("pad", [&] { pad(x, {{most, most}, {0, 0}}); });
  raises("pad", [&] { pad(x, {{huge, 0}, {huge, 0}}); });
  raises("reshape", [&] { reshape(x, {huge, huge, huge}); });
  raises("scatter_nd", [] { scatter_nd(constant({{0, 0}}), ones({1}), {huge, huge}); });
  raises("unsorted_segment_sum", [&] { unsorted_segment_sum(x, constant({0, 1}), most); });
  raises("bincount", [] { bincount(constant({most - 1})); });
  raises("diag", [] { linalg::diag(zeros({1 << 20})); });
  raises("matmul", [] { matmul(zeros({1 << 21, 1}), zeros({1, 1 << 21})); });
  raises("conv2d_transpose", [] {
    nn::conv2d_transpose(ones({1, 1, 1, 1}), ones({1, 1, 1, 1}), {1, huge, huge, 1}, {.strides = 1});
  });
}

}  // namespace features_overflow
