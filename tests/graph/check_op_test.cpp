// test::check_op, on an op that a program defines outside of the library: what it accepts, and that each kind of
// defect is found. The op itself: it traces, plans, is differentiated twice, and is saved and loaded by name.
#include "tandem/graph/debug/check_op.hpp"

#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/host_function.hpp"
#include "tests/support/catch.hpp"

namespace outside {

using namespace tandem;

// y[i][j] = x[i][j]^2 * scale + row[j]
struct QuadraticAttrs {
  double scale;
  TANDEM_ATTRS(QuadraticAttrs, scale);
};

Specs infer_quadratic(const InferCall& c) {
  const Spec &x = c.spec(0), &row = c.spec(1);
  if (x.shape.rank() != 2 || row.shape.rank() != 1 || row.dtype != x.dtype ||
      !row.shape.is_compatible_with({x.shape.dim(1)}))
    detail::raise_specs(c, "expected [m,n] and [n]");
  return Specs(x);
}
template <class T>
void quadratic_rows(const KernelCall& c) {
  const T *x = c.in[0].as<const T>(), *row = c.in[1].as<const T>();
  T* const y = c.out[0].as<T>();
  const i64 n = c.in[1].size();
  const T scale = static_cast<T>(c.attrs.get<QuadraticAttrs>().scale);
  for (i64 i = 0; i < c.in[0].size(); ++i) y[i] = x[i] * x[i] * scale + row[i % n];
}
void quadratic_cpu(const KernelCall& c) {
  if (c.in[0].spec->dtype == float64) quadratic_rows<double>(c);
  else quadratic_rows<float>(c);
}
Grads gradient_quadratic(const GradCall& c) {
  Grads r;
  r.push_back(c.needs(0) ? Gradient(c.g[0] * c.in[0] * (2 * c.get<QuadraticAttrs>().scale)) : Gradient());
  r.push_back(c.needs(1) ? Gradient(reduce_sum(c.g[0], 0)) : Gradient());
  return r;
}
const OpDef quadratic_op{.name = "outside_quadratic",
                         .infer = &infer_quadratic,
                         .cpu = &quadratic_cpu,
                         .gradient = &gradient_quadratic,
                         .dtypes = dtypes::floating,
                         .inputs = 2,
                         .saves = Saves::inputs,
                         .attrs = &detail::attr_type<QuadraticAttrs>};

Tensor quadratic(const Tensor& x, const Tensor& row, double scale, OpOptions options = {}) {
  return apply1(quadratic_op, QuadraticAttrs{scale}, options, x, row);
}

const Tensor x = constant({{1., -2., 0.5}, {0.25, 3., -1.}}, float64), row = constant({0.5, -1., 2.}, float64);

// The texts of all failures.
template <class F>
std::string failures(const F& f, const std::vector<Tensor>& in, const test::CheckOpOptions& options = {}) {
  std::string r;
  for (const std::string& s : test::check_op(f, in, options)) r += s + "\n";
  return r;
}

TEST_CASE("check_op accepts a right op from outside of the library") {
  std::vector<const OpDef*> ops(all_ops().begin(), all_ops().end());
  ops.push_back(&quadratic_op);
  CHECK(failures([](const Tensor& x, const Tensor& row) { return quadratic(x, row, 3); }, {x, row}, {.ops = ops}) ==
        "");
  const Tensor narrow = cast(x, float32), narrow_row = cast(row, float32);
  CHECK(failures([](const Tensor& x, const Tensor& row) { return quadratic(x, row, 3) + 1; }, {narrow, narrow_row},
                 {.gradient_tolerance = 2e-3, .gradients = 1, .ops = ops}) == "");
  CHECK(quadratic(cast(x, bfloat16), cast(row, bfloat16), 3).dtype() == bfloat16);  // computed in float32
}

namespace {
Tensor cube(const Tensor& x) { return x * x * x; }
Tensor difference(const Tensor& a, const Tensor& b) { return a - b; }
}  // namespace

TEST_CASE("check_op and the gradient checker take functions by name") {
  const Tensor x = constant({1., 2., -.5}, float64);
  CHECK(test::check_op(cube, {x}).empty());
  CHECK(test::check_op(&cube, {x}).empty());
  CHECK(test::check_op(difference, {x, 2 * x}).empty());
  CHECK(test::compute_gradient_error(cube, x, {.delta = 1e-5}) < 1e-6);
  CHECK(test::compute_gradient(difference, {x, 2 * x}).size() == 2);
}

TEST_CASE("check_op accepts ops of the library") {
  CHECK(failures([](const Tensor& x) { return nn::softmax(x); }, {x}) == "");
  CHECK(failures([](const Tensor& x) { return sort(x); }, {x}) == "");
  CHECK(failures([](const Tensor& x, const Tensor& y) { return matmul(x, y, {.transpose_b = true}); }, {x, x}) == "");
  CHECK(failures([](const Tensor& x, const Tensor& i) { return gather(x, i); }, {x, constant({1, 0, 1})}) == "");
}

TEST_CASE("an op from outside is found by its name when a graph is loaded") {
  auto f = function([](const Tensor& x) { return quadratic(x, row, 2, {.name = "mine"}); });
  const std::string bytes = serialize(f.get_concrete_function(x)->graph());
  CHECK_THROWS_WITH(parse_graph(bytes, {.ops = all_ops()}), ContainsSubstring("outside_quadratic"));
  const OpDef* const own[] = {&quadratic_op};
  const auto loaded = make_ref<ConcreteFunction>(parse_graph(bytes, {.ops = own}));
  CHECK((*loaded)({x})[0].to_vector<double>() == quadratic(x, row, 2).to_vector<double>());
  CHECK_THROWS_WITH(quadratic(x, x, 2),
                    ContainsSubstring("outside_quadratic: expected [m,n] and [n]: float64[2,3] x float64[2,3]"));
}

TEST_CASE("check_op finds a wrong gradient, of either order, and none at all") {
  OpDef wrong = quadratic_op;
  wrong.gradient = [](const GradCall& c) {
    Grads r;
    r.push_back(Gradient(c.g[0] * c.in[0] * 6.01));
    r.push_back(Gradient(reduce_sum(c.g[0], 0)));
    return r;
  };
  const auto f = [](const OpDef& op) {
    return [&op](const Tensor& x, const Tensor& row) { return apply1(op, QuadraticAttrs{3}, no_options, x, row); };
  };
  CHECK_THAT(failures(f(wrong), {x, row}), ContainsSubstring("the gradient differs from differences by"));
  OpDef second = quadratic_op;  // the values are right, but the rule hides its dependence on x
  second.gradient = [](const GradCall& c) {
    Grads r;
    r.push_back(Gradient(c.g[0] * stop_gradient(c.in[0]) * 6));
    r.push_back(Gradient(reduce_sum(c.g[0], 0)));
    return r;
  };
  CHECK_THAT(failures(f(second), {x, row}),
             ContainsSubstring("the second gradient differs") && !ContainsSubstring("the gradient differs"));
  OpDef none_at_all = quadratic_op;
  none_at_all.gradient = nullptr;
  CHECK_THAT(failures(f(none_at_all), {x, row}), ContainsSubstring("has no gradient"));
  CHECK(failures(f(none_at_all), {x, row}, {.gradients = 0}) == "");
}

TEST_CASE("check_op finds values that differ between calls or get lost in a trace") {
  int calls = 0;
  CHECK_THAT(failures([&](const Tensor& x) { return x + static_cast<double>(calls++); }, {x}),
             ContainsSubstring("a second eager call differs"));
  CHECK_THAT(failures([](const Tensor& x) { return x * (x.has_data() ? 2. : 3.); }, {x}),
             ContainsSubstring("the planned call differs from the eager call"));
  CHECK_THAT(failures(
                 [](const Tensor& x) {
                   return x * x.at<double>({0, 0});
                 },
                 {x}),
             ContainsSubstring("traced call raises"));
  CHECK_THAT(failures([](const Tensor& x) { return x * static_cast<double>(x.shape()[0]); }, {x}),
             ContainsSubstring("call traced with unknown dimensions raises"));
  CHECK(failures([](const Tensor& x) { return x * static_cast<double>(x.shape()[0]); }, {x},
                 {.unknown_dimensions = false}) == "");
}

TEST_CASE("check_op finds what cannot be saved, and errors that are not an OpError") {
  const auto f = [&](const Tensor& x, const Tensor& row) {
    return host_function([&](const Tensor& x, const Tensor& row) { return quadratic(x, row, 1); }, {x, row},
                         TensorSpec({2, 3}, float64));
  };
  CHECK_THAT(failures(f, {x, row}, {.gradients = 0, .ops = all_ops()}),
             ContainsSubstring("saved and loaded graph raises"));
  CHECK_THAT(failures(
                 [](const Tensor& x) {
                   if (x.size() == 0) throw std::runtime_error("no elements");
                   return x * 2;
                 },
                 {x}, {.unknown_dimensions = false}),
             ContainsSubstring("raises what is not an OpError: no elements"));
}

TEST_CASE("check_op says that gradients of half and complex inputs are not checked") {
  const auto doubled = [](const Tensor& x) { return x * 2; };
  CHECK_THAT(failures(doubled, {cast(x, float16)}), ContainsSubstring("with respect to float16[2,3] is not checked"));
  CHECK_THAT(failures(doubled, {complex(x, x)}), ContainsSubstring("with respect to complex128[2,3] is not checked"));
  CHECK(failures(doubled, {complex(x, x)}, {.gradients = 0}) == "");
  // A float32 input behind one of float64: its differences need the larger delta.
  CHECK(failures([](const Tensor& a, const Tensor& b) { return a * cast(b * b, float64); }, {x, cast(x, float32)},
                 {.gradient_tolerance = 2e-3, .gradients = 1}) == "");
}

}  // namespace outside
