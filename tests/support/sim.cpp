// Memory, copies and launches of the `sim` device.
#include "tests/support/sim.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tandem/core/backend.hpp"
#include "tandem/core/op.hpp"

namespace sim {
namespace {

using tandem::Device;

std::map<void*, std::size_t> blocks;  // address -> mapped bytes
std::int64_t launches = 0;
int opened = 0;

std::size_t mapped(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes / page + 1) * page;
}
void protect(int rights) {
  for (const auto& [p, bytes] : blocks) ::mprotect(p, bytes, rights);
}
// Grants access during its lifetime; a launch may allocate and copy.
struct Open {
  Open() {
    if (opened++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  ~Open() {
    if (--opened == 0) protect(PROT_NONE);
  }
};

void* allocate(std::size_t bytes, int) {
  const std::size_t size = mapped(bytes);
  void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  std::memset(p, 0xa5, size);  // as a float -2.9e-16, as an index far out of range
  if (!opened) ::mprotect(p, size, PROT_NONE);
  blocks[p] = size;
  return p;
}
void release(void* p, std::size_t, int) {
  const auto at = blocks.find(p);
  if (at == blocks.end())
    tandem::errors::raise<tandem::errors::InternalError>("sim", "released twice, or not its block");
  ::munmap(p, at->second);
  blocks.erase(at);
}
void copy(void* to, Device, const void* from, Device, std::size_t bytes) {
  const Open open;
  std::memcpy(to, from, bytes);
}

// A captured launch has its own operands, as those of a CUDA graph: later changes of the call do not reach it.
struct Launch {
  const tandem::OpDef* op;
  std::vector<tandem::Operand> operands;
  std::size_t inputs;
  tandem::Attrs attrs;
  void* workspace;

  void run() const {
    const tandem::Span<const tandem::Operand> all(operands);
    op->cpu({all.first(inputs), all.subspan(inputs), attrs, workspace, op->name, {device}});
  }
};
using Captured = std::vector<Launch>;
std::unique_ptr<Captured> capturing;
std::int64_t captures = 0, replays = 0;

void launch(const tandem::OpDef& op, const tandem::KernelCall& call, tandem::Stream stream) {
  if (!op.cpu) tandem::errors::raise<tandem::errors::UnimplementedError>(op.name, "no kernel on SIM:0");
  if (!(stream == tandem::Stream{device}))
    tandem::errors::raise<tandem::errors::InternalError>(op.name, "not a stream of SIM:0");
  if (capturing) {
    std::vector<tandem::Operand> operands(call.in.begin(), call.in.end());
    operands.insert(operands.end(), call.out.begin(), call.out.end());
    capturing->push_back({&op, std::move(operands), call.in.size(), call.attrs, call.workspace});
    return;
  }
  ++launches;
  const Open open;
  op.cpu(call);
}
void launch_captured(void* captured, tandem::Stream) {
  ++replays;
  const Open open;
  for (const Launch& l : *static_cast<const Captured*>(captured)) l.run();
}

const tandem::Backend backend{.count = [] { return 1; },
                              .why_off = [] { return ""; },
                              .allocate = &allocate,
                              .release = &release,
                              .copy = &copy,
                              .launch = &launch,
                              .synchronize = [](int) {},
                              .has_kernel = [](const tandem::OpDef& op) { return op.cpu != nullptr; },
                              .begin_capture = [](tandem::Stream) { capturing = std::make_unique<Captured>(); },
                              .end_capture = [](tandem::Stream) -> void* {
                                ++captures;
                                return capturing.release();
                              },
                              .launch_captured = &launch_captured,
                              .release_captured = [](void* c) { delete static_cast<Captured*>(c); }};

}  // namespace

Installed::Installed() { tandem::backends[Device::sim] = &backend; }
Installed::~Installed() { tandem::backends[Device::sim] = nullptr; }

Counts counts() { return {static_cast<std::int64_t>(blocks.size()), launches, captures, replays}; }

bool is_readable(const void* p) {
  char byte;
  const iovec here{&byte, 1}, there{const_cast<void*>(p), 1};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1;
}

}  // namespace sim
