// Fusion: which ops form groups, and that a group's numbers are those of its ops one by one, bit for bit: special
// values, repeated inputs, several outputs, any size, each instruction set, several threads, outputs on top of inputs.
#include "tandem/ops/fused/fused.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/passes/passes.hpp"
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

// Numbers of all magnitudes, and now and then a special one.
Tensor numbers(const Shape& s, DType d, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 2);
  const double special[] = {0.,
                            -0.,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            1e-40,
                            -3e-42,
                            1.,
                            -1.,
                            100.,
                            1e-300,
                            3e38};
  Tensor t = Tensor::allocate({s, float64, {}});
  for (i64 i = 0; i < t.size(); ++i)
    static_cast<double*>(t.raw())[i] = random() % 5 ? normal(random) : special[random() % std::size(special)];
  return d == bool_ ? t > 0. : cast(t, d);
}
template <class T>
bool same_floats(const Tensor& a, const Tensor& b) {
  const auto x = a.data<T>(), y = b.data<T>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&x[i], &y[i], sizeof(T)) != 0 && !(x[i] != x[i] && y[i] != y[i])) return false;
  return true;
}
bool same(const Tensor& a, const Tensor& b) {
  if (!(a.spec() == b.spec())) return false;
  if (a.dtype() == float32) return same_floats<float>(a, b);
  if (a.dtype() == float64) return same_floats<double>(a, b);
  if (dtypes::half_floating.has(a.dtype())) return same(cast(a, float32), cast(b, float32));
  return std::memcmp(a.raw(), b.raw(), a.spec().bytes()) == 0;
}
void check_same(const Graph& plain, const Graph& fused, const List& arguments) {
  const List a = evaluate(plain, arguments), b = evaluate(fused, arguments);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(same(a[i], b[i]));
}

struct EachIsa {
  const signed char before = cpu::isa_level.load();
  ~EachIsa() { cpu::isa_level = before; }
  template <class F>
  void run(const F& f) const {
    for (int level = 0; level <= cpu::best_isa(); ++level) {
      cpu::isa_level = static_cast<signed char>(level);
      INFO("instruction set " << level);
      f();
    }
  }
};

List gelu_and_more(const List& a) {
  const Tensor &x = a[0], &bias = a[1];
  const Tensor h = x * 0.7f + bias, gelu = 0.5f * h * (1 + tanh((h + h * h * h * 0.044715f) * 0.7978845608f));
  const Tensor positive = h > 0;
  return {gelu, where(positive, gelu, floor(h)), cast(positive, float32) - x / h, maximum(x, bias) - minimum(bias, h)};
}

}  // namespace

TEST_CASE("fused: connected elementwise ops of one shape are one node") {
  const Spec s{{8, 4}, float32, {}}, row{{4}, float32, {}};
  const Ref<Graph> g = traced({s, row}, gelu_and_more);
  const Ref<Graph> r = fuse(*g);
  verify(*r);
  CHECK(count(*r, fused_op) == 1);
  CHECK(count(*r, tanh_op) + count(*r, select_op) + count(*r, whole_cast_op) == 0);
  check_same(*g, *r, {numbers({8, 4}, float32, 1), numbers({4}, float32, 2)});

  const Ref<Graph> alone = traced({s}, [](const List& a) { return List{reduce_sum(exp(a[0]))}; });
  CHECK(count(*fuse(*alone), fused_op) == 0);
}

TEST_CASE("fused: groups end at other ops, other shapes and effects") {
  const Spec s{{4, 4}, float32, {}};
  const Variable v(numbers({4, 4}, float32, 1));
  const Ref<Graph> g = traced({s}, [&](const List& a) {
    const Tensor x = exp(a[0]) + 1, scale = reduce_mean(x) * 2 - 1;
    const Tensor y = x * scale;
    v.assign(y);
    const Tensor z = tanh(matmul(y, y)) * y + v;
    return List{z, scale, x - y};
  });
  const Ref<Graph> r = fuse(*g);
  verify(*r);
  CHECK(count(*r, fused_op) == 3);  // exp + 1; * 2 - 1; tanh * y + v
  NodeId assigned, last;
  for (const NodeId i : r->nodes.ids()) {
    if (r->nodes[i].op == &assign_variable_op) assigned = i;
    if (r->nodes[i].op == &fused_op) last = i;
  }
  CHECK(assigned < last);
  const Tensor x = numbers({4, 4}, float32, 3), before = v.value_untracked();
  const List plain = evaluate(*g, {x});
  v.set_untracked(before);
  const List fused = evaluate(*r, {x});
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(same(plain[i], fused[i]));
}

TEST_CASE("fused: no cycle through what stands between members") {
  const Ref<Graph> g = traced({{{5, 5}, float32, {}}}, [](const List& a) {
    const Tensor x = a[0] + 1, y = exp(x), z = matmul(y, y);
    return List{y * z + x, z - x, abs(x) * reduce_sum(y)};
  });
  const Ref<Graph> r = fuse(*g);
  verify(*r);
  CHECK(count(*r, fused_op) >= 2);
  check_same(*g, *r, {numbers({5, 5}, float32, 1)});
}

TEST_CASE("fused: open dims") {
  const Spec open{{none, 4}, float32, {}}, other{{none, 4}, float32, {}};
  const Ref<Graph> g = traced({open, other, {{4}, float32, {}}}, [](const List& a) {
    const Tensor x = tanh(a[0] * 2 + a[2]);
    return List{x, -(x + a[1])};
  });
  const Ref<Graph> r = fuse(*g);
  CHECK(count(*r, fused_op) == 2);  // whether a[0] and a[1] are of one shape is not known
  for (const i64 rows : {1, 5})
    check_same(*g, *r, {numbers({1, 4}, float32, 1), numbers({rows, 4}, float32, 2), numbers({4}, float32, 3)});
}

TEST_CASE("fused: what has more to it than a loop stays alone") {
  const Ref<Graph> g = traced({{{4}, float16, {}}, {{4}, int32, {}}}, [](const List& a) {
    return List{nextafter(cast(a[0], float64), cast(a[0], float64)), floordiv(a[1], a[1] + 7) * 2};
  });
  const Ref<Graph> r = fuse(*g);
  CHECK(count(*r, nextafter_op) == 1);
  CHECK(count(*r, floordiv_op) == 1);
  const Ref<Graph> by_zero =
      traced({{{4}, int32, {}}}, [](const List& a) { return List{floordiv(a[0], a[0] * 0 + 0)}; });
  CHECK_THROWS_AS(evaluate(*fuse(*by_zero), {ones({4}, {.dtype = int32})}), errors::InvalidArgumentError);
}

TEST_CASE("fused: half precision is widened in tiles, and every op rounds as it does alone") {
  EachIsa().run([] {
    for (const DType half : {float16, bfloat16}) {
      const Spec s{{5, 300}, half, {}}, row{{300}, half, {}}, one{{}, half, {}};
      const Ref<Graph> g = traced({s, row, one}, [](const List& a) {
        const Tensor x = tanh(a[0] * a[1] + a[2]), y = where(x > a[2], x * x, exp(x));
        return List{y, x, cast(y, float32) * 3.f, cast(cast(x, float32) + 1.f, a[0].dtype())};
      });
      const Ref<Graph> r = fuse(*g);
      CHECK(count(*r, fused_op) == 1);
      CHECK(count(*r, tanh_op) + count(*r, cast_op) == 0);
      check_same(*g, *r, {numbers({5, 300}, half, 1), numbers({300}, half, 2), numbers({}, half, 3)});
    }
  });
}

TEST_CASE("fused: any size, any instruction set, any number of threads") {
  EachIsa().run([] {
    for (const i64 n : {0, 1, 3, 31, 32, 64, 1000, 1025, 100003}) {
      INFO(n << " elements");
      const Spec s{{n}, float32, {}}, one{{}, float32, {}};
      for (const bool scalar : {false, true}) {
        const Ref<Graph> g = traced({s, scalar ? one : s}, gelu_and_more);
        const Ref<Graph> r = fuse(*g);
        CHECK(count(*r, fused_op) == 1);
        const List arguments{numbers({n}, float32, 1), numbers(scalar ? Shape{} : Shape{n}, float32, 2)};
        for (const int threads : {1, 4}) {
          const Threads use(threads);
          check_same(*g, *r, arguments);
        }
      }
    }
  });
}

TEST_CASE("fused: inputs repeated along any axes") {
  const Shape full{7, 3, 50};
  const Shape others[] = {{50}, {3, 1}, {7, 1, 1}, {1, 3, 50}, {7, 1, 50}, {1}, {7, 3, 1}, {}};
  std::vector<Spec> specs{{full, float32, {}}};
  List arguments{numbers(full, float32, 1)};
  for (const Shape& s : others) {
    specs.push_back({s, float32, {}});
    arguments.push_back(numbers(s, float32, static_cast<unsigned>(s.size()) + 7));
  }
  EachIsa().run([&] {
    const Ref<Graph> g = traced(specs, [](const List& a) {
      Tensor x = a[0], y = floor(a[0]);
      for (std::size_t i = 1; i < a.size(); ++i) x = x * 0.5f + a[i], y = where(y > a[i], y, ceil(x));
      return List{x, y};
    });
    const Ref<Graph> r = fuse(*g);
    CHECK(count(*r, fused_op) == 1);
    check_same(*g, *r, arguments);
  });
  const Shape wide{3, 5000};
  const Ref<Graph> g = traced({{wide, float64, {}}, {{5000}, float64, {}}, {{3, 1}, float64, {}}}, [](const List& a) {
    return List{round(a[0] * a[1]) + a[2], sigmoid(a[0]) * a[2]};
  });
  check_same(*g, *fuse(*g), {numbers(wide, float64, 1), numbers({5000}, float64, 2), numbers({3, 1}, float64, 3)});
}

namespace {

// A random program over one float and one int dtype, with comparisons, selections and casts between them.
List random_program(const List& arguments, unsigned seed) {
  std::mt19937 random(seed);
  List floats(arguments.begin(), arguments.end() - 1), wholes{arguments.back()}, masks;
  const auto any = [&](const List& from) { return from[random() % from.size()]; };
  const DType real = floats[0].dtype();
  for (int i = 0; i < 40; ++i) {
    const Tensor a = any(floats), b = any(floats), w = any(wholes);
    switch (random() % 16) {
      case 0: floats.push_back(a + b); break;
      case 1: floats.push_back(a - b); break;
      case 2: floats.push_back(a * b); break;
      case 3: floats.push_back(a / b); break;
      case 4: floats.push_back(maximum(a, b)); break;
      case 5: floats.push_back(minimum(a, b)); break;
      case 6: floats.push_back(tanh(a)); break;
      case 7: floats.push_back(square(a) - abs(b)); break;
      case 8: floats.push_back(nn::relu(a)); break;
      case 9: floats.push_back(sqrt(abs(a))); break;
      case 10: masks.push_back(a < b); break;
      case 11: wholes.push_back(w * any(wholes) + 1); break;
      case 12: floats.push_back(cast(w, real)); break;
      case 13: floats.push_back(masks.empty() ? floor(a) : where(any(masks), a, b)); break;
      case 14: wholes.push_back(masks.empty() ? -w : cast(any(masks), int32)); break;
      default: floats.push_back(a * a); break;
    }
  }
  List outputs{floats.back(), wholes.back()};
  for (int i = 0; i < 3; ++i) outputs.push_back(any(floats));
  if (!masks.empty()) outputs.push_back(masks.back());
  return outputs;
}

}  // namespace

TEST_CASE("fused: random programs keep their bits") {
  EachIsa().run([] {
    for (unsigned seed = 0; seed < 60; ++seed) {
      INFO("seed " << seed);
      const DType real = seed % 2 ? float32 : float64;
      const Shape full = seed % 3 ? Shape{5, 13} : Shape{9, 260};
      const std::vector<Spec> specs{
          {full, real, {}}, {{full[1]}, real, {}}, {full, real, {}}, {{}, real, {}}, {full, int32, {}}};
      List arguments;
      for (const Spec& s : specs)
        arguments.push_back(numbers(s.shape, s.dtype, seed + static_cast<unsigned>(arguments.size())));
      const Ref<Graph> g = traced(specs, [&](const List& a) { return random_program(a, seed); });
      const Ref<Graph> r = optimize(*g);
      verify(*r);
      check_same(*g, *r, arguments);
    }
  });
}

TEST_CASE("fused: an output may lie where an input lies") {
  const Shape shape{3, 700};
  const Ref<Graph> g = traced({{shape, float32, {}}, {shape, float32, {}}}, [](const List& a) {
    const Tensor early = a[0] + a[1], late = floor(early) * a[0];
    return List{early, late - a[1]};
  });
  const Ref<Graph> r = fuse(*g);
  const auto node = std::find_if(r->nodes.begin(), r->nodes.end(), [](const Node& n) { return n.op == &fused_op; });
  REQUIRE(node != r->nodes.end());
  const Tensor a = numbers(shape, float32, 1), b = numbers(shape, float32, 2);
  const List expected = evaluate(*g, {a, b});
  for (const bool crossed : {false, true}) {
    Tensor x = a + 0.f, y = b + 0.f;  // -0 aside, copies
    const List plain = evaluate(*g, {x, y});
    const Tensor* in[] = {&x, &y};
    const Tensor reuse[] = {crossed ? y : x, crossed ? x : y};
    const Tensors out = run(fused_op, in, node->attrs, Specs(x.spec(), y.spec()), reuse);
    for (std::size_t i = 0; i < 2; ++i) CHECK(same(out[i], plain[i]));
  }
}

TEST_CASE("fused: a large call writes past the caches") {
  const i64 n = 12 * 1024 * 1024 + 5;
  const Ref<Graph> g = traced({{{n}, float32, {}}}, [](const List& a) { return List{floor(a[0] * 3) + 1, a[0] - 2}; });
  const Tensor x = reshape(range(static_cast<float>(n)) * 0.37f, {n});
  check_same(*g, *fuse(*g), {x});
}

TEST_CASE("fused: programs that make no sense are refused") {
  using Code = tandem::LeanVector<FusedProgram::Instruction>;
  const auto instruction = [](const OpDef& op, InlinedVector<int, 3> in) {
    return FusedProgram::Instruction{&op, {}, in, float32};
  };
  const std::vector<DType> one{float32};
  CHECK_THROWS_AS(FusedProgram(one, Code{instruction(exp_op, {1})}, {1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(FusedProgram(one, Code{instruction(exp_op, {0})}, {0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(FusedProgram(one, Code{instruction(exp_op, {0})}, {1, 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(FusedProgram(one, Code{instruction(add_op, {0})}, {1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(FusedProgram(one, Code{instruction(matmul_op, {0, 0})}, {1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(FusedProgram({string}, Code{instruction(add_op, {0, 0})}, {1}), errors::InvalidArgumentError);
}
