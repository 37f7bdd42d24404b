// Generated from the op table: gradients of complex operands against differences, in TensorFlow's convention:
// conjugated.
#include <complex>
#include <random>
#include <set>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tests/ops/table_calls.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

// The loss is L = Re(sum of conj(w) y), with the weights w as output gradients. TensorFlow's gradient g of an input z
// is the one with dL = Re(conj(g) dz): dL / d Re z is Re g, and dL / d Im z is Im g.
using List = std::vector<Tensor>;
using Complex = std::complex<float>;

Tensor weights_of(const Tensor& y, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> spread(0.5f, 1.5f);
  std::vector<Complex> w;
  for (i64 i = 0; i < y.size(); ++i) w.emplace_back(spread(random), spread(random));
  return cast(constant(w, {.shape = y.shape()}), y.dtype());
}
// f(y, weights) of the public outputs that have a gradient.
template <class F>
void each_output(const Tensors& out, std::size_t outputs, const F& f) {
  for (std::size_t i = 0; i < outputs; ++i)
    if (is_differentiable(out[i].dtype())) f(out[i], weights_of(out[i], static_cast<unsigned>(i) + 1));
}
std::vector<Complex> complex_numbers(const Tensor& t) { return cast(t, complex64).to_vector<Complex>(); }
double real_product(const Tensor& w, const Tensor& y) {
  const std::vector<Complex> a = complex_numbers(w), b = complex_numbers(y);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += double(a[i].real()) * b[i].real() + double(a[i].imag()) * b[i].imag();
  return sum;
}

struct ComplexSources {
  const Call& call;
  std::vector<std::size_t> at;
  List x;

  explicit ComplexSources(const Call& c) : call(c) {
    for (std::size_t i = 0; i < c.in.size(); ++i)
      if (is_differentiable(c.in[i].dtype()) && !names_input(c.op->shape_inputs, i) &&
          !lives_on_host(*c.op, i, c.in.size()))
        at.push_back(i), x.push_back(c.in[i]);
  }
  List with(const List& moved) const {
    List in = call.in;
    for (std::size_t k = 0; k < at.size(); ++k) in[at[k]] = moved[k];
    return self_adjoint(call, in);
  }
  bool any_complex() const {
    for (const Tensor& t : x)
      if (is_complex(t.dtype())) return true;
    return false;
  }
};

// f(x) gives the outputs; this, the gradients of the weighted outputs.
template <class F>
List complex_gradients(const F& f, const List& x, std::size_t outputs) {
  List targets, weights;
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  each_output(f(x), outputs, [&](const Tensor& y, const Tensor& w) { targets.push_back(y), weights.push_back(w); });
  return tape.gradient(targets, x, {.output_gradients = weights, .unconnected_gradients = UnconnectedGradients::zero});
}
// By differences of the fourth order, which are exact for polynomials up to it: float32 leaves few digits.
template <class F>
void check_complex_gradients(const F& f, const List& x, std::size_t outputs) {
  const List gradients = complex_gradients(f, x, outputs);
  const auto loss = [&](const List& moved) {
    double sum = 0;
    each_output(f(moved), outputs, [&](const Tensor& y, const Tensor& w) { sum += real_product(w, y); });
    return sum;
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    std::vector<double> got, want;
    const std::vector<Complex> z = complex_numbers(x[k]), g = complex_numbers(gradients[k]);
    for (std::size_t i = 0; i < z.size(); ++i)
      for (const Complex unit : {Complex(1, 0), Complex(0, 1)}) {
        if (unit.imag() != 0 && !is_complex(x[k].dtype())) continue;
        const auto at = [&](float step) {
          std::vector<Complex> moved = z;
          moved[i] += step * unit;
          List list = x;
          list[k] = cast(constant(moved, {.shape = x[k].shape()}), x[k].dtype());
          return loss(list);
        };
        constexpr float h = 1.f / 32;
        want.push_back((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * double(h)));
        got.push_back(unit.imag() != 0 ? g[i].imag() : g[i].real());
      }
    CAPTURE(k);
    CHECK(relative_error(got, want) < 1e-3);  // differences: 6e-8 / h, and h^4; what is not conjugated is off by 1
  }
}
// f(call, sources, outputs) for every differentiable call with a complex operand; the ops that it met.
template <class F>
std::set<std::string> for_each_complex(const F& f) {
  std::set<std::string> met;
  for_each_call(complex64, [&](const Call& c) {
    if (!has_gradient(*c.op) || c.op->flags.non_differentiable || c.op == &custom_gradient_op || has_free_phases(*c.op))
      return;
    const ComplexSources s(c);
    if (!s.any_complex()) return;
    const Tensors out = samples::apply_to(c, c.in);
    met.insert(c.op->name);
    f(c, s, public_outputs(c, out));
  });
  return met;
}

}  // namespace

TEST_CASE("op table: gradients of complex operands are conjugated as TensorFlow's") {
  const std::set<std::string> met = for_each_complex([](const Call& c, const ComplexSources& s, std::size_t outputs) {
    check_complex_gradients([&](const List& x) { return samples::apply_to(c, s.with(x)); }, s.x, outputs);
  });
  // Every op that takes complex numbers has been there.
  for (const OpDef* op : samples::tested_ops())
    if (op->dtypes.has(complex64) && op->dtype_input >= 0 && has_gradient(*op) && !op->flags.non_differentiable) {
      CAPTURE(op->name);
      CHECK((met.count(op->name) || op == &custom_gradient_op || has_free_phases(*op)));
    }
}

TEST_CASE("op table: second gradients of complex operands are conjugated as TensorFlow's") {
  const std::set<std::string> met = for_each_complex([](const Call& c, const ComplexSources& s, std::size_t outputs) {
    const auto slopes = [&](const List& x) {
      const List g = complex_gradients([&](const List& z) { return samples::apply_to(c, s.with(z)); }, x, outputs);
      Tensors r;
      for (const Tensor& t : g) r.push_back(t);
      return r;
    };
    check_complex_gradients(slopes, s.x, s.x.size());
  });
  for (const char* op : {"multiply", "divide", "square", "squared_difference", "matmul", "reduce_prod", "cumprod"})
    CHECK(met.count(op) == 1);
}
