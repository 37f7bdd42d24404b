// The pass fuse_reductions: which reductions take in what they reduce, and numbers that are those of the ops one by
// one, bit for bit: special values, sizes around blocks and chunks, each instruction set, any number of threads.
#include "tandem/ops/fused/fused_reduce.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/threads.hpp"

using namespace tandem;
using testing::count;
using testing::evaluate;
using testing::List;
using testing::Threads;
using testing::traced;

namespace {

// Without a pattern; `special`: now and then an infinity or NaN.
Tensor numbers(const Shape& s, DType d = float32, bool special = false, unsigned seed = 1) {
  Tensor t = Tensor::allocate({s, float64, {}});
  unsigned state = seed * 2654435761u + 1;
  for (i64 i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    double x = static_cast<double>(state >> 8) / 8388608 - 1;
    if (special && state % 997 == 0) x = state % 2 ? -INFINITY : 3e38;
    if (special && state % 3989 == 1) x = NAN;
    static_cast<double*>(t.raw())[i] = x;
  }
  return cast(t, d);
}
// Bits, but for those of NaN: which of two NaN an addition keeps is not said.
bool same(const Tensor& a, const Tensor& b) {
  if (!(a.spec() == b.spec())) return false;
  const std::vector<double> x = cast(a, float64).to_vector<double>(), y = cast(b, float64).to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::isnan(x[i]) && std::isnan(y[i])) && std::memcmp(&x[i], &y[i], sizeof(double)) != 0) return false;
  return true;
}
void check_same(const Graph& a, const Graph& b, const List& arguments) {
  const List x = evaluate(a, arguments), y = evaluate(b, arguments);
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO("output " << i);
    CHECK(same(x[i], y[i]));
  }
}
Ref<Graph> fused(const Graph& g) {
  const Ref<Graph> r = fuse_reductions(*fuse(g));
  verify(*r);
  return r;
}
template <class F>
void for_each_isa(const F& f) {
  const int best = cpu::best_isa(), before = cpu::isa();
  for (int i = 0; i <= best; ++i) {
    INFO("instruction set " << i);
    cpu::isa_level = static_cast<signed char>(i);
    f();
  }
  cpu::isa_level = static_cast<signed char>(before);
}

}  // namespace

TEST_CASE("fused_reduce: a reduction takes in what it alone uses") {
  const Spec s{{4, 6}, float32, {}}, row{{6}, float32, {}};
  const Ref<Graph> g = traced({s, s, row}, [](const List& a) {
    return List{reduce_sum(square(a[0])),                                   // one op
                reduce_mean(square(a[0] - a[1])),                           // a group
                reduce_sum(a[0] * a[2], {.axis = {-1}, .keepdims = true}),  // the last axis, a repeated input
                reduce_max(exp(a[0] - 1.f), {.axis = {1}}),
                reduce_min(nn::relu(-a[1]), {.axis = {0, 1}, .keepdims = true})};
  });
  const Ref<Graph> r = fused(*g);
  CHECK(count(*r, fused_reduce_op) == 5);
  CHECK(r->nodes.size() == 3 + 1 + 5);  // arguments, the constant 1
  check_same(*g, *r, {numbers({4, 6}), numbers({4, 6}, float32, false, 2), numbers({6}, float32, false, 3)});
  CHECK_THAT(to_string(*r), ContainsSubstring("fused_reduce("));
  CHECK(count(*optimize(*g, {.fuse_reductions = false}), fused_reduce_op) == 0);
  CHECK(count(*optimize(*g, {.fuse = false}), fused_reduce_op) == 5);  // of the group, its last op
}

TEST_CASE("fused_reduce: what is used elsewhere, other axes, dtypes and effects stay") {
  const Spec s{{4, 6}, float32, {}}, whole{{4, 6}, int32, {}}, half{{4, 6}, float16, {}};
  const Variable v(numbers({4, 6}));
  const Ref<Graph> g = traced({s, whole, half}, [&](const List& a) {
    const Tensor shown = square(a[0]), before = square(a[0] + v);
    v.assign(a[0]);
    return List{shown,
                reduce_sum(shown),
                reduce_sum(before),                    // across an effect
                reduce_sum(exp(a[0]), {.axis = {0}}),  // the first axis
                reduce_sum(square(a[1])),              // integers
                reduce_sum(cast(a[2], float64)),       // an op without a loop
                reduce_sum(exp(a[0]), {.axis = Axes::none()}),
                reduce_prod(exp(a[0])),
                reduce_sum(a[0])};
  });
  const Ref<Graph> r = fused(*g);
  CHECK(count(*r, fused_reduce_op) == 0);
  CHECK(count(*r, reduce_sum_op) == count(*g, reduce_sum_op));
}

TEST_CASE("fused_reduce: sizes around blocks and chunks, any threads, any instruction set") {
  for_each_isa([] {
    for (const i64 n : {i64{1}, i64{15}, i64{1000}, i64{1024}, i64{1025}, i64{4096}, i64{4097}, i64{9999}, i64{65536},
                        i64{65537}, i64{200003}}) {
      INFO(n << " elements");
      for (const DType d : {float32, float64}) {
        const Spec s{{n}, d, {}};
        const Ref<Graph> g = traced({s, s}, [](const List& a) {
          return List{reduce_sum(square(a[0])), reduce_mean(square(a[0] - a[1])), reduce_max(tanh(a[0]) * a[1])};
        });
        const Ref<Graph> r = fused(*g);
        CHECK(count(*r, fused_reduce_op) >= 2);
        const List arguments{numbers({n}, d), numbers({n}, d, false, 2)};
        for (const int threads : {1, 2, 5}) {
          const Threads use(threads);
          check_same(*g, *r, arguments);
        }
      }
    }
  });
}

TEST_CASE("fused_reduce: rows") {
  for_each_isa([] {
    const Shape shapes[] = {{300, 1}, {7, 3}, {33, 300}, {5, 1024}, {3, 5000}, {2, 70001}, {2, 3, 40}, {20, 4, 33}};
    for (const Shape& shape : shapes) {
      INFO(to_string(shape));
      const Spec s{shape, float32, {}}, row{{shape.dim(-1)}, float32, {}}, one{{}, float32, {}};
      Shape leading = shape;
      leading.set(shape.rank() - 1, 1);
      const Spec column{leading, float32, {}};
      const Ref<Graph> g = traced({s, row, column, one}, [&](const List& a) {
        return List{reduce_sum(a[0] * a[1], {.axis = {-1}}), reduce_mean(exp(a[0] - a[2]), {.axis = {-1}}),
                    reduce_max(floor(a[0] * 50 + a[1]) * a[3], {.axis = {-1}, .keepdims = true}),
                    reduce_sum(round(a[0] + a[1]) + a[2], {.axis = {-1, -2}})};
      });
      const Ref<Graph> r = fused(*g);
      CHECK(count(*r, fused_reduce_op) == 4);
      const List arguments{numbers(shape), numbers({shape.dim(-1)}, float32, false, 2),
                           numbers(leading, float32, false, 3), numbers({}, float32, false, 4)};
      for (const int threads : {1, 3}) {
        const Threads use(threads);
        check_same(*g, *r, arguments);
      }
    }
  });
}

TEST_CASE("fused_reduce: infinities and NaN") {
  const Spec s{{3, 5000}, float32, {}};
  const Ref<Graph> g = traced({s}, [](const List& a) {
    const Axes last{-1};
    return List{reduce_max(a[0] * 2.f, {.axis = last}), reduce_min(-a[0], {.axis = last}),
                reduce_sum(abs(a[0]), {.axis = last}), reduce_mean(a[0] - 1.f), reduce_max(square(a[0]))};
  });
  const Ref<Graph> r = fused(*g);
  CHECK(count(*r, fused_reduce_op) == 5);
  Tensor x = numbers({3, 5000}, float32, true);
  CHECK(std::isnan(evaluate(*r, {x})[4].item<float>()));
  check_same(*g, *r, {x});
  float* const p = static_cast<float*>(x.raw());
  for (i64 i = 0; i < x.size(); ++i) p[i] = std::isnan(p[i]) ? -INFINITY : p[i];
  check_same(*g, *r, {x});
}

TEST_CASE("fused_reduce: nothing to reduce") {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 4}, Shape{2, 0, 3}}) {
    INFO(to_string(shape));
    const Spec s{shape, float32, {}};
    const Ref<Graph> g = traced({s}, [](const List& a) {
      const Axes last{-1};
      return List{reduce_sum(square(a[0])), reduce_mean(exp(a[0])), reduce_max(exp(a[0]), {.axis = last}),
                  reduce_min(-a[0]), reduce_mean(-a[0], {.axis = last})};
    });
    const Ref<Graph> r = fused(*g);
    CHECK(count(*r, fused_reduce_op) == 5);
    check_same(*g, *r, {zeros(shape)});
  }
}

TEST_CASE("fused_reduce: open dims") {
  const Spec open{{none, 4}, float32, {}};
  const auto f = [](const List& a) {
    return List{reduce_sum(square(a[0] + a[1])), reduce_max(exp(a[0]), {.axis = {1}}),
                reduce_mean(square(a[0]), {.axis = {0}})};
  };
  const Ref<Graph> g = traced({open, {{4}, float32, {}}}, f), r = fused(*g);
  CHECK(count(*r, fused_reduce_op) == 2);
  const auto traced_f = function(
      [&](const Tensor& x, const Tensor& y) {
        return f({x, y});
      },
      {.input_signature = {TensorSpec(open.shape, float32), TensorSpec({4}, float32)}});
  for (const i64 rows : {0, 1, 5, 700}) {
    const List arguments{numbers({rows, 4}), numbers({4}, float32, false, 2)};
    check_same(*g, *r, arguments);
    const List got = traced_f(arguments[0], arguments[1]), want = f(arguments);
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(same(got[i], want[i]));
  }
  CHECK(traced_f.trace_count() == 1);
}

TEST_CASE("fused_reduce: programs and axes that make no sense are refused") {
  const Tensor x = numbers({3, 4});
  const auto attrs = [](tandem::LeanVector<FusedProgram::Instruction> code, std::vector<int> outputs, Axes axis) {
    return rules::FusedReduceAttrs{
        make_ref<FusedProgram>(std::vector<DType>{float32}, std::move(code), std::move(outputs)), Reduction::sum, axis,
        false};
  };
  const FusedProgram::Instruction square_it{&square_op, {}, {0}, float32};
  const FusedProgram::Instruction again{&square_op, {}, {1}, float32};
  CHECK(apply1(fused_reduce_op, attrs({square_it}, {1}, {-1}), {}, x).shape() == Shape{3});
  CHECK_THROWS_AS(apply1(fused_reduce_op, attrs({square_it}, {1}, {0}), {}, x), errors::InvalidArgumentError);
  CHECK_THROWS_AS(apply1(fused_reduce_op, attrs({square_it, again}, {1, 2}, {-1}), {}, x),
                  errors::InvalidArgumentError);
  CHECK_THROWS_AS(apply1(fused_reduce_op, attrs({square_it}, {1}, {2}), {}, x), errors::InvalidArgumentError);
}
