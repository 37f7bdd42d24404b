// NCCL's functions for the stand-in (stand_in.hpp). What a rank launches with one call, or one group of calls, is a
// launch; the n-th launches of all ranks of a communicator run together, on the streams' threads.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cuda/nccl/library.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tests/distribute_nccl/runtime.hpp"
#include "tests/distribute_nccl/stand_in.hpp"

namespace stand_in {
namespace {

using namespace tandem;

enum class Kind : std::uint8_t { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };
struct Call {
  Kind kind;
  const void* input;
  void* output;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;  // or root

  bool is_to_one() const { return kind == Kind::send || kind == Kind::receive; }
};
using Launch = std::vector<Call>;

// The ranks that have one id. Guarded by its lock.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0;
  std::map<int, std::map<int, Launch>> launches;  // by number, by rank
  std::map<int, bool> is_done;
};

std::mutex mutex;  // guards what follows
std::map<std::string, std::shared_ptr<World>> worlds;
std::map<int, std::vector<std::string>> log;
std::map<int, bool> loses, breaks, stays_apart;
int next_id = 0;
std::atomic<int> live{0}, aborted{0};
thread_local bool is_hidden = false;

}  // namespace
}  // namespace stand_in

struct ncclComm {
  std::shared_ptr<stand_in::World> world;
  int rank, size, device;
  std::shared_ptr<std::atomic<bool>> is_aborted = std::make_shared<std::atomic<bool>>(false);
  int next = 0;                 // number of the next launch
  stand_in::Launch given = {};  // not launched yet: in progress
  cudaStream_t stream = nullptr;
  int asked = 0;
};

namespace stand_in {
namespace {

thread_local int depth = 0;                 // of groups of calls
thread_local ncclComm_t grouped = nullptr;  // the communicator of the calls in it

DType dtype_of(ncclDataType_t t) {
  switch (t) {
    case ncclInt8: return DType::int8;
    case ncclUint8: return DType::uint8;
    case ncclInt32: return DType::int32;
    case ncclUint32: return DType::uint32;
    case ncclInt64: return DType::int64;
    case ncclUint64: return DType::uint64;
    case ncclFloat16: return DType::float16;
    case ncclBfloat16: return DType::bfloat16;
    case ncclFloat64: return DType::float64;
    default: return DType::float32;
  }
}
distribute::ReduceOp op_of(ncclRedOp_t op) {
  using distribute::ReduceOp;
  return op == ncclSum   ? ReduceOp::sum
         : op == ncclAvg ? ReduceOp::mean
         : op == ncclMin ? ReduceOp::min
         : op == ncclMax ? ReduceOp::max
                         : ReduceOp::prod;
}
std::string text_of(const Call& c) {
  constexpr const char* names[] = {"all_reduce",     "reduce", "broadcast", "all_gather",
                                   "reduce_scatter", "send",   "receive"};
  std::string r = std::string(names[static_cast<int>(c.kind)]) + " " + tandem::name(dtype_of(c.type)) + " " +
                  std::to_string(c.count);
  if (c.kind == Kind::all_reduce || c.kind == Kind::reduce || c.kind == Kind::reduce_scatter)
    r += std::string(" ") + name(op_of(c.op));
  return c.peer < 0 ? r
                    : r + (c.kind == Kind::send || c.kind == Kind::reduce ? " to " : " from ") + std::to_string(c.peer);
}
std::size_t bytes_of(const Call& c) { return c.count * size_of(dtype_of(c.type)); }

// The combination of part `at` (in elements) of all ranks' inputs.
std::vector<char> combined(const std::vector<const Call*>& calls, std::size_t at) {
  const Call& first = *calls[0];
  const DType d = dtype_of(first.type);
  const auto part = [&](const Call& c) { return static_cast<const char*>(c.input) + at * size_of(d); };
  std::vector<char> r(part(first), part(first) + bytes_of(first));
  const bool is_mean = first.op == ncclAvg;
  const auto combine = distribute::impl::combine_fn(is_mean ? distribute::ReduceOp::sum : op_of(first.op), d);
  for (std::size_t i = 1; i < calls.size(); ++i) combine(part(*calls[i]), r.data(), static_cast<i64>(first.count));
  if (is_mean) distribute::impl::divide(r.data(), d, static_cast<i64>(first.count), static_cast<int>(calls.size()));
  return r;
}
// One collective call of all ranks. Results are computed before they are written: an output may be an input.
void run(const std::vector<const Call*>& calls) {
  std::vector<std::vector<char>> results;
  for (std::size_t r = 0; r < calls.size(); ++r) {
    const Call& c = *calls[r];
    std::vector<char>& y = results.emplace_back();
    const auto add = [&](const Call& from) {
      const char* const x = static_cast<const char*>(from.input);
      y.insert(y.end(), x, x + bytes_of(from));
    };
    if (c.kind == Kind::all_reduce || (c.kind == Kind::reduce && static_cast<int>(r) == c.peer)) y = combined(calls, 0);
    if (c.kind == Kind::reduce_scatter) y = combined(calls, r * c.count);
    if (c.kind == Kind::broadcast) add(*calls[static_cast<std::size_t>(c.peer)]);
    if (c.kind == Kind::all_gather)
      for (const Call* from : calls) add(*from);
  }
  for (std::size_t r = 0; r < calls.size(); ++r)
    if (!results[r].empty()) std::memcpy(calls[r]->output, results[r].data(), results[r].size());
}
// The launches of all ranks, in which the k-th collective calls belong together, and the k-th between two ranks.
void run(const std::map<int, Launch>& launches) {
  std::map<std::pair<int, int>, std::vector<Call>> sent, received;
  std::vector<std::vector<const Call*>> together;
  for (const auto& [rank, launch] : launches) {
    std::size_t k = 0;
    for (const Call& c : launch) {
      if (c.kind == Kind::send) sent[{rank, c.peer}].push_back(c);
      if (c.kind == Kind::receive) received[{c.peer, rank}].push_back(c);
      if (c.is_to_one()) continue;
      if (together.size() == k) together.emplace_back();
      together[k++].push_back(&c);
    }
  }
  for (const auto& calls : together) run(calls);
  for (const auto& [ends, calls] : received)
    for (std::size_t k = 0; k < calls.size(); ++k)
      std::memcpy(calls[k].output, sent.at(ends).at(k).input, bytes_of(calls[k]));
}

// What a stream's thread does for a launch.
void meet(World& world, int rank, int size, int number, const Launch& launch, const std::atomic<bool>& is_aborted) {
  std::unique_lock lock(world.mutex);
  world.launches[number][rank] = launch;
  if (static_cast<int>(world.launches[number].size()) == size && !is_aborted) {
    run(world.launches[number]);
    world.is_done[number] = true;
    world.changed.notify_all();
  }
  world.changed.wait(lock, [&] { return world.is_done[number] || is_aborted; });
}
void launch(ncclComm& c) {
  const std::lock_guard lock(mutex);
  std::string text;
  for (const Call& call : c.given) text += (text.empty() ? "" : "; ") + text_of(call);
  if (!c.given.empty()) log[c.device].push_back(text);
  const int number = c.next++;
  if (!loses[c.device])
    submit(c.stream, [world = c.world, rank = c.rank, size = c.size, number, calls = c.given, dead = c.is_aborted] {
      meet(*world, rank, size, number, calls, *dead);
    });
  c.given.clear(), c.stream = nullptr;
}
ncclResult_t give(ncclComm_t c, cudaStream_t stream, const Call& call) {
  c->given.push_back(call), c->stream = stream, c->asked = 0;
  if (depth == 0) return ncclInProgress;
  grouped = c;
  return ncclSuccess;
}

ncclResult_t init(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (config->blocking != 0) return ncclInvalidArgument;
  const std::lock_guard lock(mutex);
  std::shared_ptr<World>& world = worlds[id.internal];
  if (!world) world = std::make_shared<World>();
  *comm = new ncclComm{world, rank, size, current_device()};
  ++live;
  const std::lock_guard inner(world->mutex);
  ++world->ranks;
  return ncclInProgress;
}
ncclResult_t async_error(ncclComm_t c, ncclResult_t* state) {
  {
    const std::lock_guard lock(mutex);
    const std::lock_guard inner(c->world->mutex);
    if (breaks[c->device] && c->next > 0) return *state = ncclRemoteError, ncclSuccess;
    if (c->world->ranks < c->size || stays_apart[c->device]) return *state = ncclInProgress, ncclSuccess;
  }
  if (c->stream) {
    if (++c->asked < 2) return *state = ncclInProgress, ncclSuccess;
    launch(*c);
  }
  return *state = ncclSuccess, ncclSuccess;
}
ncclResult_t leave(ncclComm_t c) {
  --live;
  delete c;
  return ncclSuccess;
}
ncclResult_t abort(ncclComm_t c) {
  {
    const std::lock_guard lock(c->world->mutex);
    *c->is_aborted = true;
    c->world->changed.notify_all();
  }
  ++aborted;
  return leave(c);
}

cuda::Nccl functions() {
  cuda::Nccl f{};
  f.version = [](int* v) { return *v = NCCL_VERSION_CODE, ncclSuccess; };
  f.error_string = [](ncclResult_t r) { return r == ncclRemoteError ? "remote process exited" : "an error"; };
  f.last_error = [](ncclComm_t) { return ""; };
  f.unique_id = [](ncclUniqueId* id) {
    const std::lock_guard lock(mutex);
    *id = {};
    std::strcpy(id->internal, std::to_string(++next_id).c_str());
    return ncclSuccess;
  };
  f.init = &init, f.async_error = &async_error, f.abort = &abort, f.destroy = &leave;
  f.finalize = [](ncclComm_t) { return ncclSuccess; };
  f.group_start = [] { return ++depth, ncclSuccess; };
  f.group_end = [] { return --depth, std::exchange(grouped, nullptr) ? ncclInProgress : ncclSuccess; };
  f.all_reduce = [](const void* x, void* y, std::size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c,
                    cudaStream_t s) {
    return give(c, s, {Kind::all_reduce, x, y, n, t, op, -1});
  };
  f.reduce = [](const void* x, void* y, std::size_t n, ncclDataType_t t, ncclRedOp_t op, int root, ncclComm_t c,
                cudaStream_t s) {
    return give(c, s, {Kind::reduce, x, y, n, t, op, root});
  };
  f.broadcast = [](const void* x, void* y, std::size_t n, ncclDataType_t t, int root, ncclComm_t c, cudaStream_t s) {
    return give(c, s, {Kind::broadcast, x, y, n, t, ncclSum, root});
  };
  f.all_gather = [](const void* x, void* y, std::size_t n, ncclDataType_t t, ncclComm_t c, cudaStream_t s) {
    return give(c, s, {Kind::all_gather, x, y, n, t, ncclSum, -1});
  };
  f.reduce_scatter = [](const void* x, void* y, std::size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c,
                        cudaStream_t s) {
    return give(c, s, {Kind::reduce_scatter, x, y, n, t, op, -1});
  };
  f.send = [](const void* x, std::size_t n, ncclDataType_t t, int to, ncclComm_t c, cudaStream_t s) {
    return give(c, s, {Kind::send, x, nullptr, n, t, ncclSum, to});
  };
  f.receive = [](void* y, std::size_t n, ncclDataType_t t, int from, ncclComm_t c, cudaStream_t s) {
    return give(c, s, {Kind::receive, nullptr, y, n, t, ncclSum, from});
  };
  return f;
}

}  // namespace

std::vector<std::string> take_calls(int device) {
  const std::lock_guard lock(mutex);
  return std::exchange(log[device], {});
}
void lose_operations(int device) {
  const std::lock_guard lock(mutex);
  loses[device] = true;
}
void break_connection(int device) {
  const std::lock_guard lock(mutex);
  breaks[device] = true;
}
void never_connect(int device) {
  const std::lock_guard lock(mutex);
  stays_apart[device] = true;
}
void hide_library() { is_hidden = true; }
void clear_faults() {
  const std::lock_guard lock(mutex);
  loses.clear(), breaks.clear(), stays_apart.clear();
  is_hidden = false;
}
int live_communicators() { return live; }
int aborted_communicators() { return aborted; }

}  // namespace stand_in

namespace TANDEM_NS::cuda {

const Library<Nccl>& nccl() {
  static const Library<Nccl> there{stand_in::functions(), {}}, hidden{{}, "libnccl.so.2 cannot be opened: hidden"};
  return stand_in::is_hidden ? hidden : there;
}

}  // namespace TANDEM_NS::cuda
