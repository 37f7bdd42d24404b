// Gradient checker: compares Jacobians from the tape with central differences. Comparison of tensors. For tests of ops
// and of user code.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::test {

/// Jacobian d y / d x of shape [x.size(), y.size()], from the tape and from central differences.
struct Jacobians {
  Tensor theoretical, numerical;
};
struct CheckOptions {
  double delta = 1.0 / 1024;  ///< suits float32; use 1e-5 for float64
};

namespace detail {
// Type-erased callable from inputs to one output; avoids std::function.
struct Function {
  Tensor (*call)(const void* self, const std::vector<Tensor>& x);
  const void* self;
};
TANDEM_API std::vector<double> to_double(const Tensor& t);
/// A tensor of this spec, float32 or float64, with these values.
TANDEM_API Tensor from_double(const std::vector<double>& values, const Spec& like);
TANDEM_API std::vector<Jacobians> compute_gradient(Function f, const std::vector<Tensor>& x, CheckOptions options);

template <class F>
Function wrap(const F& f) {
  return {[](const void* self, const std::vector<Tensor>& x) -> Tensor {
            const F& g = *static_cast<const F*>(self);
            if constexpr (std::is_invocable_v<const F&, const std::vector<Tensor>&>) return g(x);
            else if constexpr (std::is_invocable_v<const F&, const Tensor&>) return g(x[0]);
            else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Tensor&>) return g(x[0], x[1]);
            else return g(x[0], x[1], x[2]);
          },
          &f};
}
}  // namespace detail

/// Computes one pair of Jacobians for each x. f takes the list, or one to three tensors; x are float32 or float64.
template <class F>
std::vector<Jacobians> compute_gradient(const F& f, const std::vector<Tensor>& x, CheckOptions options = {}) {
  return detail::compute_gradient(detail::wrap(f), x, options);
}
/// The largest absolute difference between two tensors of the same shape; NaN if either contains one.
TANDEM_API double max_error(const Tensor& a, const Tensor& b);
struct AllCloseOptions {
  double rtol = 1e-6;  ///< relative to b
  double atol = 1e-6;
  std::string message = {};  ///< the error's text begins with it
};
/// Checks that |a - b| <= atol + rtol |b| in every element. NaN equals NaN, and infinities of one sign are equal.
///   a, b    same shape; any dtypes except string, which need not agree
///   throws  errors::InvalidArgumentError with both specs if the shapes differ, or with the number of elements that
///           differ, the place of the first and both values
TANDEM_API void assert_all_close(const Tensor& a, const Tensor& b, const AllCloseOptions& options = {});
/// Whether a GPU can be used: the library has its kernels, and this machine a device and a driver.
TANDEM_API bool is_gpu_available();

/// The largest difference between the theoretical and the numerical Jacobian, over all x.
template <class F>
double compute_gradient_error(const F& f, const std::vector<Tensor>& x, CheckOptions options = {}) {
  double worst = 0;
  for (const Jacobians& j : compute_gradient(f, x, options)) {
    const double e = max_error(j.theoretical, j.numerical);
    if (!(e <= worst)) worst = e;
  }
  return worst;
}
template <class F>
double compute_gradient_error(const F& f, const Tensor& x, CheckOptions options = {}) {
  return compute_gradient_error(f, std::vector<Tensor>{x}, options);
}

}  // namespace TANDEM_NS::test
