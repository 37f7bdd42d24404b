// The GPU's Backend table for the core: memory, copies, launches.
#include "tandem/core/backend.hpp"

#include <mutex>
#include <string>

#include "cuda/driver/capture.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"
#include "cuda/driver/uploads.hpp"
#include "cuda/fused/kernels.hpp"
#include "cuda/fused/program.hpp"
#include "cuda/gemm/gemm.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS::cuda {

extern const Backend backend;

namespace {

int count() { return devices().count; }
const char* why_off() { return devices().why_off.c_str(); }

// Makes the second queue wait for the work submitted so far to the first. Of a thread that records the same event
// meanwhile, it waits for that work, too. An event is recorded while its device is current.
void order(const Queue& first, const Queue& second) {
  use_device(first.device);
  check(cudaEventRecord(first.event, first.stream), "copy", "event");
  use_device(second.device);
  check(cudaStreamWaitEvent(second.stream, first.event, 0), "copy", "event");
}
// Lets a device read and write another's memory, once, if it can; copies are staged through the host otherwise, also
// where a device has as many peers as it can have.
void allow_access(int device, int other) {
  static std::once_flag* const once = new std::once_flag[max_devices * max_devices];
  std::call_once(once[device * max_devices + other], [=] {
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, device, other), "copy", "access between devices");
    if (!can) return;
    use_device(device);
    const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
    if (is_asynchronous(status)) check(status, "copy", "access between devices");
    (void)cudaGetLastError();
  });
}
void copy_between(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  const Queue& q = queue(to_device);
  if (to_device == from_device)
    return check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q.stream), "copy", "on the device");
  const Queue& source = queue(from_device);
  allow_access(to_device, from_device);
  allow_access(from_device, to_device);
  order(source, q);
  check(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, q.stream), "copy", "between devices");
  order(q, source);  // `from` may be released and its memory reused from now on
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
  copy_from_host(queue(to_device.index), to, from, bytes, "copy");
}

void launch_op(const OpDef& op, const KernelCall& call, Stream stream) {
  if (!op.cuda)
    errors::raise<errors::UnimplementedError>(
        op.name, "no kernel on " + to_string(stream.device) + " (move the operands by .cpu())");
  KernelCall c = call;
  if (Capture* const capture = Capture::current(stream.device.index)) {
    use_device(stream.device.index);
    c.stream = {stream.device, const_cast<Queue*>(&capture->queue())};
    capture->add(op.name);
    op.cuda(c);
    return check(cudaGetLastError(), op.name, "launch");
  }
  c.stream = {stream.device, stream.queue ? stream.queue : const_cast<Queue*>(&queue(stream.device.index))};
  launching(stream.device.index, op.name);
  op.cuda(c);
  check(cudaGetLastError(), op.name, "launch");
  launched(stream.device.index, op.name);
}

// Whether the host's memory is read before a copy of it returns: pageable memory, which is staged, unless the device
// reads it itself. Pinned and managed memory is read later.
bool is_staged(const Queue& q, const void* p) {
  cudaPointerAttributes a{};
  if (cudaPointerGetAttributes(&a, p) == cudaSuccess && a.type != cudaMemoryTypeUnregistered) return false;
  (void)cudaGetLastError();
  return !q.reads_pageable;
}

}  // namespace

void copy_from_host(const Queue& q, void* to, const void* from, std::size_t bytes, const char* op) {
  if (Capture::current(q.device))  // it would copy what is there when the capture is launched
    errors::raise<errors::UnimplementedError>(op, "a copy from the host cannot be captured");
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q.stream), op, "copy to the device");
  if (is_staged(q, from)) return;
  ++hidden_waits();
  wait(q.device);
}

const Backend backend{.count = &count,
                      .why_off = &why_off,
                      .allocate = &allocate,
                      .release = &release,
                      .copy = &copy,
                      .launch = &launch_op,
                      .synchronize = &wait,
                      .has_kernel = [](const OpDef& op) { return op.cuda != nullptr; },
                      .uses_workspace = false,
                      .fusion = {most_fused_ops, most_fused_inputs, &can_fuse},
                      .begin_capture = &begin_capture,
                      .end_capture = &end_capture,
                      .launch_captured = &launch_captured,
                      .release_captured = &release_captured,
                      .settings = [] { return setting_changes() + fused_kernel_changes(); },
                      .memory_info = &memory_info_of,
                      .set_memory_limit = &limit_memory,
                      .uploads = &uploads};

}  // namespace TANDEM_NS::cuda
