// Candidate samplers: probabilities, frequencies, unique draws and their expected counts, errors, traces.
#include "tandem/ops/random/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace candidates_test {
using namespace tandem;
using random::Candidates, random::Generator;
using testing::error_of;

Tensor classes_below(i64 n) { return reshape(range(i64{0}, n), {n, 1}); }
using Sampler = Candidates (*)(const Tensor&, i64, i64, bool, i64, random::CandidateSamplerOptions);

TEST_CASE("log_uniform_candidate_sampler: the probabilities of ten classes") {
  const std::vector<double> p{.289065, .169092, .119973, .093058, .076034,
                              .064286, .055687, .049119, .043939, .039747};  // to 1e-5
  const auto expected =
      random::log_uniform_candidate_sampler(classes_below(10), 1, 1, false, 10).true_expected.to_vector<float>();
  REQUIRE(expected.size() == 10);
  for (std::size_t k = 0; k < 10; ++k) CHECK(expected[k] == Approx(p[k]).margin(1e-5));
}

TEST_CASE("candidate samplers: frequencies are the probabilities, expected counts too") {
  constexpr i64 draws = 100'000;
  for (const Sampler sampler : {&random::log_uniform_candidate_sampler, &random::uniform_candidate_sampler}) {
    const Candidates c = sampler(classes_below(10), 1, draws, false, 10, {.seed = 1});
    CHECK(c.sampled.spec() == Spec{{draws}, int64, {}});
    std::vector<double> share(10);
    for (const i64 k : c.sampled.to_vector<i64>()) share.at(static_cast<std::size_t>(k)) += 1.0 / draws;
    const auto expected = c.true_expected.to_vector<float>();
    for (std::size_t k = 0; k < 10; ++k) CHECK(std::abs(share[k] - double(expected[k]) / draws) < .01);
    CHECK(reduce_all(c.sampled_expected == gather(reshape(c.true_expected, {10}), c.sampled)).item<bool>());
  }
  const auto even = random::uniform_candidate_sampler(classes_below(4), 1, 8, false, 4).true_expected;
  CHECK(even.to_vector<float>() == std::vector<float>(4, 2.f));
}

TEST_CASE("candidate samplers: unique classes, as often as expected") {
  for (const Sampler sampler : {&random::log_uniform_candidate_sampler, &random::uniform_candidate_sampler}) {
    const Generator generator(7);
    constexpr int calls = 4000;
    std::vector<double> drawn(12), expected(12);
    for (int i = 0; i < calls; ++i) {
      const Candidates c = sampler(classes_below(12), 1, 5, true, 12, {.generator = &generator});
      const auto v = c.sampled.to_vector<i64>();
      REQUIRE(std::set<i64>(v.begin(), v.end()).size() == 5);
      const auto e = c.true_expected.to_vector<float>();
      for (const i64 k : v) drawn[static_cast<std::size_t>(k)] += 1.0 / calls;
      for (std::size_t k = 0; k < 12; ++k) expected[k] += double(e[k]) / calls;
    }
    // The count depends on the number of draws, which depends on the classes: a few percent apart.
    for (std::size_t k = 0; k < 12; ++k) CHECK(std::abs(drawn[k] - expected[k]) < .06);
    CHECK((std::abs(drawn[0] - drawn[11]) < .05) == (sampler == &random::uniform_candidate_sampler));
  }
  // All of them, in random order; a class is expected less than once still.
  const Candidates all = random::log_uniform_candidate_sampler(classes_below(50), 1, 50, true, 50, {.seed = 3});
  auto v = all.sampled.to_vector<i64>();
  CHECK(!std::is_sorted(v.begin(), v.end()));
  std::sort(v.begin(), v.end());
  CHECK(v == range(i64{0}, i64{50}).to_vector<i64>());
  CHECK(reduce_max(all.true_expected).item<float>() <= 1);
}

TEST_CASE("candidate samplers: an example's true classes may be several, int32 and none") {
  const Candidates c = random::log_uniform_candidate_sampler(constant({{0, 3}, {9, 9}}), 2, 4, true, 10);
  CHECK(c.true_expected.spec() == Spec{{2, 2}, float32, {}});
  const auto e = c.true_expected.to_vector<float>();
  CHECK(e[0] > e[1]);
  CHECK(e[2] == e[3]);
  const Tensor nobody = constant(std::vector<i64>{}, {.shape = {0, 1}});
  CHECK(random::uniform_candidate_sampler(nobody, 1, 3, true, 3).true_expected.shape() == Shape{0, 1});
  CHECK(random::uniform_candidate_sampler(nobody, 1, 0, true, 3).sampled.shape() == Shape{0});
  CHECK(random::log_uniform_candidate_sampler(nobody, 1, 2, false, 1).sampled.to_vector<i64>() ==
        std::vector<i64>{0, 0});
}

TEST_CASE("candidate samplers: a seed repeats, a traced function draws anew") {
  const Tensor labels = classes_below(3);
  const auto draw = [&](const Generator& g) {
    return random::log_uniform_candidate_sampler(labels, 1, 20, true, 1000, {.generator = &g}).sampled.to_vector<i64>();
  };
  const Generator a(5), b(5);
  const auto first = draw(a);
  CHECK(first == draw(b));
  CHECK(first != draw(a));
  const auto traced = function([&](const Tensor& l) {
    return random::uniform_candidate_sampler(l, 1, 20, true, 1000, {.generator = &a}).sampled;
  });
  CHECK(traced(labels).to_vector<i64>() != traced(labels).to_vector<i64>());
}

TEST_CASE("candidate samplers: errors name the sampler and what does not fit") {
  const Tensor labels = constant({{1}, {7}});
  const auto draw = [&](i64 num_true, i64 n, bool unique, i64 range) {
    return error_of([&] { random::log_uniform_candidate_sampler(labels, num_true, n, unique, range); });
  };
  CHECK_THAT(draw(1, 2, true, 7), ContainsSubstring("true class 7 at position 1 is out of range [0, 7)"));
  CHECK_THAT(draw(1, 2, true, 7), ContainsSubstring("random::log_uniform_candidate_sampler:"));
  CHECK_THAT(draw(1, 9, true, 8), ContainsSubstring("cannot draw 9 different classes of 8"));
  CHECK(draw(1, 9, false, 8) == "no error");
  CHECK_THAT(draw(1, -1, false, 8), ContainsSubstring("cannot draw -1 classes of 8"));
  CHECK_THAT(draw(1, 0, false, 0), ContainsSubstring("cannot draw 0 classes of 0"));
  CHECK_THAT(draw(2, 1, false, 8), ContainsSubstring("[b, num_true = 2], not int32[2,1]"));
  CHECK_THAT(error_of([&] {
               random::uniform_candidate_sampler(constant({1, 2}), 1, 2, true, 7);
             }),
             ContainsSubstring("true_classes must be"));
  CHECK_THAT(error_of([&] { random::uniform_candidate_sampler(constant({{1.f}}), 1, 2, true, 7); }),
             ContainsSubstring("float32"));
  const Generator g(1);
  CHECK_THAT(error_of([&] { random::uniform_candidate_sampler(labels, 1, 2, true, 9, {.seed = 1, .generator = &g}); }),
             ContainsSubstring("both .seed and .generator"));
}

}  // namespace candidates_test
