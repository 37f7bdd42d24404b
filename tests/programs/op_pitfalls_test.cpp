// Traps of windows, masks, sequences and memory.
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace pitfalls_ops {

using namespace tandem;
using Floats = std::vector<float>;
const float inf = INFINITY;

TEST_CASE("a finished hypothesis has one continuation; impossible tokens give no NaN") {
  // Token 3 ends. All logits are positive or impossible, so that a continuation of a finished hypothesis that counted
  // as 0 would win or be NaN.
  const Tensor table =
      constant({{1.f, 2.f, 3.f, 4.f}, {4.f, -inf, 2.f, 1.f}, {1.f, 1.f, 1.f, 5.f}, {9.f, 9.f, 9.f, 9.f}});
  const nn::BeamSearchResult r = nn::rnn_beam_search(
      [&](const Tensor& ids, const Tensor& state) { return std::pair(gather(table, ids), state); }, zeros({1, 1}),
      {.sequence_length = 4, .beam_width = 4, .begin_token_id = 0, .end_token_id = 3});
  std::set<std::vector<std::int32_t>> different;
  for (i64 k = 0; k < 4; ++k) {
    const auto ids = r.ids[0][k].to_vector<std::int32_t>();
    different.insert(ids);
    bool ended = false;
    for (const std::int32_t id : ids) {
      if (ended) CHECK(id == 3);
      ended = ended || id == 3;
    }
  }
  CHECK(different.size() == 4);
  for (const float p : r.log_probs.to_vector<float>()) CHECK((std::isfinite(p) && p < 0));
}

TEST_CASE("a mean over a masked axis divides by what the mask keeps, at least 1") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 5.f}, {4.f, 8.f}}),
               mask = constant({{0.f, 0.f}, {1.f, 1.f}, {1.f, 0.f}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::masked_mean(x, mask, {.axis = 1});
  CHECK(y.to_vector<float>() == Floats{0, 4, 4});
  CHECK(tape.gradient(y, x).to_vector<float>() == Floats{0, 0, .5, .5, 1, 0});
}

TEST_CASE("VALID never pads, SAME gives ceil(n / s)") {
  const Tensor x = zeros({1, 5, 1}), w = zeros({2, 1, 1});
  CHECK(nn::conv1d(x, w, {.stride = 2}).shape() == Shape{1, 2, 1});
  CHECK(nn::conv1d(x, w, {.stride = 2, .padding = Padding::same}).shape() == Shape{1, 3, 1});
}

TEST_CASE("perplexity is 2^(-mean log2 p); bits are its logarithm") {
  const float uniform = nn::perplexity(fill({5}, float(std::log(1. / 83)))).item<float>();
  CHECK(uniform == Approx(83));
  CHECK(std::log2(uniform) == Approx(6.375).epsilon(1e-4));
  CHECK(nn::perplexity(constant({-1.5f * float(std::log(2.))})).item<float>() == Approx(2.828).epsilon(1e-3));
  CHECK(std::log2(nn::perplexity(constant({-std::log(1.5f)})).item<float>()) == Approx(.585).epsilon(1e-3));
}

TEST_CASE("C2: creation copies host data at the call") {
  Tensor of_vector, of_span, of_pointer;
  {
    std::vector<float> data{1, 2, 3};
    of_vector = constant(data), of_span = constant(std::span<const float>(data));
    of_pointer = constant(data.data(), {3});
    data.assign(3, -1);
  }
  for (const Tensor& t : {of_vector, of_span, of_pointer}) CHECK(t.to_vector<float>() == Floats{1, 2, 3});
  CHECK(constant({std::string(1000, 'x')}).to_vector<std::string>()[0].size() == 1000);
}

// C6: what lives as long as the program is destroyed after everything else, and must not need what is gone.
const Tensor global_tensor = ones({3});
const Variable global_variable(ones({2}));

TEST_CASE("C6: global tensors and Variables work, and the program ends") {
  CHECK(reduce_sum(global_tensor).item<float>() == 3);
  CHECK(reduce_sum(global_variable.read_value()).item<float>() == 2);
}

}  // namespace pitfalls_ops
