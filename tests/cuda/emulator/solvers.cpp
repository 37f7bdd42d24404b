// In the place of cuSOLVER: the functions that cuda/linalg calls, as its documentation defines them (columns first,
// pivots from 1, info). It refuses arguments that the library does not define: memory of the host, leading
// dimensions that are too small, other types, another workspace than the one that was asked for, larger batches than
// they take. It overwrites workspaces, and what a function may leave undefined.
#include "cuda/driver/driver.hpp"

#if __has_include(<eigen3/Eigen/Dense>)
#include <algorithm>
#include <limits>

#include "tests/cuda/emulator/dense.hpp"

namespace {

using namespace emulator::dense;

constexpr auto good = CUSOLVER_STATUS_SUCCESS, bad = CUSOLVER_STATUS_INVALID_VALUE;
bool is_type(cudaDataType_t t) { return t == CUDA_R_32F || t == CUDA_R_64F || t == CUDA_C_32F || t == CUDA_C_64F; }
cudaDataType_t real_of(cudaDataType_t t) { return t == CUDA_C_32F ? CUDA_R_32F : t == CUDA_C_64F ? CUDA_R_64F : t; }
template <class F>
void with_type(cudaDataType_t t, const F& f) {
  if (t == CUDA_R_32F) f(float(), float());
  else if (t == CUDA_R_64F) f(double(), double());
  else if (t == CUDA_C_32F) f(cuComplex(), float());
  else f(cuDoubleComplex(), double());
}
std::size_t size_of(cudaDataType_t t) {
  return t == CUDA_R_32F ? sizeof(float) : t == CUDA_C_64F ? sizeof(cuDoubleComplex) : sizeof(double);
}
std::size_t room_bytes(cudaDataType_t type, i64 count) {
  return static_cast<std::size_t>(room_numbers(count)) * size_of(type);
}
cusolverStatus_t tell_room(cudaDataType_t type, cudaDataType_t compute, const void* a, std::size_t* bytes,
                           std::size_t* on_host, i64 count = 1) {
  if (!is_type(type) || compute != type || !on_device(a)) return bad;
  return *bytes = room_bytes(type, count), *on_host = *bytes / 2, good;
}
// Whether the workspaces are those that were asked for. That of the host is overwritten.
bool has_room(cudaDataType_t type, void* room, std::size_t bytes, void* host, std::size_t on_host, i64 count = 1) {
  if (emulator::has_crashed() || !on_device(room) || bytes != room_bytes(type, count) || !host ||
      emulator::is_device(host) || on_host != bytes / 2)
    return false;
  return spoil(host, on_host), true;
}
template <class N>
bool has_room(N* room, int numbers, i64 count = 1) {
  return !emulator::has_crashed() && on_device(room) && numbers == room_numbers(count);
}
template <class N>
void spoil_numbers(N* room, int numbers) {
  spoil(room, static_cast<std::size_t>(numbers) * sizeof(N));
}

int until_stop = -1;
int info_of_iteration(i64 n) { return until_stop >= 0 && until_stop-- == 0 ? static_cast<int>(n + 1) : 0; }

template <class N>
cusolverStatus_t potrf_batched(cusolverDnHandle_t h, cublasFillMode_t fill, int n, N** a, int lda, int* info,
                               int count) {
  if (fill != CUBLAS_FILL_MODE_UPPER || n <= 0 || lda < n || !on_device(a, info) || !is_batch(count, i64(n) * n))
    return bad;
  later(stream_of(h), [=] {
    for (int i = 0; i < count; ++i) {
      M m = load(a[i], n, n, lda);
      info[i] = cholesky(m);
      m.triangularView<Eigen::StrictlyLower>().setConstant(unused);
      store(m, a[i], lda);
    }
  });
  return good;
}
cusolverStatus_t potrf_room(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, i64, cudaDataType_t type,
                            const void* a, i64, cudaDataType_t compute, std::size_t* bytes, std::size_t* on_host) {
  return tell_room(type, compute, a, bytes, on_host);
}
cusolverStatus_t potrf(cusolverDnHandle_t h, cusolverDnParams_t, cublasFillMode_t fill, i64 n, cudaDataType_t type,
                       void* a, i64 lda, cudaDataType_t, void* room, std::size_t bytes, void* host, std::size_t on_host,
                       int* info) {
  if (fill != CUBLAS_FILL_MODE_UPPER || n <= 0 || lda < n || !on_device(a, info) ||
      !has_room(type, room, bytes, host, on_host))
    return bad;
  with_type(type, [&]<class N, class R>(N, R) {
    later(stream_of(h), [=] {
      spoil(room, bytes);
      M m = load(static_cast<N*>(a), n, n, lda);
      *info = cholesky(m);
      m.triangularView<Eigen::StrictlyLower>().setConstant(unused);
      store(m, static_cast<N*>(a), lda);
    });
  });
  return good;
}
cusolverStatus_t getrf_room(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType_t type, const void* a, i64,
                            cudaDataType_t compute, std::size_t* bytes, std::size_t* on_host) {
  return tell_room(type, compute, a, bytes, on_host);
}
cusolverStatus_t getrf(cusolverDnHandle_t h, cusolverDnParams_t, i64 rows, i64 columns, cudaDataType_t type, void* a,
                       i64 lda, i64* pivots, cudaDataType_t, void* room, std::size_t bytes, void* host,
                       std::size_t on_host, int* info) {
  if (rows <= 0 || columns <= 0 || lda < rows || !on_device(a, pivots, info) ||
      !has_room(type, room, bytes, host, on_host))
    return bad;
  with_type(type, [&]<class N, class R>(N, R) {
    later(stream_of(h), [=] {
      spoil(room, bytes);
      M m = load(static_cast<N*>(a), rows, columns, lda);
      *info = lu(m, pivots);
      store(m, static_cast<N*>(a), lda);
    });
  });
  return good;
}
cusolverStatus_t getrs(cusolverDnHandle_t h, cusolverDnParams_t, cublasOperation_t op, i64 n, i64 k,
                       cudaDataType_t type, const void* a, i64 lda, const i64* pivots, cudaDataType_t of_b, void* b,
                       i64 ldb, int* info) {
  if (n <= 0 || k <= 0 || lda < n || ldb < n || of_b != type || !on_device(a, b, pivots, info)) return bad;
  with_type(type, [&]<class N, class R>(N, R) {
    later(stream_of(h), [=] {
      N* const x = static_cast<N*>(b);
      store(solved(load(static_cast<const N*>(a), n, n, lda), pivots, op, load(x, n, k, ldb)), x, ldb);
      *info = 0;
    });
  });
  return good;
}

cusolverStatus_t geqrf_room(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType_t type, const void* a, i64,
                            cudaDataType_t of_tau, const void* tau, cudaDataType_t compute, std::size_t* bytes,
                            std::size_t* on_host) {
  return of_tau == type && on_device(tau) ? tell_room(type, compute, a, bytes, on_host) : bad;
}
cusolverStatus_t geqrf(cusolverDnHandle_t h, cusolverDnParams_t, i64 rows, i64 columns, cudaDataType_t type, void* a,
                       i64 lda, cudaDataType_t, void* tau, cudaDataType_t, void* room, std::size_t bytes, void* host,
                       std::size_t on_host, int* info) {
  if (rows <= 0 || columns <= 0 || lda < rows || !on_device(a, tau, info) ||
      !has_room(type, room, bytes, host, on_host))
    return bad;
  with_type(type, [&]<class N, class R>(N, R) {
    later(stream_of(h), [=] {
      spoil(room, bytes);
      M factors = load(static_cast<N*>(a), rows, columns, lda);
      const M t = reflections(factors);
      store(factors, static_cast<N*>(a), lda);
      store(t, static_cast<N*>(tau), rows);
      *info = 0;
    });
  });
  return good;
}
template <class N>
cusolverStatus_t orgqr_room(cusolverDnHandle_t, int m, int n, int k, const N* a, int lda, const N* tau, int* numbers) {
  if (k <= 0 || n < k || m < n || lda < m || !on_device(a, tau)) return bad;
  return *numbers = room_numbers(), good;
}
template <class N>
cusolverStatus_t orgqr(cusolverDnHandle_t h, int m, int n, int k, N* a, int lda, const N* tau, N* room, int numbers,
                       int* info) {
  if (k <= 0 || n < k || m < n || lda < m || !has_room(room, numbers) || !on_device(a, tau, info)) return bad;
  later(stream_of(h), [=] {
    spoil_numbers(room, numbers);
    const M f = load(a, m, k, lda), factors = load(tau, k, 1, k);
    M q = M::Identity(m, n);
    for (int i = k; i-- > 0;) {
      M v = M::Zero(m, 1);
      v(i, 0) = 1;
      for (int j = i + 1; j < m; ++j) v(j, 0) = f(j, i);
      q -= factors(i, 0) * v * (v.adjoint() * q);
    }
    store(q, a, lda);
    *info = 0;
  });
  return good;
}

template <class N, class R>
void syev_one(bool vectors, N* a, i64 n, i64 lda, R* w) {
  const M m = load(a, n, n, lda);
  const M whole = m.selfadjointView<Eigen::Upper>();
  const Eigen::SelfAdjointEigenSolver<M> x(whole);
  store(x.eigenvalues(), w, n);
  if (vectors) store(x.eigenvectors(), a, lda);
  else store(M::Constant(n, n, unused), a, lda);
}
cusolverStatus_t syev_batched_room(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, i64 n,
                                   cudaDataType_t type, const void* a, i64, cudaDataType_t of_w, const void* w,
                                   cudaDataType_t compute, std::size_t* bytes, std::size_t* on_host, i64 count) {
  if (of_w != real_of(type) || !on_device(w) || !is_batch(count, n * n)) return bad;
  return tell_room(type, compute, a, bytes, on_host, count);
}
// `zeroed`: what the workspace must be.
cusolverStatus_t syev_all(bool zeroed, cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t fill, i64 n,
                          cudaDataType_t type, void* a, i64 lda, void* w, void* room, std::size_t bytes, void* host,
                          std::size_t on_host, int* info, i64 count) {
  if (fill != CUBLAS_FILL_MODE_UPPER || n <= 0 || lda != n || !on_device(a, w, info) || !is_batch(count, n * n) ||
      !has_room(type, room, bytes, host, on_host, count))
    return bad;
  with_type(type, [&]<class N, class R>(N, R) {
    later(stream_of(h), [=] {
      const char* const old = static_cast<const char*>(room);
      const bool fits = !zeroed || std::all_of(old, old + bytes, [](char x) { return x == 0; });
      spoil(room, bytes);
      for (i64 i = 0; i < count; ++i) {
        syev_one(mode == CUSOLVER_EIG_MODE_VECTOR, static_cast<N*>(a) + i * n * n, n, lda, static_cast<R*>(w) + i * n);
        info[i] = fits ? info_of_iteration(n) : 1;
      }
    });
  });
  return good;
}
cusolverStatus_t syev_batched(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t fill,
                              i64 n, cudaDataType_t type, void* a, i64 lda, cudaDataType_t, void* w, cudaDataType_t,
                              void* room, std::size_t bytes, void* host, std::size_t on_host, int* info, i64 count) {
  return syev_all(true, h, mode, fill, n, type, a, lda, w, room, bytes, host, on_host, info, count);
}
cusolverStatus_t syevd_room(cusolverDnHandle_t h, cusolverDnParams_t p, cusolverEigMode_t mode, cublasFillMode_t fill,
                            i64 n, cudaDataType_t type, const void* a, i64 lda, cudaDataType_t of_w, const void* w,
                            cudaDataType_t compute, std::size_t* bytes, std::size_t* on_host) {
  return syev_batched_room(h, p, mode, fill, n, type, a, lda, of_w, w, compute, bytes, on_host, 1);
}
cusolverStatus_t syevd(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t fill, i64 n,
                       cudaDataType_t type, void* a, i64 lda, cudaDataType_t, void* w, cudaDataType_t, void* room,
                       std::size_t bytes, void* host, std::size_t on_host, int* info) {
  return syev_all(false, h, mode, fill, n, type, a, lda, w, room, bytes, host, on_host, info, 1);
}

template <class N, class R>
int svd_one(bool vectors, bool full, i64 m, i64 n, N* a, i64 lda, R* s, N* u, i64 ldu, N* v, i64 ldv) {
  const unsigned wanted = full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::JacobiSVD<M> x(load(a, m, n, lda), wanted);
  store(x.singularValues(), s, std::min(m, n));
  store(M::Constant(m, n, unused), a, lda);
  store(vectors ? x.matrixU() : M::Constant(m, x.matrixU().cols(), unused), u, ldu);
  store(vectors ? x.matrixV() : M::Constant(n, x.matrixV().cols(), unused), v, ldv);
  return info_of_iteration(std::min(m, n));
}
template <class N, class R>
cusolverStatus_t gesvdj_batched_room(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, const N* a, int lda,
                                     const R* s, const N* u, int ldu, const N* v, int ldv, int* numbers,
                                     gesvdjInfo_t params, int count) {
  if (!params || m <= 0 || n <= 0 || m > 32 || n > 32 || lda < m || ldu < m || ldv < n || !on_device(a, s, u, v) ||
      !is_batch(count, i64(std::max(m, n)) * std::max(m, n)))
    return bad;
  return *numbers = room_numbers(count), good;
}
template <class N, class R>
cusolverStatus_t gesvdj_batched(cusolverDnHandle_t h, cusolverEigMode_t mode, int m, int n, N* a, int lda, R* s, N* u,
                                int ldu, N* v, int ldv, N* room, int numbers, int* info, gesvdjInfo_t params,
                                int count) {
  if (!params || m > 32 || n > 32 || lda < m || ldu < m || ldv < n || !on_device(a, s, u, v, info) ||
      !is_batch(count, i64(std::max(m, n)) * std::max(m, n)) || !has_room(room, numbers, count))
    return bad;
  later(stream_of(h), [=] {
    spoil_numbers(room, numbers);
    for (i64 i = 0; i < count; ++i)
      info[i] = svd_one(mode == CUSOLVER_EIG_MODE_VECTOR, true, m, n, a + i * lda * n, lda, s + i * std::min(m, n),
                        u + i * ldu * m, ldu, v + i * ldv * n, ldv);
  });
  return good;
}
template <class N, class R>
cusolverStatus_t gesvdj_room(cusolverDnHandle_t, cusolverEigMode_t, int, int m, int n, const N* a, int lda, const R* s,
                             const N* u, int ldu, const N* v, int ldv, int* numbers, gesvdjInfo_t params) {
  if (!params || m <= 0 || n <= 0 || lda < m || ldu < m || ldv < n || !on_device(a, s, u, v)) return bad;
  return *numbers = room_numbers(), good;
}
template <class N, class R>
cusolverStatus_t gesvdj(cusolverDnHandle_t h, cusolverEigMode_t mode, int economic, int m, int n, N* a, int lda, R* s,
                        N* u, int ldu, N* v, int ldv, N* room, int numbers, int* info, gesvdjInfo_t params) {
  if (!params || lda < m || ldu < m || ldv < n || !on_device(a, s, u, v, info) || !has_room(room, numbers)) return bad;
  later(stream_of(h), [=] {
    spoil_numbers(room, numbers);
    *info = svd_one(mode == CUSOLVER_EIG_MODE_VECTOR, !economic, m, n, a, lda, s, u, ldu, v, ldv);
  });
  return good;
}

template <class N, class R>
constexpr tandem::cuda::CusolverOf<N, R> solver_of() {
  return {&potrf_batched<N>,          &orgqr_room<N>,       &orgqr<N>, &gesvdj_room<N, R>, &gesvdj<N, R>,
          &gesvdj_batched_room<N, R>, &gesvdj_batched<N, R>};
}

bool is_lost = false;

}  // namespace

namespace emulator {
void lose_solvers(bool lost) { is_lost = lost; }
void stop_iteration(int matrix) { until_stop = matrix; }
}  // namespace emulator

namespace TANDEM_NS::cuda {

const Library<Cusolver>& cusolver() {
  static const Library<Cusolver> none{{}, "libcusolver.so cannot be opened"};
  static const Library<Cusolver> r{
      {.create = [](cusolverDnHandle_t* h) { return *h = reinterpret_cast<cusolverDnHandle_t>(new Handle), good; },
       .set_stream = [](cusolverDnHandle_t h,
                        cudaStream_t s) { return reinterpret_cast<Handle*>(h)->stream = s, good; },
       .create_params = [](cusolverDnParams_t* p) { return *p = reinterpret_cast<cusolverDnParams_t>(new char), good; },
       .create_gesvdj = [](gesvdjInfo_t* p) { return *p = reinterpret_cast<gesvdjInfo_t>(new char), good; },
       .set_tolerance =  // with less, some matrices do not converge
       [](gesvdjInfo_t p, double e) { return p && e >= 4 * std::numeric_limits<double>::epsilon() ? good : bad; },
       .set_sweeps = [](gesvdjInfo_t p, int n) { return p && n > 0 ? good : bad; },
       .potrf_room = &potrf_room,
       .potrf = &potrf,
       .getrf_room = &getrf_room,
       .getrf = &getrf,
       .getrs = &getrs,
       .geqrf_room = &geqrf_room,
       .geqrf = &geqrf,
       .syevd_room = &syevd_room,
       .syevd = &syevd,
       .syev_batched_room = &syev_batched_room,
       .syev_batched = &syev_batched,
       .each = {solver_of<float, float>(), solver_of<double, double>(), solver_of<cuComplex, float>(),
                solver_of<cuDoubleComplex, double>()}},
      {}};
  return is_lost ? none : r;
}

}  // namespace TANDEM_NS::cuda

#else  // without Eigen there is no tandem::linalg

namespace TANDEM_NS::cuda {

const Library<Cusolver>& cusolver() {
  static const Library<Cusolver> r{{}, "the emulator needs Eigen for it"};
  return r;
}

}  // namespace TANDEM_NS::cuda

#endif
