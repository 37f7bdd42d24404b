// The CUDA kernel of qr: Householder reflections of the columns. Small matrices of a batch are factored by one call,
// and a kernel makes Q of their reflections; others are factored one after the other.
#include "cuda/linalg/library.hpp"
#include "cuda/linalg/parts.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The sizes of one matrix: a is [m, n], q [m, k], r [k, n].
struct Sizes {
  i64 m, n, k;
  i64 reflections() const { return std::min(m, n); }
  i64 columns() const { return std::max(n, k); }  // of the room for the factors, which Q replaces
};

// Q and R by way of `factors`, m by columns(), and `tau`, a number for each reflection.
template <class S>
class Factorization {
  using N = typename Numbers<S>::type;

 public:
  Factorization(const Linalg& lib, DType d, const Sizes& s, void* factors, void* tau, int* info)
      : lib_(lib), dtype_(d), s_(s), factors_(static_cast<N*>(factors)), tau_(static_cast<N*>(tau)), info_(info) {
    const i64 m = s.m;
    (void)lib.narrow(m, s.columns());
    lib.check(lib.solver().geqrf_room(lib.solver_handle(), lib.params(), m, s.n, type, factors_, m, type, tau_, type,
                                      &bytes_, &host_bytes_),
              "geqrf");
    lib.check(of().orgqr_room(lib.solver_handle(), lib.narrow(m), lib.narrow(s.k), lib.narrow(s.reflections()),
                              factors_, lib.narrow(m), tau_, &numbers_),
              "orgqr");
  }
  std::size_t bytes() const { return std::max(bytes_, static_cast<std::size_t>(numbers_) * sizeof(N)); }

  void run(const void* a, void* q, void* r, void* room) const {
    const KernelCall& c = lib_.call();
    const i64 m = s_.m;
    copy_matrices(c, dtype_, 1, m, s_.n, true, factors_, a);
    lib_.check(lib_.solver().geqrf(lib_.solver_handle(), lib_.params(), m, s_.n, type, factors_, m, type, tau_, type,
                                   room, bytes_, lib_.host_room(host_bytes_), host_bytes_, info_),
               "geqrf");
    matrix::upper_triangle(c, dtype_, factors_, m, 0, r, 1, s_.k, s_.n);
    lib_.check(of().orgqr(lib_.solver_handle(), lib_.narrow(m), lib_.narrow(s_.k), lib_.narrow(s_.reflections()),
                          factors_, lib_.narrow(m), tau_, static_cast<N*>(room), numbers_, info_),
               "orgqr");
    copy_matrices(c, dtype_, 1, s_.k, m, true, q, factors_);
  }

 private:
  static constexpr cudaDataType_t type = Numbers<S>::data;
  const auto& of() const { return lib_.solver().each.of<N>(); }

  const Linalg& lib_;
  DType dtype_;
  Sizes s_;
  N *factors_, *tau_;
  int* info_;
  std::size_t bytes_ = 0, host_bytes_ = 0;
  int numbers_ = 0;
};

// All matrices of a batch.
template <class S>
void factor_batch(const Linalg& lib, DType d, const Sizes& s, i64 count, const S* a, S* q, S* r) {
  using N = typename Numbers<S>::type;
  const KernelCall& c = lib.call();
  const i64 each = s.m * s.n, size = s.reflections(), width = static_cast<i64>(sizeof(N));
  in_parts(count, each, [&](i64 at, i64 part) {
    const auto bytes = [&](i64 n) { return static_cast<std::size_t>(part * n * width); };
    const Scratch factors(c, bytes(each)), tau(c, bytes(size));
    const Scratch factors_at(c, static_cast<std::size_t>(part) * sizeof(N*)),
        tau_at(c, static_cast<std::size_t>(part) * sizeof(N*));
    copy_matrices(c, d, part, s.m, s.n, true, factors.as<void>(), a + at * each);
    const Shape matrices{part, 1, 1};
    matrix::pointers(c, factors_at.as<void*>(), factors.as<void>(), each * width, matrices, matrices);
    matrix::pointers(c, tau_at.as<void*>(), tau.as<void>(), size * width, matrices, matrices);
    int info = 0;  // of the arguments
    lib.check(
        lib.blas().each.of<N>().geqrf_batched(lib.blas_handle(), lib.narrow(s.m), lib.narrow(s.n), factors_at.as<N*>(),
                                              lib.narrow(s.m), tau_at.as<N*>(), &info, lib.narrow(part)),
        "geqrfBatched");
    matrix::upper_triangle(c, d, factors.as<void>(), s.m, each, r + at * s.k * s.n, part, s.k, s.n);
    matrix::orthogonal_factors(c, d, factors.as<void>(), each, tau.as<void>(), q + at * s.m * s.k, part, s.m, s.k,
                               size);
  });
}
// One matrix after the other.
template <class S>
void factor_each(const Linalg& lib, DType d, const Sizes& s, i64 count, const S* a, S* q, S* r) {
  const KernelCall& c = lib.call();
  const Scratch factors(c, static_cast<std::size_t>(s.m * s.columns()) * sizeof(S)),
      tau(c, static_cast<std::size_t>(s.reflections()) * sizeof(S)), info(c, sizeof(int));
  const Factorization<S> f(lib, d, s, factors.as<void>(), tau.as<void>(), info.as<int>());
  const Scratch room(c, f.bytes());
  for (i64 i = 0; i < count; ++i) f.run(a + i * s.m * s.n, q + i * s.m * s.k, r + i * s.k * s.n, room.as<void>());
}

}  // namespace

void qr(const KernelCall& c) {
  const Operand &a = c.in[0], &q = c.out[0], &r = c.out[1];
  const Sizes s{a.shape().dim(-2), a.shape().dim(-1), q.shape().dim(-1)};
  const i64 count = matrices_of(a.shape());
  if (count == 0) return;
  const DType d = q.spec->dtype;
  if (s.reflections() == 0) {
    matrix::identities(c, d, q.data, count, s.m, s.k);
    return fill_zero(c, r.data, r.spec->bytes());
  }
  const Linalg lib(c);
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    const auto factor = are_batch(count, std::max(s.m, s.n)) ? &factor_batch<S> : &factor_each<S>;
    factor(lib, d, s, count, a.as<const S>(), q.as<S>(), r.as<S>());
  });
  matrix::make_diagonal_real(c, d, q.data, r.data, count, s.m, s.k, s.n);
}

}  // namespace TANDEM_NS::cuda
