// Passes but fusion: the graph before and after each, what each must leave alone, and equal results. Fusion:
// fused_test.
#include "tandem/graph/passes/passes.hpp"

#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::evaluate, testing::List, testing::no_passes, testing::same_bits, testing::traced,
    testing::wave;

namespace {

const Spec matrix{{2, 3}, float32, {}}, square_matrix{{3, 3}, float32, {}};

// The pass changes no bit of the results.
void check_equal(const Graph& before, const Graph& after, const List& arguments) {
  verify(after);
  const List a = evaluate(before, arguments), b = evaluate(after, arguments);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(same_bits(a[i], b[i]));
  }
}
// The one-argument function's graph, simplified.
template <class F>
Ref<Graph> simple(const Spec& spec, const F& f) {
  const Ref<Graph> g = traced({spec}, [&](const List& a) { return List{f(a[0])}; });
  const Ref<Graph> r = eliminate_dead_code(*simplify(*g));
  check_equal(*g, *r, {wave(spec.shape)});
  return r;
}
// Whether nothing is left of the function but its argument.
bool is_argument(const Graph& g) { return g.nodes.size() == 1 && g.outputs == g.arguments; }

}  // namespace

TEST_CASE("passes: what nobody needs goes, arguments and effects stay") {
  const Variable v(wave({2, 3}));
  const Ref<Graph> g = traced({matrix, matrix}, [&](const List& a) {
    const Tensor unused = exp(a[0]) + v;
    v.assign(a[0] * 2);
    return List{a[0] - 1};
  });
  const Ref<Graph> r = eliminate_dead_code(*g);
  CHECK(count(*g, exp_op) == 1);
  CHECK(count(*r, exp_op) + count(*r, add_op) + count(*r, read_variable_op) == 0);
  CHECK(count(*r, argument_op) == 2);
  CHECK(count(*r, assign_variable_op) == 1);
  CHECK(count(*r, multiply_op) == 1);
  check_equal(*g, *r, {wave({2, 3}), wave({2, 3})});
}

TEST_CASE("passes: ops on constants become constants") {
  const Tensor big = wave({600, 600});
  const Ref<Graph> g = traced({square_matrix}, [&](const List& a) {
    const Tensor table = exp(constant({1.f, 2.f, 3.f})) * 2 + 1;
    return List{a[0] * table, reshape(shape(a[0]), {1, -1}), reduce_sum(big) + reduce_sum(zeros({4}))};
  });
  const Ref<Graph> r = eliminate_dead_code(*fold_constants(*g));
  CHECK(count(*r, constant_op) == 3);
  CHECK(r->nodes.size() == 5);  // with the argument and the product
  check_equal(*g, *r, {wave({3, 3})});

  const Ref<Graph> likes = traced({{{1024, 1024}, float32, {}}, matrix}, [](const List& a) {
    return List{zeros_like(a[0]), ones_like(a[1])};
  });
  CHECK(count(*fold_constants(*likes), full_like_op) == 1);  // 4 MiB from nothing
}
TEST_CASE("passes: folding leaves random ops and errors to the call") {
  random::Generator generator(3);
  const Ref<Graph> g = traced({}, [&](const List&) {
    const Tensor bad = gather(constant({1.f, 2.f}), constant({7}));
    return List{random::uniform({4}, {.generator = &generator}), bad};
  });
  const Ref<Graph> r = fold_constants(*g);
  CHECK(count(*r, gather_op) == 1);
  CHECK(r->nodes.size() == g->nodes.size());
  CHECK_THROWS_AS(evaluate(*r, {}), errors::InvalidArgumentError);
}

TEST_CASE("passes: equal ops become one") {
  const Ref<Graph> g = traced({matrix}, [](const List& a) {
    const Tensor x = exp(a[0]) * 2, y = exp(a[0]) * 2;
    return List{reduce_sum(x, {.axis = {0}}), reduce_sum(y, {.axis = {0}}), reduce_sum(y, {.axis = {1}}), a[0] - 0.f,
                a[0] - -0.f};
  });
  const Ref<Graph> r = eliminate_common_subexpressions(*g);
  CHECK(count(*r, exp_op) == 1);
  CHECK(count(*r, multiply_op) == 1);
  CHECK(count(*r, reduce_sum_op) == 2);  // their attributes differ
  CHECK(count(*r, subtract_op) == 2);    // 0 and -0 are different constants
  CHECK(r->outputs[0] == r->outputs[1]);
  check_equal(*g, *r, {wave({2, 3})});
}
TEST_CASE("passes: random ops and effects are not merged") {
  random::Generator generator(3);
  const Variable v(wave({2, 3})), w(wave({2, 3}));
  const Ref<Graph> g = traced({matrix}, [&](const List& a) {
    w.assign(a[0]), w.assign(a[0]);
    return List{random::uniform({4}, {.generator = &generator}) + random::uniform({4}, {.generator = &generator}),
                v + a[0]};
  });
  const Ref<Graph> r = eliminate_common_subexpressions(*g);
  CHECK(count(*r, assign_variable_op) == count(*g, assign_variable_op));
  int drawn = 0, kept = 0;
  for (const Node& n : g->nodes) drawn += n.op->flags.random;
  for (const Node& n : r->nodes) kept += n.op->flags.random;
  CHECK(drawn > 0);
  CHECK(kept == drawn);
}
TEST_CASE("passes: a Variable is not read for what is known of it") {
  const Variable v(wave({2, 3})), w(wave({2, 3}));
  const auto body = [&](const List& a) {
    const Tensor first = v + 1;
    w.assign(a[0]);
    const Tensor again = v * 2;
    v.assign(first);
    const Tensor assigned = v * w;
    cond(
        reduce_sum(a[0]) > 0.f, [&] { v.assign(again); }, [] {});
    return List{first, again, assigned, v * 3};
  };
  const Ref<Graph> g = traced({matrix}, body), r = eliminate_common_subexpressions(*g);
  verify(*r);
  CHECK(count(*g, read_variable_op) == 4);
  CHECK(count(*r, read_variable_op) == 2);  // at the start, and after the branch that may assign
  for (const float sign : {1.f, -1.f}) {
    const List x{wave({2, 3}) * sign};
    v.reset(), w.reset();
    const List eager = body(x);
    v.reset(), w.reset();
    const auto got = (*make_ref<ConcreteFunction>(g))(x);
    for (std::size_t i = 0; i < eager.size(); ++i) CHECK(got[i].to_vector<float>() == eager[i].to_vector<float>());
  }
}
TEST_CASE("passes: views of views") {
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return reshape(reshape(x, {6}), {2, 3}); })));
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return squeeze(expand_dims(x, 1), {.axis = {1}}); })));
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return identity(stop_gradient(x)); })));
  const Ref<Graph> g = simple(matrix, [](const Tensor& x) {
    return reshape(expand_dims(nn::flatten(reshape(x, {3, 2})), 0), {3, 2, 1});
  });
  CHECK(g->nodes.size() == 2);
  CHECK(count(*g, reshape_op) == 1);
}
TEST_CASE("passes: views of open shapes") {
  const Ref<Graph> g = traced({{{none, 6}, float32, {}}}, [](const List& a) {
    return List{reshape(reshape(a[0], {-1, 2, 3}), {-1, 6}), expand_dims(reshape(a[0], {-1, 2}), 0)};
  });
  const Ref<Graph> r = eliminate_dead_code(*simplify(*g));
  CHECK(count(*r, reshape_op) == 2);
  CHECK(count(*r, expand_dims_op) == 1);
  check_equal(*g, *r, {wave({4, 6})});
}

TEST_CASE("passes: transposes cancel, join and go into matmul") {
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return transpose(transpose(x)); })));
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return transpose(x, {.perm = {0, 1}}); })));
  const Ref<Graph> joined = simple({{2, 3, 4}, float32, {}}, [](const Tensor& x) {
    return transpose(transpose(x, {.perm = {1, 2, 0}}), {.perm = {0, -1, 1}});
  });
  CHECK(joined->nodes.size() == 2);

  const Ref<Graph> product = simple(matrix, [](const Tensor& x) {
    return matmul(transpose(x), linalg::matrix_transpose(x), {.transpose_b = true}) +
           matmul(x, x, {.transpose_a = true});
  });
  CHECK(count(*product, transpose_op) == 0);
  for (const Node& n : product->nodes)
    if (n.op == &matmul_op) CHECK(n.attrs.get<rules::MatmulAttrs>().transpose_a);

  const Ref<Graph> batch = simple({{2, 3, 4}, float32, {}}, [](const Tensor& x) {
    const Tensor turned = transpose(x, {.perm = {1, 0, 2}});
    return reduce_sum(matmul(x, linalg::matrix_transpose(x))) + matmul(turned, ones({4, 1}));
  });
  CHECK(count(*batch, transpose_op) == 1);  // the one that moves the batch
}
TEST_CASE("passes: adjoints go into matmul, conjugating what they did") {
  const Spec spec{{2, 2}, complex64, {}};
  const Ref<Graph> g = traced({spec}, [](const List& a) {
    return List{matmul(linalg::adjoint(a[0]), a[0]), matmul(linalg::adjoint(a[0]), a[0], {.adjoint_a = true})};
  });
  const Ref<Graph> r = eliminate_dead_code(*simplify(*g));
  CHECK(count(*r, transpose_op) == 0);
  const Tensor x = constant({{std::complex<float>(1, 2), std::complex<float>(3, -1)},
                             {std::complex<float>(0, 1), std::complex<float>(-2, 5)}});
  check_equal(*g, *r, {x});
}

TEST_CASE("passes: numbers that change nothing go, those that might stay") {
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return 1 * (x * 1) / 1 - 0; })));
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return -(-x); })));
  CHECK(is_argument(*simple(matrix, [](const Tensor& x) { return x + -0.f; })));
  CHECK(count(*simple(matrix, [](const Tensor& x) { return x + 0; }), add_op) == 1);  // -0 + 0 is 0
  CHECK(count(*simple(matrix, [](const Tensor& x) { return x - -0.f; }), subtract_op) == 1);
  CHECK(count(*simple(matrix, [](const Tensor& x) { return x * 0; }), multiply_op) == 1);  // not for inf and NaN
  CHECK(count(*simple(matrix, [](const Tensor& x) { return x / 2; }), divide_op) == 1);
  CHECK(count(*simple({{3}, float32, {}}, [](const Tensor& x) { return x * ones({2, 1}); }), multiply_op) == 1);
}
TEST_CASE("passes: what is asked for its shape alone is not computed") {
  const Ref<Graph> g = traced({square_matrix, {{3}, float32, {}}}, [](const List& a) {
    const Tensor y = exp(a[0]);
    return List{tandem::detail::sum_to_like(a[0], exp(a[1])), tandem::detail::broadcast_like(a[1], y),
                tandem::detail::reshape_like(reshape(a[0], {9}), y * 2)};
  });
  const Ref<Graph> r = eliminate_dead_code(*simplify(*g));
  CHECK(count(*r, exp_op) + count(*r, multiply_op) == 0);
  check_equal(*g, *r, {wave({3, 3}), wave({3})});
}

TEST_CASE("passes: what an elementwise op repeats anyway is not written out") {
  const Ref<Graph> g = traced({matrix, {{2}, float32, {}}}, [](const List& a) {
    const Tensor total = reduce_sum(a[0]), rows = reduce_sum(a[0], {.axis = {1}});
    return List{
        a[0] * tandem::detail::broadcast_like(total, a[0], Axes()),
        tandem::detail::broadcast_like(rows, a[0], 1) + a[0], broadcast_to(constant({1.f, 2.f, 3.f}), {2, 3}) - a[0],
        -tandem::detail::broadcast_like(total, a[0], Axes()),
        tandem::detail::broadcast_like(total, a[0], Axes()) * tandem::detail::broadcast_like(total, a[0], Axes())};
  });
  const Ref<Graph> r = eliminate_dead_code(*simplify(*g));
  CHECK(count(*r, broadcast_to_op) == 0);
  CHECK(count(*r, broadcast_like_op) == 2);  // where nothing else has the shape
  check_equal(*g, *r, {wave({2, 3}), wave({2})});
}

TEST_CASE("passes: bias and activation join the product") {
  const i64 sizes[][3] = {{5, 7, 33}, {1, 300, 40}, {70, 300, 65}};
  for (const auto& [m, k, n] : sizes) {
    const std::vector<Spec> specs{{{m, k}, float32, {}}, {{k, n}, float32, {}}, {{n}, float32, {}}};
    const List arguments{wave({m, k}), wave({k, n}), wave({n})};
    const Ref<Graph> g = traced(specs, [](const List& a) {
      const Tensor z = matmul(a[0], a[1]), shown = matmul(a[0] * 2, a[1]) + a[2];
      return List{
          nn::relu(a[2] + matmul(a[0], a[1])), tanh(matmul(a[0] + 1, a[1]) + a[2]), sigmoid(shown), shown, z + a[2], z,
          tanh(matmul(a[0] - 1, a[1]))};
    });
    const Ref<Graph> r = fuse_epilogues(*g);
    CHECK(count(*r, dense_op) == 3);
    CHECK(count(*r, matmul_op) == 2);   // one has another user, one no bias
    CHECK(count(*r, sigmoid_op) == 1);  // what it takes has another user
    check_equal(*g, *r, arguments);
    CHECK(count(*optimize(*g, {.fuse_epilogues = false}), dense_op) == 0);
  }
}

TEST_CASE("passes: each can be switched off") {
  const Variable u(zeros({2, 3})), v(zeros({2, 3}));
  optimizers::Adam adam;
  adam.build({u, v});
  // Something for every pass.
  const Ref<Graph> g =
      traced({matrix, square_matrix, {{3}, float32, {}}, {{8, 2, 3}, float32, {}}}, [&](const List& a) {
        const Tensor unused = a[0] + 5, two = exp(constant(0.f)) + 1;
        List out{-(-a[0]) * two, sqrt(abs(a[0])) * two, sqrt(abs(a[0])) - two, reduce_sum(exp(a[0] * 3)),
                 nn::relu(matmul(a[0], a[1]) + a[2])};
        for (int i = 0; i < 8; ++i) out.push_back(matmul(a[3][i], a[1]));
        adam.apply_gradients({a[0], a[0] * 2}, {u, v});
        return out;
      });
  struct Switch {
    bool PassOptions::*on;
    Ref<Graph> (*pass)(const Graph&);
  };
  const Switch switches[] = {{&PassOptions::eliminate_dead_code, &eliminate_dead_code},
                             {&PassOptions::simplify, &simplify},
                             {&PassOptions::fold_constants, &fold_constants},
                             {&PassOptions::eliminate_common_subexpressions, &eliminate_common_subexpressions},
                             {&PassOptions::combine_updates, &combine_updates},
                             {&PassOptions::fuse_epilogues, &fuse_epilogues},
                             {&PassOptions::combine_products, &combine_products},
                             {&PassOptions::fuse, &fuse},
                             {&PassOptions::fuse_reductions, &fuse_reductions}};
  CHECK(sizeof(PassOptions) == std::size(switches));
  const List arguments{wave({2, 3}), wave({3, 3}), wave({3}), wave({8, 2, 3})};
  const auto text = [&](const PassOptions& o) { return to_string(*optimize(*g, o)); };
  CHECK(text(no_passes) == to_string(*g));
  const std::string all = text({});
  int position = 0;
  for (const auto& [on, pass] : switches) {
    INFO("switch " << position++);
    PassOptions one = no_passes, rest;
    one.*on = true, rest.*on = false;
    CHECK(text(one) != to_string(*g));
    if (on != &PassOptions::eliminate_dead_code) CHECK(text(rest) != all);  // combine_products removes dead code, too
    CHECK(to_string(*pass(*optimize(*g, one))) == text(one));               // what runs is this pass, to its end
    check_equal(*g, *optimize(*g, one), arguments);
    check_equal(*g, *optimize(*g, rest), arguments);
  }
}

TEST_CASE("passes: a training step keeps its numbers") {
  layers::Dense hidden{8, {.activation = Activation::tanh}}, out{1};
  hidden.build(4), out.build(8);
  optimizers::Adam adam{{.learning_rate = 0.05}};
  std::vector<Variable> weights = hidden.variables();
  for (const Variable& v : out.variables()) weights.push_back(v);
  adam.build(weights);
  const Ref<Graph> g = traced({{{6, 4}, float32, {}}, {{6, 1}, float32, {}}}, [&](const List& batch) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(out(hidden(batch[0])) - batch[1]));
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return List{loss};
  });
  const Ref<Graph> r = optimize(*g);
  CHECK(r->nodes.size() < g->nodes.size());
  CHECK(count(*r, adam_updates_op) == 1);
  CHECK(count(*r, adam_update_op) == 0);
  CHECK(count(*r, assign_variable_op) == count(*g, assign_variable_op));

  std::vector<Variable> state = weights;
  for (const Variable& v : adam.variables()) state.push_back(v);
  List before, after[2];
  for (const Variable& v : state) before.push_back(v.value_untracked());
  const Graph* graphs[] = {g.get(), r.get()};
  for (int k = 0; k < 2; ++k) {
    for (std::size_t i = 0; i < state.size(); ++i) state[i].set_untracked(before[i]);
    for (int step = 0; step < 5; ++step)
      after[k].push_back(evaluate(*graphs[k], {wave({6, 4}, static_cast<float>(step)), wave({6, 1}, 2)})[0]);
    for (const Variable& v : state) after[k].push_back(v.value_untracked());
  }
  for (std::size_t i = 0; i < after[0].size(); ++i) CHECK(same_bits(after[0][i], after[1][i]));
}

TEST_CASE("passes: advice names the place and the better op") {
  const Ref<Graph> g = traced({matrix}, [](const List& a) {
    return List{log(nn::softmax(a[0]), {.name = "bad"}), log(sigmoid(a[0])), log(a[0])};
  });
  const std::vector<std::string> found = advice(*g);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0], ContainsSubstring("passes_test.cpp:"));
  CHECK_THAT(found[0], ContainsSubstring("nn::log_softmax"));
  CHECK_THAT(found[1], ContainsSubstring("log_sigmoid"));
  CHECK(count(*optimize(*g), log_op) + count(*optimize(*g), fused_op) > 0);
  CHECK(count(*simplify(*g), softmax_op) == 1);  // advice only
}
