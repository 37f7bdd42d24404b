// The CUDA kernels of logsumexp, variance, std, euclidean norm, count_nonzero, argmax and argmin.
#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/folds.hpp"
#include "tandem/attrs/reduce.hpp"

namespace TANDEM_NS::cuda {
namespace {

FoldShape shape_of(const KernelCall& c) {
  return fold_shape(c.in[0].shape(), c.attrs.get<rules::ReduceAttrs>().axis.mask(c.op, c.in[0].shape().rank()));
}
// Two passes: the first computes one value per output, which the second reads.
template <class T, class First, class Second>
void two_passes(const KernelCall& c, const FoldShape& s, const First& first, Second second) {
  using Of = typename First::Out;
  const Scratch of(c, static_cast<std::size_t>(c.out[0].size()) * sizeof(Of));
  fold(c, first, c.in[0].as<const T>(), s, of.as<Of>());
  second.of = of.as<Of>();
  fold(c, second, c.in[0].as<const T>(), s, c.out[0].as<T>());
}
template <class F>
void with_floating(const KernelCall& c, const F& f) {
  with_dtype<dtypes::floating>(c, c.in[0].spec->dtype, f);
}
void variance(const KernelCall& c, bool root) {
  const FoldShape s = shape_of(c);
  with_floating(c, [&]<class T>() {
    const auto n = static_cast<typename WideNumber<T>::type>(s.folded.count());
    two_passes<T>(c, s, WideMeanFold<T>{n}, VarianceFold<T>{{n}, nullptr, root});
  });
}

template <bool Max>
void arg(const KernelCall& c) {
  const Shape& x = c.in[0].shape();
  const int axis = resolve_axis(c.op, c.attrs.get<rules::ArgAttrs>().axis, x.rank());
  const FoldShape s = fold_shape(x, 1u << axis);
  const bool wide = c.out[0].spec->dtype == DType::int64;
  with_dtype<dtypes::real>(c, c.in[0].spec->dtype, [&]<class T>() {
    if (wide) fold(c, ArgFold<T, Max, i64>{}, c.in[0].as<const T>(), s, c.out[0].as<i64>());
    else fold(c, ArgFold<T, Max, std::int32_t>{}, c.in[0].as<const T>(), s, c.out[0].as<std::int32_t>());
  });
}

}  // namespace

void reduce_logsumexp(const KernelCall& c) {
  const FoldShape s = shape_of(c);
  with_floating(c, [&]<class T>() { two_passes<T>(c, s, FiniteMaxFold<T>{}, LogSumExpFold<T>{{}, nullptr}); });
}
void reduce_variance(const KernelCall& c) { variance(c, false); }
void reduce_std(const KernelCall& c) { variance(c, true); }
void reduce_euclidean_norm(const KernelCall& c) {
  const FoldShape s = shape_of(c);
  with_floating(c, [&]<class T>() { two_passes<T>(c, s, ScaleFold<T>{}, NormFold<T>{{}, nullptr}); });
}
void count_nonzero(const KernelCall& c) {
  const FoldShape s = shape_of(c);
  with_dtype<numbers | DType::bool_>(c, c.in[0].spec->dtype, [&]<class T>() {
    fold(c, CountFold<T>{}, c.in[0].as<const T>(), s, c.out[0].as<i64>());
  });
}
void argmax(const KernelCall& c) { arg<true>(c); }
void argmin(const KernelCall& c) { arg<false>(c); }

}  // namespace TANDEM_NS::cuda
