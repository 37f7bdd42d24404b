// Traced calls in their steady state: how often they call operator new, whatever they take and return.
#include "tandem/graph/trace/function.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/util/inter_op.hpp"
#include "tests/allocations/counted_new.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::wave;

namespace {

// Calls of operator new by one call, once the first ones have filled caches and free lists.
template <class F>
long news_of(const F& call) {
  for (int i = 0; i < 3; ++i) call();
  const long before = counted::news;
  call();
  return counted::news - before;
}

struct Parts {
  Tensor sum;
  std::optional<Tensor> scaled, none;
  std::array<Tensor, 4> powers;
  int count = 0;
};
struct Outputs {
  std::vector<Tensor> layers;
  std::map<std::string, Tensor> losses;
  std::vector<std::pair<std::string, Tensor>> named;
};
Outputs outputs_of(const Tensor& x) {
  Outputs r;
  for (int i = 0; i < 6; ++i) r.layers.push_back(x * static_cast<float>(i + 1));
  r.losses["a name that does not fit into a small string"] = reduce_sum(x);
  r.losses["another name that does not fit into one, either"] = reduce_max(x);
  r.named.emplace_back("the third name that does not fit into a small one", -x);
  return r;
}

}  // namespace

TEST_CASE("allocations: the counter counts") {
  CHECK(news_of([] { const std::vector<int> v(100); }) == 1);
  CHECK(news_of([] { const std::string s(100, 'x'); }) == 1);
}

TEST_CASE("allocations: a call that returns tensors, tuples, arrays or structs has none") {
  const Tensor x = wave({40, 30}, 0);
  const auto one = function([](const Tensor& t) { return exp(t) * 2; });
  CHECK(news_of([&] { one(x); }) == 0);
  const auto tuple = function([](const Tensor& t) { return std::tuple(t * 2, t * 3, t * 4, std::pair(t * 5, 7)); });
  CHECK(news_of([&] { tuple(x); }) == 0);
  const auto parts = function([](const Tensor& t) {
    return Parts{reduce_sum(t), t * 2, std::nullopt, {t * t, t * t * t, exp(t), sin(t)}, 3};
  });
  CHECK(news_of([&] { parts(x); }) == 0);
  const Parts r = parts(x);
  CHECK(r.count == 3);
  CHECK(r.scaled->at<float>({1, 2}) == x.at<float>({1, 2}) * 2);
  CHECK(!r.none);
  CHECK(r.powers[3].at<float>({5, 5}) == Approx(std::sin(x.at<float>({5, 5}))));
}

TEST_CASE("allocations: a call that returns a vector allocates the vector") {
  const Tensor x = wave({8}, 0);
  const auto f = function([](const Tensor& t) {
    std::vector<Tensor> r;
    for (int i = 0; i < 10; ++i) r.push_back(t * static_cast<float>(i));
    return r;
  });
  CHECK(news_of([&] { f(x); }) == 1);
  CHECK(f(x)[9].at<float>({3}) == x.at<float>({3}) * 9);
}

TEST_CASE("allocations: call_into has none, whatever it fills") {
  const Tensor x = wave({8}, 0), y = wave({8}, 1);
  const auto f = function(outputs_of);
  Outputs r;
  CHECK(news_of([&] { f.call_into(r, x); }) == 0);
  f.call_into(r, y);
  const Outputs want = outputs_of(y);
  REQUIRE(r.layers.size() == want.layers.size());
  for (std::size_t i = 0; i < want.layers.size(); ++i)
    CHECK(r.layers[i].to_vector<float>() == want.layers[i].to_vector<float>());
  REQUIRE(r.losses.size() == 2);
  for (const auto& [name, loss] : want.losses) CHECK(r.losses.at(name).item<float>() == loss.item<float>());
  CHECK(r.named[0].first == want.named[0].first);
  CHECK(r.named[0].second.to_vector<float>() == want.named[0].second.to_vector<float>());
}

TEST_CASE("allocations: call_into makes any object what f returns, and leaves it alone if f raises") {
  const auto f = function([](const Tensor& t, int n) {
    std::map<std::string, std::vector<Tensor>> r;
    for (int i = 0; i < n; ++i) r["rows" + std::to_string(i)] = {t, gather(t, constant({n}))};
    return r;
  });
  const Tensor x = constant({1.f, 2.f, 3.f});
  std::map<std::string, std::vector<Tensor>> r;
  r["old"] = {x};
  r["rows0"] = {x, x, x};
  f.call_into(r, x, 2);
  CHECK(r.size() == 2);
  CHECK(r.at("rows1").size() == 2);
  CHECK(r.at("rows0")[1].item<float>() == 3);
  f.call_into(r, x, 1);
  CHECK(r.size() == 1);
  CHECK(r.at("rows0")[1].item<float>() == 2);
  CHECK_THROWS_AS(f.call_into(r, x, 3), errors::OpError);  // no such row
  CHECK(r.size() == 1);
  CHECK(r.at("rows0")[1].item<float>() == 2);
}

TEST_CASE("allocations: what a call takes costs none") {
  std::vector<Tensor> many;
  for (int i = 0; i < 30; ++i)
    many.push_back(wave({1, 2, 3, 4, 5, 6}, static_cast<float>(i)));  // their specs are long texts
  const Variable v(zeros({1, 2, 3, 4, 5, 6})), w(ones({4}));
  const Tensor captured = wave({1, 2, 3, 4, 5, 6}, 40);
  const std::string text(200, 't');
  const std::map<std::string, double> settings = {{"a setting whose name is not a short one", 1.0}, {"b", 2.0}};
  const auto f = function([&](const std::vector<Tensor>& list, const Variable& to, const std::string& how,
                              const std::map<std::string, double>& numbers, const char* tag) {
    Tensor sum = captured;
    for (const Tensor& t : list) sum = sum + t * static_cast<float>(how.size() + numbers.size());
    to.assign_add(sum);
    w.assign(w * 0.5f);
    return std::pair(to.read_value(), std::string(tag).size());
  });
  const char* const tag = "a tag that does not fit into a small string";
  CHECK(news_of([&] { f(many, v, text, settings, tag); }) == 0);
}

TEST_CASE("allocations: open dims cost none") {
  const auto f = function([](const Tensor& a, const Tensor& b) { return std::tuple(matmul(a, b), a + 1, b * 2); },
                          {.input_signature = {{{none, 8}, float32, {}}, {{8, none}, float32, {}}}});
  const Tensor a = wave({3, 8}, 0), b = wave({8, 5}, 1);
  CHECK(news_of([&] { f(a, b); }) == 0);
}

TEST_CASE("allocations: kernels of many operands, and those that need room, cost none") {
  const Tensor x = wave({200, 3}, 0);
  const auto f = function([](const Tensor& t) {
    std::vector<Tensor> parts = unstack(t * 2), sums;
    for (std::size_t i = 0; i < parts.size(); ++i) sums.push_back(parts[i] + parts[parts.size() - 1 - i]);
    return std::pair(concat(sums, 0), nn::top_k(transpose(t), 100));
  });
  CHECK(news_of([&] { f(x); }) == 0);
}

TEST_CASE("allocations: a call whose branches run at the same time has none") {
  config::set_inter_op_parallelism_threads(2);
  const Tensor x = wave({64, 64}, 0), w = wave({64, 64}, 1);
  const auto f = function([](const Tensor& a, const Tensor& b) {
    Tensor left = tanh(a), right = tanh(b);
    for (int i = 0; i < 8; ++i) left = tanh(matmul(left, b)), right = tanh(matmul(right, a));
    return left + right;
  });
  REQUIRE_THAT(f.get_concrete_function(x, w)->plan(), ContainsSubstring(" in 2 branches"));
  CHECK(news_of([&] { f(x, w); }) == 0);
  config::set_inter_op_parallelism_threads(1);
}
