// The pass combine_products: which products become one, what keeps them apart, rows that keep their bits and sums that
// keep their value.
#include "tandem/graph/passes/passes.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::distance, testing::evaluate, testing::List, testing::same_bits, testing::traced,
    testing::wave;

namespace {

Spec of(const Shape& s, DType dtype = float32) { return {s, dtype, {}}; }
// The graph of f after the pass; its results are those from before it, to rounding or bit by bit.
template <class F>
Ref<Graph> joined(const std::vector<Spec>& specs, const F& f, bool bits = false, double tolerance = 1e-6) {
  const Ref<Graph> g = traced(specs, f), r = combine_products(*g);
  verify(*r);
  List in;
  for (const Spec& s : specs) {
    Shape known = s.shape;
    for (int d = 0; d < known.rank(); ++d)
      if (known[d] == none) known.set(d, 4);
    in.push_back(wave(known, static_cast<float>(in.size()), s.dtype));
  }
  const List want = evaluate(*g, in), got = evaluate(*r, in);
  REQUIRE(want.size() == got.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (bits) CHECK(same_bits(want[i], got[i]));
    else CHECK(distance(want[i], got[i]) < (want[i].dtype() == float64 ? 1e-12 : tolerance));
  }
  CHECK(to_string(*combine_products(*r)) == to_string(*eliminate_dead_code(*r)));
  return r;
}
// x[0]^T g[0] + x[1]^T g[1] + ..., from the last step on, as a tape adds.
Tensor gradient_sum(const Tensor& x, const Tensor& g, i64 from = 0) {
  Tensor sum;
  for (i64 t = x.shape()[0] - 1; t >= from; --t) {
    const Tensor term = matmul(x[t], g[t], {.transpose_a = true});
    sum = sum.is_set() ? sum + term : term;
  }
  return sum;
}

}  // namespace

TEST_CASE("combine_products: a sum of products is one product over all depths") {
  for (const DType dtype : {float32, float64}) {
    const std::vector<Spec> specs{of({7, 4, 5}, dtype), of({7, 4, 6}, dtype)};
    // The operands are the steps of two tensors: they are used as they lie.
    const Ref<Graph> steps = joined(specs, [](const List& a) { return List{gradient_sum(a[0], a[1])}; });
    CHECK(count(*steps, matmul_op) == 1);
    CHECK(count(*steps, add_op) + count(*steps, concat_op) + count(*steps, leading_slice_op) == 0);
    // Some of the steps only.
    const Ref<Graph> some = joined(specs, [](const List& a) { return List{gradient_sum(a[0], a[1], 2)}; });
    CHECK(count(*some, matmul_op) == 1);
    CHECK(count(*some, leading_slice_op) == 2);
    CHECK(count(*some, concat_op) == 0);
  }
}

TEST_CASE("combine_products: sums over the same operands put them together once") {
  const Ref<Graph> r = joined({of({5, 4, 5}), of({5, 4, 6}), of({5, 4, 7})}, [](const List& a) {
    List x, h, g;
    for (i64 t = 0; t < 5; ++t) x.push_back(a[0][t]), h.push_back(tanh(a[2][t])), g.push_back(exp(a[1][t]));
    Tensor dw = matmul(x[4], g[4], {.transpose_a = true}), dr = matmul(h[4], g[4], {.transpose_a = true});
    for (std::size_t t = 4; t-- > 0;) {
      dw = dw + matmul(x[t], g[t], {.transpose_a = true});
      dr = dr + matmul(h[t], g[t], {.transpose_a = true});
    }
    return List{dw, dr};
  });
  CHECK(count(*r, matmul_op) == 2);
  CHECK(count(*r, concat_op) == 2);  // of h and of g
  CHECK(count(*r, add_op) == 0);
}

TEST_CASE("combine_products: any flags and any tree") {
  const auto product = [](const Tensor& a, const Tensor& b, int flags) {
    return matmul(flags & 1 ? transpose(a) : a, flags & 2 ? transpose(b) : b,
                  {.transpose_a = (flags & 1) != 0, .transpose_b = (flags & 2) != 0});
  };
  for (int flags = 0; flags < 4; ++flags) {
    const Ref<Graph> g = traced({of({4, 5, 2}), of({4, 2, 6}), of({5, 6})}, [&](const List& a) {
      const Tensor right = product(a[0][1], a[1][1], flags) + product(a[0][2], a[1][2], flags),
                   sum = product(a[0][0], a[1][0], flags) + right;
      return List{(sum + product(a[0][3], a[1][3], flags)) + exp(a[2])};
    });
    const Ref<Graph> before = eliminate_dead_code(*simplify(*g)), after = combine_products(*before);
    verify(*after);
    CHECK(count(*before, matmul_op) == 4);
    CHECK(count(*after, matmul_op) == 1);
    CHECK(count(*after, add_op) == 1);
    const List in{wave({4, 5, 2}), wave({4, 2, 6}), wave({5, 6})};
    CHECK(distance(evaluate(*g, in)[0], evaluate(*after, in)[0]) < 1e-6);
  }
}

TEST_CASE("combine_products: a deep sum becomes several products") {
  // 2700 terms, whose roundings grow with their number in either order: 2e-6 of the largest result.
  const Ref<Graph> r = joined(
      {of({9, 300, 5}), of({9, 300, 6})}, [](const List& a) { return List{gradient_sum(a[0], a[1])}; }, false, 2e-6);
  CHECK(count(*r, matmul_op) == 3);
  CHECK(count(*r, add_op) == 2);
}

TEST_CASE("combine_products: sums that stay as they are") {
  const auto products = [](const std::vector<Spec>& specs, const auto& f) {
    const Ref<Graph> r = joined(specs, f, true);
    CHECK(count(*r, concat_op) + count(*r, reshape_op) == 0);
    return count(*r, matmul_op);
  };
  const std::vector<Spec> specs{of({3, 4, 5}), of({3, 4, 6})};
  const auto term = [](const List& a, i64 t) { return matmul(a[0][t], a[1][t], {.transpose_a = true}); };
  // Two terms.
  CHECK(products({of({2, 4, 5}), of({2, 4, 6})}, [](const List& a) { return List{gradient_sum(a[0], a[1])}; }) == 2);
  // A product and a partial sum that others use.
  CHECK(products(specs, [&](const List& a) {
          const Tensor first = term(a, 0);
          return List{first + term(a, 1) + term(a, 2), exp(first)};
        }) == 3);
  CHECK(products(specs, [&](const List& a) {
          const Tensor two = term(a, 0) + term(a, 1);
          return List{two + term(a, 2), exp(two)};
        }) == 3);
  // Something else in between.
  CHECK(products({of({3, 4, 5}), of({3, 4, 6}), of({5, 6})},
                 [&](const List& a) { return List{term(a, 0) + term(a, 1) + a[2] + term(a, 2)}; }) == 3);
  // Other flags, other depths.
  CHECK(products({of({3, 5, 5}), of({3, 5, 6})},
                 [&](const List& a) { return List{term(a, 0) + term(a, 1) + matmul(a[0][2], a[1][2])}; }) == 3);
  CHECK(products({of({2, 4, 5}), of({2, 4, 6}), of({3, 5}), of({3, 6})}, [&](const List& a) {
          return List{term(a, 0) + term(a, 1) + matmul(a[2], a[3], {.transpose_a = true})};
        }) == 3);
  // Putting the operands together would cost more than the additions.
  const std::vector<Spec> deep{of({3, 5, 64}), of({3, 64, 6})};
  CHECK(products(deep, [](const List& a) {
          return List{matmul(exp(a[0][0]), a[1][0]) + matmul(exp(a[0][1]), a[1][1]) + matmul(exp(a[0][2]), a[1][2])};
        }) == 3);
  // Sums that repeat the products, batches, integers.
  CHECK(products({of({3, 4, 1}), of({3, 4, 6}), of({5, 6})}, [&](const List& a) {
          return List{(a[2] + term(a, 0)) + (a[2] + term(a, 1)) + (a[2] + term(a, 2))};
        }) == 3);
  CHECK(products({of({3, 2, 4, 5}), of({3, 2, 4, 6})},
                 [&](const List& a) { return List{term(a, 0) + term(a, 1) + term(a, 2)}; }) == 3);
  CHECK(products({of({3, 4, 5}, int32), of({3, 4, 6}, int32)},
                 [&](const List& a) { return List{term(a, 0) + term(a, 1) + term(a, 2)}; }) == 3);
  // Open sizes wait until they are known.
  CHECK(products({of({3, none, 5}), of({3, none, 6})},
                 [&](const List& a) { return List{term(a, 0) + term(a, 1) + term(a, 2)}; }) == 3);
}

TEST_CASE("combine_products: products by one matrix are one product of all rows, bit by bit") {
  for (const bool forward : {true, false}) {
    const Ref<Graph> r = joined(
        {of({6, 4, 5}), of({5, 7})},
        [&](const List& a) {
          List out;
          for (i64 t = 0; t < 6; ++t) out.push_back(exp(matmul(a[0][forward ? t : 5 - t], a[1])));
          return out;
        },
        true);
    CHECK(count(*r, matmul_op) == 1);
    CHECK(count(*r, concat_op) == 0);
    CHECK(count(*r, leading_slice_op) == 6);
  }
  // Other operands are put together where the copy counts little.
  const auto computed = [](const List& a) {
    return List{matmul(exp(a[0][0]), a[1], {.transpose_b = true}), matmul(a[0][1], a[1], {.transpose_b = true}),
                matmul(tanh(a[0][2]), a[1], {.transpose_b = true})};
  };
  const Ref<Graph> wide = joined({of({3, 4, 5}), of({300, 5})}, computed, true);
  CHECK(count(*wide, matmul_op) == 1);
  CHECK(count(*wide, concat_op) == 1);
  CHECK(count(*joined({of({3, 4, 5}), of({30, 5})}, computed, true), matmul_op) == 3);
}

TEST_CASE("combine_products: rows with bias and activation") {
  const Ref<Graph> r = joined(
      {of({3, 4, 5}), of({5, 7}), of({7})},
      [](const List& a) {
        List out;
        for (const FusedActivation f : {FusedActivation::none, FusedActivation::tanh})
          for (i64 t = 0; t < 3; ++t) out.push_back(nn::dense(a[0][t], a[1], a[2], {.activation = f}));
        return out;
      },
      true);
  CHECK(count(*r, dense_op) == 2);
}

TEST_CASE("combine_products: many rows go in several products") {
  const Ref<Graph> r = joined(
      {of({9, 250, 3}), of({3, 4})},
      [](const List& a) {
        List out;
        for (i64 t = 0; t < 9; ++t) out.push_back(matmul(a[0][t], a[1]));
        return out;
      },
      true);
  CHECK(count(*r, matmul_op) == 3);
}

TEST_CASE("combine_products: products that stay as they are") {
  const auto products = [](const std::vector<Spec>& specs, const auto& f) {
    return count(*joined(specs, f, true), matmul_op);
  };
  const auto steps = [](const List& a) {
    List out;
    for (i64 t = 0; t < a[0].shape()[0]; ++t) out.push_back(matmul(a[0][t], a[1]));
    return out;
  };
  CHECK(products({of({2, 4, 5}), of({5, 7})}, steps) == 2);    // few
  CHECK(products({of({3, 300, 5}), of({5, 7})}, steps) == 3);  // long enough alone
  CHECK(products({of({3, 1, 5}), of({5, 7})}, steps) == 3);    // one row: another kernel, other bits
  CHECK(products({of({3, 4, 5}), of({5, 1})}, steps) == 3);    // one column
  CHECK(products({of({3, 4, 5}, int64), of({5, 7}, int64)}, steps) == 3);
  CHECK(products({of({3, none, 5}), of({5, 7})}, steps) == 3);
  CHECK(products({of({3, 4, 5}), of({4, 7})}, [](const List& a) {
          List out;
          for (i64 t = 0; t < 3; ++t) out.push_back(matmul(a[0][t], a[1], {.transpose_a = true}));
          return out;
        }) == 3);
  // Each needs the one before it.
  CHECK(products({of({4, 300}), of({300, 300})}, [](const List& a) {
          Tensor h = a[0];
          for (int t = 0; t < 20; ++t) h = tanh(matmul(h, a[1]) * 0.1f);
          return List{h};
        }) == 20);
}

TEST_CASE("combine_products: a matrix that several products take transposed is transposed once") {
  const auto transposes = [](i64 rows, i64 columns, int steps) {
    const auto f = [&](const List& a) {
      Tensor h = a[0];
      for (int t = 0; t < steps; ++t) h = tanh(matmul(h, a[1], {.transpose_b = true}) * 0.1f);
      return List{h};
    };
    return count(*joined({of({rows, columns}), of({columns, columns})}, f, true), transpose_op);
  };
  CHECK(transposes(4, 7, 5) == 1);
  CHECK(transposes(70, 300, 3) == 1);
  CHECK(transposes(4, 7, 2) == 0);
  CHECK(transposes(1, 7, 5) == 0);
  CHECK(transposes(300, 7, 5) == 0);
}

TEST_CASE("combine_products: what depends on the products follows them") {
  // Steps of a loop: the inputs' products do not depend on each other, the states' do.
  const Ref<Graph> loop = joined(
      {of({6, 4, 5}), of({5, 7}), of({7, 7})},
      [](const List& a) {
        List out;
        Tensor h = zeros({4, 7});
        for (i64 t = 0; t < 6; ++t) out.push_back(h = tanh(matmul(a[0][t], a[1]) + matmul(h, a[2])));
        return out;
      },
      true);
  CHECK(count(*loop, matmul_op) == 7);
  // Two matrices whose products need each other's: to combine all products by each would be a circle.
  const Ref<Graph> circle = joined(
      {of({3, 4, 300}), of({300, 300}), of({300, 300})},
      [](const List& a) {
        const Tensor p = matmul(a[0][0], a[1]), q = matmul(tanh(p), a[2]), r = matmul(a[0][1], a[2]),
                     s = matmul(tanh(r), a[1]);
        return List{p, q, r, s, matmul(a[0][2], a[1]), matmul(a[0][2], a[2])};
      },
      true);
  CHECK(count(*circle, matmul_op) == 6);
  // Products that wait in between for each other, step by step: the first layer's are one product, then the second's.
  const Ref<Graph> layers = joined(
      {of({6, 4, 5}), of({5, 300}), of({300, 300})},
      [](const List& a) {
        List out;
        Tensor h = zeros({4, 300});
        for (i64 t = 0; t < 6; ++t) out.push_back(h = h * 0.5f + matmul(tanh(matmul(a[0][t], a[1])), a[2]));
        return out;
      },
      true);
  CHECK(count(*layers, matmul_op) == 2);
}

TEST_CASE("combine_products: a Variable that is assigned in between is another operand") {
  const Variable w(wave({5, 7}));
  const auto f = [&](const List& a) {
    List out;
    for (i64 t = 0; t < 6; ++t) {
      if (t == 3) w.assign(w * 2.f);
      out.push_back(matmul(a[0][t], w));
    }
    return out;
  };
  const Ref<Graph> g = eliminate_common_subexpressions(*traced({of({6, 4, 5})}, f)), r = combine_products(*g);
  verify(*r);
  CHECK(count(*g, matmul_op) == 6);
  CHECK(count(*r, matmul_op) == 2);
  const Tensor x = wave({6, 4, 5}), before = w.value_untracked() + 0.f;
  const List want = evaluate(*g, {x});
  w.set_untracked(before);
  const List got = evaluate(*r, {x});
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(want[i], got[i]));

  // The same matrix, but an effect in between.
  const Variable seen(constant(0.f));
  const Ref<Graph> parted = joined(
      {of({4, 4, 5}), of({5, 7})},
      [&](const List& a) {
        List out;
        for (i64 t = 0; t < 4; ++t) {
          if (t == 2) seen.assign_add(constant(1.f));
          out.push_back(matmul(a[0][t], a[1]));
        }
        return out;
      },
      true);
  CHECK(count(*parted, matmul_op) == 4);
}
