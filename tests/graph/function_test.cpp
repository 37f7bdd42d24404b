// function(): signatures, structures, effects, errors, gradients; the graph's results against eager ones.
#include "tandem/graph/trace/function.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::floats, testing::Floats;
using testing::wave;

TEST_CASE("function: traces once a signature") {
  int runs = 0;
  const auto f = function([&](const Tensor& x) {
    ++runs;
    return x * 2 + 1;
  });
  for (int i = 0; i < 100; ++i)
    CHECK(f(constant({1.f, static_cast<float>(i)})).to_vector<float>()[1] == 2.f * static_cast<float>(i) + 1);
  CHECK(runs == 1);
  CHECK(f.trace_count() == 1);
  CHECK(f(constant({1, 2})).to_vector<int>() == std::vector<int>{3, 5});
  CHECK(f(constant(1.f)).item<float>() == 3);
  CHECK(runs == 3);
  f(constant({1.f, 2.f}));
  CHECK(runs == 3);
}

namespace {
struct Batch {
  Tensor x;
  std::vector<Tensor> more;
  int times;
};
struct Result {
  Tensor sum;
  std::pair<Tensor, int> other;
};
}  // namespace

TEST_CASE("function: structs, vectors and plain values pass through") {
  const auto f = function([](const Batch& b, float scale) {
    Tensor sum = b.x;
    for (const Tensor& t : b.more)
      for (int i = 0; i < b.times; ++i) sum = sum + t * scale;
    return Result{sum, {b.x, b.times}};
  });
  const Result r = f(Batch{constant(1.f), {constant(2.f), constant(3.f)}, 2}, 10.f);
  CHECK(r.sum.item<float>() == 101);
  CHECK(r.other.first.item<float>() == 1);
  CHECK(r.other.second == 2);
  CHECK(f(Batch{constant(1.f), {constant(2.f), constant(3.f)}, 2}, 10.f).sum.item<float>() == 101);
  CHECK(f.trace_count() == 1);
  CHECK(f(Batch{constant(1.f), {constant(2.f)}, 1}, 10.f).sum.item<float>() == 21);
  CHECK(f(Batch{constant(1.f), {constant(2.f)}, 1}, 1.f).sum.item<float>() == 3);
  CHECK(f.trace_count() == 3);
  CHECK(f.trace_log()[2].reason.find("10.0") != std::string::npos);
}

TEST_CASE("function: string literals are texts, by value") {
  const auto f = function([](const Tensor& x, const std::string& how) { return how == "neg" ? -x : x; });
  const Tensor x = constant(2.f);
  CHECK(f(x, "neg").item<float>() == -2);
  CHECK(f(x, "nothing").item<float>() == 2);
  const char same[] = {'n', 'e', 'g', 0};
  CHECK(f(x, static_cast<const char*>(same)).item<float>() == -2);
  CHECK(f.trace_count() == 2);
  CHECK(f(x, std::string("neg")).item<float>() == -2);
  CHECK(f.get_concrete_function(x, "neg")->graph().arguments.size() == 1);
}

TEST_CASE("function: reads and assignments keep their order") {
  const Variable a(constant(1.f)), b(constant(2.f));
  const auto before = function([&] {
    const Tensor c = a + b;
    a.assign(constant(5.f));
    return c;
  });
  for (int i = 0; i < 10; ++i) {
    a.assign(constant(1.f));
    CHECK(before().item<float>() == 3);
    CHECK(a.item<float>() == 5);
  }
  const auto after = function([&] {
    a.assign(constant(5.f));
    return a + b;
  });
  for (int i = 0; i < 10; ++i) {
    a.assign(constant(1.f));
    CHECK(after().item<float>() == 7);
  }
}

TEST_CASE("function: variables are written in place, and what the caller holds is not") {
  const Variable v(zeros({1000}));
  const auto step = function([&](const Tensor& x) {
    const Tensor sum = reduce_sum(v.read_value());
    v.assign_add(x);
    return sum;
  });
  step(ones({1000}));
  const Tensor kept = v.read_value();
  const void* const place = kept.data<float>().data();
  CHECK(step(ones({1000})).item<float>() == 1000);
  CHECK(kept.to_vector<float>() == Floats(1000, 1.f));
  CHECK(v.to_vector<float>() == Floats(1000, 2.f));
  const void* const now = v.read_value().data<float>().data();
  CHECK(now != place);
  step(ones({1000}));
  CHECK(v.read_value().data<float>().data() == now);
  CHECK(v.to_vector<float>() == Floats(1000, 3.f));
}

TEST_CASE("function: open dims serve every size, and are checked") {
  const auto f = function([](const Tensor& x) { return reduce_sum(x * x, 1) + 1; },
                          {.name = "norms", .input_signature = {{{none, 8}, float32, {}}}});
  for (i64 n = 1; n <= 20; ++n) CHECK(f(ones({n, 8})).to_vector<float>() == Floats(static_cast<std::size_t>(n), 9.f));
  CHECK(f.trace_count() == 1);
  CHECK_THROWS_WITH(f(ones({2, 9})), ContainsSubstring("norms") && ContainsSubstring("float32[2,9]") &&
                                         ContainsSubstring("float32[None,8]"));
  CHECK(f(ones({3, 8})).to_vector<float>() == Floats(3, 9.f));
}

TEST_CASE("function: a concrete function checks its arguments, however it is called") {
  const auto f = function([](const Tensor& x) { return tanh(matmul(x, x)); }, {.name = "product"})
                     .get_concrete_function(TensorSpec({none, 1}, float32));
  const Tensor one = ones({1, 1}), flat = ones({1}), whole = ones({1, 1}, {.dtype = int32});
  const auto call = [&](const std::vector<const Tensor*>& in) { return f->call(in)[0]; };
  CHECK(call({&one}).item<float>() == Approx(std::tanh(1.)));
  CHECK_THROWS_WITH(call({}), ContainsSubstring("product: takes 1 tensors, not 0"));
  CHECK_THROWS_WITH(call({&one, &one}), ContainsSubstring("takes 1 tensors, not 2"));
  CHECK_THROWS_WITH(call({&flat}), ContainsSubstring("argument 0 is float32[1]"));
  CHECK_THROWS_WITH(call({&whole}), ContainsSubstring("argument 0 is int32[1,1]"));
  CHECK_THROWS_AS((*f)({}), errors::InvalidArgumentError);
}

TEST_CASE("function: reduce_retracing opens the dims that change") {
  const auto f = function([](const Tensor& x) { return x + 1; }, {.reduce_retracing = true});
  for (i64 n = 1; n <= 10; ++n) CHECK(f(zeros({n})).size() == n);
  CHECK(f.trace_count() == 2);
}

TEST_CASE("function: an exception while tracing leaves nothing behind") {
  bool fail = true;
  const auto f = function([&](const Tensor& x) {
    if (fail) throw std::runtime_error("no");
    return x + 1;
  });
  CHECK_THROWS_AS(f(constant(1.f)), std::runtime_error);
  CHECK(f.trace_count() == 0);
  CHECK(context.stager == nullptr);
  fail = false;
  CHECK(f(constant(1.f)).item<float>() == 2);
}

TEST_CASE("function: values of the trace cannot be read, and the error says where they were made") {
  const auto f = function([](const Tensor& x) {
    const Tensor y = x * 2;
    return y.item<float>() > 0 ? y : x;
  });
  CHECK_THROWS_AS(f(constant(1.f)), errors::TraceError);
  CHECK_THROWS_WITH(f(constant(1.f)), ContainsSubstring("multiply") && ContainsSubstring("cond"));
  Tensor escaped;
  const auto g = function([&](const Tensor& x) { return escaped = x + 1; });
  g(constant(1.f));
  CHECK_THROWS_AS(escaped + 1, errors::TraceError);
}

namespace {
Tensor call_again(const Tensor& x);
const auto recursive = function([](const Tensor& x) { return call_again(x) + 1; }, {.name = "recursive"});
Tensor call_again(const Tensor& x) { return recursive(x); }
}  // namespace

TEST_CASE("function: recursion raises") {
  CHECK_THROWS_WITH(recursive(constant(1.f)), ContainsSubstring("recursive") && ContainsSubstring("while_loop"));
  CHECK(context.stager == nullptr);
}

TEST_CASE("function: late or lost Variables raise") {
  std::vector<Variable> made;
  const auto late = function(
      [&](const Tensor& x) {
        if (made.empty() || x.rank() == 1) made.push_back(Variable(constant(1.f), {.name = "late"}));
        return x + made[0];
      },
      {.name = "maker"});
  CHECK(late(constant(1.f)).item<float>() == 2);
  CHECK_THROWS_WITH(late(constant({1.f})), ContainsSubstring("maker") && ContainsSubstring("late"));
  CHECK(late(constant(3.f)).item<float>() == 4);
  const auto lost = function([](const Tensor& x) { return x + Variable(constant(1.f), {.name = "gone"}); });
  CHECK_THROWS_WITH(lost(constant(1.f)), ContainsSubstring("gone"));
}

TEST_CASE("function: a call in a function joins its trace") {
  int inner_runs = 0, outer_runs = 0;
  const auto inner = function([&](const Tensor& x) {
    ++inner_runs;
    return x * x;
  });
  const auto outer = function([&](const Tensor& x) {
    ++outer_runs;
    return inner(x) + inner(x + 1);
  });
  for (int i = 0; i < 3; ++i) CHECK(outer(constant(2.f)).item<float>() == 13);
  CHECK(inner_runs == 1);
  CHECK(outer_runs == 1);
  CHECK(inner(constant(3.f)).item<float>() == 9);
  CHECK(inner_runs == 1);
}

TEST_CASE("function: gradients through traced calls, of both orders") {
  const Variable w(wave({3}, 1));
  const auto f = function([&](const Tensor& x) { return reduce_sum(tanh(x * w) * x); });
  const auto plain = [&](const Tensor& x) { return reduce_sum(tanh(x * w) * x); };
  const Tensor x = wave({3}, 0.5f);
  const auto derive = [&](const auto& call) {
    GradientTape outer({.persistent = true});
    outer.watch(x);
    GradientTape inner({.persistent = true});
    inner.watch(x);
    const Tensor y = call(x);
    const Tensor dx = inner.gradient(y, x), dw = inner.gradient(y, w);
    const Tensor second = outer.gradient(reduce_sum(dx * dx), x), mixed = outer.gradient(reduce_sum(dw), x);
    return std::vector<Floats>{floats(y), floats(dx), floats(dw), floats(second), floats(mixed)};
  };
  const auto eager = derive(plain), traced = derive(f);
  for (std::size_t i = 0; i < eager.size(); ++i)
    for (std::size_t k = 0; k < eager[i].size(); ++k) CHECK(traced[i][k] == Approx(eager[i][k]).epsilon(1e-5));
  CHECK(f.trace_count() == 1);
}

TEST_CASE("function: results that are arguments, repeated, or constants keep their gradients apart") {
  const auto f = function([](const Tensor& x) {
    const Tensor y = x * 3;
    return std::tuple(x, y, y, constant(7.f));
  });
  const Tensor x = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  const auto [a, b, c, d] = f(x);
  CHECK(d.item<float>() == 7);
  CHECK(tape.gradient(a * 10 + b + c + x + d, x).item<float>() == 17);
}

TEST_CASE("function: a failing call has the effects before the failing op") {
  const Variable v(constant(0));
  const auto f = function([&](const Tensor& x, const Tensor& i) {
    v.assign_add(constant(1));
    const Tensor picked = gather(x, i);
    v.assign_add(picked);
    return picked;
  });
  const Tensor x = constant({10, 20});
  CHECK(f(x, constant(1)).item<int>() == 20);
  CHECK(v.item<int>() == 21);
  CHECK_THROWS_AS(f(x, constant(2)), errors::InvalidArgumentError);
  CHECK(v.item<int>() == 22);
  CHECK(f(x, constant(0)).item<int>() == 10);
  CHECK(v.item<int>() == 33);
}

TEST_CASE("function: an open size that does not fit raises in its place, after the effects before it") {
  const Variable v(zeros({3})), count(constant(0));
  const auto f = function(
      [&](const Tensor& x) {
        count.assign_add(constant(1));
        v.assign(x * 2);
        return count.read_value();
      },
      {.input_signature = {{{none}, float32, {}}}});
  CHECK(f(ones({3})).item<int>() == 1);
  CHECK_THROWS_WITH(f(ones({4})), ContainsSubstring("float32[3]") && ContainsSubstring("float32[4]"));
  CHECK(v.to_vector<float>() == Floats(3, 2.f));
  CHECK(count.item<int>() == 2);
  const auto sum = function(
      [&](const Tensor& x) {
        count.assign_add(constant(1));
        return x + ones({3});
      },
      {.input_signature = {{{none}, float32, {}}}});
  CHECK_THROWS_AS(sum(ones({4})), errors::InvalidArgumentError);
  CHECK(count.item<int>() == 3);
}

TEST_CASE("function: gradients undo a broadcast that only open dims bring") {
  const auto slope = [](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    tape.watch(x), tape.watch(y);
    const std::vector<Tensor> g = tape.gradient(x + y * x, {x, y});
    return std::pair(g[0], g[1]);
  };
  const auto f = function(slope, {.input_signature = {{{none}, float32, {}}, {{none}, float32, {}}}});
  const auto [dx, dy] = f(ones({3}), ones({1}));
  CHECK(dx.to_vector<float>() == Floats(3, 2.f));
  CHECK(dy.to_vector<float>() == Floats{3});
  CHECK(f(ones({2}), ones({2})).second.to_vector<float>() == Floats(2, 1.f));
}

TEST_CASE("function: a new Variable is not one whose trace has read only its shape") {
  const auto f = function([](const Variable& v) { return constant(static_cast<float>(v.shape()[0])); });
  for (i64 n = 1; n < 5; ++n) {
    const Variable v(zeros({n}));  // perhaps where the last one was
    CHECK(f(v).item<float>() == static_cast<float>(n));
  }
  CHECK(f.trace_count() == 4);
}

TEST_CASE("function: sizes that depend on data run op by op") {
  const auto f = function([](const Tensor& x) { return reduce_sum(boolean_mask(x, x > 0.f)) * 2; });
  CHECK(f(constant({1.f, -2.f, 3.f})).item<float>() == 8);
  CHECK(f(constant({-1.f, -2.f, 3.f})).item<float>() == 6);
}

TEST_CASE("function: a value that is assigned to two Variables reaches both") {
  const Variable a(constant(2.f)), b(constant(10.f)), c(constant(0.f));
  const auto f = function([&] {
    const Tensor twice = a + a;
    a.assign(twice);
    b.assign(b + twice);
    c.assign(twice);
    a.assign(twice * 3);
    a.assign(twice);
  });
  f();
  f();
  CHECK(a.item<float>() == 8);
  CHECK(b.item<float>() == 22);
  CHECK(c.item<float>() == 8);
}

TEST_CASE("function: a dead chain that no pass drops is not fused into an op without outputs") {
  const auto f = function(
      [](const Tensor& x) {
        (void)(exp(x) + x * 2);
        return reduce_sum(x);
      },
      {.execution = {.passes = {.eliminate_dead_code = false}}});
  CHECK(f(constant({1.f, 2.f})).item<float>() == 3);
}

TEST_CASE("function: an output of a fused op does not take the place of an input that is read after it is written") {
  const auto plain = [](const Tensor& x) {
    const Tensor z = matmul(x, x), t = tanh(z);  // z dies in the fused op, which reads it once more behind t
    return std::pair(log_sigmoid(t * z), reduce_sum(reshape(t, {-1})));
  };
  const auto traced = function(plain);
  const Tensor x = wave({3, 3}, 0.3f);
  const auto [a, b] = plain(x);
  const auto [c, d] = traced(x);
  CHECK(floats(a) == floats(c));
  CHECK(floats(b) == floats(d));
}

TEST_CASE("plan() says which argument's spec is missing, and checks those that it gets") {
  const auto f = function([](const Tensor& a, const Tensor& b) { return a + b; },
                          {.input_signature = {TensorSpec({3, 2}), TensorSpec({none, 2})}});
  const Ref<ConcreteFunction> g = f.get_concrete_function(ones({3, 2}), ones({1, 2}));
  CHECK_THAT(g->plan(), ContainsSubstring("argument 1 is float32[None,2]") && ContainsSubstring("plan(specs)"));
  const std::vector<Spec> specs{ones({3, 2}).spec(), ones({1, 2}).spec()};
  CHECK_THAT(g->plan(specs), !ContainsSubstring("no plan"));
  CHECK_THROWS_AS(g->plan(Span<const Spec>(specs).first(1)), errors::InvalidArgumentError);
  const std::vector<Spec> wrong{specs[0], ones({1, 3}).spec()};
  CHECK_THROWS_WITH(g->plan(wrong), ContainsSubstring("argument 1 is float32[1,3]"));
}

TEST_CASE("trace_log: the advice suits what differs") {
  const auto f = function([](const Tensor& x, const std::string&, int) { return x + x; });
  f(ones({2, 3}), "a[0]", 1);
  f(ones({2, 4}), "a[0]", 1);
  f(ones({2, 4}, {.dtype = float64}), "a[0]", 1);
  f(ones({4}), "a[0]", 1);
  f(ones({}), "a[0]", 1);
  f(ones({4}), "b[0]", 1);
  f(ones({4}), "b[0]", 2);
  const std::vector<TraceRecord> log = f.trace_log();
  REQUIRE(log.size() == 7);
  CHECK_THAT(log[1].advice, ContainsSubstring("reduce_retracing"));
  CHECK_THAT(log[2].advice, ContainsSubstring("one dtype") && !ContainsSubstring("reduce_retracing"));
  CHECK_THAT(log[3].advice, ContainsSubstring("one rank") || ContainsSubstring("one dtype"));
  CHECK_THAT(log[4].advice, ContainsSubstring("one rank"));
  CHECK_THAT(log[5].advice, ContainsSubstring("plain values"));
  CHECK_THAT(log[6].advice, ContainsSubstring("plain values"));
}

TEST_CASE("function: a signature's strings are on the host in every scope") {
  const sim::Installed installed;
  const DeviceScope scope(sim::device);
  const auto f = function([](const Tensor& x) { return x; }, {.input_signature = {TensorSpec({1}, string)}});
  CHECK(f(constant({"a"})).device() == Device{});
}
