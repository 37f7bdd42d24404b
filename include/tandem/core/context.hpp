// Per-thread state: the observing tapes, the stager, the next tensor id, the name scope, the memory cache.
#pragma once
#include <cstdint>

#include "tandem/base/device.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS {

struct Observer;
struct Replication;
struct Stager;
class Opaque;
namespace memory {
struct Cache;
}
namespace detail {
class CallSite;
}

// One struct, constant-initialized and trivially destructible: no guard on the hot path, one TLS address per op.
struct ThreadContext {
  Observer* observers;  // the innermost tape first
  Stager* stager;       // set while a function is traced
  std::uint64_t next_id, last_id;
  memory::Cache* cache;
  const char* scope;             // the innermost name_scope
  const Device* device;          // the innermost device scope; null: the inputs' device
  const detail::CallSite* call;  // the innermost public function that records its call site
};
static_assert(sizeof(ThreadContext) <= 64);

extern TANDEM_API constinit thread_local ThreadContext context;

namespace errors {
class OpError;
}

namespace detail {
/// Whether a training_scope says so on this thread (core/scope.hpp).
extern TANDEM_API constinit thread_local bool training;
/// Whether this thread is in a training_scope, of either kind.
extern TANDEM_API constinit thread_local bool training_is_set;
/// Whether a GradientChecks scope is active on this thread (optim/gradient_checks.hpp).
extern TANDEM_API constinit thread_local bool checks_gradients;
/// A layer's call on this thread. The innermost one adds to errors where the layer is (Module::InCall).
struct LayerCall {
  const void* layer;  // a Module; null where the ops of a traced call are applied again
  Opaque* state;      // its contents, which traces keep
  void (*place)(Opaque& state, errors::OpError&);
  const LayerCall* outer;
};
extern TANDEM_API constinit thread_local const LayerCall* layer_call;
/// Whether a StrictShapes scope is active on this thread (ops/debug/strict_shapes.hpp). Not part of ThreadContext,
/// which fills one cache line: only checks that are about to broadcast or to reduce everything read it.
extern TANDEM_API constinit thread_local bool strict_shapes;
/// That of the strategy whose scope this thread is in (core/replication.hpp); null: it trains alone.
extern TANDEM_API constinit thread_local Replication* replication;
/// Whether a call checks shapes strictly: a user's own call does, not those that public functions make of other ops.
inline bool checks_strictly() { return strict_shapes && !context.call; }

// Sets whether shapes are checked strictly, for a scope. Gradients and the preparation of graphs, which call ops of
// their own, switch it off.
class ShapeChecks {
 public:
  explicit ShapeChecks(bool strict) : before_(strict_shapes) { strict_shapes = strict; }
  ShapeChecks(const ShapeChecks&) = delete;
  ShapeChecks& operator=(const ShapeChecks&) = delete;
  ~ShapeChecks() { strict_shapes = before_; }

 private:
  bool before_;
};
}  // namespace detail

/// Reserves the next block of ids for this thread and returns its first.
TANDEM_API std::uint64_t new_id_block();

/// Returns the next id. Ids created by one thread are consecutive within a block, so a tape can map them by a plain
/// array.
inline std::uint64_t new_id(ThreadContext& c) { return c.next_id < c.last_id ? c.next_id++ : new_id_block(); }

}  // namespace TANDEM_NS
