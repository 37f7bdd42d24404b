// Memory, copies and launches of the `sim` device.
#include "tests/support/sim.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <new>
#include <string>

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
void launch(const tandem::OpDef& op, const tandem::KernelCall& call, Device) {
  if (!op.cpu) tandem::errors::raise<tandem::errors::UnimplementedError>(op.name, "no kernel on SIM:0");
  ++launches;
  const Open open;
  op.cpu(call);
}

const tandem::Backend backend{[] { return 1; }, [] { return ""; }, &allocate, &release, &copy, &launch, [](int) {},
                               [](const tandem::OpDef& op) { return op.cpu != nullptr; }};

}  // namespace

Installed::Installed() { tandem::backends[Device::sim] = &backend; }
Installed::~Installed() { tandem::backends[Device::sim] = nullptr; }

Counts counts() { return {static_cast<std::int64_t>(blocks.size()), launches}; }

bool is_readable(const void* p) {
  char byte;
  const iovec here{&byte, 1}, there{const_cast<void*>(p), 1};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1;
}

}  // namespace sim
