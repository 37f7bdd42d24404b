// The CUDA kernels of softmax, log_softmax, the cross entropies and their gradients: a group of threads per slice.
// Formulas and special cases as in cpu/softmax/softmax.inc.
#include "cuda/report.hpp"
#include "cuda/slices.hpp"
#include "tandem/attrs/softmax.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T>
struct Operands {
  const T *a, *b, *c;
  T* y;
};
// Each rule processes one slice; `one` is the position of the slice's value in small operands.
struct Softmax {
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64, bool live) {
    const auto x = s.read(o.a);
    const T m = s.max_of(x);
    const auto power = s.keep([&](Element e) { return rules::exp(x(e) - m); });
    const T factor = T(1) / s.sum_of(power);  // the sum is at least 1, or NaN
    if (live) s.each([&](Element e) { o.y[e.at] = power(e) * factor; });
  }
};
struct LogSoftmax {
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64, bool live) {
    const auto x = s.read(o.a);
    const T m = s.max_of(x), level = rules::log(s.sum_of([&](Element e) { return rules::exp(x(e) - m); }));
    if (live) s.each([&](Element e) { o.y[e.at] = (x(e) - m) - level; });
  }
};
struct SoftmaxGrad {  // g, y
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64, bool live) {
    const auto g = s.read(o.a), y = s.read(o.b);
    const T dot = s.sum_of([&](Element e) { return g(e) * y(e); });
    if (live) s.each([&](Element e) { o.y[e.at] = y(e) * (g(e) - dot); });
  }
};
struct LogSoftmaxGrad {  // g, y
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64, bool live) {
    const auto g = s.read(o.a);
    const T sum = s.sum_of(g);
    if (live) s.each([&](Element e) { o.y[e.at] = g(e) - rules::exp(o.b[e.at]) * sum; });
  }
};
struct CrossEntropy {  // labels, logits; a label of 0 contributes 0 whatever its logit is
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64 one, bool live) {
    const auto x = s.read(o.b);
    const T m = s.max_of(x), level = rules::log(s.sum_of([&](Element e) { return rules::exp(x(e) - m); }));
    const T loss = s.sum_of([&](Element e) {
      const T label = o.a[e.at];
      return label == T(0) ? T(0) : label * (level - (x(e) - m));
    });
    if (live && s.lane == 0) o.y[one] = loss;
  }
};
struct CrossEntropyGrad {  // g (one per slice), labels, logits
  template <class T, class S>
  static __device__ void run(const Slice<T, S>& s, const Operands<T>& o, i64 one, bool live) {
    const auto x = s.read(o.c), label = s.read(o.b);
    const T m = s.max_of(x);
    const auto power = s.keep([&](Element e) { return rules::exp(x(e) - m); });
    const T sum = s.sum_of(power), labels = s.sum_of(label);
    if (!live) return;
    const T g = o.a[one], factor = labels / sum;
    s.each([&](Element e) { o.y[e.at] = (power(e) * factor - label(e)) * g; });
  }
};

template <class Rule, class T, class S>
__global__ void __launch_bounds__(block_size) slice_kernel(Operands<T> o, Slices s) {
  for_slices<T, S>(s, [&](const Slice<T, S>& slice, i64 one, bool live) { Rule::run(slice, o, one, live); });
}

// `full` is the input that has the full shape.
template <class Rule>
void run(const KernelCall& c, std::size_t full) {
  const Shape& x = c.in[full].shape();
  const Slices s = slices_of(x, resolve_axis(c.op, c.attrs.get<rules::SoftmaxAttrs>().axis, x.rank()));
  if (s.count == 0) return;
  with_dtype<dtypes::floating>(c, c.in[full].spec->dtype, [&]<class T>() {
    const auto in = [&](std::size_t i) { return i < c.in.size() ? c.in[i].template as<const T>() : nullptr; };
    with_share(s, [&]<class S>() {
      launch(c, &slice_kernel<Rule, T, S>, blocks_of(s), Operands<T>{in(0), in(1), in(2), c.out[0].template as<T>()},
             s);
    });
  });
}

// A label out of range is reported; its slice is then treated as class 0.
template <class T, class I, class S>
__global__ void __launch_bounds__(block_size)
    sparse_kernel(const I* labels, const T* logits, T* loss, Slices s, Reporter report) {
  for_slices<T, S>(s, [&](const Slice<T, S>& slice, i64 one, bool live) {
    const auto x = slice.read(logits);
    const T m = slice.max_of(x), level = rules::log(slice.sum_of([&](Element e) { return rules::exp(x(e) - m); }));
    if (!live || slice.lane) return;
    const i64 label = static_cast<i64>(labels[one]);
    loss[one] = report.in_range(label, one, s.n) ? level + (m - logits[slice.at(label)]) : T(0);
  });
}
template <class T, class I, class S>
__global__ void __launch_bounds__(block_size)
    sparse_grad_kernel(const T* g, const I* labels, const T* logits, T* dx, Slices s, Reporter report) {
  for_slices<T, S>(s, [&](const Slice<T, S>& slice, i64 one, bool live) {
    const auto x = slice.read(logits);
    const T m = slice.max_of(x);
    const auto power = slice.keep([&](Element e) { return rules::exp(x(e) - m); });
    const T sum = slice.sum_of(power);
    if (!live) return;
    const i64 label = static_cast<i64>(labels[one]);
    const bool known = report.in_range(label, one, s.n);
    const T up = known ? g[one] : T(0), factor = up / sum;
    slice.each([&](Element e) { dx[e.at] = known ? power(e) * factor - (e.at == slice.at(label) ? up : T(0)) : T(0); });
  });
}
template <class T, class I>
__global__ void __launch_bounds__(block_size) one_hot_kernel(const I* labels, T* y, i64 rows, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 r = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; r < rows; r += step)
    if (const i64 label = static_cast<i64>(labels[r]); report.in_range(label, r, n)) y[r * n + label] = T(1);
}

// Calls f.operator()<T, I>() with the types of logits and labels.
template <class F>
void with_types(const KernelCall& c, const Operand& labels, const Operand& logits, const F& f) {
  with_dtype<dtypes::floating>(c, logits.spec->dtype, [&]<class T>() {
    if (labels.spec->dtype == DType::int64) f.template operator()<T, i64>();
    else f.template operator()<T, std::int32_t>();
  });
}

}  // namespace

void softmax(const KernelCall& c) { run<Softmax>(c, 0); }
void log_softmax(const KernelCall& c) { run<LogSoftmax>(c, 0); }
void softmax_grad(const KernelCall& c) { run<SoftmaxGrad>(c, 1); }
void log_softmax_grad(const KernelCall& c) { run<LogSoftmaxGrad>(c, 1); }
void softmax_cross_entropy(const KernelCall& c) { run<CrossEntropy>(c, 1); }
void softmax_cross_entropy_grad(const KernelCall& c) { run<CrossEntropyGrad>(c, 2); }

void sparse_softmax_cross_entropy(const KernelCall& c) {
  const Shape& x = c.in[1].shape();
  const Slices s = slices_of(x, x.rank() - 1);
  if (s.count == 0) return;
  with_types(c, c.in[0], c.in[1], [&]<class T, class I>() {
    with_share(s, [&]<class S>() {
      launch(c, &sparse_kernel<T, I, S>, blocks_of(s), c.in[0].as<const I>(), c.in[1].as<const T>(), c.out[0].as<T>(),
             s, Reporter(c));
    });
  });
}
void sparse_softmax_cross_entropy_grad(const KernelCall& c) {
  const Shape& x = c.in[2].shape();
  const Slices s = slices_of(x, x.rank() - 1);
  if (s.count == 0) return;
  with_types(c, c.in[1], c.in[2], [&]<class T, class I>() {
    with_share(s, [&]<class S>() {
      launch(c, &sparse_grad_kernel<T, I, S>, blocks_of(s), c.in[0].as<const T>(), c.in[1].as<const I>(),
             c.in[2].as<const T>(), c.out[0].as<T>(), s, Reporter(c));
    });
  });
}
void one_hot_like(const KernelCall& c) {
  const Operand& y = c.out[0];
  const i64 rows = c.in[0].size();
  if (rows == 0) return;
  check(cudaMemsetAsync(y.data, 0, y.spec->bytes(), queue_of(c).stream), c.op, "memset");
  with_types(c, c.in[0], y, [&]<class T, class I>() {
    launch(c, &one_hot_kernel<T, I>, blocks_for(rows), c.in[0].as<const I>(), y.as<T>(), rows, y.shape().dim(-1),
           Reporter(c));
  });
}

}  // namespace TANDEM_NS::cuda
