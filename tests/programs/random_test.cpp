// The promises about random numbers, with their numbers.
#include <algorithm>
#include <cmath>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_random {

using namespace tandem;
using Floats = std::vector<float>;
using Longs = std::vector<i64>;
constexpr int draws = 100'000;

std::vector<double> shares(const Tensor& classes, std::size_t n) {
  std::vector<double> r(n);
  const Longs list = cast(classes, int64).to_vector<i64>();
  for (const i64 c : list) ++r.at(static_cast<std::size_t>(c));
  for (double& count : r) count /= double(list.size());
  return r;
}

TEST_CASE("distributions, and the same numbers each time") {
  const Floats t = random::truncated_normal({draws}, {.mean = 5, .stddev = 1, .seed = 1}).to_vector<float>();
  double sum = 0;
  for (const float v : t) sum += v;
  CHECK(*std::min_element(t.begin(), t.end()) >= 3);
  CHECK(*std::max_element(t.begin(), t.end()) <= 7);
  CHECK(sum / draws == Approx(5).margin(.02));
  const Tensor u = random::uniform({draws}, 0, 10, {.seed = 2});
  CHECK((reduce_min(u).item<float>() >= 0 && reduce_max(u).item<float>() < 10));
  for (const double share : shares(floor(u), 10)) CHECK(share * draws == Approx(draws / 10).margin(400));
  CHECK(random::stateless_normal({100}, {1, 2}).to_vector<float>() ==
        random::stateless_normal({100}, {1, 2}).to_vector<float>());
  auto draw = function([] { return random::uniform({4}); });
  CHECK(draw().to_vector<float>() != draw().to_vector<float>());
}

TEST_CASE("dropout") {
  const Tensor x = constant({-.1f, 0.f, .1f, .2f});
  const Floats in = x.to_vector<float>(), out = nn::dropout(x, {.rate = .5, .seed = 3}).to_vector<float>();
  for (std::size_t i = 0; i < 4; ++i) CHECK((out[i] == 0 || out[i] == 2 * in[i]));
  const Tensor y = nn::dropout(ones({draws}), {.rate = .5, .seed = 4});
  CHECK(double(count_nonzero(y).item<i64>()) / draws == Approx(.5).margin(.02));
  CHECK(reduce_mean(y).item<float>() == Approx(1).margin(.02));
  CHECK(nn::dropout(x, {.rate = .5, .training = false}).is_same(x));
  CHECK(nn::dropout(x, {.rate = 0}).to_vector<float>() == in);
  CHECK_THROWS_AS(nn::dropout(x, {.rate = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::dropout(x, {.rate = -.1}), errors::InvalidArgumentError);
}

TEST_CASE("the log-uniform sampler's ten classes") {
  const double p[] = {.289065, .169092, .119973, .093058, .076034, .064286, .055687, .049119, .043939, .039747};
  const auto s = random::log_uniform_candidate_sampler(zeros({1, 1}, int64), 1, draws, false, 10, {.seed = 5});
  const std::vector<double> got = shares(s.sampled, 10);
  for (std::size_t c = 0; c < 10; ++c) CHECK(got[c] == Approx(p[c]).margin(.01));
  const Tensor unique_classes = random::log_uniform_candidate_sampler(zeros({1, 1}, int64), 1, 10, true, 10).sampled;
  CHECK(sort(unique_classes).to_vector<i64>() == Longs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK_THROWS_AS(random::uniform_candidate_sampler(zeros({1, 1}, int64), 1, 11, true, 10),
                  errors::InvalidArgumentError);
}

TEST_CASE("sampling with a temperature") {
  const Tensor log_p = log(constant({.5f, .3f, .2f}));
  const auto frequencies = [&](const Tensor& logits, double t) {
    return shares(random::sample_with_temperature(broadcast_to(logits, {draws, 3}), t, {.seed = 6}), 3);
  };
  const double p[] = {.5707, .2751, .1542};
  const std::vector<double> warm = frequencies(log_p, .7);
  for (std::size_t c = 0; c < 3; ++c) CHECK(warm[c] == Approx(p[c]).margin(.01));
  CHECK(frequencies(log(constant({.4f, .4f, .2f})), 0)[0] == 1);
  const std::vector<double> masked = frequencies(constant({0.f, -INFINITY, 0.f}), .7);
  CHECK(masked[1] == 0);
  CHECK(masked[0] == Approx(.5).margin(.01));
}

}  // namespace features_random
