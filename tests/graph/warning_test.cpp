// The warning about a function that is traced again and again, and who gets it.
#include <string>
#include <vector>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

std::vector<std::string>& heard() {
  static std::vector<std::string> texts;
  return texts;
}
// Listens while it lives; the default handler, which writes to stderr, cannot be asked for, so silence follows.
struct Listening {
  Listening() {
    heard().clear();
    set_warning_handler([](const char* text) { heard().emplace_back(text); });
  }
  ~Listening() { set_warning_handler(nullptr); }
};

}  // namespace

TEST_CASE("function: one warning at the sixth trace, with reason and remedy") {
  const Listening listening;
  const auto f = function([](const Tensor& x) { return x + 1.f; }, {.name = "step"});
  for (i64 n = 1; n <= 5; ++n) f(ones({n}));
  CHECK(heard().empty());
  f(ones({6}));
  REQUIRE(heard().size() == 1);
  CHECK_THAT(heard()[0], ContainsSubstring("'step' has been traced 6 times") && ContainsSubstring("argument 0 is") &&
                             ContainsSubstring("float32[6]") && ContainsSubstring("input signature"));
  for (i64 n = 1; n <= 9; ++n) f(ones({n}));
  CHECK(heard().size() == 1);
}

TEST_CASE("function: no warning where the options say so") {
  const Listening listening;
  const auto f = function([](const Tensor& x) { return x + 1.f; }, {.warn_on_retracing = false});
  for (i64 n = 1; n <= 9; ++n) f(ones({n}));
  CHECK(f.trace_count() == 9);
  CHECK(heard().empty());
}

TEST_CASE("function: plain values that change are named as the reason") {
  const Listening listening;
  const auto f = function([](const Tensor& x, int n) { return x + n; });
  for (int n = 0; n < 6; ++n) f(ones({2}), n);
  REQUIRE(heard().size() == 1);
  CHECK_THAT(heard()[0], ContainsSubstring("argument 1 is") && ContainsSubstring("pass a tensor"));
}

TEST_CASE("function: calls of one signature warn nobody, and no handler is silence") {
  {
    const Listening listening;
    const auto f = function([](const Tensor& x) { return x + 1.f; });
    for (int i = 0; i < 20; ++i) f(ones({2}));
    CHECK(heard().empty());
  }
  const auto f = function([](const Tensor& x) { return x + 1.f; });
  for (i64 n = 1; n <= 9; ++n) f(ones({n}));
  CHECK(heard().empty());
}
