// Definitions of distribute_gloo/collectives.hpp.
#pragma once
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "tandem/distribute_gloo/collectives.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

namespace collectives {

struct Call {
  const Collective& c;
  const std::shared_ptr<::gloo::Context>& context;
  std::uint32_t tag;
  std::chrono::milliseconds timeout;

  std::size_t bytes() const { return static_cast<std::size_t>(c.count) * size_of(c.dtype); }
  char* output() const { return static_cast<char*>(c.output); }
  // Gloo's inputs are not const, but it does not write to them.
  char* input() const { return static_cast<char*>(const_cast<void*>(c.input)); }
  template <class Options>
  Options options() const {
    Options o(context);
    o.setTag(tag), o.setTimeout(timeout);
    return o;
  }
};

// A type of as many bytes as an element: all_reduce does not divide it.
template <std::size_t N>
struct Bytes {
  char at[N];
};

template <std::size_t N>
void all_reduce(const Call& call) {
  const CombineFn combine = call.c.combine;
  auto o = call.options<::gloo::AllreduceOptions>();
  using T = Bytes<N>;
  const auto count = static_cast<std::size_t>(call.c.count);
  // The ring. Halving and doubling (BCUBE) has fewer messages, but waits by the timeout of the context instead of its
  // own.
  if (call.c.input != call.c.output) o.setInput(reinterpret_cast<T*>(call.input()), count);
  o.setOutput(reinterpret_cast<T*>(call.output()), count);
  o.setReduceFunction([combine](void* to, const void* a, const void* b, std::size_t n) {
    if (to == b) return combine(a, to, static_cast<i64>(n));
    if (to != a) std::memcpy(to, a, n * N);
    combine(b, to, static_cast<i64>(n));
  });
  ::gloo::allreduce(o);
}

inline std::vector<std::int64_t> scaled(Span<const i64> counts, std::size_t by) {
  std::vector<std::int64_t> bytes(counts.begin(), counts.end());
  for (std::int64_t& n : bytes) n *= static_cast<std::int64_t>(by);
  return bytes;
}

inline void exchange(const Call& call, char* output, std::vector<std::int64_t> send,
                     std::vector<std::int64_t> receive) {
  auto o = call.options<::gloo::AlltoallvOptions>();
  o.setInput(call.input(), std::move(send));
  o.setOutput(output, std::move(receive));
  ::gloo::alltoallv(o);
}

inline void reduce_scatter(const Call& call) {
  const auto rank = static_cast<std::size_t>(call.context->rank), size = static_cast<std::size_t>(call.context->size);
  const i64 own = call.c.receive[rank];
  const std::size_t bytes = static_cast<std::size_t>(own) * size_of(call.c.dtype);
  std::vector<char> parts(std::max<std::size_t>(1, bytes * size));
  exchange(call, parts.data(), scaled(call.c.receive, size_of(call.c.dtype)),
           std::vector<std::int64_t>(size, static_cast<std::int64_t>(bytes)));
  std::memcpy(call.c.output, parts.data(), bytes);
  for (std::size_t r = 1; r < size; ++r) call.c.combine(parts.data() + r * bytes, call.c.output, own);
}

inline void all_gather(const Call& call) {
  auto o = call.options<::gloo::AllgathervOptions>();
  const std::vector<std::int64_t> bytes = scaled(call.c.receive, size_of(call.c.dtype));
  o.setInput(call.input(), call.bytes());
  o.setOutput(call.output(), std::vector<std::size_t>(bytes.begin(), bytes.end()));
  ::gloo::allgatherv(o);
}

inline void broadcast(const Call& call) {
  auto o = call.options<::gloo::BroadcastOptions>();
  o.setOutput(call.output(), call.bytes());
  o.setRoot(call.c.root);
  ::gloo::broadcast(o);
}

inline void barrier(const Call& call) {
  ::gloo::BarrierOptions o(call.context);
  o.setTag(call.tag), o.setTimeout(call.timeout);
  ::gloo::barrier(o);
}

inline void all_reduce_of_size(const Call& call) {
  switch (size_of(call.c.dtype)) {
    case 1: return all_reduce<1>(call);
    case 2: return all_reduce<2>(call);
    case 4: return all_reduce<4>(call);
    case 8: return all_reduce<8>(call);
    default: return all_reduce<16>(call);
  }
}

}  // namespace collectives

TANDEM_INLINE void run(const Collective& c, const std::shared_ptr<::gloo::Context>& context, std::uint32_t tag,
                       std::chrono::milliseconds timeout) {
  const collectives::Call call{c, context, tag, timeout};
  switch (c.kind) {
    case Collective::barrier: return collectives::barrier(call);
    case Collective::all_reduce: return collectives::all_reduce_of_size(call);
    case Collective::broadcast: return collectives::broadcast(call);
    case Collective::all_gather: return collectives::all_gather(call);
    case Collective::reduce_scatter: return collectives::reduce_scatter(call);
    case Collective::all_to_all:
      return collectives::exchange(call, call.output(), collectives::scaled(c.send, size_of(c.dtype)),
                                   collectives::scaled(c.receive, size_of(c.dtype)));
  }
}

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
