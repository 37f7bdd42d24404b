// In the place of cuFFT: transforms of rows by their definition, in double precision, with cuFFT's conventions (no
// division, steps and distances in elements, real transforms of half a spectrum). It accepts what the library uses
// alone, and is strict about what cuFFT leaves undefined.
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <vector>

#include "cuda/driver/driver.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace emulator {
void fail();
}  // namespace emulator

namespace {

using C = std::complex<double>;
enum class Kind { complex, to_half, from_half };

struct Plan {
  bool allocates = true, is_double = false;
  Kind kind = Kind::complex;
  long long n = 0, step = 0, from_row = 0, to_row = 0, rows = 0;
  std::size_t work = 0;
  cudaStream_t stream = nullptr;
  void* area = nullptr;
};
auto& plans = *new std::map<cufftHandle, std::shared_ptr<Plan>>;  // functions that live to the end have some
int missing_memory = 0;                                           // so many plans fail for lack of memory

std::shared_ptr<Plan> plan_of(cufftHandle h) {
  const auto at = plans.find(h);
  return at == plans.end() ? nullptr : at->second;
}
cufftResult create(cufftHandle* h) {
  static cufftHandle last = 0;
  plans[*h = ++last] = std::make_shared<Plan>();
  return CUFFT_SUCCESS;
}
cufftResult destroy(cufftHandle h) { return plans.erase(h) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
cufftResult set_auto_allocation(cufftHandle h, int allocates) {
  const auto p = plan_of(h);
  if (!p || p->n) return CUFFT_INVALID_PLAN;
  return p->allocates = allocates != 0, CUFFT_SUCCESS;
}
cufftResult make_plan(cufftHandle h, int rank, long long* n, long long* from_sizes, long long from_step,
                      long long from_row, cudaDataType from, long long* to_sizes, long long to_step, long long to_row,
                      cudaDataType to, long long rows, std::size_t* work, cudaDataType computes) {
  const auto p = plan_of(h);
  if (!p || p->n || p->allocates) return CUFFT_INVALID_PLAN;
  if (missing_memory > 0) return --missing_memory, CUFFT_ALLOC_FAILED;
  const bool is_double = computes == CUDA_C_64F;
  const cudaDataType real = is_double ? CUDA_R_64F : CUDA_R_32F;
  if (computes != CUDA_C_64F && computes != CUDA_C_32F) return CUFFT_INVALID_TYPE;
  if (from == real && to == computes) p->kind = Kind::to_half;
  else if (from == computes && to == real) p->kind = Kind::from_half;
  else if (from == computes && to == computes) p->kind = Kind::complex;
  else return CUFFT_INVALID_TYPE;
  const long long half = n[0] / 2 + 1;
  if (rank != 1 || n[0] < 1 || rows < 1) return CUFFT_INVALID_SIZE;
  if (from_sizes[0] < (p->kind == Kind::from_half ? half : n[0])) return CUFFT_INVALID_SIZE;
  if (to_sizes[0] < (p->kind == Kind::to_half ? half : n[0])) return CUFFT_INVALID_SIZE;
  if (from_step < 1 || from_step != to_step || from_row < 1 || to_row < 1) return CUFFT_INVALID_VALUE;
  p->is_double = is_double, p->n = n[0], p->step = from_step, p->from_row = from_row, p->to_row = to_row;
  p->rows = rows, p->work = n[0] % 2 ? static_cast<std::size_t>(n[0]) * 16 : 0;
  return *work = p->work, CUFFT_SUCCESS;
}
cufftResult set_stream(cufftHandle h, cudaStream_t stream) {
  const auto p = plan_of(h);
  if (!p || !stream) return CUFFT_INVALID_PLAN;
  return p->stream = stream, CUFFT_SUCCESS;
}
cufftResult set_work_area(cufftHandle h, void* area) {
  const auto p = plan_of(h);
  if (!p || !p->n) return CUFFT_INVALID_PLAN;
  return p->area = area, area ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

// The numbers of a row of which the first half, or the real parts, are given.
template <class T>
std::vector<C> row_of(const Plan& p, const T* x) {
  const std::size_t n = static_cast<std::size_t>(p.n), step = static_cast<std::size_t>(p.step);
  std::vector<C> r(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (p.kind == Kind::to_half) r[k] = static_cast<double>(x[k * step]);
    else if (p.kind == Kind::complex || 2 * k <= n)
      r[k] = {static_cast<double>(x[2 * k * step]), static_cast<double>(x[2 * k * step + 1])};
    else r[k] = std::conj(r[n - k]);
    if (p.kind == Kind::from_half && (k == 0 || 2 * k == n) && r[k].imag() != 0) emulator::fail();
  }
  return r;
}
template <class T>
void run(const Plan& p, double sign, T* x, T* y) {
  const emulator::Unlocked unlocked;
  std::memset(p.area, 0xa5, p.work);
  const std::size_t n = static_cast<std::size_t>(p.n), half = n / 2 + 1, step = static_cast<std::size_t>(p.step);
  const long long wide_from = p.kind == Kind::to_half ? 1 : 2, wide_to = p.kind == Kind::from_half ? 1 : 2;
  std::vector<C> roots(n);
  for (std::size_t k = 0; k < n; ++k)
    roots[k] = std::polar(1., sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (long long r = 0; r < p.rows; ++r) {
    T *const from = x + r * p.from_row * wide_from, *const to = y + r * p.to_row * wide_to;
    const std::vector<C> in = row_of(p, from);
    for (std::size_t k = 0; k < (p.kind == Kind::to_half ? half : n); ++k) {
      C sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += in[j] * roots[j * k % n];
      if (p.kind == Kind::from_half) to[k * step] = static_cast<T>(sum.real());
      else to[2 * k * step] = static_cast<T>(sum.real()), to[2 * k * step + 1] = static_cast<T>(sum.imag());
    }
    if (p.kind == Kind::from_half)  // as cuFFT may
      for (std::size_t k = 0; k < 2 * half; ++k) from[k] = std::numeric_limits<T>::quiet_NaN();
  }
}
cufftResult execute(cufftHandle h, void* from, void* to, int direction) {
  const auto p = plan_of(h);
  if (!p || !p->n || !p->stream) return CUFFT_INVALID_PLAN;
  if (!p->area) return CUFFT_NO_WORKSPACE;
  const std::size_t alignment = p->is_double ? 16 : 8;
  if (reinterpret_cast<std::size_t>(from) % alignment || reinterpret_cast<std::size_t>(to) % alignment)
    return CUFFT_UNALIGNED_DATA;
  if (from == to && (p->kind != Kind::complex || p->from_row != p->to_row)) return CUFFT_INVALID_VALUE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  const double sign = p->kind == Kind::to_half ? -1 : p->kind == Kind::from_half ? 1 : direction;
  const std::weak_ptr<Plan> made = p;
  emulator::submit(p->stream, [=, now = *p] {
    if (made.expired()) emulator::fail();  // a graph reads the tables of its plan
    else if (now.is_double) run(now, sign, static_cast<double*>(from), static_cast<double*>(to));
    else run(now, sign, static_cast<float*>(from), static_cast<float*>(to));
  });
  return CUFFT_SUCCESS;
}
auto& library = *new tandem::cuda::Library<tandem::cuda::Cufft>{
    {&create, &destroy, &set_auto_allocation, &make_plan, &set_stream, &set_work_area, &execute}, {}};

}  // namespace

namespace emulator {
void hide_fourier(bool hidden) { library.error = hidden ? "libcufft.so.12 cannot be opened" : ""; }
void fail_fourier_plans(int count) { missing_memory = count; }
}  // namespace emulator

namespace TANDEM_NS::cuda {
const Library<Cufft>& cufft() { return library; }
}  // namespace TANDEM_NS::cuda
