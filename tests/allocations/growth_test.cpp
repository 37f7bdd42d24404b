// How the work of lists of names grows with their length, counted by allocations: names long enough to need one.
#include <array>
#include <filesystem>
#include <random>

#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#include "tests/allocations/counted.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct ALayerWithANameThatDoesNotFitIntoASmallString : Model<ALayerWithANameThatDoesNotFitIntoASmallString> {
  using Module::add_variable;
};
using Long = ALayerWithANameThatDoesNotFitIntoASmallString;
struct Open : Module {
  using Module::add_module;
  using Module::add_variable;
};
template <std::size_t n>
struct Members : Model<Members<n>> {
  std::array<Long, n> list;
};

template <class F>
long news_of(const F& f) {
  const long before = counted::news;
  f();
  return counted::news - before;
}
// Whether four times as many cost about four times as much.
template <class F>
void check_linear(const F& of_size, int size = 400) {
  of_size(100);  // what is made once
  const long some = news_of([&] { of_size(size); }), many = news_of([&] { of_size(4 * size); });
  CHECK(some >= size);
  CHECK(many < 5 * some);
}
Open parent_of(int n) {
  const Open parent;
  for (int i = 0; i < n; ++i) {
    const Long child;
    child.add_variable("w", ones({1}));
    parent.add_module(child);
  }
  return parent;
}

// A tape with a ledger of n ops in scopes, its gradient and its report.
void taped(int n) {
  GradientTape tape({.ledger = true});
  const Tensor x = ones({2});
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < n; ++i) {
    const name_scope scope("a scope whose name does not fit into a small string " + std::to_string(i));
    y = y * x;
  }
  tape.gradient(y, x);
  to_string(tape.memory());
}

}  // namespace

TEST_CASE("growth: children that are named after their classes") {
  check_linear([](int n) { parent_of(n); });
  const Open parent = parent_of(3);
  const std::string kind = "a_layer_with_a_name_that_does_not_fit_into_a_small_string";
  std::vector<std::string> paths;
  for (const Module::Named& v : parent.named_variables()) paths.push_back(v.path);
  CHECK(paths == std::vector<std::string>{kind + "/w", kind + "_1/w", kind + "_2/w"});
}
TEST_CASE("growth: a hundred thousand children, layers, weights and traced ops", "[.][thorough]") {
  constexpr int size = 25'000;
  const std::string file =
      (fs::temp_directory_path() / ("tandem_growth_" + std::to_string(std::random_device()()))).string();
  check_linear(
      [&](int n) {
        const Open parent = parent_of(n);
        train::save_weights(parent, file);
        train::load_weights(parent, file);
        static_cast<void>(parent.summary());
      },
      size);
  fs::remove(file);
  check_linear(
      [](int n) {
        layers::Sequential s;
        for (int i = 0; i < n; ++i) s.add(layers::Dense(1));
        s(ones({1, 1}));
      },
      size);
  check_linear(
      [](int n) {
        const auto f = function([&](const Tensor& x) {
          Tensor y = x;
          for (int i = 0; i < n; ++i) y = exp(y);
          return y;
        });
        f(ones({2}));
      },
      size);
  check_linear(&taped, size);
}
TEST_CASE("growth: members that are named after their classes") {
  const auto list = []<std::size_t n>(const Members<n>& m) {
    for (const Long& x : m.list) x.add_variable("w", ones({1}));
    return news_of([&] { m.named_variables(); });
  };
  const long some = list(Members<50>()), many = list(Members<200>());
  CHECK(many < 5 * some);
}
TEST_CASE("growth: Sequential, its summary and its checkpoint") {
  check_linear([](int n) {
    layers::Sequential s;
    for (int i = 0; i < n; ++i) s.add(layers::Dense(1));
  });
  const std::string file =
      (fs::temp_directory_path() / ("tandem_growth_" + std::to_string(std::random_device()()))).string();
  check_linear([](int n) { static_cast<void>(parent_of(n).summary()); });
  check_linear([&](int n) { train::save_weights(parent_of(n), file); });
  check_linear([&](int n) {
    const Open parent = parent_of(n);
    train::save_weights(parent, file);
    train::load_weights(parent, file);
  });
  fs::remove(file);
}
TEST_CASE("growth: ops of one name in a trace, and traces that read many Variables") {
  const char* const name = "an op whose name does not fit into a small string, either";
  check_linear([&](int n) {
    const auto f = function(
        [&](const Tensor& x) {
          Tensor y = x;
          for (int i = 0; i < n; ++i) y = exp(y, {.name = name});
          return y;
        },
        {.execution = {.passes = {.fuse = false}}});
    f(ones({2}));
  });
}
TEST_CASE("growth: the ledger of a tape, and a profiler's events") {
  check_linear(&taped);
  check_linear([](int n) {
    Profiler profiler;
    Tensor y = ones({2});
    for (int i = 0; i < n; ++i) y = y + 1;
    profiler.json();
  });
}
