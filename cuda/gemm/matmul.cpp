// The CUDA kernels of matmul and dense: maps them to products. Not here: the products themselves (gemm.cpp).
#include "tandem/ops/linalg/matmul.hpp"
#include "cuda/gemm/gemm.hpp"
#include "cuda/layout/copy.hpp"
#include "tandem/ops/linalg/dense.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The step between the operand's matrices for each axis of the output's batch; 0 where it is repeated.
struct BatchSteps {
  i64 step[max_rank];
  BatchSteps(const Shape& x, const Shape& out) {
    i64 size = x.dim(-2) * x.dim(-1);
    const int missing = out.rank() - x.rank();
    for (int d = out.rank() - 3; d >= 0; --d) {
      const i64 n = d >= missing ? x[d - missing] : 1;
      step[d] = n == 1 ? 0 : size;
      size *= n;
    }
  }
  i64 at(const Shape& out, i64 matrix) const {
    i64 offset = 0;
    for (int d = out.rank() - 3; d >= 0; --d) {
      offset += matrix % out[d] * step[d];
      matrix /= out[d];
    }
    return offset;
  }
};
// The step for axes [first, batch rank) of the output's batch treated as one axis, or -1 if there is none.
i64 one_step(const BatchSteps& s, const Shape& out, int first) {
  i64 step = -1, next = -1;  // of the innermost axis; what the next outer axis must have
  for (int d = out.rank() - 3; d >= first; --d) {
    if (out[d] == 1) continue;
    if (step < 0) step = s.step[d];
    else if (s.step[d] != next) return -1;
    next = s.step[d] * out[d];
  }
  return step < 0 ? 0 : step;
}
// Whether b is one matrix for all of a: then a is treated as one tall matrix.
bool is_one_matrix(const Shape& s) { return s.rank() == 2 || s.size() == s.dim(-2) * s.dim(-1); }

// cuBLASLt has no flag for an operand that is conjugated but not transposed: it is copied.
const void* conjugated(const KernelCall& c, const Operand& x, const Scratch& room) {
  check(cudaMemcpyAsync(room.as<void>(), x.data, x.spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op,
        "copy");
  conjugate(c, {room.as<void>(), x.spec});
  return room.as<void>();
}
std::size_t room_for(const Operand& x, bool conjugate, bool transpose) {
  return conjugate && !transpose ? x.spec->bytes() : 0;
}

void batched(const KernelCall& c, Product p, const Shape& a, const Shape& b, const Shape& y) {
  const BatchSteps sa(a, y), sb(b, y);
  int first = 0;  // axes before it are iterated here, those from it on are one axis to cuBLASLt
  while (first < y.rank() - 2 && (one_step(sa, y, first) < 0 || one_step(sb, y, first) < 0)) ++first;
  p.count = 1;
  for (int d = first; d < y.rank() - 2; ++d) p.count *= y[d];
  i64 calls = 1;
  for (int d = 0; d < first; ++d) calls *= y[d];
  p.a_step = one_step(sa, y, first);
  p.b_step = one_step(sb, y, first);
  p.c_step = p.m * p.n;
  const auto width = static_cast<i64>(size_of(p.dtype));
  const Product base = p;
  for (i64 i = 0; i < calls; ++i) {
    const i64 matrix = i * p.count;
    p.a = static_cast<const char*>(base.a) + sa.at(y, matrix) * width;
    p.b = static_cast<const char*>(base.b) + sb.at(y, matrix) * width;
    p.c = static_cast<char*>(base.c) + matrix * p.c_step * width;
    gemm(c, p);
  }
}

}  // namespace

void matmul(const KernelCall& c) {
  const auto& t = c.attrs.get<rules::MatmulAttrs>();
  const Operand &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (y.size() == 0) return;
  Product p{.dtype = y.spec->dtype,
            .m = y.shape().dim(-2),
            .n = y.shape().dim(-1),
            .k = a.shape().dim(t.transpose_a ? -2 : -1)};
  const Scratch room_a(c, room_for(a, t.conjugate_a, t.transpose_a)),
      room_b(c, room_for(b, t.conjugate_b, t.transpose_b));
  p.a = t.conjugate_a && !t.transpose_a ? conjugated(c, a, room_a) : a.data;
  p.b = t.conjugate_b && !t.transpose_b ? conjugated(c, b, room_b) : b.data;
  p.c = y.data;
  p.transpose_a = t.transpose_a, p.conjugate_a = t.conjugate_a;
  p.transpose_b = t.transpose_b, p.conjugate_b = t.conjugate_b;
  if (!t.transpose_a && is_one_matrix(b.shape()) && a.shape().rank() == y.shape().rank()) {
    p.m = y.size() / p.n;
    return gemm(c, p);
  }
  batched(c, p, a.shape(), b.shape(), y.shape());
}

void dense(const KernelCall& c) {
  const Operand &x = c.in[0], &w = c.in[1], &y = c.out[0];
  if (y.size() == 0) return;
  const auto activation = static_cast<Finish>(c.attrs.get<rules::DenseAttrs>().activation);
  Product p{.dtype = y.spec->dtype,
            .m = y.size() / w.shape().dim(1),
            .n = w.shape().dim(1),
            .k = w.shape().dim(0),
            .a = x.data,
            .b = w.data,
            .c = y.data};
  const void* bias = c.in.size() > 2 ? c.in[2].data : nullptr;
  // cuBLASLt can add a bias and then apply relu as an epilogue; the rest is a separate pass. On tensor cores its relu
  // gives 0 for NaN.
  const bool fused = bias && (p.dtype == DType::float32 || dtypes::half_floating.has(p.dtype)) && p.k > 0;
  p.bias = fused ? bias : nullptr;
  p.relu = fused && activation == Finish::relu && p.dtype == DType::float32 && !tf32();
  gemm(c, p);
  finish_rows(c, p.dtype, y.data, fused ? nullptr : bias, p.m, p.n, p.relu ? Finish::none : activation);
}

static_assert(static_cast<int>(FusedActivation::relu) == static_cast<int>(Finish::relu) &&
              static_cast<int>(FusedActivation::tanh) == static_cast<int>(Finish::tanh) &&
              static_cast<int>(FusedActivation::sigmoid) == static_cast<int>(Finish::sigmoid));

}  // namespace TANDEM_NS::cuda
