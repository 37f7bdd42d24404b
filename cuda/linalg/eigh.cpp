// The CUDA kernels of eigh and eigvalsh. The view of a self-adjoint matrix (library.hpp) is its conjugate, and the
// lower triangle that we read the view's upper one. The eigenvalues are the same, the eigenvectors the conjugates.
#include "cuda/linalg/library.hpp"
#include "cuda/linalg/parts.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Overwrites a with its eigenvectors by columns, if they are wanted; their values are written to w in ascending order.
template <class S>
void decompose(const Linalg& lib, bool vectors, S* a, void* values, int* info, i64 count, i64 n) {
  const KernelCall& c = lib.call();
  auto* const w = static_cast<typename Numbers<S>::modulus*>(values);
  constexpr cudaDataType_t type = Numbers<S>::data, real = Numbers<S>::modulus_data;
  constexpr cublasFillMode_t upper = CUBLAS_FILL_MODE_UPPER;
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const Cusolver& f = lib.solver();
  const cusolverDnHandle_t handle = lib.solver_handle();
  std::size_t bytes = 0, host_bytes = 0;
  if (are_batch(count, n))
    return in_parts(count, n * n, [&](i64 at, i64 size) {
      lib.check(f.syev_batched_room(handle, lib.params(), mode, upper, n, type, a + at * n * n, n, real, w + at * n,
                                    type, &bytes, &host_bytes, size),
                "syevBatched");
      const Scratch room(c, bytes);
      fill_zero(c, room.as<void>(), bytes);  // it may be read first
      lib.check(f.syev_batched(handle, lib.params(), mode, upper, n, type, a + at * n * n, n, real, w + at * n, type,
                               room.as<void>(), bytes, lib.host_room(host_bytes), host_bytes, info + at, size),
                "syevBatched");
    });
  lib.check(f.syevd_room(handle, lib.params(), mode, upper, n, type, a, n, real, w, type, &bytes, &host_bytes),
            "syevd");
  const Scratch room(c, bytes);
  for (i64 m = 0; m < count; ++m)
    lib.check(f.syevd(handle, lib.params(), mode, upper, n, type, a + m * n * n, n, real, w + m * n, type,
                      room.as<void>(), bytes, lib.host_room(host_bytes), host_bytes, info + m),
              "syevd");
}

}  // namespace

void eigh(const KernelCall& c) {
  const Operand &a = c.in[0], &w = c.out[0];
  const bool vectors = c.out.size() > 1;
  const i64 n = a.shape().dim(-1), count = matrices_of(a.shape());
  if (n == 0 || count == 0) return;
  const DType d = a.spec->dtype;
  const Linalg lib(c);
  const std::size_t ints = static_cast<std::size_t>(count) * sizeof(int);
  const Scratch work(c, a.spec->bytes()), flags(c, ints), info(c, ints);
  const matrix::Failures failures(c);
  fill_zero(c, flags.as<void>(), ints);
  fill_zero(c, info.as<void>(), ints);
  matrix::find_nonfinite(c, d, a.data, count, n, n, true, flags.as<int>());
  copy_matrices(c, d, count, n, n, false, work.as<void>(), a.data);
  matrix::clear_above(c, d, work.as<void>(), count, n);  // it is not read, and may hold NaN
  matrix::reset_flagged(c, d, work.as<void>(), count, n, n, flags.as<int>());
  with_dtype<matrix_dtypes>(
      c, d, [&]<class S>() { decompose<S>(lib, vectors, work.as<S>(), w.data, info.as<int>(), count, n); });
  matrix::note_info(c, info.as<int>(), count, failures.found());
  failures.report("has eigenvalues that the iteration did not find");
  matrix::fill_nan(c, w.spec->dtype, w.data, count, n, flags.as<int>());
  if (!vectors) return;
  const Operand& v = c.out[1];
  copy_matrices(c, d, count, n, n, true, v.data, work.as<void>());
  conjugate(c, v);
  matrix::fill_nan(c, d, v.data, count, n * n, flags.as<int>());
}

}  // namespace TANDEM_NS::cuda
