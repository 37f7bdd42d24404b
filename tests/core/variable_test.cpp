// Variables: assignment, in place or not, values that never change once read, threads, scopes, errors.
#include "tandem/core/variable.hpp"

#include <thread>

#include "tandem/core/scope.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;
}

TEST_CASE("variable: assign, add, subtract, reset") {
  const Variable v(constant(1.f));
  CHECK(v.item<float>() == 1);
  for (const float want : {2.f, 4.f, 8.f}) CHECK(v.assign(v * 2).item<float>() == want);
  CHECK(v.assign_add(constant(1.f)).item<float>() == 9);
  CHECK(v.assign_sub(constant(1.f)).item<float>() == 8);
  CHECK(v.assign_add(v).item<float>() == 16);
  v.reset();
  CHECK(v.item<float>() == 1);
  CHECK(v.assign(v + 2).item<float>() == 3);
}

TEST_CASE("variable: .dtype converts the initial value, .shape checks it") {
  CHECK(Variable(1, {.dtype = float32}).item<float>() == 1);
  CHECK(Variable(0.1, {.dtype = float64}).item<double>() == 0.1);
  CHECK_THROWS_WITH(Variable(0.5, {.dtype = int32}), ContainsSubstring("0.5 has a fraction"));
  const Tensor x = constant({1.f, 2.f});
  const Variable wide(x, {.name = "wide", .dtype = float64, .shape = {2}});
  CHECK(wide.to_vector<double>() == std::vector<double>{1, 2});
  CHECK(wide.name() == "wide");
  CHECK(Variable(constant({1, 2}), {.dtype = bfloat16}).dtype() == bfloat16);
  CHECK(Variable(x, {.dtype = float32}).dtype() == float32);
  CHECK_THROWS_WITH(Variable(x, {.dtype = int32}), ContainsSubstring("float32[2]: cast the value"));
  CHECK(Variable(x, {.shape = {none}}).shape() == Shape{2});
  CHECK_THROWS_WITH(Variable(x, {.shape = {3}}), ContainsSubstring("float32[2] does not have the shape (3,)"));
  CHECK_THROWS_WITH(Variable(x, {.shape = {2, 1}}), ContainsSubstring("does not have the shape (2, 1)"));
}

TEST_CASE("variable: two from one initial value are separate, and the value stays") {
  const Tensor zero = constant(0.f);
  const Variable a(zero), b(zero);
  a.assign_add(constant(5.f)), b.assign_add(constant(2.f));
  CHECK((a.item<float>() == 5 && b.item<float>() == 2));
  a.assign_add(constant(5.f)), b.assign_add(constant(2.f));
  CHECK((a.item<float>() == 10 && b.item<float>() == 4));
  CHECK(zero.item<float>() == 0);
}

TEST_CASE("variable: copies of the handle are the same variable") {
  const Variable a(constant(1.f)), b = a, c(constant(1.f));
  b.assign(constant(7.f));
  CHECK(a.item<float>() == 7);
  CHECK(a.is_same(b));
  CHECK(!a.is_same(c));
  CHECK(a.id() == b.id());
}

TEST_CASE("variable: a value read earlier never changes") {
  const Variable v(constant({1.f, 2.f}));
  v.assign_add(constant({1.f, 1.f}));
  const Tensor before = v.read_value(), view = before[0];
  v.assign_add(constant({10.f, 10.f}));
  v.assign_sub(constant({1.f, 1.f}));
  CHECK(before.to_vector<float>() == Floats{2, 3});
  CHECK(view.item<float>() == 2);
  CHECK(v.to_vector<float>() == Floats{11, 12});
  const Tensor assigned = constant({5.f, 5.f});
  v.assign(assigned);
  v.assign_add(constant({1.f, 1.f}));
  CHECK(assigned.to_vector<float>() == Floats{5, 5});
}

TEST_CASE("variable: updates are in place where nobody else holds the buffer") {
  const Variable v(zeros({1000}));
  const Tensor one = ones({1000});
  v.assign_add(one);
  const void* at = v.value_untracked().raw();
  for (int i = 0; i < 5; ++i) v.assign_add(one);
  CHECK(v.value_untracked().raw() == at);
  const Tensor held = v.read_value();
  v.assign_add(one);
  CHECK(v.value_untracked().raw() != at);
  CHECK(held.raw() == at);
  CHECK(held.at<float>({0}) == 6);
  CHECK(v.value_untracked().at<float>({0}) == 7);
}

TEST_CASE("variable: a read after an in-place update is another value") {
  const Variable v(zeros({4}));
  v.assign_add(ones({4}));
  const u64 before = v.value_untracked().id();
  v.assign_add(ones({4}));
  CHECK(v.value_untracked().id() != before);
}

TEST_CASE("variable: effects happen in program order") {
  for (int i = 0; i < 10; ++i) {
    const Variable a(constant(1.f));
    const Tensor b = constant(2.f), c = a + b;
    a.assign(constant(5.f));
    CHECK((c.item<float>() == 3 && a.item<float>() == 5));
    CHECK((a + b).item<float>() == 7);
  }
}

TEST_CASE("variable: threads that add lose nothing") {
  const Variable v(zeros({8}, {.dtype = float64}));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      const Tensor one = ones({8}, {.dtype = float64});
      for (int i = 0; i < 2000; ++i) v.assign_add(one);
    });
  double last = 0;
  for (int i = 0; i < 500; ++i) {  // a reader sees whole values that only grow
    const std::vector<double> now = v.to_vector<double>();
    for (const double x : now) REQUIRE(x == now[0]);
    REQUIRE(now[0] >= last);
    last = now[0];
  }
  for (std::thread& t : threads) t.join();
  CHECK(v.to_vector<double>() == std::vector<double>(8, 8000));
}

TEST_CASE("variable: update() changes all variables or none") {
  const Variable a(constant({1.f, 2.f})), b(constant({3.f, 4.f}));
  const Tensor wrong = ones({3});
  const Tensor* const extra[] = {&wrong};
  CHECK_THROWS_AS(update(add_op, std::array{a}, extra), errors::InvalidArgumentError);
  const Tensor broad = ones({2, 2});  // would change the shape
  const Tensor* const grown[] = {&broad};
  CHECK_THROWS_AS(update(add_op, std::array{a}, grown), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(update(add_op, std::array{a}, grown), ContainsSubstring("float32[2,2]"));
  CHECK(a.to_vector<float>() == Floats{1, 2});
  update(subtract_op, std::array{a, b}, {});  // (a, b) -> a'
  CHECK(a.to_vector<float>() == Floats{-2, -2});
  CHECK(b.to_vector<float>() == Floats{3, 4});
  update(add_op, std::array{b, b}, {});
  CHECK(b.to_vector<float>() == Floats{6, 8});
}

TEST_CASE("variable: fetch_update() returns the value before, which stays") {
  const Variable v(constant({1.f, 2.f}));
  v.assign_add(zeros({2}));
  const Tensor one = ones({2});
  const Tensor* const extra[] = {&one};
  const Tensor old = fetch_update(add_op, v, extra), then = fetch_update(add_op, v, extra);
  CHECK(old.to_vector<float>() == Floats{1, 2});
  CHECK(then.to_vector<float>() == Floats{2, 3});
  CHECK(v.to_vector<float>() == Floats{3, 4});
  const Tensor wrong = ones({3});
  const Tensor* const bad[] = {&wrong};
  CHECK_THROWS_AS(fetch_update(add_op, v, bad), errors::InvalidArgumentError);
  CHECK(v.to_vector<float>() == Floats{3, 4});
}

TEST_CASE("variable: errors name the variable") {
  const Variable v(constant({1.f, 2.f}), {.name = "weights"});
  CHECK_THROWS_AS(v.assign(ones({3})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(v.assign(ones({3})), ContainsSubstring("'weights'") && ContainsSubstring("float32[2]") &&
                                             ContainsSubstring("float32[3]"));
  CHECK_THROWS_AS(v.assign(constant({1, 2})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(v.assign(Tensor()), errors::FailedPreconditionError);
  CHECK_THROWS_AS(v.assign_add(Tensor()), errors::FailedPreconditionError);
  const Variable flag(constant(true));
  CHECK_THROWS_AS(flag.assign_add(constant(true)), errors::UnimplementedError);
  CHECK(v.to_vector<float>() == Floats{1, 2});
  const Variable empty;
  CHECK(!empty.is_set());
  CHECK_THROWS_AS(empty.read_value(), errors::FailedPreconditionError);
  CHECK_THROWS_AS(Variable(Tensor()), errors::FailedPreconditionError);
  CHECK_THROWS_AS(Variable(Tensor::symbol({{2}, float32, {}})), errors::TraceError);
}

TEST_CASE("variable: names and scopes") {
  const Variable plain(constant(1.f));
  CHECK(plain.name() == "Variable");
  CHECK(plain.trainable());
  {
    const name_scope outer("model");
    const name_scope inner("layer");
    CHECK(Variable(constant(1.f), {.name = "w", .trainable = false}).name() == "model/layer/w");
  }
  CHECK(Variable(constant(1.f), {.name = "w"}).name() == "w");
}

TEST_CASE("variable: strings and integers") {
  const Variable words(constant({"a", "b"})), count(constant(i64{5}));
  words.assign(constant({"c", "d"}));
  CHECK(words.to_vector<std::string>() == std::vector<std::string>{"c", "d"});
  CHECK(count.assign_add(constant(i64{2})).item<i64>() == 7);
  CHECK(words.assign_add(constant({"x", "y"})).to_vector<std::string>() == std::vector<std::string>{"cx", "dy"});
}

TEST_CASE("variable: lives on its device") {
  const sim::Installed installed;
  const Variable v(constant({1.f, 2.f}).to(sim::device));
  v.assign(constant({3.f, 4.f}));
  CHECK(v.read_value().device() == sim::device);
  v.assign_add(ones({2}).to(sim::device));
  CHECK(v.read_value().device() == sim::device);
  CHECK(v.to_vector<float>() == Floats{4, 5});
  const Variable host(constant({1.f, 2.f}));
  host.assign(v);
  CHECK(host.device() == Device{});
  host.assign_add(v);
  CHECK(host.read_value().device() == Device{});
  CHECK(host.to_vector<float>() == Floats{8, 10});
  v.assign_sub(host);
  CHECK(v.to_vector<float>() == Floats{-4, -5});
  CHECK(v.read_value().device() == sim::device);
  CHECK_THROWS_AS(update(add_op, std::array{v, host}, {}), errors::InvalidArgumentError);
}
