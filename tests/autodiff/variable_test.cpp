// Tapes and Variables: which are watched, gradients over all reads, row-sparse gradients from gather on.
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;
using Variables = std::vector<Variable>;
}  // namespace

TEST_CASE("tape: trainable variables are watched when they are read") {
  const Variable v(constant(3.f)), frozen(constant(2.f), {.trainable = false});
  GradientTape tape({.persistent = true});
  const Tensor y = v * v * frozen;
  CHECK(tape.gradient(y, v).item<float>() == 12);
  CHECK(!tape.gradient(y, frozen).is_set());
  tape.watch(frozen);
  CHECK(tape.gradient(v * frozen, frozen).item<float>() == 3);
}

TEST_CASE("tape: without watch_accessed_variables only the named ones") {
  const Variable a(constant(3.f)), b(constant(2.f));
  GradientTape tape({.persistent = true, .watch_accessed_variables = false});
  tape.watch(a);
  const Tensor y = a * b;
  CHECK(tape.gradient(y, a).item<float>() == 2);
  CHECK(!tape.gradient(y, b).is_set());
}

TEST_CASE("tape: a variable's gradient sums over all its reads, also between assignments") {
  const Variable v(constant(3.f));
  GradientTape tape({.persistent = true});
  const Tensor first = v * 10;
  v.assign(constant(5.f));
  const Tensor second = v * v;
  CHECK(tape.gradient(first, v).item<float>() == 10);
  CHECK(tape.gradient(second, v).item<float>() == 10);
  CHECK(tape.gradient(first + second, v).item<float>() == 20);
}

TEST_CASE("tape: only reads that it has seen count") {
  const Variable v(constant(3.f));
  const auto read_before = [&] {
    const Tensor before = v.read_value();
    GradientTape tape;
    return tape.gradient(v * before, v);
  };
  const auto read_while_paused = [&] {
    GradientTape tape;
    Tensor paused;
    {
      const auto pause = tape.stop_recording();
      paused = v.read_value();
    }
    return tape.gradient(v * paused, v);
  };
  const auto read_before_inner = [&] {
    GradientTape outer;
    const Tensor before = v.read_value();
    GradientTape inner;
    return inner.gradient(v * before, v);
  };
  const auto read_before_watch = [&] {
    GradientTape tape({.watch_accessed_variables = false});
    const Tensor before = v.read_value();
    tape.watch(v);
    return tape.gradient(v * before, v);
  };
  for (int call = 0; call < 3; ++call) {
    CHECK(read_before().item<float>() == 3);
    CHECK(read_while_paused().item<float>() == 3);
    CHECK(read_before_inner().item<float>() == 3);
    CHECK(read_before_watch().item<float>() == 3);
    if (call == 0) v.assign(constant(3.f));
    else v.assign_add(constant(0.f));
  }
  const Tensor before = v.read_value();
  GradientTape tape({.persistent = true});
  const Tensor seen = v.read_value();
  CHECK(!tape.gradient(before * 2, v).is_set());
  CHECK(tape.gradient(before * seen, v).item<float>() == 3);
}

TEST_CASE("tape: nested tapes count their reads each") {
  const Variable v(constant(3.f));
  GradientTape outer({.persistent = true});
  const Tensor a = v.read_value();
  GradientTape inner;
  const Tensor b = v.read_value(), g = inner.gradient(a * a * b * b, v);  // 2 a a b
  CHECK(g.item<float>() == 54);
  CHECK(outer.gradient(g, v).item<float>() == 54);  // 4 a b + 2 a a
  CHECK(outer.gradient(g, a).item<float>() == 36);
  CHECK(outer.gradient(g, b).item<float>() == 18);
}

TEST_CASE("tape: each read is a source of its own, and all are the Variable's") {
  const Variable v(constant(3.f));
  GradientTape tape({.persistent = true});
  const Tensor a = v.read_value(), b = v.read_value(), y = a * b + b * 5;
  CHECK(tape.gradient(y, a).item<float>() == 3);
  CHECK(tape.gradient(y, b).item<float>() == 8);
  CHECK(tape.gradient(y, v).item<float>() == 11);
  const auto all = tape.gradient(y, {Source(v), Source(b), Source(v), Source(a)});
  CHECK(all[0].item<float>() == 11);
  CHECK(all[1].item<float>() == 8);
  CHECK(all[2].item<float>() == 11);
  CHECK(all[3].item<float>() == 3);
  CHECK(tape.gradient(a, v).item<float>() == 1);
}

TEST_CASE("tape: the gradient of a Variable that is read often is one sum on the way") {
  constexpr i64 reads = 32, elements = 1 << 16, bytes = elements * 4;
  const Variable v(ones({elements}));
  const Tensor factor = ones({elements});
  GradientTape tape;
  Tensor y = constant(0.f);
  for (i64 i = 0; i < reads; ++i) y = y + reduce_sum(v * factor);
  memory::reset_peak();
  const i64 before = memory::info().live;
  CHECK(tape.gradient(y, v).at<float>({0}) == reads);
  CHECK(memory::info().peak - before < 8 * bytes);
}

TEST_CASE("tape: an in-place update does not change what was recorded") {
  const Variable v(constant({1.f, 2.f}));
  GradientTape tape;
  const Tensor y = v * v;
  v.assign_add(constant({10.f, 10.f}));
  CHECK(v.to_vector<float>() == Floats{11, 12});
  CHECK(tape.gradient(y, v).to_vector<float>() == Floats{2, 4});
}

TEST_CASE("tape: a variable of integers is read without being watched") {
  const Variable n(constant(3)), v(constant(2.f));
  GradientTape tape;
  const Tensor y = v * cast(n, float32);
  CHECK(tape.gradient(y, v).item<float>() == 3);
}

TEST_CASE("tape: gathering rows gives a row-sparse gradient") {
  const Variable table(reshape(range(12.f), {4, 3}));
  GradientTape tape;
  const Tensor rows = gather(table, constant({2, 0, 2}));
  const Gradient g = tape.gradient(reduce_sum(rows * rows), Variables{table})[0];
  REQUIRE(g.is_sparse());
  CHECK(g.slices().indices.to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 0, 2});
  CHECK(g.slices().dense_shape() == Shape{4, 3});
  CHECK(g.slices().values.to_vector<float>() == Floats{12, 14, 16, 0, 2, 4, 12, 14, 16});
  CHECK(Tensor(g).to_vector<float>() == Floats{0, 2, 4, 0, 0, 0, 24, 28, 32, 0, 0, 0});
}

TEST_CASE("tape: sparse gradients of several lookups join, and a dense one makes all dense") {
  const Variable table(ones({3, 2}));
  GradientTape tape({.persistent = true});
  const Tensor a = gather(table, constant({0})), b = nn::embedding_lookup(table, constant({{2, 0}, {0, 1}}));
  const Tensor sparse = reduce_sum(a) + 2 * reduce_sum(b);
  const Gradient g = tape.gradient(sparse, Variables{table})[0];
  REQUIRE(g.is_sparse());
  CHECK(g.slices().indices.size() == 5);
  CHECK(Tensor(g).to_vector<float>() == Floats{5, 5, 2, 2, 2, 2});
  const Tensor whole = reduce_sum(table * 10);
  const Gradient both = tape.gradient(Targets{sparse, whole}, Variables{table})[0];
  CHECK(!both.is_sparse());
  CHECK(Tensor(both).to_vector<float>() == Floats{15, 15, 12, 12, 12, 12});
}

TEST_CASE("tape: a sparse gradient on its way through further ops is made dense") {
  const Variable table(constant({{1.f, 2.f}, {3.f, 4.f}}));
  GradientTape tape;
  const Tensor scaled = table * 3;
  const Gradient g = tape.gradient(gather(scaled, constant({1, 1})), Variables{table})[0];
  CHECK(!g.is_sparse());
  CHECK(Tensor(g).to_vector<float>() == Floats{0, 0, 6, 6});
}

TEST_CASE("tape: a tensor source gets the dense form") {
  const Tensor x = ones({3, 2});
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(gather(x, constant({1})), x).to_vector<float>() == Floats{0, 0, 1, 1, 0, 0});
}

TEST_CASE("tape: sparse gradients reach the optimizer as rows") {
  const Variable table(ones({4, 2}));
  const optimizers::Adam adam({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step) {
    GradientTape tape;
    const Tensor rows = gather(table, constant({3, 1, 3}));
    adam.apply_gradients(tape.gradient(reduce_sum(rows * rows), Variables{table}), {table});
  }
  const Floats w = table.to_vector<float>();
  CHECK((w[0] == 1 && w[1] == 1 && w[4] == 1 && w[5] == 1));
  CHECK((w[2] < 1 && w[6] < 1));
}

TEST_CASE("tape: Variables made of one tensor are told apart") {
  const Tensor start = constant(3.f);
  const Variable a(start), b(start);
  GradientTape tape({.persistent = true});
  tape.watch(start);
  const Tensor y = a * a * b * start;
  CHECK(tape.gradient(y, a).item<float>() == 54);
  CHECK(tape.gradient(y, b).item<float>() == 27);
  CHECK(tape.gradient(y, start).item<float>() == 27);
}

TEST_CASE("tape: a Variable that was assigned another's value is told apart from it") {
  const Variable online(constant(3.f)), target(constant(0.f));
  target.assign(online);
  GradientTape tape({.persistent = true});
  const Tensor y = online * 10 + target;
  CHECK(tape.gradient(y, online).item<float>() == 10);
  CHECK(tape.gradient(y, target).item<float>() == 1);
}

TEST_CASE("tape: an assignment ends the paths of what is assigned") {
  const Tensor x = constant(2.f);
  const Variable v(constant(0.f)), w(constant(0.f));
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  v.assign(y);
  w.assign_add(y);
  const Tensor z = v * 3 + w * 5;
  CHECK(!tape.gradient(z, x).is_set());
  CHECK(tape.gradient(z, v).item<float>() == 3);
  CHECK(tape.gradient(z, w).item<float>() == 5);
  CHECK(tape.gradient(z + y, x).item<float>() == 4);
  CHECK(tape.gradient(z + y, v).item<float>() == 3);  // y itself is no read of v
}
