// Captured launches of planned programs: captured once, launched as one, made anew for other operands, and which
// programs are not captured. The device is sim, which records what is launched; its kernels are the CPU's.
#include <tandem/tandem.hpp>

#include "tandem/core/backend.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::List, testing::same_bits, testing::traced, testing::wave;

namespace {

Tensor on_sim(const Tensor& x) { return x.to(sim::device); }
Spec spec_on_sim(const Shape& s) { return {s, float32, sim::device}; }

struct Difference {
  sim::Counts before = sim::counts();

  std::int64_t launches() const { return sim::counts().launches - before.launches; }
  std::int64_t captures() const { return sim::counts().captures - before.captures; }
  std::int64_t replays() const { return sim::counts().replays - before.replays; }
};

// x -> tanh(x w) + x, computed in x's own buffer: a loop over it always has the same operands.
Ref<Program> layer(const Tensor& w) {
  return Program::make(
      traced({spec_on_sim({4, 4})}, [&](const List& a) { return List{tanh(matmul(a[0], w)) + a[0]}; }));
}
Tensor run(Program& p, Tensor x) {
  const Tensor* const in[] = {&x};
  return std::move(p.run(in, {&x, 1})[0]);
}

}  // namespace

TEST_CASE("capture: launches that repeat are captured once and launched as one") {
  const sim::Installed installed;
  const Tensor start = wave({4, 4}), host_w = wave({4, 4}, 1) * 0.5f, w = on_sim(host_w);
  const auto program = layer(w);
  Tensor want = start, x = on_sim(start);
  for (int call = 0; call < 6; ++call) {
    const Difference d;
    const void* const buffer = x.raw();
    x = run(*program, std::move(x));
    REQUIRE(x.raw() == buffer);
    CHECK(d.launches() == (call == 0 ? 3 : 0));
    CHECK(d.captures() == (call == 1));
    CHECK(d.replays() == (call > 0));
    want = tanh(matmul(want, host_w)) + want;
    CHECK(same_bits(x.cpu(), want));
  }
}

TEST_CASE("capture: other operands are captured anew") {
  const sim::Installed installed;
  const Tensor host_w = wave({4, 4}, 1) * 0.5f, w = on_sim(host_w);
  const auto program = layer(w);
  std::vector<Tensor> states, want;
  for (int i = 0; i < 18; ++i)
    want.push_back(wave({4, 4}, static_cast<float>(i))), states.push_back(on_sim(want.back()));
  const Difference all;
  // Of the eighteen, sixteen are remembered.
  for (const int i : {0, 0, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0}) {
    states[static_cast<std::size_t>(i)] = run(*program, std::move(states[static_cast<std::size_t>(i)]));
    Tensor& x = want[static_cast<std::size_t>(i)];
    x = tanh(matmul(x, host_w)) + x;
    CHECK(same_bits(states[static_cast<std::size_t>(i)].cpu(), x));
  }
  CHECK(all.captures() == 2);       // of states 0 and 1
  CHECK(all.replays() == 4);        // the second and third calls with each
  CHECK(all.launches() == 19 * 3);  // the first calls with each, and the last: state 0 was forgotten
}

TEST_CASE("capture: results that the caller keeps are not overwritten") {
  const sim::Installed installed;
  const Tensor w = on_sim(wave({4, 4}, 1));
  const auto f = function([&](const Tensor& x) { return tanh(matmul(matmul(x, w), w)); }, {.name = "f"});
  const Tensor x = on_sim(wave({4, 4}));
  const Tensor want = tanh(matmul(matmul(x.cpu(), w.cpu()), w.cpu()));
  List kept;
  const Difference d;
  for (int i = 0; i < 8; ++i) {
    kept.push_back(f(x));
    (void)f(x);
  }
  CHECK(d.captures() == 1);  // small results lie in the same memory in each call, and are copied from there
  CHECK(d.replays() == 15);
  for (const Tensor& y : kept) CHECK(same_bits(y.cpu(), want));
}

TEST_CASE("capture: a result that may take a donated buffer, of which nobody donates one") {
  const sim::Installed installed;
  const Tensor w = on_sim(wave({4, 4}, 1)), x = on_sim(wave({4, 4}));
  const auto f = function([&](const Tensor& a) { return matmul(matmul(a, w), w) + a; });
  const Tensor want = matmul(matmul(x.cpu(), w.cpu()), w.cpu()) + x.cpu();
  List kept;
  const Difference d;
  for (int i = 0; i < 5; ++i) kept.push_back(f(x));
  CHECK(d.captures() == 1);
  for (const Tensor& y : kept) CHECK(same_bits(y.cpu(), want));
}

TEST_CASE("capture: the launches between other steps are captured, each stretch by itself") {
  const sim::Installed installed;
  const Tensor host_w = wave({4, 4}, 1) * 0.5f, w = on_sim(host_w), host = wave({4, 4});
  const Variable state(on_sim(zeros({4, 4})));
  const auto layer_of = [](const Tensor& x, const Tensor& by) { return tanh(matmul(x, by)) + x; };
  const auto program = Program::make(traced({spec_on_sim({4, 4})}, [&](const List& a) {
    const Tensor y = layer_of(a[0], w);
    state.assign(y);
    return List{layer_of((y.cpu() + host).to(sim::device), w)};
  }));
  const Difference d;
  Tensor x = on_sim(wave({4, 4})), want = wave({4, 4});
  for (int i = 0; i < 12; ++i) {
    x = run(*program, std::move(x));
    const Tensor y = layer_of(want, host_w);
    want = layer_of(y + host, host_w);
    CHECK(same_bits(x.cpu(), want));
    CHECK(same_bits(Tensor(state).cpu(), y));
  }
  CHECK(d.captures() >= 2);
  CHECK(d.replays() >= 8);
}

TEST_CASE("capture: one or two launches are not captured, nor what runs code of the host") {
  const sim::Installed installed;
  const Tensor w = on_sim(wave({4, 4}, 1) * 0.5f);
  const Variable state(on_sim(zeros({4, 4})));
  const auto runs = [&](const auto& f) {
    const auto program = Program::make(traced({spec_on_sim({4, 4})}, f));
    const Difference d;
    Tensor x = on_sim(wave({4, 4}));
    for (int i = 0; i < 4; ++i) x = run(*program, std::move(x));
    return d;
  };
  CHECK(runs([&](const List& a) {
          const Tensor y = matmul(a[0], w) + a[0];
          state.assign(y);
          return List{tanh(y) + a[0]};
        }).captures() == 0);
  CHECK(runs([&](const List& a) {
          const Tensor y = cond(
              reduce_sum(a[0]).cpu() > 0.f, [&] { return a[0] * 2.f; }, [&] { return a[0] * 3.f; });
          return List{matmul(y, w) + y};
        }).captures() == 0);
  CHECK(runs([&](const List& a) { return List{exp(a[0])}; }).captures() == 0);
}
