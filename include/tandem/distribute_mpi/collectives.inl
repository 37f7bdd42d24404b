// Definitions of distribute_mpi/collectives.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "tandem/distribute_mpi/algorithm.hpp"
#include "tandem/distribute_mpi/collectives.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

namespace collectives {

/// The type of numbers that MPI itself can add and multiply; MPI_DATATYPE_NULL for others.
inline MPI_Datatype number_type(DType d) {
  switch (d) {
    case DType::float32: return MPI_FLOAT;
    case DType::float64: return MPI_DOUBLE;
    case DType::int8: return MPI_INT8_T;
    case DType::int16: return MPI_INT16_T;
    case DType::int32: return MPI_INT32_T;
    case DType::int64: return MPI_INT64_T;
    case DType::uint8: return MPI_UINT8_T;
    case DType::uint16: return MPI_UINT16_T;
    case DType::uint32: return MPI_UINT32_T;
    case DType::uint64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}
/// A type of as many bytes.
inline MPI_Datatype bytes_type(std::size_t size) {
  switch (size) {
    case 1: return MPI_UINT8_T;
    case 2: return MPI_UINT16_T;
    case 4: return MPI_UINT32_T;
    case 8: return MPI_UINT64_T;
    default: return MPI_C_DOUBLE_COMPLEX;
  }
}

// Functions that combine, as ops of MPI. MPI passes no argument to such a function, so there is one for each place of a
// table. Guarded by the engine: only who may call MPI comes here.
inline constexpr std::size_t most_functions = 64;
struct Combiners {
  std::array<CombineFn, most_functions> functions{};
  std::array<MPI_Op, most_functions> ops{};
  std::size_t count = 0;
};
TANDEM_INLINE constinit Combiners combiners{};

template <std::size_t I>
void combine(void* from, void* into, int* count, MPI_Datatype*) {
  combiners.functions[I](from, into, *count);
}
template <std::size_t... I>
constexpr std::array<MPI_User_function*, sizeof...(I)> all_functions(std::index_sequence<I...>) {
  return {&combine<I>...};
}

inline MPI_Op own_op(CombineFn f) {
  for (std::size_t i = 0; i < combiners.count; ++i)
    if (combiners.functions[i] == f) return combiners.ops[i];
  if (combiners.count == most_functions)
    errors::raise<errors::ResourceExhaustedError>("mpi", "more than 64 functions that combine elements");
  constexpr auto functions = all_functions(std::make_index_sequence<most_functions>());
  const std::size_t i = combiners.count;
  check(MPI_Op_create(functions[i], 1, &combiners.ops[i]), "MPI_Op_create");
  combiners.functions[i] = f;
  ++combiners.count;
  return combiners.ops[i];
}

struct Reduction {
  MPI_Datatype type;
  MPI_Op op;
};
/// By MPI's own loops where they give the same numbers: theirs for the extremes of floating numbers ignore NaN.
inline Reduction reduction(const Collective& c) {
  const MPI_Datatype type = number_type(c.dtype);
  if (type != MPI_DATATYPE_NULL) {
    if (c.op == ReduceOp::sum) return {type, MPI_SUM};
    if (c.op == ReduceOp::prod) return {type, MPI_PROD};
    if (is_integer(c.dtype)) return {type, c.op == ReduceOp::min ? MPI_MIN : MPI_MAX};
  }
  return {bytes_type(size_of(c.dtype)), own_op(c.combine)};
}

/// Counts as MPI's, and where each begins.
inline void set_counts(const char* what, Span<const i64> from, std::vector<int>& counts, std::vector<int>& offsets) {
  i64 sum = 0;
  for (const i64 n : from) {
    counts.push_back(static_cast<int>(n)), offsets.push_back(static_cast<int>(sum));
    sum += n;
  }
  if (sum > INT_MAX)
    errors::raise<errors::InvalidArgumentError>(
        what, std::to_string(sum) + " elements at once are more than MPI can count: 2147483647");
}

// Calls of MPI take int counts: what is longer takes several.
constexpr i64 most_at_once = i64{1} << 30;
template <class F>
void in_parts(i64 count, Operation& op, const char* name, const F& begin_part) {
  for (i64 at = 0; at == 0 || at < count; at += most_at_once) {
    op.requests.push_back(MPI_REQUEST_NULL);
    const int n = static_cast<int>(std::min(most_at_once, count - at));
    check(begin_part(at, n, &op.requests.back()), name);
  }
}

inline void all_reduce(const Collective& c, MPI_Comm group, Operation& op) {
  const Reduction r = reduction(c);
  const auto size = static_cast<i64>(size_of(c.dtype));
  int ranks = 1;
  check(MPI_Comm_size(group, &ranks), "MPI_Comm_size");
  all_reduce_algorithm.choose(static_cast<std::size_t>(c.count * size), ranks, c.input == c.output);
  in_parts(c.count, op, "MPI_Iallreduce", [&](i64 at, int n, MPI_Request* request) {
    char* const out = static_cast<char*>(c.output) + at * size;
    const void* const in = c.input == c.output ? MPI_IN_PLACE : static_cast<const char*>(c.input) + at * size;
    return MPI_Iallreduce(in, out, n, r.type, r.op, group, request);
  });
}
inline void broadcast(const Collective& c, MPI_Comm group, Operation& op) {
  const auto size = static_cast<i64>(size_of(c.dtype));
  in_parts(c.count, op, "MPI_Ibcast", [&](i64 at, int n, MPI_Request* request) {
    return MPI_Ibcast(static_cast<char*>(c.output) + at * size, n, bytes_type(size_of(c.dtype)), c.root, group,
                      request);
  });
}
inline void all_gather(const Collective& c, MPI_Comm group, Operation& op, MPI_Request* request) {
  set_counts("all_gather", c.receive, op.counts, op.offsets);
  const MPI_Datatype type = bytes_type(size_of(c.dtype));
  const int own = static_cast<int>(c.count);
  const bool are_equal = std::all_of(op.counts.begin(), op.counts.end(), [&](int n) { return n == own; });
  if (are_equal) {
    check(MPI_Iallgather(c.input, own, type, c.output, own, type, group, request), "MPI_Iallgather");
  } else {
    check(MPI_Iallgatherv(c.input, own, type, c.output, op.counts.data(), op.offsets.data(), type, group, request),
          "MPI_Iallgatherv");
  }
}
inline void reduce_scatter(const Collective& c, MPI_Comm group, Operation& op, MPI_Request* request) {
  set_counts("reduce_scatter", c.receive, op.counts, op.offsets);
  const Reduction r = reduction(c);
  check(MPI_Ireduce_scatter(c.input, c.output, op.counts.data(), r.type, r.op, group, request), "MPI_Ireduce_scatter");
}
// By messages, whose places MPI does not count: what one rank gets may be more than MPI's counts allow. Between two
// ranks messages of a communicator arrive in order, and all ranks begin their operations in the same order.
inline void all_to_all(const Collective& c, MPI_Comm group, Operation& op) {
  const auto size = static_cast<i64>(size_of(c.dtype));
  const MPI_Datatype type = bytes_type(size_of(c.dtype));
  i64 at = 0;
  for (std::size_t r = 0; r < c.receive.size(); at += c.receive[r++])
    if (c.receive[r] > 0)
      in_parts(c.receive[r], op, "MPI_Irecv", [&](i64 part, int n, MPI_Request* request) {
        char* const to = static_cast<char*>(c.output) + (at + part) * size;
        return MPI_Irecv(to, n, type, static_cast<int>(r), 0, group, request);
      });
  at = 0;
  for (std::size_t r = 0; r < c.send.size(); at += c.send[r++])
    if (c.send[r] > 0)
      in_parts(c.send[r], op, "MPI_Isend", [&](i64 part, int n, MPI_Request* request) {
        const char* const from = static_cast<const char*>(c.input) + (at + part) * size;
        return MPI_Isend(from, n, type, static_cast<int>(r), 0, group, request);
      });
}

}  // namespace collectives

TANDEM_INLINE void begin(const Collective& call, MPI_Comm group, Operation& op) {
  if (call.kind == Collective::all_reduce) return collectives::all_reduce(call, group, op);
  if (call.kind == Collective::broadcast) return collectives::broadcast(call, group, op);
  if (call.kind == Collective::all_to_all) return collectives::all_to_all(call, group, op);
  op.requests.assign(1, MPI_REQUEST_NULL);
  MPI_Request* const request = op.requests.data();
  switch (call.kind) {
    case Collective::barrier: return check(MPI_Ibarrier(group, request), "MPI_Ibarrier");
    case Collective::all_gather: return collectives::all_gather(call, group, op, request);
    case Collective::reduce_scatter: return collectives::reduce_scatter(call, group, op, request);
    default: errors::raise<errors::InternalError>("mpi", "not a collective operation");
  }
}

}  // namespace TANDEM_NS::distribute::impl::mpi
