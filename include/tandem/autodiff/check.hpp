// Gradient checker: compares Jacobians from the tape with central differences. Comparison of tensors. For tests of ops
// and of user code.
#pragma once
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::test {

/// Jacobian d y / d x of shape [x.size(), y.size()], from the tape and from central differences. A complex number is
/// two rows or columns, its real and its imaginary part; several outputs are columns one after another.
struct Jacobians {
  Tensor theoretical, numerical;
};
struct CheckOptions {
  double delta = 1.0 / 1024;  ///< suits float32; use 1e-5 for float64
};

namespace detail {
// Type-erased callable from inputs to outputs; avoids std::function.
struct Function {
  std::vector<Tensor> (*call)(const void* self, const std::vector<Tensor>& x);
  const void* self;
};
/// The values; of complex numbers the real and the imaginary part in turn.
TANDEM_API std::vector<double> to_double(const Tensor& t);
/// A tensor of this spec, floating or complex, with these values.
TANDEM_API Tensor from_double(const std::vector<double>& values, const Spec& like);
TANDEM_API std::vector<Jacobians> compute_gradient(Function f, const std::vector<Tensor>& x, CheckOptions options);

// What a function returns, as a list: one tensor, a list of them, or a tuple.
template <class R>
std::vector<Tensor> outputs_of(const R& r) {
  if constexpr (std::is_convertible_v<const R&, Tensor>) return {Tensor(r)};
  else if constexpr (requires { std::begin(r); }) return std::vector<Tensor>(std::begin(r), std::end(r));
  else return std::apply([](const auto&... t) { return std::vector<Tensor>{t...}; }, r);
}
inline constexpr std::size_t most_arguments = 16;
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, decltype((void(I), std::declval<const Tensor&>()))...>;
}
template <class F, std::size_t... I>
std::vector<Tensor> call_spread(const F& f, const std::vector<Tensor>& x, std::index_sequence<I...>) {
  return outputs_of(f(x[I]...));
}
// Calls f with as many arguments as there are inputs.
template <std::size_t N, class F>
std::vector<Tensor> call_with(const F& f, const std::vector<Tensor>& x) {
  if constexpr (N > most_arguments) {
    errors::raise<errors::InvalidArgumentError>("compute_gradient",
                                                "the function does not take " + std::to_string(x.size()) + " tensors");
  } else {
    if constexpr (takes<F>(std::make_index_sequence<N>()))
      if (x.size() == N) return call_spread(f, x, std::make_index_sequence<N>());
    return call_with<N + 1>(f, x);
  }
}

// How F is referred to: a function itself, whose address is not one of an object, by a pointer.
template <class F>
using Callable = std::conditional_t<std::is_function_v<F>, F*, const F&>;
template <class F>
Function wrap(const F& f) {
  return {[](const void* self, const std::vector<Tensor>& x) -> std::vector<Tensor> {
            const F& g = *static_cast<const F*>(self);
            if constexpr (std::is_invocable_v<const F&, const std::vector<Tensor>&>) return outputs_of(g(x));
            else return call_with<1>(g, x);
          },
          &f};
}
}  // namespace detail

/// Computes one pair of Jacobians for each x.
///   f       takes the list, or its tensors as arguments (16 at most); returns a tensor, a list or a tuple of them
///   x       float32, float64, complex64 or complex128, as the results of f
///   throws  errors::InvalidArgumentError for other dtypes or another number of arguments
template <class F>
std::vector<Jacobians> compute_gradient(const F& f, const std::vector<Tensor>& x, CheckOptions options = {}) {
  const detail::Callable<F> callable = f;
  return detail::compute_gradient(detail::wrap(callable), x, options);
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
