// The pass start_early: ops that begin work beside the program move up behind their inputs, and not past each other.
#include <string>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace early_test {

using namespace tandem;

Specs infer_token(const InferCall&) { return Specs(Spec{Shape{}, DType::int64, {}}); }
void no_kernel(const KernelCall&) {}
constexpr OpDef talk(const char* name, bool early) {
  return {.name = name,
          .input_names = "x",
          .infer = &infer_token,
          .cpu = &no_kernel,
          .saves = Saves::nothing,
          .flags = {.stateful = true, .non_differentiable = true, .collective = true, .early = early}};
}
constexpr OpDef begin_op = talk("begin", true), exchange_op = talk("exchange", false);

Tensor begin(const Tensor& x) { return apply1(begin_op, no_attrs, no_options, x); }
Tensor exchange(const Tensor& x) { return apply1(exchange_op, no_attrs, no_options, x); }

// The names of the ops of f, optimized, in their order; of those that are listed.
template <class F>
std::string order(const F& f) {
  auto traced = function(f);
  const Ref<Graph> g = optimize(traced.get_concrete_function(ones({2, 2}))->graph());
  std::string r;
  for (const Node& n : g->nodes)
    for (const char* name : {"matmul", "dense", "begin", "exchange", "print", "cast", "cond"})
      if (n.op->name == std::string(name)) r += (r.empty() ? "" : " ") + std::string(name);
  return r;
}

TEST_CASE("early ops move up behind their inputs, past other effects") {
  CHECK(order([](const Tensor& x) {
          const Tensor a = matmul(x, x), b = matmul(a, x), c = matmul(b, x);
          print("between");
          const Tensor first = begin(a), second = begin(b);
          return std::vector<Tensor>{c, first, second};
        }) == "matmul begin matmul begin matmul print");
}

TEST_CASE("they do not move past each other, nor past other ops that talk to processes") {
  CHECK(order([](const Tensor& x) {
          const Tensor a = matmul(x, x), b = matmul(a, x), c = matmul(b, x);
          const Tensor first = begin(b), second = begin(a);
          return std::vector<Tensor>{c, first, second};
        }) == "matmul matmul begin begin matmul");
  CHECK(order([](const Tensor& x) {
          const Tensor a = matmul(x, x), b = matmul(a, x), sum = exchange(b), c = matmul(b, x);
          return std::vector<Tensor>{c, sum, begin(a)};
        }) == "matmul matmul exchange begin matmul");
}

TEST_CASE("an elementwise op of which they alone use the result goes along") {
  CHECK(order([](const Tensor& x) {
          const Tensor a = matmul(x, x), c = matmul(a, x);
          const Tensor narrow = cast(a, float64), token = begin(narrow);
          return std::vector<Tensor>{c, token};
        }) == "matmul cast begin matmul");
  CHECK(order([](const Tensor& x) {
          const Tensor a = matmul(x, x), c = matmul(a, x);
          const Tensor used = cast(a, float64), token = begin(used);
          return std::vector<Tensor>{c, token, used};
        }) == "matmul matmul cast begin");
}

TEST_CASE("inputs that are arguments: they come first") {
  CHECK(order([](const Tensor& x) {
          const Tensor c = matmul(x, x);
          return std::vector<Tensor>{c, begin(x)};
        }) == "begin matmul");
}

TEST_CASE("they do not move past control flow whose body talks to processes") {
  const auto with = [](const auto& body) {
    return order([&](const Tensor& x) {
      const Tensor a = matmul(x, x);
      const Tensor sum = cond(
          reduce_sum(x) > 0.f, [&] { return body(a); }, [&] { return reduce_sum(a); });
      return std::vector<Tensor>{sum, begin(a)};
    });
  };
  CHECK(with([](const Tensor& a) { return cast(begin(a), float32); }) == "matmul cond begin");
  CHECK(with([](const Tensor& a) { return reduce_mean(a); }) == "matmul begin cond");
}

}  // namespace early_test
