// The pass combine_updates: which updates become one, what keeps them apart, and numbers that are those of the updates
// one by one, bit for bit, on any number of threads.
#include <cstring>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/op_table.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::evaluate, testing::List, testing::Threads, testing::traced, testing::wave;

namespace {

std::vector<Variable> weights_of(const std::vector<Shape>& shapes) {
  std::vector<Variable> r;
  for (const Shape& s : shapes) r.emplace_back(wave(s, static_cast<float>(r.size())));
  return r;
}
List values_of(const std::vector<Variable>& variables) {
  List r;
  for (const Variable& v : variables) r.push_back(v.value_untracked() + 0.f);
  return r;
}
bool same(const List& a, const List& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i].spec() == b[i].spec()) || std::memcmp(a[i].raw(), b[i].raw(), a[i].spec().bytes()) != 0) return false;
  return a.size() == b.size();
}
// The graph of one step from the arguments as gradients.
Ref<Graph> step_of(const Optimizer& optimizer, const std::vector<Variable>& weights, bool clip = false) {
  optimizer.build(weights);
  std::vector<Spec> specs;
  for (const Variable& w : weights) specs.push_back(w.spec());
  return traced(specs, [&](const List& in) {
    std::vector<Gradient> g(in.begin(), in.end());
    if (clip) g = clip_by_global_norm(g, 0.5).gradients;
    optimizer.apply_gradients(g, weights);
    return List{};
  });
}
// Every output of an update is assigned right behind it, so that it may be made in the Variable's buffer.
bool assigns_at_once(const Graph& g, const OpDef& op) {
  for (const NodeId i : g.nodes.ids()) {
    if (g.nodes[i].op != &op) continue;
    for (int k = 0; k < g.nodes[i].outputs; ++k) {
      const Node& next = g.nodes[i + 1 + k];
      if (next.op != &assign_variable_op || next.in[0] != g.nodes[i].first_out + k) return false;
    }
  }
  return true;
}
template <class F>
void for_each_optimizer(const F& f) {
  using namespace optimizers;
  f(SGD{}, sgd_update_op);
  f(SGD{{.momentum = 0.9, .nesterov = true}}, momentum_update_op);
  f(RMSprop{}, rmsprop_update_op);
  f(RMSprop{{.momentum = 0.5}}, rmsprop_momentum_update_op);
  f(RMSprop{{.centered = true}}, rmsprop_centered_update_op);
  f(Adam{}, adam_update_op);
  f(Adam{{.amsgrad = true}}, amsgrad_update_op);
  f(AdamW{}, adamw_update_op);
  f(Adamax{}, adamax_update_op);
  f(Nadam{}, nadam_update_op);
  f(Adagrad{}, adagrad_update_op);
  f(Adadelta{}, adadelta_update_op);
  f(Ftrl{}, ftrl_update_op);
  f(Lion{}, lion_update_op);
  f(ScheduleFreeAdamW{}, schedule_free_update_op);
}

}  // namespace

TEST_CASE("combine_updates: the updates of a step are one op, assigned behind it") {
  for_each_optimizer([](const Optimizer& optimizer, const OpDef& op) {
    INFO(op.name);
    const Ref<Graph> g = step_of(optimizer, weights_of({{3, 4}, {4}, {}, {0, 2}}));
    CHECK(count(*g, op) == 4);
    const Ref<Graph> r = combine_updates(*g);
    verify(*r);
    CHECK(count(*r, op) == 0);
    CHECK(count(*r, *op.rare.multi_tensor) == 1);
    CHECK(count(*r, assign_variable_op) == count(*g, assign_variable_op));
    CHECK(r->nodes.size() == g->nodes.size() - 3);
    CHECK(assigns_at_once(*r, *op.rare.multi_tensor));
    CHECK(count(*optimize(*g, {.combine_updates = false}), op) == 4);
    CHECK(to_string(*combine_updates(*r)) == to_string(*r));
  });
}

TEST_CASE("combine_updates: bits, for any sizes and any number of threads") {
  const std::vector<Shape> shapes{{3, 4}, {1}, {}, {0, 2}, {150, 300}, {63}, {64}, {65}, {100003}, {2, 1}};
  for_each_optimizer([&](const Optimizer& optimizer, const OpDef& op) {
    INFO(op.name);
    const std::vector<Variable> weights = weights_of(shapes);
    const Ref<Graph> g = step_of(optimizer, weights), r = combine_updates(*g);
    std::vector<Variable> state = weights;
    for (const Variable& v : optimizer.variables()) state.push_back(v);
    List gradients, before;
    for (const Shape& s : shapes) gradients.push_back(wave(s, 3));
    for (const Variable& v : state) before.push_back(v.value_untracked());
    const auto after = [&](const Graph& graph, int threads) {
      const Threads use(threads);
      for (std::size_t i = 0; i < state.size(); ++i) state[i].set_untracked(before[i]);
      for (int i = 0; i < 3; ++i) evaluate(graph, gradients);
      List values;
      for (const Variable& v : state) values.push_back(v.value_untracked());
      return values;
    };
    const List want = after(*g, 1);
    for (const int threads : {1, 2, 3, 8}) CHECK(same(after(*r, threads), want));
  });
}

TEST_CASE("combine_updates: a common factor of the gradients goes into the op") {
  const std::vector<Variable> weights = weights_of({{3, 4}, {4}, {200}});
  const optimizers::Adam adam({.learning_rate = 0.1});
  const Ref<Graph> g = step_of(adam, weights, true);
  CHECK(count(*g, multiply_op) == 3);
  const Ref<Graph> r = eliminate_dead_code(*combine_updates(*g));
  verify(*r);
  CHECK(count(*r, multiply_op) == 0);
  for (const Node& n : r->nodes)
    if (n.op == &adam_updates_op) CHECK(n.in.size() == 3 * 4 + 3);
  std::vector<Variable> state = weights;
  for (const Variable& v : adam.variables()) state.push_back(v);
  List before;
  for (const Variable& v : state) before.push_back(v.value_untracked());
  List after[2];
  const Graph* graphs[] = {g.get(), r.get()};
  for (int k = 0; k < 2; ++k) {
    for (std::size_t i = 0; i < state.size(); ++i) state[i].set_untracked(before[i]);
    for (int i = 0; i < 3; ++i) evaluate(*graphs[k], {wave({3, 4}, 1), wave({4}, 2), wave({200}, 3)});
    for (const Variable& v : state) after[k].push_back(v.value_untracked());
  }
  CHECK(same(after[0], after[1]));

  // Not where one gradient has another factor, or none.
  const Ref<Graph> mixed = traced({{{}, float32, {}}}, [&](const List& in) {
    std::vector<Gradient> scaled;
    for (const Variable& w : weights) scaled.push_back(w.read_value() * in[0]);
    scaled[1] = Gradient(wave({4}) * 2.f);
    adam.apply_gradients(scaled, weights);
    return List{};
  });
  const Ref<Graph> joined = combine_updates(*mixed);
  CHECK(count(*joined, adam_updates_op) == 1);
  for (const Node& n : joined->nodes)
    if (n.op == &adam_updates_op) CHECK(n.in.size() == 3 * 4 + 2);
}

TEST_CASE("combine_updates: what stands between keeps updates apart") {
  const std::vector<Variable> w = weights_of({{4}, {4}, {4}, {4}});
  const optimizers::SGD sgd, other{{.momentum = 0.5}};
  sgd.build(w), other.build(w);
  const Spec s{{4}, float32, {}};
  std::vector<Variable> state = w;
  for (const Variable& v : other.variables())
    if (is_floating(v.dtype())) state.push_back(v);
  const auto joined = [&](const auto& f) {
    const Ref<Graph> g = traced({s}, f), r = combine_updates(*g);
    verify(*r);
    const List before = values_of(state);
    evaluate(*g, {wave({4})});
    const List want = values_of(state);
    for (std::size_t i = 0; i < state.size(); ++i) state[i].set_untracked(before[i]);
    evaluate(*r, {wave({4})});
    CHECK(same(values_of(state), want));
    CHECK(count(*r, assign_variable_op) == count(*g, assign_variable_op));
    return r;
  };
  const auto apply = [](const Optimizer& o, const std::vector<Variable>& v, const Tensor& g) {
    o.apply_gradients(std::vector<Gradient>(v.size(), Gradient(g)), v);
  };
  // The step count is assigned between the calls: two groups.
  const Ref<Graph> calls = joined([&](const List& in) {
    apply(sgd, {w[0], w[1]}, in[0]);
    apply(sgd, {w[2], w[3]}, in[0]);
    return List{};
  });
  CHECK(count(*calls, sgd_updates_op) == 2);
  // An updated weight that the next gradient is made of.
  const Ref<Graph> read = joined([&](const List& in) {
    apply(sgd, {w[0], w[1]}, in[0]);
    apply(sgd, {w[2], w[3]}, in[0] + w[1]);
    return List{};
  });
  CHECK(count(*read, sgd_updates_op) == 2);
  // One Variable twice.
  const Ref<Graph> twice = joined([&](const List& in) { return apply(sgd, {w[0], w[0]}, in[0]), List{}; });
  CHECK(count(*twice, sgd_update_op) == 2);
  // Other rules.
  const Ref<Graph> rules = joined([&](const List& in) {
    apply(sgd, {w[0]}, in[0]);
    apply(other, {w[1]}, in[0]);
    return List{};
  });
  CHECK(count(*rules, sgd_update_op) + count(*rules, momentum_update_op) == 2);
  // A sparse update, which may raise.
  const Variable table(wave({4}), {.name = "table"});
  const Ref<Graph> sparse = joined([&](const List& in) {
    const Gradient rows(IndexedSlices{ones({1}), constant({2}), table});
    sgd.apply_gradients({Gradient(in[0]), Gradient(in[0]), rows, Gradient(in[0]), Gradient(in[0])},
                        {w[0], w[1], table, w[2], w[3]});
    return List{};
  });
  CHECK(count(*sparse, sgd_updates_op) == 2);
  CHECK(count(*sparse, sgd_update_sparse_op) == 1);
}

TEST_CASE("combine_updates: dtypes and open shapes stay apart") {
  const Variable a(wave({4})), b(cast(wave({4}), float64)), c(wave({4})), d(wave({4}));
  const optimizers::SGD sgd;
  const Ref<Graph> g = traced({{{4}, float32, {}}, {{4}, float64, {}}, {{none}, float32, {}}}, [&](const List& in) {
    sgd.apply_gradients({Gradient(in[0]), Gradient(in[1]), Gradient(in[0]), Gradient(in[2])}, {a, b, c, d});
    return List{};
  });
  const Ref<Graph> r = combine_updates(*g);
  CHECK(count(*r, sgd_update_op) == 4);
}

TEST_CASE("combine_updates: a traced step writes in place, allocates nothing and equals eager") {
  layers::Dense hidden{40, {.activation = Activation::tanh}}, out{1};
  hidden.build(30), out.build(40);
  std::vector<Variable> weights = hidden.variables();
  for (const Variable& v : out.variables()) weights.push_back(v);
  const optimizers::Adam adam{{.learning_rate = 0.01}};
  adam.build(weights);
  std::vector<Variable> state = weights;
  for (const Variable& v : adam.variables()) state.push_back(v);
  const List initial = [&] {
    List r;
    for (const Variable& v : state) r.push_back(v.value_untracked());
    return r;
  }();
  const auto step = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(out(hidden(x)) - 1.f));
    adam.apply_gradients(clip_by_global_norm(tape.gradient(loss, weights), 0.5).gradients, weights);
    return loss;
  };
  const auto run = [&](const auto& f) {
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i].set_untracked(initial[i] + cast(constant(0), initial[i].dtype()));
    for (int i = 0; i < 20; ++i) f(wave({8, 30}, static_cast<float>(i)));
    return values_of(weights);
  };
  const List eager = run(step);
  for (const bool planned : {true, false}) {
    const auto with = function(step, {.execution = {.passes = {.fuse = false}, .plan = planned}});
    const auto without =
        function(step, {.execution = {.passes = {.combine_updates = false, .fuse = false}, .plan = planned}});
    const List a = run(with);
    CHECK(same(a, run(without)));
    CHECK(same(a, eager));
  }
  const auto f = function(step);
  const Tensor x = wave({8, 30});
  for (int i = 0; i < 3; ++i) f(x);
  const void* const place = weights[0].value_untracked().raw();
  const auto before = memory::info().misses;
  for (int i = 0; i < 20; ++i) f(x);
  CHECK(memory::info().misses == before);
  CHECK(weights[0].value_untracked().raw() == place);
  CHECK_THAT(f.get_concrete_function(x)->plan(), ContainsSubstring(" in '" + weights[0].name() + "'"));
}

TEST_CASE("combine_updates: on another device, where rate and step stay on the host") {
  const sim::Installed installed;
  const List start{wave({3, 4}), wave({4}, 1), wave({200}, 2)};
  const auto weights_after = [&](Device device, bool is_combined) {
    std::vector<Variable> weights;
    List gradients;
    for (const Tensor& x : start) weights.emplace_back(x.to(device)), gradients.push_back((x * 0.5f).to(device));
    const optimizers::Adam adam;
    const Ref<Graph> g = step_of(adam, weights, true), r = combine_updates(*g);
    CHECK(count(*r, adam_updates_op) == 1);
    for (int i = 0; i < 3; ++i) evaluate(is_combined ? *r : *g, gradients);
    List values;
    for (const Variable& v : weights) values.push_back(v.value_untracked().cpu());
    return values;
  };
  const List want = weights_after(Device{}, false);
  CHECK(same(weights_after(sim::device, false), want));
  CHECK(same(weights_after(sim::device, true), want));
}

TEST_CASE("combine_updates: Variables on two devices are not updated together") {
  const sim::Installed installed;
  const std::vector<Variable> weights{Variable(wave({3, 4}).to(sim::device)), Variable(wave({4}, 1)),
                                      Variable(wave({5}, 2).to(sim::device)), Variable(wave({6}, 3))};
  const Ref<Graph> r = combine_updates(*step_of(optimizers::Adam(), weights));
  verify(*r);
  CHECK(count(*r, adam_updates_op) == 0);
}

TEST_CASE("combine_updates: the joined graph can be saved") {
  const std::vector<Variable> weights = weights_of({{3, 4}, {4}});
  const optimizers::Adam adam;
  const Ref<Graph> r = optimize(*step_of(adam, weights, true));
  REQUIRE(count(*r, adam_updates_op) == 1);
  CHECK_THAT(to_string(*r), ContainsSubstring("adam_updates("));
  const Ref<Graph> unfused = optimize(*step_of(adam, weights, true), {.fuse = false, .fuse_reductions = false});
  const Ref<Graph> back = parse_graph(serialize(*unfused), {.ops = all_ops()});
  CHECK(count(*back, adam_updates_op) == 1);
  CHECK(serialize(*back) == serialize(*unfused));
}
