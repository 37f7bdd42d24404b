// What is per thread: the tapes that watch, the stager, the next tensor id, the name scope, the memory cache.
#pragma once
#include <cstdint>

#include "tandem/base/device.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS {

struct Observer;
struct Stager;
namespace memory {
struct Cache;
}
namespace detail {
class CallSite;
}

// One struct, constant-initialised and trivially destroyed: no guard on the hot path, one TLS address per op.
struct Context {
  Observer* observers;  // the innermost tape first
  Stager* stager;       // set while a function is traced
  std::uint64_t next_id, last_id;
  memory::Cache* cache;
  const char* scope;             // the innermost name_scope
  const Device* device;          // the innermost device scope; null: where the inputs are
  const detail::CallSite* call;  // the innermost public function that says where it was called
};
static_assert(sizeof(Context) <= 64);

extern TANDEM_API constinit thread_local Context context;

/// Takes the next block of ids for this thread and returns its first.
TANDEM_API std::uint64_t new_id_block();

/// Ids made by one thread are consecutive within a block: a tape maps them by a plain array.
inline std::uint64_t new_id(Context& c) { return c.next_id < c.last_id ? c.next_id++ : new_id_block(); }

}  // namespace TANDEM_NS
