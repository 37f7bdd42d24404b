#include "cuda/linalg/library.hpp"

#include <limits>
#include <vector>

#include "cuda/driver/capture.hpp"
#include "cuda/driver/device.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {

// Lives as long as the program.
struct LinalgHandles {
  std::mutex mutex;
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t params = nullptr;
  gesvdjInfo_t jacobi = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<char> host_room;
};

namespace {

LinalgHandles& handles_of(int device) {
  static LinalgHandles* const all = new LinalgHandles[max_devices];
  return all[device];
}
void check_open(const KernelCall& c, const char* name, const std::string& error) {
  if (!error.empty())
    errors::raise<errors::UnavailableError>(
        c.op, std::string("on a GPU it needs ") + name + ": " + error + " (or move the operands by .cpu())");
}

}  // namespace

Linalg::Linalg(const KernelCall& c)
    : c_(c), handles_(handles_of(queue_of(c).device)), lock_(handles_.mutex, std::defer_lock) {
  if (Capture::current(queue_of(c).device))  // they wait for the device, and use memory of the host
    errors::raise<errors::UnimplementedError>(c.op, "calls of cuSOLVER cannot be captured");
  check_open(c, "cuBLAS", cublas().error);
  check_open(c, "cuSOLVER", cusolver().error);
  lock_.lock();
  use_device(queue_of(c).device);
  LinalgHandles& h = handles_;
  if (!h.blas) check(blas().create(&h.blas), "handle");
  if (!h.solver) check(solver().create(&h.solver), "handle");
  if (!h.params) check(solver().create_params(&h.params), "parameters");
  const cudaStream_t stream = queue_of(c).stream;
  if (h.stream == stream) return;
  check(blas().set_stream(h.blas, stream), "stream");
  check(solver().set_stream(h.solver, stream), "stream");
  h.stream = stream;
}
cublasHandle_t Linalg::blas_handle() const { return handles_.blas; }
cusolverDnHandle_t Linalg::solver_handle() const { return handles_.solver; }
cusolverDnParams_t Linalg::params() const { return handles_.params; }
gesvdjInfo_t Linalg::jacobi(double epsilon) const {
  constexpr int sweeps = 100;  // it needs about ten
  if (!handles_.jacobi) check(solver().create_gesvdj(&handles_.jacobi), "parameters");
  check(solver().set_tolerance(handles_.jacobi, epsilon), "parameters");
  check(solver().set_sweeps(handles_.jacobi, sweeps), "parameters");
  return handles_.jacobi;
}
void* Linalg::host_room(std::size_t bytes) const {
  if (handles_.host_room.size() < bytes) handles_.host_room.resize(bytes);
  return handles_.host_room.data();
}

void Linalg::check(cublasStatus_t status, const char* what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  cuda::check(cudaGetLastError(), c_.op, "cuBLAS");  // of a kernel that ran before
  errors::raise<errors::CudaError>(c_.op, std::string("cuBLAS: ") + what + ": " + blas().status_string(status));
}
void Linalg::check(cusolverStatus_t status, const char* what) const {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  cuda::check(cudaGetLastError(), c_.op, "cuSOLVER");  // of a kernel that ran before
  errors::raise<errors::CudaError>(
      c_.op, std::string("cuSOLVER: ") + what + ": status " + std::to_string(static_cast<int>(status)));
}
int Linalg::narrow(i64 rows, i64 columns) const {
  constexpr i64 most = std::numeric_limits<int>::max();
  if (columns != 0 && rows > most / columns)
    errors::raise<errors::UnimplementedError>(c_.op, "for an operand of shape " + to_string(c_.in[0].shape()) +
                                                         " cuSOLVER needs a matrix of shape " +
                                                         to_string(Shape{rows, columns}) + ", and it counts up to " +
                                                         std::to_string(most) + " elements; use .cpu()");
  return static_cast<int>(rows * columns);
}

void copy_matrices(const KernelCall& c, DType d, const Shape& operand, const Shape& out, i64 rows, i64 columns,
                   bool transposed, void* to, const void* from) {
  const i64 each = rows * columns, axes = out.rank() - 2, missing = out.rank() - operand.rank();
  i64 to_step[max_rank], from_step[max_rank], step = each, own = each;
  for (i64 i = axes; i-- > 0;) {
    const i64 n = i >= missing ? operand.dim(static_cast<int>(i - missing)) : 1;
    to_step[i] = step, from_step[i] = n == 1 ? 0 : own;
    step *= out.dim(static_cast<int>(i)), own *= n;
  }
  cpu::StridedCopy nest;
  for (i64 i = 0; i < axes; ++i) nest.add(out.dim(static_cast<int>(i)), to_step[i], from_step[i]);
  nest.add(rows, transposed ? 1 : columns, columns);
  nest.add(columns, transposed ? rows : 1, 1);
  copy_strided(c, nest, size_of(d), to, from);
}
void copy_matrices(const KernelCall& c, DType d, i64 count, i64 rows, i64 columns, bool transposed, void* to,
                   const void* from) {
  copy_matrices(c, d, Shape{count, rows, columns}, Shape{count, rows, columns}, rows, columns, transposed, to, from);
}

}  // namespace TANDEM_NS::cuda
