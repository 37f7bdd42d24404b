// float16 and bfloat16 in lstm, gru and their gradients: float32's bits, rounded once, wherever a chunk of steps ends;
// and no float32 copies of whole sequences.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tests/support/half_rounded.hpp"
#include "tests/support/sets.hpp"
#include "tests/support/threads.hpp"

using namespace tandem;
using namespace half_rounded;

namespace {

struct Case {
  const char* what;
  i64 steps, batch, in, units;
  std::vector<i64> lengths = {};
};
// A chunk has 512 rows or more.
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"one chunk", 7, 5, 6, 9},
      {"one row", 1, 1, 6, 9},
      {"one row at a time", 4100, 1, 3, 2},
      {"one feature", 5, 3, 1, 4},
      {"chunks", 60, 30, 100, 70},
      {"chunks of one step", 3, 700, 90, 70},
      {"many chunks", 1300, 7, 5, 9},
      {"lengths", 7, 5, 6, 9, {7, 0, 3, 6, 1}},
      {"lengths within chunks", 1300, 7, 5, 9, {1300, 0, 584, 585, 586, 1, 1170}},
      {"no step", 0, 3, 4, 5},
      {"no step, lengths", 0, 3, 4, 5, {0, 0, 0}},
      {"no row", 6, 0, 4, 5},
      {"no feature", 6, 3, 0, 5},
      {"no unit", 6, 3, 4, 0},
  };
  return all;
}
Tensor small(const Shape& s, DType half, i64 seed) { return drawn(s, half, seed) * cast(constant(.3f), half); }
/// x, the states, weights and lengths of an op with `gates` gates.
std::vector<Tensor> operands(const Case& k, i64 gates, DType half) {
  const i64 wide = gates * k.units;
  std::vector<Tensor> in{drawn({k.steps, k.batch, k.in}, half, 1), drawn({k.batch, k.units}, half, 2)};
  if (gates == 4) in.push_back(drawn({k.batch, k.units}, half, 3));
  in.push_back(small({k.in, wide}, half, 4));
  in.push_back(small({k.units, wide}, half, 5));
  in.push_back(small(gates == 4 ? Shape{wide} : Shape{2, wide}, half, 6));
  if (!k.lengths.empty()) in.push_back(constant(k.lengths));
  return in;
}
/// The operands of the gradient: those of the op, what it saved, and gradients of its public results.
std::vector<Tensor> with_upstream(std::vector<Tensor> in, const std::vector<Tensor>& out, std::size_t results,
                                  DType half) {
  Tensor lengths;
  if (!is_floating(in.back().dtype())) lengths = in.back(), in.pop_back();
  in.push_back(out[0]);
  for (std::size_t i = results; i < out.size(); ++i) in.push_back(out[i]);
  for (std::size_t i = 0; i < results; ++i) in.push_back(drawn(out[i].shape(), half, 7 + static_cast<i64>(i)));
  if (lengths.is_set()) in.push_back(lengths);
  return in;
}
void check_case(const Case& k, DType half) {
  CAPTURE(k.what);
  for (const bool lstm : {true, false}) {
    const std::vector<Tensor> in = operands(k, lstm ? 4 : 3, half);
    const auto out = check_op(lstm ? lstm_op : gru_op, in, no_attrs, half);
    const auto back = with_upstream(in, out, lstm ? 3 : 2, half);
    for (const bool input : {true, false})
      check_op(lstm ? lstm_grad_op : gru_grad_op, back, rules::RnnGradAttrs{input}, half);
  }
}
std::vector<Tensor> gradients(const std::vector<Tensor>& in, bool lstm) {
  GradientTape tape;
  for (const Tensor& t : in) tape.watch(t);
  const Tensor y = lstm ? nn::lstm(in[0], {in[1], in[2]}, in[3], in[4], in[5]).output
                        : nn::gru(in[0], in[1], in[2], in[3], in[4]).output;
  return tape.gradient(y * y, in);
}

}  // namespace

TEST_CASE("half precision: recurrent ops and their gradients have float32's bits, rounded") {
  for (const int threads : {1, 3}) {
    const testing::Threads use(threads);
    for (const DType half : {bfloat16, float16})
      for (const Case& k : cases()) check_case(k, half);
  }
}

TEST_CASE("half precision: chunks of a recurrent op have float32's bits on every instruction set") {
  testing::on_every_set([] {
    for (const Case& k : cases())
      if (std::string(k.what).find("chunks") != std::string::npos) check_case(k, bfloat16);
  });
}

TEST_CASE("half precision: a recurrent op carries its state in float32") {
  // Each step adds 2^-10 to the cell, which bfloat16 would round away from 1 on: i = o = 1/2, f = 1, g = 2^-9.
  const i64 steps = 2048;
  const Tensor x = zeros({steps, 1, 1}, {.dtype = bfloat16}), one = cast(constant({{1.f}}), bfloat16);
  const Tensor bias = cast(constant({0.f, 100.f, 0x1p-9f, 0.f}), bfloat16), no = zeros({1, 4}, {.dtype = bfloat16});
  const Tensor c = nn::lstm(x, {one, one}, no, no, bias).state.c;
  CHECK(cast(c, float32).item<float>() == 3);
}

TEST_CASE("half precision: recurrent ops in traced functions, and second gradients") {
  for (const bool lstm : {true, false}) {
    const std::vector<Tensor> in = operands({"", 4, 3, 2, 5}, lstm ? 4 : 3, bfloat16);
    const auto f = function([&](const std::vector<Tensor>& v) { return gradients(v, lstm); });
    const std::vector<Tensor> got = f(in), want = gradients(in, lstm);
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(bits(got[i]) == bits(want[i]));

    const auto second = [&](const std::vector<Tensor>& v) {
      GradientTape tape;
      tape.watch(v[0]);
      return cast(tape.gradient(gradients(v, lstm)[0], v[0]), float32);
    };
    std::vector<Tensor> wide;
    for (const Tensor& t : in) wide.push_back(cast(t, float32));
    const Tensor narrow = second(in), exact = second(wide);
    CHECK(reduce_max(abs(narrow - exact)).item<float>() < .02f * reduce_max(abs(exact)).item<float>());
  }
}

TEST_CASE("half precision: recurrent ops take scratch for chunks of steps, not for whole sequences") {
  if (!kernels_take_half) TANDEM_SKIP("half precision is computed in float32 here");
  const testing::Threads two(2);
  for (const bool lstm : {true, false}) {
    const auto in = operands({"", 1000, 32, 32, 64}, lstm ? 4 : 3, bfloat16);
    std::vector<Tensor> out;
    const auto run = [](const OpDef& op, const std::vector<Tensor>& t, const Attrs& a) {
      const Tensors r = apply_to(op, t, a);
      return std::vector<Tensor>(r.begin(), r.end());
    };
    const i64 gates = 32000 * 64 * (lstm ? 4 : 3) * 2;  // bytes
    CHECK(scratch_of([&] { return out = run(lstm ? lstm_op : gru_op, in, no_attrs); }) < gates / 2);
    const auto back = with_upstream(in, out, lstm ? 3 : 2, bfloat16);
    CHECK(scratch_of([&] { return run(lstm ? lstm_grad_op : gru_grad_op, back, rules::RnnGradAttrs{true}); }) <
          gates / 2);
    // A tape keeps the operands and what the op saved, no float32 copies.
    const i64 before = memory::info().live;
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor y = lstm ? nn::lstm(in[0], {in[1], in[2]}, in[3], in[4], in[5]).output
                          : nn::gru(in[0], in[1], in[2], in[3], in[4]).output;
    CHECK(memory::info().live - before < gates * 2);
  }
}
