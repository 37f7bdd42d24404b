// Definitions of graph/debug/check_op.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <exception>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/debug/check_op.hpp"
#include "tandem/graph/debug/debug.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::test {
namespace detail {

TANDEM_LAZY class OpCheck {
 public:
  OpCheck(Function f, const std::vector<Tensor>& x, const CheckOpOptions& options) : f_(f), options_(options) {
    for (const Tensor& t : x) x_.push_back(identity(t));  // distinct ids: one tensor may be two inputs
  }

  std::vector<std::string> run() {
    attempt("eager call", [&] {
      value_ = call(x_);
      compare("a second eager call", call(x_), 0);
    });
    if (!failures_.empty()) return std::move(failures_);
    attempt("traced call", [&] { check_graph("", trace(false)); });
    if (options_.unknown_dimensions)
      attempt("call traced with unknown dimensions", [&] { check_graph(" with unknown dimensions", trace(true)); });
    if (!options_.ops.empty())
      attempt("saved and loaded graph", [&] {
        compare("its saved and loaded graph", run_graph(parse_graph(serialize(*trace(false)), {.ops = options_.ops})));
      });
    if (options_.gradients > 0) check_gradients();
    check_empty_inputs();
    return std::move(failures_);
  }

 private:
  Tensor call(const std::vector<Tensor>& x) const {
    const std::vector<Tensor> y = f_.call(f_.self, x);
    if (y.size() != 1)
      errors::raise<errors::InvalidArgumentError>(
          "check_op", "the function returns " + std::to_string(y.size()) + " tensors; it must return one");
    return y[0];
  }
  template <class Body>
  void attempt(const std::string& what, const Body& body) {
    try {
      body();
    } catch (const std::exception& e) {
      failures_.push_back(what + " raises: " + e.what());
    }
  }
  void compare(const std::string& what, const Tensor& got, double tolerance) {
    if (!(got.spec() == value_.spec()))
      failures_.push_back(what + " gives " + to_string(got.spec()) + ", the eager call " + to_string(value_.spec()));
    else if (const std::string text = value_difference(value_, got, tolerance); !text.empty())
      failures_.push_back(what + " differs from the eager call: " + text);
  }
  void compare(const std::string& what, const Tensor& got) { compare(what, got, options_.tolerance); }

  Ref<Graph> trace(bool unknown) const {
    Tracer tracer("check_op");
    std::vector<Tensor> symbols;
    for (const Tensor& t : x_) {
      Spec s = t.spec();
      for (int a = 0; unknown && a < s.shape.rank(); ++a) s.shape.set(a, none);
      symbols.push_back(tracer.argument(s));
    }
    const Tensor outputs[] = {call(symbols)};
    return tracer.finish(outputs);
  }
  Tensor run_graph(const Ref<Graph>& graph, bool plan = true) const {
    return (*make_ref<ConcreteFunction>(graph->copy(), ExecutionOptions{.plan = plan}))(x_)[0];
  }
  void check_graph(const std::string& how, const Ref<Graph>& graph) {
    const Spec& spec = graph->spec(graph->outputs[0]);
    if (spec.dtype != value_.dtype() || !spec.shape.is_compatible_with(value_.shape()))
      failures_.push_back("its shape rule" + how + " infers " + to_string(spec) + ", the eager call gives " +
                          to_string(value_.spec()));
    compare("the traced call" + how + ", op by op,", run_graph(graph, false));
    compare("the planned call" + how, run_graph(graph));
  }

  // Replaces the floating inputs.
  std::vector<Tensor> with(const std::vector<Tensor>& floats) const {
    std::vector<Tensor> all = x_;
    for (std::size_t i = 0, k = 0; i < all.size(); ++i)
      if (is_differentiable(all[i])) all[i] = floats[k++];
    return all;
  }
  static bool is_differentiable(const Tensor& t) { return t.dtype() == DType::float32 || t.dtype() == DType::float64; }
  // A scalar that depends on each element of y in its own way.
  static Tensor weighted(const Tensor& y) {
    std::vector<double> weights(static_cast<std::size_t>(y.size()));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::cos(1.0 + static_cast<double>(i));
    return reduce_sum(y * from_double(weights, y.spec()));
  }
  template <class F>
  static Tensor flat_gradient(const F& f, const std::vector<Tensor>& x) {
    GradientTape tape;
    for (const Tensor& t : x) tape.watch(t);
    std::vector<Tensor> parts;
    for (const Tensor& g : tape.gradient(weighted(f(x)), x, {.unconnected_gradients = UnconnectedGradients::zero}))
      parts.push_back(cast(reshape(g, {-1}), DType::float64));  // the sources may be of both precisions
    return concat(parts, 0);
  }
  template <class F>
  void check_against_differences(const std::string& what, const F& f, const std::vector<Tensor>& x) {
    const bool wide = std::all_of(x.begin(), x.end(), [](const Tensor& t) { return t.dtype() == DType::float64; });
    const double delta = options_.delta > 0 ? options_.delta : wide ? 1e-5 : 1.0 / 1024;
    const double tolerance = options_.gradient_tolerance > 0 ? options_.gradient_tolerance : wide ? 1e-5 : 1e-3;
    attempt(what, [&] {
      const auto listed = [&](const std::vector<Tensor>& in) { return f(in); };
      for (const Jacobians& j : test::compute_gradient(listed, x, {.delta = delta})) {
        double largest = 1;
        for (const double d : to_double(j.numerical)) largest = std::max(largest, std::fabs(d));
        const double e = max_error(j.theoretical, j.numerical);
        if (!(e <= tolerance * largest))
          failures_.push_back(what + " differs from differences by " + std::to_string(e) + ", at values up to " +
                              std::to_string(largest));
      }
    });
  }
  void check_gradients() {
    std::vector<Tensor> floats;
    for (const Tensor& t : x_) {
      if (is_differentiable(t)) floats.push_back(t);
      else if (const DType d = t.dtype(); is_floating(d) || is_complex(d))
        failures_.push_back("the gradient with respect to " + to_string(t.spec()) +
                            " is not checked: use float64 or float32, or .gradients = 0");
    }
    if (floats.empty() || !is_differentiable(value_)) return;
    const auto eager = [&](const std::vector<Tensor>& in) { return call(with(in)); };
    check_against_differences("the gradient", eager, floats);
    attempt("the gradient of the traced call", [&] {
      const auto traced = make_ref<ConcreteFunction>(trace(false));
      const Tensor want = flat_gradient(eager, floats);
      const Tensor got = flat_gradient([&](const std::vector<Tensor>& in) { return (*traced)(with(in))[0]; }, floats);
      if (const std::string text = value_difference(want, got, options_.tolerance); !text.empty())
        failures_.push_back("the gradient of the traced call differs from that of the eager call: " + text);
    });
    if (options_.gradients > 1)
      check_against_differences(
          "the second gradient", [&](const std::vector<Tensor>& in) { return flat_gradient(eager, in); }, floats);
  }

  void check_empty_inputs() {
    for (std::size_t i = 0; i < x_.size(); ++i)
      for (int axis = 0; axis < x_[i].rank(); ++axis) {
        std::vector<Tensor> in = x_;
        Shape shape = x_[i].shape();
        shape.set(axis, 0);
        in[i] = Tensor::allocate({shape, x_[i].dtype(), x_[i].device()});
        try {
          call(in);
        } catch (const errors::OpError&) {
        } catch (const std::exception& e) {
          failures_.push_back("input " + std::to_string(i) + " of " + to_string(in[i].spec()) +
                              " raises what is not an OpError: " + e.what());
        }
      }
  }

  const Function f_;
  std::vector<Tensor> x_;
  const CheckOpOptions& options_;
  Tensor value_;
  std::vector<std::string> failures_;
};

TANDEM_LAZY_INLINE std::vector<std::string> check_op(Function f, const std::vector<Tensor>& x,
                                                     const CheckOpOptions& options) {
  return OpCheck(f, x, options).run();
}

}  // namespace detail
}  // namespace TANDEM_NS::test
