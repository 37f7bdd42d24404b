// The GPU's Backend table for the core: memory, copies, launches.
#include "tandem/core/backend.hpp"

#include <string>

#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS::cuda {

extern const Backend backend;

namespace {

int count() { return devices().count; }
const char* why_off() { return devices().why_off.c_str(); }

// Makes the second stream wait for the work submitted so far to the first.
void order(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t event;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "copy", "event");
  cudaError_t status = cudaEventRecord(event, first);
  if (status == cudaSuccess) status = cudaStreamWaitEvent(second, event, 0);
  (void)cudaEventDestroy(event);
  check(status, "copy", "event");
}
void copy_between(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  const Queue& q = queue(to_device);
  if (to_device == from_device)
    return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q.stream), "copy", "on the device");
  const Queue& source = queue(from_device);
  order(source.stream, q.stream);
  use_device(to_device);
  check(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, q.stream), "copy", "between devices");
  order(q.stream, source.stream);  // `from` may be released and its memory reused from now on
}
// Pageable memory has been staged when the call returns; pinned memory would be read later.
bool is_pinned(const void* p) {
  cudaPointerAttributes a{};
  const bool known = cudaPointerGetAttributes(&a, p) == cudaSuccess;
  if (!known) (void)cudaGetLastError();
  return known && a.type == cudaMemoryTypeHost;
}
void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  if (to_device.kind == Device::gpu && from_device.kind == Device::gpu)
    return copy_between(to, to_device.index, from, from_device.index, bytes);
  if (to_device.kind == Device::cpu) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, queue(from_device.index).stream), "copy",
          "to the host");
    ++hidden_waits();
    return wait(from_device.index);
  }
  if (from_device.kind != Device::cpu)
    errors::raise<errors::UnimplementedError>("copy", to_string(from_device) + " to " + to_string(to_device));
  const Queue& q = queue(to_device.index);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q.stream), "copy", "to the device");
  if (!is_pinned(from)) return;
  ++hidden_waits();
  wait(to_device.index);
}

void launch_op(const OpDef& op, const KernelCall& call, Stream stream) {
  if (!op.cuda)
    errors::raise<errors::UnimplementedError>(
        op.name, "no kernel on " + to_string(stream.device) + " (move the operands by .cpu())");
  KernelCall c = call;
  c.stream = {stream.device, stream.queue ? stream.queue : const_cast<Queue*>(&queue(stream.device.index))};
  op.cuda(c);
  check(cudaGetLastError(), op.name, "launch");
}

}  // namespace

const Backend backend{.count = &count,
                      .why_off = &why_off,
                      .allocate = &allocate,
                      .release = &release,
                      .copy = &copy,
                      .launch = &launch_op,
                      .synchronize = &wait,
                      .has_kernel = [](const OpDef& op) { return op.cuda != nullptr; },
                      .uses_workspace = false,
                      .memory_info = &memory_info_of,
                      .set_memory_limit = &limit_memory};

}  // namespace TANDEM_NS::cuda
