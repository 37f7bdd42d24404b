// Traced functions that draw random numbers inside of map: their numbers are those of the element.
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tests/support/catch.hpp"

namespace data_dataset_traced_test {
using namespace tandem;
using Floats = std::vector<float>;

template <class D>
Floats values(const D& ds, data::Position from = {1, 0}) {
  Floats r;
  auto it = ds.iterator(from);
  while (auto x = it.next())
    for (const float v : x->template to_vector<float>()) r.push_back(v);
  return r;
}
template <class F>
auto mapped(const F& f, i64 threads, i64 seed = 0) {
  return data::from_tensor_slices(range(0.f, 24.f))
      .map([f](const Tensor& x) { return Tensor(f(x)); }, {.num_parallel_calls = threads, .seed = seed});
}
// The same numbers with any number of threads, from any place on, whatever was drawn before; others in another epoch,
// with another seed, and for each element.
template <class F>
void check_keyed(const F& f, std::size_t size = 1) {
  random::set_seed(5);
  const Floats serial = values(mapped(f, 0));
  REQUIRE(serial.size() == 24 * size);
  CHECK(std::set<float>(serial.begin(), serial.end()).size() == serial.size());
  f(constant(0.f)), random::uniform({3});  // other draws do not matter
  for (const i64 threads : {0, 1, 4}) CHECK(values(mapped(f, threads)) == serial);
  CHECK(values(mapped(f, 3), {1, 10}) == Floats(serial.begin() + static_cast<std::ptrdiff_t>(10 * size), serial.end()));
  CHECK(values(mapped(f, 0), {2, 0}) != serial);
  CHECK(values(mapped(f, 0, 1)) != serial);
  random::set_seed(6);
  CHECK(values(mapped(f, 0)) != serial);
}

const auto noisy = [](const Tensor& x) {
  const Tensor a = random::uniform({2});
  return x + a + random::normal({2});
};

TEST_CASE("traced map: planned and op by op") {
  check_keyed(function(noisy), 2);
  check_keyed(function(noisy, {.execution = {.plan = false}}), 2);
}

TEST_CASE("traced map: the numbers of the function that is not traced") {
  random::set_seed(5);
  CHECK(values(mapped(function(noisy), 2)) == values(mapped(noisy, 2)));
  // Traced draws behind others, and the other way round.
  const auto one = function([](const Tensor& x) { return x + random::uniform({}); });
  const auto eager = [&](const Tensor& x) {
    const auto draw = [&] { return x + random::uniform({}); };
    const Tensor a = random::uniform({}), b = draw(), c = random::uniform({}), d = draw();
    return stack({a, b, c, d});
  };
  const auto in_order = [&](const Tensor& x) {
    const Tensor a = random::uniform({}), b = one(x), c = random::uniform({}), d = one(x);
    return stack({a, b, c, d});
  };
  CHECK(values(mapped(in_order, 2)) == values(mapped(eager, 0)));
}

TEST_CASE("traced map: ops with a seed have a sequence of their own") {
  const auto seeded = function([](const Tensor& x) {
    const Tensor a = random::uniform({1}, {.seed = 3}), b = random::uniform({1}, {.seed = 4});
    return concat({x + a, x + b, x + random::uniform({1})}, 0);
  });
  check_keyed(seeded, 3);
}

TEST_CASE("traced map: draws in branches and loops") {
  check_keyed(function([](const Tensor& x) {
    return cond(
        x > 5.f, [&] { return x + random::uniform({}); }, [&] { return x - random::uniform({}); });
  }));
  check_keyed(function([](const Tensor& x) {
    const auto [i, sum] =
        while_loop([](const Tensor& n, const Tensor&) { return n < i64{3}; },
                   [](const Tensor& n, const Tensor& s) { return std::pair(n + i64{1}, s + random::uniform({})); },
                   std::pair(constant(i64{0}), x));
    return sum;
  }));
}

TEST_CASE("traced map: a function that calls another, and one under a tape") {
  const auto inner = function([](const Tensor& x) { return x * random::uniform({}, 1, 2); });
  const auto outer = function([&](const Tensor& x) { return inner(x + 1) + inner(x + 2); });
  check_keyed([&](const Tensor& x) { return outer(x); });
  check_keyed([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = outer(x);
    return tape.gradient(y, x);
  });
  check_keyed([&](const Tensor& x) {
    const debugging::CheckNumericsScope op_by_op;
    return outer(x);
  });
}

TEST_CASE("traced map: a generator of one's own is not replaced") {
  const random::Generator own(7);
  const auto f = function([own](const Tensor& x) { return x + own.uniform({}); });
  const Floats first = values(mapped(f, 0)), second = values(mapped(f, 0));
  CHECK(first != second);  // it goes on
  const i64 draws = own.state().read_value()[1].item<i64>();
  CHECK(draws == 48);
}

TEST_CASE("traced map: the global generator is neither read nor advanced") {
  const auto f = function([](const Tensor& x) { return x + random::uniform({}); });
  f(constant(1.f));
  random::set_seed(3);
  const float expected = random::uniform({}).item<float>();
  random::set_seed(3);
  values(mapped(f, 2));
  CHECK(random::uniform({}).item<float>() == expected);
}

}  // namespace data_dataset_traced_test
