// Loads NVIDIA's libraries with dlopen (opener.hpp).
#include "cuda/driver/driver.hpp"

#include "cuda/driver/opener.hpp"

namespace TANDEM_NS::cuda {
namespace {

Library<Driver> open_driver() {
  Library<Driver> r;
  Opener o({"libcuda.so.1"});
  o.find(r.functions.init, "cuInit");
  o.find(r.functions.version, "cuDriverGetVersion");
  o.find(r.functions.error_string, "cuGetErrorString");
  o.find(r.functions.load, "cuModuleLoadData");
  o.find(r.functions.function, "cuModuleGetFunction");
  o.find(r.functions.launch, "cuLaunchKernel");
  r.error = o.error();
  return r;
}

Library<CublasLt> open_cublaslt() {
  Library<CublasLt> r;
  Opener o(places_of("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)));
  CublasLt& f = r.functions;
  o.find(f.create, "cublasLtCreate");
  o.find(f.status_string, "cublasLtGetStatusString");
  o.find(f.matmul, "cublasLtMatmul");
  o.find(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  o.find(f.desc_create, "cublasLtMatmulDescCreate");
  o.find(f.desc_destroy, "cublasLtMatmulDescDestroy");
  o.find(f.desc_set, "cublasLtMatmulDescSetAttribute");
  o.find(f.layout_create, "cublasLtMatrixLayoutCreate");
  o.find(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
  o.find(f.layout_set, "cublasLtMatrixLayoutSetAttribute");
  o.find(f.preference_create, "cublasLtMatmulPreferenceCreate");
  o.find(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  o.find(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  r.error = o.error();
  return r;
}

// The functions of a library for one type of numbers, named by its letter.
template <class N>
void find_all(Opener& o, CublasOf<N>& f, char letter) {
  const std::string name = std::string("cublas") + letter;
  o.find(f.trsm, (name + "trsm_v2_64").c_str());
  o.find(f.trsm_batched, (name + "trsmBatched_64").c_str());
  o.find(f.getrf_batched, (name + "getrfBatched").c_str());
  o.find(f.getrs_batched, (name + "getrsBatched").c_str());
  o.find(f.geqrf_batched, (name + "geqrfBatched").c_str());
}
template <class N, class R>
void find_all(Opener& o, CusolverOf<N, R>& f, char letter) {
  const std::string name = std::string("cusolverDn") + letter, q = std::is_same_v<N, R> ? "orgqr" : "ungqr";
  o.find(f.potrf_batched, (name + "potrfBatched").c_str());
  o.find(f.orgqr_room, (name + q + "_bufferSize").c_str());
  o.find(f.orgqr, (name + q).c_str());
  o.find(f.gesvdj_room, (name + "gesvdj_bufferSize").c_str());
  o.find(f.gesvdj, (name + "gesvdj").c_str());
  o.find(f.gesvdj_batched_room, (name + "gesvdjBatched_bufferSize").c_str());
  o.find(f.gesvdj_batched, (name + "gesvdjBatched").c_str());
}
template <class S, class D, class C, class Z>
void find_all(Opener& o, ByNumber<S, D, C, Z>& f) {
  find_all(o, f.s, 'S');
  find_all(o, f.d, 'D');
  find_all(o, f.c, 'C');
  find_all(o, f.z, 'Z');
}

Library<Cublas> open_cublas() {
  Library<Cublas> r;
  Opener o(places_of("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)));
  Cublas& f = r.functions;
  o.find(f.create, "cublasCreate_v2");
  o.find(f.set_stream, "cublasSetStream_v2");
  o.find(f.status_string, "cublasGetStatusString");
  find_all(o, f.each);
  r.error = o.error();
  return r;
}

Library<Cusolver> open_cusolver() {
  Library<Cusolver> r;
  Opener o(places_of("libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR)));
  Cusolver& f = r.functions;
  o.find(f.create, "cusolverDnCreate");
  o.find(f.set_stream, "cusolverDnSetStream");
  o.find(f.create_params, "cusolverDnCreateParams");
  o.find(f.create_gesvdj, "cusolverDnCreateGesvdjInfo");
  o.find(f.set_tolerance, "cusolverDnXgesvdjSetTolerance");
  o.find(f.set_sweeps, "cusolverDnXgesvdjSetMaxSweeps");
  o.find(f.potrf_room, "cusolverDnXpotrf_bufferSize");
  o.find(f.potrf, "cusolverDnXpotrf");
  o.find(f.getrf_room, "cusolverDnXgetrf_bufferSize");
  o.find(f.getrf, "cusolverDnXgetrf");
  o.find(f.getrs, "cusolverDnXgetrs");
  o.find(f.geqrf_room, "cusolverDnXgeqrf_bufferSize");
  o.find(f.geqrf, "cusolverDnXgeqrf");
  o.find(f.syevd_room, "cusolverDnXsyevd_bufferSize");
  o.find(f.syevd, "cusolverDnXsyevd");
  o.find(f.syev_batched_room, "cusolverDnXsyevBatched_bufferSize");
  o.find(f.syev_batched, "cusolverDnXsyevBatched");
  find_all(o, f.each);
  r.error = o.error();
  return r;
}

Library<Cufft> open_cufft() {
  Library<Cufft> r;
  Opener o(places_of("libcufft.so." + std::to_string(CUFFT_VER_MAJOR)));
  Cufft& f = r.functions;
  o.find(f.create, "cufftCreate");
  o.find(f.destroy, "cufftDestroy");
  o.find(f.set_auto_allocation, "cufftSetAutoAllocation");
  o.find(f.make_plan, "cufftXtMakePlanMany");
  o.find(f.set_stream, "cufftSetStream");
  o.find(f.set_work_area, "cufftSetWorkArea");
  o.find(f.execute, "cufftXtExec");
  r.error = o.error();
  return r;
}

#if TANDEM_WITH_CUDNN
Library<Cudnn> open_cudnn() {
  Library<Cudnn> r;
  Opener o(places_of("libcudnn.so." + std::to_string(CUDNN_MAJOR)));
  Cudnn& f = r.functions;
  o.find(f.version, "cudnnGetVersion");
  o.find(f.error_string, "cudnnGetErrorString");
  o.find(f.last_error, "cudnnGetLastErrorString");
  o.find(f.create, "cudnnCreate");
  o.find(f.set_stream, "cudnnSetStream");
  o.find(f.desc_create, "cudnnBackendCreateDescriptor");
  o.find(f.desc_destroy, "cudnnBackendDestroyDescriptor");
  o.find(f.desc_set, "cudnnBackendSetAttribute");
  o.find(f.desc_get, "cudnnBackendGetAttribute");
  o.find(f.finalize, "cudnnBackendFinalize");
  o.find(f.execute, "cudnnBackendExecute");
  r.error = o.error();
  return r;
}
Library<CudnnRnn> open_cudnn_rnn() {
  Library<CudnnRnn> r;
  Opener o(places_of("libcudnn.so." + std::to_string(CUDNN_MAJOR)));
  CudnnRnn& f = r.functions;
  o.find(f.error_string, "cudnnGetErrorString");
  o.find(f.last_error, "cudnnGetLastErrorString");
  o.find(f.create, "cudnnCreate");
  o.find(f.set_stream, "cudnnSetStream");
  o.find(f.desc_create, "cudnnCreateRNNDescriptor");
  o.find(f.desc_destroy, "cudnnDestroyRNNDescriptor");
  o.find(f.desc_set, "cudnnSetRNNDescriptor_v8");
  o.find(f.dropout_create, "cudnnCreateDropoutDescriptor");
  o.find(f.dropout_destroy, "cudnnDestroyDropoutDescriptor");
  o.find(f.dropout_set, "cudnnSetDropoutDescriptor");
  o.find(f.data_create, "cudnnCreateRNNDataDescriptor");
  o.find(f.data_destroy, "cudnnDestroyRNNDataDescriptor");
  o.find(f.data_set, "cudnnSetRNNDataDescriptor");
  o.find(f.tensor_create, "cudnnCreateTensorDescriptor");
  o.find(f.tensor_destroy, "cudnnDestroyTensorDescriptor");
  o.find(f.tensor_set, "cudnnSetTensorNdDescriptor");
  o.find(f.weight_bytes, "cudnnGetRNNWeightSpaceSize");
  o.find(f.weight_at, "cudnnGetRNNWeightParams");
  o.find(f.temporary_bytes, "cudnnGetRNNTempSpaceSizes");
  o.find(f.forward, "cudnnRNNForward");
  o.find(f.backward_data, "cudnnRNNBackwardData_v8");
  o.find(f.backward_weights, "cudnnRNNBackwardWeights_v8");
  r.error = o.error();
  return r;
}
#endif

}  // namespace

const Library<Driver>& driver() {
  static const auto* const r = new Library<Driver>(open_driver());
  return *r;
}
const Library<CublasLt>& cublaslt() {
  static const auto* const r = new Library<CublasLt>(open_cublaslt());
  return *r;
}
const Library<Cublas>& cublas() {
  static const auto* const r = new Library<Cublas>(open_cublas());
  return *r;
}
const Library<Cusolver>& cusolver() {
  static const auto* const r = new Library<Cusolver>(open_cusolver());
  return *r;
}
const Library<Cufft>& cufft() {
  static const auto* const r = new Library<Cufft>(open_cufft());
  return *r;
}
#if TANDEM_WITH_CUDNN
const Library<Cudnn>& cudnn() {
  static const auto* const r = new Library<Cudnn>(open_cudnn());
  return *r;
}
const Library<CudnnRnn>& cudnn_rnn() {
  static const auto* const r = new Library<CudnnRnn>(open_cudnn_rnn());
  return *r;
}
#endif

}  // namespace TANDEM_NS::cuda
