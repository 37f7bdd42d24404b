// Convolutions by cuDNN's graph API. A problem is described as a graph of one operation; cuDNN's heuristics list
// engines for it, the best first, and the first one that is exact enough and supported becomes the plan, which is
// cached and reused. Nothing is timed, so the choice depends on the problem, the alignment of the images, TF32, the
// device and the version of cuDNN alone. cuDNN's filters are [out, spatial..., in]: ours are transposed into such a
// copy, and a gradient back.
#include "cuda/conv/cudnn.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/conv/geometry.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/gemm/gemm.hpp"
#include "cuda/layout/copy.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::atomic<u64> convolutions{0};

#if TANDEM_WITH_CUDNN

constexpr i64 workspace_limit = i64(1) << 30;  // for copies of images in another layout
// The largest power of two, up to 16, that divides an address.
i64 alignment(const void* p) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uintptr_t>(widest_alignment);
  return static_cast<i64>(bits & ~(bits - 1));
}

// The operation's kind and the names of its attributes.
struct OperationNames {
  cudnnBackendDescriptorType_t kind;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};
OperationNames names_of(ConvPart part) {
  switch (part) {
    case ConvPart::forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvPart::input_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

// What runs one kind of problem. Lives as long as the program: captured launches may refer to its kernels.
struct Plan {
  Descriptor engine, plan;
  i64 workspace;
};

class Planner {
 public:
  /// `rounds`: whether operands may have less than float32's digits
  Planner(const CudnnApi& api, cudnnHandle_t handle, const ConvProblem& p, const ConvOperands& of, bool rounds)
      : api_(api), handle_(handle), p_(p), g_(p, rounds), of_(of), rounds_(rounds) {}

  // The plan, or nothing if no engine is supported.
  std::optional<Plan> make() const {
    if (!g_.fits()) return {};
    Descriptor x = g_.x(api_, alignment(of_.x)), w = g_.w(api_), y = g_.y(api_, alignment(of_.y));
    if (!x.finalize(api_, "image") || !w.finalize(api_, "filter") || !y.finalize(api_, "result")) return {};
    Descriptor window = window_of();
    if (!window.finalize(api_, "convolution")) return {};
    const OperationNames n = names_of(p_.part);
    Descriptor op(api_, n.kind);
    op.set(n.x, x), op.set(n.w, w), op.set(n.y, y), op.set(n.convolution, window);
    op.set(n.alpha, CUDNN_TYPE_FLOAT, 1.f), op.set(n.beta, CUDNN_TYPE_FLOAT, 0.f);
    if (!op.finalize(api_, "operation")) return {};
    Descriptor graph(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle_);
    if (!graph.finalize(api_, "graph")) return {};
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      if (std::optional<Plan> plan = first_supported(engines(graph, mode))) return plan;
    return {};
  }

 private:
  Descriptor window_of() const {
    Descriptor d(api_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const std::int64_t axes = g_.axes();
    d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
    d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, axes);
    d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, g_.before(), axes);
    d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, g_.after(), axes);
    d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, g_.dilations(), axes);
    d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, g_.strides(), axes);
    return d;
  }

  // The engines of a mode of the heuristics, the best first.
  std::vector<Descriptor> engines(const Descriptor& graph, cudnnBackendHeurMode_t mode) const {
    Descriptor heuristics(api_, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    std::vector<Descriptor> r;
    if (!heuristics.finalize(api_, "heuristics")) return r;
    const auto results = [&](cudnnBackendDescriptor_t* to, i64 room) {
      return heuristics.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, to, room);
    };
    i64 n = results(nullptr, 0);
    std::vector<cudnnBackendDescriptor_t> raw;
    for (i64 i = 0; i < n; ++i) {
      r.emplace_back(api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      if (!r.back().is_good(api_, "engine")) return {};
      raw.push_back(r.back().get());
    }
    if (n > 0) n = std::min(n, results(raw.data(), n));
    if (!heuristics.is_good(api_, "heuristics")) return {};
    while (static_cast<i64>(r.size()) > n) r.pop_back();
    return r;
  }
  std::optional<Plan> first_supported(std::vector<Descriptor> engines) const {
    for (Descriptor& engine : engines) {
      if (!is_exact(engine)) continue;
      Descriptor plan(api_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle_);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
      if (!api_.went_well(plan.finalized())) continue;  // some are compiled at run time, which may fail
      std::int64_t workspace = 0;
      plan.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &workspace, 1);
      if (!plan.is_good(api_, "workspace") || workspace > workspace_limit) continue;
      return Plan{std::move(engine), std::move(plan), workspace};
    }
    return {};
  }
  // Whether an engine sums float32 products one by one in a fixed order. Transforms (FFT, Winograd) would spread a NaN
  // or a large number over results that do not read it. Engine 0 is the slow one that every problem has. Engine 1 of
  // cuDNN 9.19 computes the gradient of a filter wrongly if the padding before and behind differs.
  bool is_exact(Descriptor& config) const {
    Descriptor engine(api_, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (!engine.is_good(api_, "engine")) return false;
    cudnnBackendDescriptor_t raw = engine.get();
    config.read(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &raw, 1);
    if (!config.is_good(api_, "engine")) return false;
    std::int64_t number = 0;
    engine.read(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &number, 1);
    if (number == 0 || (number == 1 && p_.part == ConvPart::filter_gradient)) return false;
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {};
    const i64 n = engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes,
                              CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    if (!engine.is_good(api_, "notes of an engine")) return false;
    for (i64 i = 0; i < std::min<i64>(n, CUDNN_NUMERICAL_NOTE_TYPE_COUNT); ++i) {
      switch (notes[i]) {
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
          if (!rounds_) return false;
          break;
        case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        case CUDNN_NUMERICAL_NOTE_FFT:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13: return false;
        default: break;
      }
    }
    return true;
  }

  const CudnnApi& api_;
  cudnnHandle_t handle_;
  const ConvProblem& p_;
  const Geometry g_;
  const ConvOperands& of_;
  const bool rounds_;
};

using Key = std::array<i64, 27>;
Key key_of(const ConvProblem& p, const ConvOperands& of, bool rounds) {
  Key k{static_cast<i64>(p.part), static_cast<i64>(p.dtype), rounds, p.batch, p.groups, p.in, p.out, alignment(of.x),
        alignment(of.y)};
  std::size_t at = 8;
  for (const WindowAxis& a : p.axis)
    for (const i64 n : {a.in, a.out, a.window, a.stride, a.dilation, a.before}) k[++at] = n;
  return k;
}

// Returns false if no engine is supported after all.
bool execute(const CudnnApi& api, const KernelCall& c, cudnnHandle_t handle, const Plan& plan, const ConvOperands& of) {
  const Scratch room(c, static_cast<std::size_t>(plan.workspace));
  const std::int64_t ids[] = {x_id, w_id, y_id};
  void* const data[] = {of.x, of.w, of.y};
  Descriptor pack(api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids, 3);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data, 3);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, room.as<void>());
  return pack.finalize(api, "operands") && api.check(api.f.set_stream(handle, queue_of(c).stream), "stream") &&
         api.check(api.f.execute(handle, plan.plan.get(), pack.get()), "convolution");
}

// The gradient of an image is a convolution of the result's gradient with the filter turned around, if the window moves
// by one. There are faster engines for that.
bool can_turn(const ConvProblem& p) {
  bool can = p.part == ConvPart::input_gradient && p.groups == 1;
  for (const WindowAxis& a : p.axis) can = can && a.stride == 1 && a.before <= (a.window - 1) * a.dilation;
  return can;
}
ConvProblem turned(const ConvProblem& p) {
  ConvProblem r = p;
  r.part = ConvPart::forward;
  std::swap(r.in, r.out);
  for (WindowAxis& a : r.axis) {
    std::swap(a.in, a.out);
    a.before = (a.window - 1) * a.dilation - a.before;
  }
  return r;
}

// Copies a filter [spatial..., in, out] as cuDNN has it, [out, spatial..., in] or, turned around, [in, spatial..., out]
// with the last tap first; or the first of these back.
enum class Filter { to_cudnn, turned_to_cudnn, from_cudnn };
void copy_filter(const KernelCall& c, const ConvProblem& p, Filter how, void* to, const void* from) {
  const i64 taps = p.axis[0].window * p.axis[1].window * p.axis[2].window, out = p.groups * p.out;
  const std::size_t width = size_of(p.dtype);
  cpu::StridedCopy nest;
  if (how == Filter::turned_to_cudnn) {
    nest.add(p.in, taps * out, out);
    nest.add(taps, out, -p.in * out);
    nest.add(out, 1, 1);
    from = static_cast<const char*>(from) + static_cast<std::size_t>((taps - 1) * p.in * out) * width;
  } else {
    const bool there = how == Filter::to_cudnn;
    const i64 row = taps * p.in, rows = there ? row : out, columns = there ? out : row;
    nest.add(columns, rows, 1);
    nest.add(rows, 1, columns);
  }
  copy_strided(c, nest, width, to, from);
}

// What a device caches between convolutions. The lock is held while one is launched, because the stream is the
// handle's.
struct Kept {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  bool unsupported = false;                  // the device, or its driver
  std::map<Key, std::optional<Plan>> plans;  // without a plan: no engine is supported
};
Kept& kept_of(int device) {
  static Kept* const all = new Kept[max_devices];
  return all[device];
}

bool run(const CudnnApi& api, const KernelCall& c, Kept& kept, const ConvProblem& p, const ConvOperands& of,
         bool turn) {
  const ConvProblem as = turn ? turned(p) : p;
  const ConvOperands there = turn ? ConvOperands{of.y, of.w, of.x} : of;
  const bool rounds = p.dtype != DType::float32 || tf32();
  const Key key = key_of(as, there, rounds);
  auto at = kept.plans.find(key);
  if (at == kept.plans.end()) at = kept.plans.emplace(key, Planner(api, kept.handle, as, there, rounds).make()).first;
  if (!at->second) return false;
  const i64 taps = p.axis[0].window * p.axis[1].window * p.axis[2].window;
  const Scratch filter(c, static_cast<std::size_t>(taps * p.in * p.groups * p.out) * size_of(p.dtype));
  const bool computes_filter = p.part == ConvPart::filter_gradient;
  if (!computes_filter) copy_filter(c, p, turn ? Filter::turned_to_cudnn : Filter::to_cudnn, filter.as<void>(), of.w);
  if (!execute(api, c, kept.handle, *at->second, {there.x, filter.as<void>(), there.y})) {
    at->second.reset();
    return false;
  }
  if (computes_filter) copy_filter(c, p, Filter::from_cudnn, of.w, filter.as<void>());
  ++convolutions;
  return true;
}
bool run(const CudnnApi& api, const KernelCall& c, const ConvProblem& p, const ConvOperands& of) {
  // The engines for filters in float32 make 5 to 50 times the rounding errors of products. Where the filter moves by
  // more than one, they also were slower.
  if (p.part == ConvPart::filter_gradient && p.dtype == DType::float32 && !tf32()) return false;
  const Queue& q = queue_of(c);
  Kept& kept = kept_of(q.device);
  const std::lock_guard lock(kept.mutex);
  if (kept.unsupported) return false;
  use_device(q.device);
  if (!kept.handle) {
    kept.unsupported = !api.went_well(api.f.create(&kept.handle));  // without the device, or parts of cuDNN
    if (kept.unsupported) return false;
  }
  return (can_turn(p) && run(api, c, kept, p, of, true)) || run(api, c, kept, p, of, false);
}

#endif

}  // namespace

bool conv_by_cudnn([[maybe_unused]] const KernelCall& c, [[maybe_unused]] const ConvProblem& p,
                   [[maybe_unused]] const ConvOperands& of) {
#if TANDEM_WITH_CUDNN
  if (p.dtype == DType::float64) return false;
  const Library<Cudnn>& l = cudnn();
  return l.is_open() && run({l.functions, c.op}, c, p, of);
#else
  return false;
#endif
}
bool has_cudnn() {
#if TANDEM_WITH_CUDNN
  return cudnn().is_open();
#else
  return false;
#endif
}
u64 cudnn_convolutions() { return convolutions; }

}  // namespace TANDEM_NS::cuda
