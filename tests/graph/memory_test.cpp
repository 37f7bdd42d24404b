// memory_for: what it says is what the allocator counts, before anything has run.
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {

// The counters are exact to 64 KiB for each of two threads; blocks of small results add up to less.
constexpr double slack = 192 * 1024;

// Compares with a first call, which makes the arena.
template <class F, class... A>
void check_first_call(const char* name, const F& fn, const A&... arguments) {
  CAPTURE(name);
  const auto f = function(fn);
  const MemoryUse use = f.memory_for(arguments...);
  CHECK(use.is_complete);
  memory::reset_peak();
  const std::int64_t before = memory::info().live;
  [[maybe_unused]] const auto result = f(arguments...);
  const auto added = static_cast<double>(memory::info().peak - before), said = static_cast<double>(use.call());
  CAPTURE(added, said, to_string(use));
  CHECK(said <= added * 1.01 + slack);
  CHECK(said >= added * 0.99 - slack);
}
Tensor values(const Shape& shape) { return ones(shape) * 0.5f; }

}  // namespace

TEST_CASE("memory_for: calls of many kinds take what it says") {
  const Tensor x = values({1024, 1024});
  const Variable v(values({1024, 1024})), u(values({1024, 1024}));
  check_first_call(
      "pointwise", [](const Tensor& a) { return exp(a) + sin(a) * 2.f; }, x);
  check_first_call(
      "product", [](const Tensor& a) { return matmul(a, a); }, x);
  check_first_call(
      "two layers", [&](const Tensor& a) { return matmul(nn::relu(matmul(a, v)), u); }, x);
  check_first_call(
      "softmax", [](const Tensor& a) { return nn::softmax(a * 2.f); }, x);
  check_first_call(
      "sum", [](const Tensor& a) { return reduce_sum(matmul(a, a)); }, x);
  check_first_call(
      "three results", [](const Tensor& a) { return std::tuple(a + 1.f, a * 2.f, exp(a)); }, x);
  check_first_call(
      "concat",
      [](const Tensor& a) {
        return concat({a * 2.f, a + 1.f}, 0);
      },
      x);
  check_first_call(
      "transpose", [](const Tensor& a) { return transpose(a) * 2.f; }, x);
  check_first_call(
      "gather", [](const Tensor& a) { return gather(a, constant(std::vector<i64>(2000, 3))); }, x);
  check_first_call(
      "sort", [](const Tensor& a) { return sort(a); }, x);
  check_first_call(
      "layer norm", [](const Tensor& a) { return nn::layer_norm(a); }, x);
  check_first_call(
      "one hot", [](const Tensor& a) { return reduce_sum(one_hot(argmax(a, {.axis = 1}), 4096), 0); }, x);
  check_first_call(
      "split", [](const Tensor& a) { return split(a * 2.f, 4); }, x);
  check_first_call(
      "views", [](const Tensor& a) { return reshape(exp(a), {-1}); }, x);
}

TEST_CASE("memory_for: steps that train, with values that are computed in the Variables' buffers") {
  const Tensor x = values({512, 1024});
  const Variable v(values({1024, 1024})), u(values({1024, 1024}));
  check_first_call(
      "first assignment", [&](const Tensor& a) { return v.assign_add(matmul(a, a, {.transpose_a = true})), 0; }, x);
  check_first_call(
      "assignment", [&](const Tensor& a) { return v.assign_add(matmul(a, a, {.transpose_a = true})), reduce_sum(a); },
      x);
  check_first_call(
      "step",
      [&](const Tensor& a) {
        GradientTape tape;
        const Tensor loss = reduce_mean(square(matmul(nn::relu(matmul(a, v)), u)));
        const auto g = tape.gradient(loss, std::vector<Variable>{v, u});
        v.assign_sub(g[0].dense() * 1e-9f);
        u.assign_sub(g[1].dense() * 1e-9f);
        return loss;
      },
      x);
}

TEST_CASE("memory_for: bodies of control flow") {
  const Tensor x = values({1024, 1024});
  check_first_call(
      "loop in place",
      [](const Tensor& a) {
        return while_loop([](const Tensor& i, const Tensor&) { return i < 5; },
                          [](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, exp(y) * 0.1f); },
                          std::tuple(constant(0), a));
      },
      x);
  check_first_call(
      "loop of products",
      [](const Tensor& a) {
        return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                          [](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, matmul(y, y) * 0.001f); },
                          std::tuple(constant(0), a));
      },
      x);
  check_first_call(
      "scan",
      [](const Tensor& a) {
        return scan([](const Tensor& sum, const Tensor& row) { return sum + row; }, a, zeros({1024}));
      },
      x);
  // Both branches keep their arenas: that of the one that has not run yet is still to come.
  const auto f = function([](const Tensor& a, const Tensor& first) {
    return cond(
        first, [&] { return matmul(a, a) * 2.f; }, [&] { return matmul(matmul(a, a), a) + 1.f; });
  });
  const MemoryUse use = f.memory_for(x, constant(true));
  memory::reset_peak();
  const std::int64_t before = memory::info().live;
  for (const bool first : {true, false, true}) f(x, constant(first));
  const auto added = static_cast<double>(memory::info().peak - before), said = static_cast<double>(use.call());
  CAPTURE(added, said);
  CHECK(said <= added * 1.01 + slack);
  CHECK(said >= added * 0.99 - slack);
}

TEST_CASE("memory_for: sums of loops, which take a tensor more from the 64th iteration on") {
  const Tensor w = values({1024, 1024}) * 0.001f, start = values({1024, 1});
  const auto grad_of_scan = [&](const Tensor& rows) {
    GradientTape tape;
    tape.watch(w);
    const Tensor y = scan([&](const Tensor& state, const Tensor& row) { return matmul(w, state) + row; }, rows, start);
    return tape.gradient(reduce_sum(y), w);
  };
  const auto added_by = [](const auto& f, const Tensor& x) {
    memory::reset_peak();
    const std::int64_t before = memory::info().live;
    [[maybe_unused]] const Tensor result = f(x);
    return static_cast<double>(memory::info().peak - before);
  };
  for (const i64 rows : {5, 63, 64, 200}) {  // not known when the loop is traced
    const auto f = function(grad_of_scan, {.input_signature = {{{none, 1, 1}, float32}}});
    const Tensor x = values({rows, 1, 1});
    const auto said = static_cast<double>(f.memory_for(x).call());
    const double added = added_by(f, x);
    CAPTURE(rows, added, said);
    CHECK(said <= added * 1.01 + slack);
    CHECK(said >= added * 0.99 - slack);
  }
  const auto by_limit = [&](i64 limit, i64 iterations) {
    return function([&, limit, iterations](const Tensor& x) {
      GradientTape tape;
      tape.watch(w);
      const auto [i, y] =
          while_loop([iterations](const Tensor& k, const Tensor&) { return k < iterations; },
                     [&](const Tensor& k, const Tensor& state) { return std::tuple(k + i64{1}, matmul(w, state)); },
                     std::tuple(constant(i64{0}), x), {.maximum_iterations = limit});
      return tape.gradient(reduce_sum(y), w);
    });
  };
  const double tensor = 1024 * 1024 * sizeof(float);
  for (const auto& [limit, iterations] : {std::pair(i64{10}, i64{5}), std::pair(i64{1000}, i64{5})}) {
    const auto f = by_limit(limit, iterations);
    const auto said = static_cast<double>(f.memory_for(start).call());
    const double added = added_by(f, start), most = limit < 64 ? added : added + tensor;  // 64 might follow
    CAPTURE(limit, added, said);
    CHECK(said <= most * 1.01 + slack);
    CHECK(said >= most * 0.99 - slack);
  }
}

TEST_CASE("memory_for: op by op, values are freed after their last use") {
  const auto f = function(
      [](const Tensor& a) {
        Tensor y = a;
        for (int i = 0; i < 6; ++i) y = transpose(y) * 2.f;
        return y;
      },
      {.execution = {.plan = false}});
  const Tensor x = values({1024, 1024});
  const MemoryUse use = f.memory_for(x);
  CHECK(use.arena == 0);
  CHECK(use.buffers >= 2 * (4 << 20));
  CHECK(use.buffers <= 3 * (4 << 20) + static_cast<i64>(slack));
}

TEST_CASE("memory_for: parts, the largest buffers, and sizes that are not known") {
  const Variable w(values({1000, 100}));
  const Tensor c = values({1, 100});
  const auto f = function([&](const Tensor& x) { return matmul(x, w) + c; });
  const MemoryUse use = f.memory_for(TensorSpec({1000, 1000}, float32));
  CHECK(f.trace_count() == 1);
  CHECK(use.arguments >= 4'000'000);
  CHECK(use.variables >= 400'000);
  CHECK(use.constants >= 400);
  CHECK(use.total() == use.arguments + use.variables + use.constants + use.packed + use.call());
  REQUIRE(!use.largest.empty());
  CHECK_THAT(use.largest[0].what, ContainsSubstring("float32[1000,100]"));
  CHECK_THAT(to_string(use), ContainsSubstring("bytes: in all\n") && ContainsSubstring("bytes: Variables"));

  const auto open = function([&](const Tensor& x) { return x * 2.f; }, {.input_signature = {{{none}, float32}}});
  CHECK(open.memory_for(zeros({1 << 20})).buffers >= 4 << 20);
  CHECK(open.memory_for(zeros({1 << 21})).buffers >= 8 << 20);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { open.memory_for(TensorSpec({none}, float32)); }),
             ContainsSubstring("argument 0 is float32[None]"));
  const auto by_data = function([](const Tensor& x) { return boolean_mask(x, x > 0.f); });
  CHECK_FALSE(by_data.memory_for(ones({100})).is_complete);
}

TEST_CASE("a step whose sizes depend on data, and so has no plan, updates Variables in place") {
  const i64 rows = 100'000;
  const auto table = [&] { return reshape(range(static_cast<float>(rows * 8)) / 1e6f, {rows, 8}); };
  const Variable planned(table()), by_eager(table());
  const auto step_of = [](const Variable& w, const optimizers::Adam& adam) {
    return [&](const Tensor& ids) {
      GradientTape tape;
      const Tensor loss = reduce_sum(square(gather(w, unique(ids).y)));
      adam.apply_gradients(tape.gradient(loss, {w}), {w});
      return loss;
    };
  };
  const optimizers::Adam adam(0.1), other(0.1);
  const auto step = step_of(by_eager, other);
  const auto f = function(step_of(planned, adam));
  const Tensor ids = constant({5, 7, 5, 99'999});
  for (int i = 0; i < 2; ++i) CHECK(f(ids).item<float>() == step(ids).item<float>());  // the first one copies
  memory::reset_peak();
  const i64 before = memory::info().live;
  CHECK(f(ids).item<float>() == step(ids).item<float>());
  CHECK(memory::info().peak - before < rows * 8);  // bytes, of four times as many
  CHECK(planned.value().to_vector<float>() == by_eager.value().to_vector<float>());
}
TEST_CASE("without a plan, a value that was read before an update stays, wherever it is still needed") {
  const Variable v(constant({1.f, 2.f, 3.f}));
  const auto f = function([&](const Tensor& ids) {
    const Tensor before = v.read_value(), kept = before * 1.f;
    v.scatter_nd_add(expand_dims(unique(ids).y, 1), ones_like(gather(v, unique(ids).y)));
    return std::tuple(before, kept, v.read_value());
  });
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> old = v.value().to_vector<float>();
    const auto [before, kept, after] = f(constant({1, 1, 2}));
    CHECK(before.to_vector<float>() == old);
    CHECK(kept.to_vector<float>() == old);
    CHECK(after.to_vector<float>() == std::vector<float>{old[0], old[1] + 1, old[2] + 1});
  }
  CHECK_THROWS_AS(f(constant({1, 3})), errors::InvalidArgumentError);
  CHECK(v.value().to_vector<float>() == std::vector<float>{1, 5, 6});
}
