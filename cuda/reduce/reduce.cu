// The CUDA kernels of reduce_sum, mean, prod, max, min, any, all, of sum_to_like and of tile's gradient.
// Not here: statistics and arg-reductions (reduce_more.cu), the fold itself (fold.hpp).
#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/folds.hpp"
#include "tandem/attrs/reduce.hpp"
#include "tandem/cpu/reduce/plan.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::uint32_t mask_of(const KernelCall& c) {
  return c.attrs.get<rules::ReduceAttrs>().axis.mask(c.op, c.in[0].shape().rank());
}
FoldShape shape_of(const KernelCall& c) { return fold_shape(c.in[0].shape(), mask_of(c)); }

template <class F>
void run(const KernelCall& c, const FoldShape& s, const F& f) {
  fold(c, f, c.in[0].as<const typename F::In>(), s, c.out[0].as<typename F::Out>());
}
template <DTypes Set, template <class> class F>
void run_for(const KernelCall& c, const FoldShape& s) {
  with_dtype<Set>(c, c.in[0].spec->dtype, [&]<class T>() { run(c, s, F<T>{}); });
}
template <class T>
using MaxFold = ExtremeFold<T, true>;
template <class T>
using MinFold = ExtremeFold<T, false>;

template <class T>
void mean_of(const KernelCall& c, const FoldShape& s) {
  const i64 n = s.folded.count();
  if constexpr (std::is_integral_v<T>) {
    if (n == 0 && c.out[0].size())
      errors::raise<errors::InvalidArgumentError>(
          c.op,
          "the mean of no integers has no value: " + to_string(*c.in[0].spec) + " (cast to a floating dtype for NaN)");
    run(c, s, WholeMeanFold<T>{n});
  } else if constexpr (std::is_floating_point_v<T>) {
    run(c, s, MeanFold<T>{{}, static_cast<T>(n)});
  } else {
    run(c, s, MeanFold<T>{{}, T(static_cast<typename T::value_type>(n))});
  }
}

}  // namespace

void reduce_sum(const KernelCall& c) { run_for<numbers, SumFold>(c, shape_of(c)); }
void reduce_prod(const KernelCall& c) { run_for<numbers, ProdFold>(c, shape_of(c)); }
void reduce_max(const KernelCall& c) { run_for<dtypes::real, MaxFold>(c, shape_of(c)); }
void reduce_min(const KernelCall& c) { run_for<dtypes::real, MinFold>(c, shape_of(c)); }
void reduce_any(const KernelCall& c) { run(c, shape_of(c), TruthFold<false>{}); }
void reduce_all(const KernelCall& c) { run(c, shape_of(c), TruthFold<true>{}); }
void reduce_mean(const KernelCall& c) {
  const FoldShape s = shape_of(c);
  with_dtype<numbers>(c, c.in[0].spec->dtype, [&]<class T>() { mean_of<T>(c, s); });
}

void sum_to_like(const KernelCall& c) {
  const Shape& x = c.in[0].shape();
  const std::uint32_t lacks = c.attrs.get<rules::LikeAttrs>().axis.mask(c.op, x.rank());
  run_for<numbers, SumFold>(c, fold_shape(x, cpu::broadcast_mask(x, c.out[0].shape(), lacks)));
}

// Each axis of the large array consists of copies of the small one's axis: the copies are folded.
void tile_sum(const KernelCall& c) {
  const Shape &large = c.in[0].shape(), &small = c.out[0].shape();
  FoldShape s;
  i64 stride[max_rank], step = 1;
  for (int d = large.rank() - 1; d >= 0; --d) {
    stride[d] = step;
    step *= large[d];
  }
  for (int d = 0; d < large.rank(); ++d) {
    s.add(small[d] ? large[d] / small[d] : 0, stride[d] * small[d], true);
    s.add(small[d], stride[d], false);
  }
  run_for<dtypes::floating | dtypes::complex | DType::complex128, SumFold>(c, s);
}

}  // namespace TANDEM_NS::cuda
