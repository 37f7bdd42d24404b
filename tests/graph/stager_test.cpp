// What core, tapes, layers and optimizers owe a tracer, shown with a recorder: a whole training step is staged once and
// replayed with eager's numbers, and nothing that lives on the host is frozen into it.
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorder.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::Recorder;
using testing::wave;

namespace {

using List = std::vector<Tensor>;
using Floats = std::vector<float>;

// Two dense layers with dropout between them, Adam, clipped gradients.
struct Training : Module {
  layers::Dense hidden{8, {.activation = Activation::tanh}}, out{1};
  optimizers::Adam adam{{.learning_rate = 0.05}};
  random::Generator generator{7};

  Training() { add_module("hidden", hidden), add_module("out", out), add_module("adam", adam); }
  void build() {
    hidden.build(4), out.build(8);
    adam.build(weights());
  }
  std::vector<Variable> weights() const {
    std::vector<Variable> w = hidden.variables();
    for (const Variable& v : out.variables()) w.push_back(v);
    return w;
  }
  // Everything that a step changes.
  std::vector<Variable> state() const {
    std::vector<Variable> all = variables();
    all.push_back(generator.state());
    return all;
  }
  List step(const List& batch) const {
    GradientTape tape;
    const Tensor h = nn::dropout(hidden(batch[0]), {.rate = 0.3, .generator = &generator});
    const Tensor loss = reduce_mean(square(out(h) - batch[1]));
    const std::vector<Variable> w = weights();
    const ClippedGradients clipped = clip_by_global_norm(tape.gradient(loss, w), 0.5);
    adam.apply_gradients(clipped.gradients, w);
    return {loss, clipped.norm};
  }
};

List values_of(const std::vector<Variable>& variables) {
  List r;
  for (const Variable& v : variables) r.push_back(v.value_untracked());
  return r;
}
void restore(const std::vector<Variable>& variables, const List& values) {
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i].set_untracked(values[i]);
}
// Ten steps on changing batches; the learning rate falls after the fifth.
template <class Step>
Floats ten_steps(const Training& t, const Step& step) {
  Floats seen;
  for (int i = 0; i < 10; ++i) {
    if (i == 5) t.adam.learning_rate().assign(constant(0.01f));
    for (const Tensor& x : step(List{wave({6, 4}, static_cast<float>(i)), wave({6, 1}, static_cast<float>(2 * i))}))
      seen.push_back(x.item<float>());
  }
  return seen;
}
void check_close(const Floats& a, const Floats& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-6).margin(1e-7));
}

}  // namespace

TEST_CASE("stager: a training step is replayed with eager's numbers") {
  Training t;
  t.build();
  const List initial = values_of(t.state());
  const Floats eager = ten_steps(t, [&](const List& batch) { return t.step(batch); });
  const List eager_end = values_of(t.state());

  restore(t.state(), initial);
  Recorder recorder;
  recorder.trace({{{6, 4}, float32, {}}, {{6, 1}, float32, {}}}, [&](const List& batch) { return t.step(batch); });
  const List untouched = values_of(t.state());
  for (std::size_t i = 0; i < initial.size(); ++i) CHECK(untouched[i].is_same(initial[i]));  // tracing had no effect

  const Floats replayed = ten_steps(t, [&](const List& batch) { return recorder.replay(batch); });
  check_close(replayed, eager);
  const List end = values_of(t.state());
  for (std::size_t i = 0; i < end.size(); ++i)
    check_close(cast(end[i], float32).to_vector<float>(), cast(eager_end[i], float32).to_vector<float>());
  CHECK(t.adam.iterations().item<i64>() == 10);
}

TEST_CASE("stager: nothing on the host is frozen") {
  Training t;
  t.build();
  Recorder recorder;
  recorder.trace({{{6, 4}, float32, {}}, {{6, 1}, float32, {}}}, [&](const List& batch) { return t.step(batch); });
  CHECK(recorder.staged(adam_update_op) == 4);
  CHECK(recorder.staged(dropout_op) == 2);  // forward and back, with one key
  CHECK(recorder.staged(random_advance_op) == 1);
  CHECK(recorder.assigns() == 4 * 3 + 1 + 1);  // weights and slots, the step count, the key

  const List batch{wave({6, 4}, 0), wave({6, 1}, 1)};
  const List state = values_of(t.state());
  t.adam.learning_rate().assign(constant(0.f));
  const Tensor before = t.weights()[0].value_untracked();
  const float first = recorder.replay(batch)[0].item<float>(), second = recorder.replay(batch)[0].item<float>();
  CHECK(t.weights()[0].value_untracked().to_vector<float>() ==
        before.to_vector<float>());  // the rate is read at each call
  CHECK(first != second);            // so are the random keys
  CHECK(t.adam.iterations().item<i64>() == 2);
  restore(t.state(), state);
  t.adam.learning_rate().assign(constant(0.f));
  CHECK(recorder.replay(batch)[0].item<float>() == first);  // and their state can be set back
}

TEST_CASE("stager: layers and slots that are made inside the trace are made at once") {
  Training t;
  Recorder recorder;
  recorder.trace({{{6, 4}, float32, {}}, {{6, 1}, float32, {}}}, [&](const List& batch) { return t.step(batch); });
  CHECK(t.hidden.variables().size() == 2);
  const List initial = values_of(t.state());
  const List batch{wave({6, 4}, 0), wave({6, 1}, 1)};
  const Tensor replayed = recorder.replay(batch)[0];
  restore(t.state(), initial);
  CHECK(t.step(batch)[0].item<float>() == Approx(replayed.item<float>()).epsilon(1e-6));
}

TEST_CASE("stager: open dims serve every batch size") {
  Training t;
  t.build();
  const List initial = values_of(t.state());
  Recorder recorder;
  recorder.trace({{{none, 4}, float32, {}}, {{none, 1}, float32, {}}},
                 [&](const List& batch) { return t.step(batch); });
  for (const i64 n : {i64{1}, i64{3}, i64{8}}) {
    const List batch{wave({n, 4}, 0), wave({n, 1}, 1)};
    restore(t.state(), initial);
    const Tensor eager = t.step(batch)[0];
    restore(t.state(), initial);
    CHECK(recorder.replay(batch)[0].item<float>() == Approx(eager.item<float>()).epsilon(1e-6));
  }
}

TEST_CASE("stager: row-sparse gradients stay sparse") {
  const Variable table(wave({5, 3}, 0));
  const optimizers::Adam adam({.learning_rate = 0.1});
  const auto step = [&](const List& in) -> List {
    GradientTape tape;
    const Tensor rows = nn::embedding_lookup(table, in[0]);
    const std::vector<Gradient> g = tape.gradient(reduce_sum(rows * rows), std::vector<Variable>{table});
    CHECK(g[0].is_sparse());
    adam.apply_gradients(g, {table});
    return {reduce_sum(rows)};
  };
  adam.build({table});
  const Tensor initial = table.value_untracked();
  Recorder recorder;
  recorder.trace({{{4}, int32, {}}}, step);
  CHECK(recorder.staged(slices_to_dense_op) == 0);
  CHECK(recorder.staged(adam_update_sparse_op) == 1);
  const List ids{constant({1, 3, 1, 1})};
  recorder.replay(ids);
  const Floats traced = table.to_vector<float>();
  for (const Variable& v : adam.variables())
    if (!v.is_same(adam.learning_rate())) v.reset();
  table.set_untracked(initial);
  step(ids);
  check_close(table.to_vector<float>(), traced);
  CHECK(Floats(traced.begin(), traced.begin() + 3) == initial[0].to_vector<float>());
}

TEST_CASE("stager: values of the trace cannot be read") {
  Recorder recorder;
  recorder.trace({{{2}, float32, {}}}, [](const List& in) -> List {
    const Tensor y = nn::softmax(in[0]), total = reduce_sum(y);
    CHECK_THROWS_AS(total.item<float>(), errors::TraceError);
    CHECK_THROWS_WITH(total.item<float>(), ContainsSubstring("item") && ContainsSubstring("float32[]") &&
                                               ContainsSubstring("made by reduce_sum") && ContainsSubstring("cond"));
    CHECK_THROWS_WITH(in[0].to_vector<float>(), ContainsSubstring("made by an argument"));
    CHECK_THROWS_WITH(y.at<float>({0}), ContainsSubstring("made by softmax"));
    CHECK_THROWS_AS(y.data<float>(), errors::TraceError);
    CHECK_THROWS_AS(Variable(y), errors::TraceError);
    return {total};
  });
  CHECK(recorder.replay({constant({1.f, 2.f})})[0].item<float>() == Approx(1));
}

TEST_CASE("stager: every op is staged, also on tensors that are known") {
  const Tensor known = constant({1.f, 2.f});
  Recorder recorder;
  recorder.trace({}, [&](const List&) -> List {
    const Tensor y = known + known;
    CHECK(y.is_symbolic());
    CHECK_THROWS_AS(y.item<float>(), errors::TraceError);
    return {y};
  });
  CHECK(recorder.ops() == 1);
  CHECK(recorder.replay({})[0].to_vector<float>() == Floats{2, 4});
}

TEST_CASE("stager: reads and assignments keep their order") {
  const Variable v(constant(1.f));
  Recorder recorder;
  recorder.trace({}, [&](const List&) -> List {
    const Tensor a = v + 10;
    v.assign(v * 2);
    const Tensor b = v + 10;
    v.assign_add(constant(5.f));
    return {a, b, v.read_value()};
  });
  CHECK(v.item<float>() == 1);
  const List first = recorder.replay({}), second = recorder.replay({});
  CHECK((first[0].item<float>() == 11 && first[1].item<float>() == 12 && first[2].item<float>() == 7));
  CHECK((second[0].item<float>() == 17 && second[1].item<float>() == 24 && second[2].item<float>() == 19));
}

TEST_CASE("stager: errors are those of eager, and the trace goes on") {
  Recorder recorder;
  recorder.trace({{{2, 3}, float32, {}}}, [](const List& in) -> List {
    CHECK_THROWS_AS(in[0] + ones({4}), errors::InvalidArgumentError);
    CHECK_THROWS_AS(matmul(in[0], in[0]), errors::InvalidArgumentError);
    CHECK_THROWS_AS(exp(constant(1)), errors::UnimplementedError);
    return {in[0] * 2};
  });
  CHECK(recorder.replay({ones({2, 3})})[0].to_vector<float>() == Floats(6, 2));
  CHECK(context.stager == nullptr);
}

TEST_CASE("stager: a symbol used after its trace raises") {
  Tensor escaped;
  Recorder recorder;
  recorder.trace({{{2}, float32, {}}}, [&](const List& in) -> List { return {escaped = in[0] * 2}; });
  CHECK_THROWS_AS(escaped + 1, errors::TraceError);
  CHECK_THROWS_AS(escaped.item<float>(), errors::TraceError);
  Recorder other;
  CHECK_THROWS_AS(other.trace({}, [&](const List&) -> List { return {escaped + 1}; }), errors::TraceError);
  CHECK(context.stager == nullptr);
}

TEST_CASE("stager: higher derivatives and custom gradients are staged") {
  const auto f = [](const List& in) -> List {
    GradientTape outer;
    outer.watch(in[0]);
    GradientTape inner;
    inner.watch(in[0]);
    const Tensor y = custom_gradient(
        [](const Tensor& t) { return std::pair(t * t, [t](const Tensor& g) { return g * 2 * t; }); }, in[0] * in[0]);
    const Tensor dy = inner.gradient(reduce_sum(y), in[0]);
    return {dy, outer.gradient(dy, in[0])};
  };
  const Tensor x = constant({1.f, 2.f});
  Recorder recorder;
  recorder.trace({x.spec()}, f);
  const List eager = f({x}), replayed = recorder.replay({x});
  CHECK(replayed[0].to_vector<float>() == Floats{4, 32});
  CHECK(replayed[1].to_vector<float>() == Floats{12, 48});
  CHECK(eager[1].to_vector<float>() == Floats{12, 48});
}

TEST_CASE("stager: recurrent layers with gradients") {
  const Tensor kernel = wave({2, 12}, 1), recurrent = wave({3, 12}, 2), bias = wave({12}, 3), h = zeros({2, 3});
  const auto f = [&](const List& in) -> List {
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor y = nn::lstm(in[0], {h, h}, kernel, recurrent, bias).output;
    return {y, tape.gradient(square(y), in[0])};
  };
  Recorder recorder;
  recorder.trace({{{none, 2, 2}, float32, {}}}, f);
  for (const i64 steps : {i64{1}, i64{4}}) {
    const Tensor x = wave({steps, 2, 2}, 0);
    const List eager = f({x}), replayed = recorder.replay({x});
    for (std::size_t i = 0; i < 2; ++i) check_close(replayed[i].to_vector<float>(), eager[i].to_vector<float>());
  }
}
