// Branches and cases in vectors, whose number is known at run time.
#include <functional>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("switch_case takes a vector of branches") {
  for (const std::size_t n : {1u, 2u, 3u, 7u}) {
    std::vector<std::function<Tensor(void)>> experts;
    for (std::size_t k = 0; k < n; ++k) experts.push_back([k] { return constant(static_cast<float>(k)) * 10; });
    const auto pick = [&](const Tensor& i) { return switch_case(i, experts); };
    const auto pick_or = [&](const Tensor& i) { return switch_case(i, experts, [] { return constant(-1.f); }); };
    const auto traced = function(pick);
    const auto traced_or = function(pick_or);
    for (int i = -1; i <= static_cast<int>(n); ++i) {
      const bool inside = i >= 0 && i < static_cast<int>(n);
      const float last = 10.f * static_cast<float>(n - 1), want = 10.f * static_cast<float>(i);
      CHECK(pick(constant(i)).item<float>() == (inside ? want : last));
      CHECK(traced(i).item<float>() == (inside ? want : last));
      CHECK(pick_or(constant(i)).item<float>() == (inside ? want : -1));
      CHECK(traced_or(i).item<float>() == (inside ? want : -1));
    }
  }
  CHECK_THROWS_AS(switch_case(constant(0), std::vector<std::function<Tensor(void)>>()), errors::InvalidArgumentError);
}

TEST_CASE("case_ takes a vector of cases") {
  using Branch = std::function<Tensor()>;
  const auto grade = [](const Tensor& x, bool or_else, bool exclusive) {
    std::vector<Case<Branch>> cases;
    for (const float limit : {0.f, 10.f, 20.f}) cases.push_back({x < limit, [=] { return x * 0 + limit; }});
    const CaseOptions o{.exclusive = exclusive};
    return or_else ? case_(
                         cases, [&] { return x; }, o)
                   : case_(cases, o);
  };
  const auto traced = function([&](const Tensor& x) { return grade(x, true, false); });
  const auto strict = function([&](const Tensor& x) { return grade(x, false, false); });
  for (const auto& [x, want] : {std::pair(-5.f, 0.f), {5.f, 10.f}, {15.f, 20.f}, {25.f, 25.f}}) {
    CHECK(grade(constant(x), true, false).item<float>() == want);
    CHECK(traced(x).item<float>() == want);
    if (x > 20) continue;
    CHECK(grade(constant(x), false, false).item<float>() == want);
    CHECK(strict(x).item<float>() == want);
  }
  CHECK_THROWS_AS(grade(constant(25.f), false, false), errors::InvalidArgumentError);
  CHECK_THROWS_AS(strict(25.f), errors::InvalidArgumentError);
  CHECK_THROWS_AS(grade(constant(5.f), true, true), errors::InvalidArgumentError);  // two are true
  CHECK(grade(constant(15.f), true, true).item<float>() == 20);
  CHECK_THROWS_AS(case_(std::vector<Case<Branch>>()), errors::InvalidArgumentError);
}
