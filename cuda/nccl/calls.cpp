// Which calls of NCCL a collective operation is.
#include "cuda/nccl/calls.hpp"

#if TANDEM_WITH_NCCL
#include <algorithm>
#include <optional>
#include <string>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

using distribute::Collective;
using distribute::ReduceOp;

// How elements are combined: as so many numbers of a type of NCCL.
struct Numbers {
  ncclDataType_t type;
  i64 each;
};
std::optional<Numbers> numbers_of(DType dtype, ReduceOp op) {
  const bool adds = op == ReduceOp::sum || op == ReduceOp::mean, orders = op == ReduceOp::min || op == ReduceOp::max;
  switch (dtype) {
    case DType::float16: return Numbers{ncclFloat16, 1};
    case DType::bfloat16: return Numbers{ncclBfloat16, 1};
    case DType::float32: return Numbers{ncclFloat32, 1};
    case DType::float64: return Numbers{ncclFloat64, 1};
    case DType::int8: return Numbers{ncclInt8, 1};
    case DType::uint8: return Numbers{ncclUint8, 1};
    case DType::int32: return Numbers{ncclInt32, 1};
    case DType::uint32: return Numbers{ncclUint32, 1};
    case DType::int64: return Numbers{ncclInt64, 1};
    case DType::uint64: return Numbers{ncclUint64, 1};
    case DType::bool_: return orders ? std::optional(Numbers{ncclUint8, 1}) : std::nullopt;
    case DType::complex64: return adds ? std::optional(Numbers{ncclFloat32, 2}) : std::nullopt;
    case DType::complex128: return adds ? std::optional(Numbers{ncclFloat64, 2}) : std::nullopt;
    default: return {};
  }
}
ncclRedOp_t operation(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return ncclSum;
    case ReduceOp::mean: return ncclAvg;
    case ReduceOp::min: return ncclMin;
    case ReduceOp::max: return ncclMax;
    default: return ncclProd;
  }
}
bool combines(const Collective& c) { return c.kind == Collective::all_reduce || c.kind == Collective::reduce_scatter; }

class Launch {
 public:
  Launch(const Collective& c, const Nccl& nccl, ncclComm_t comm, int rank, cudaStream_t stream)
      : c_(c), nccl_(nccl), comm_(comm), rank_(rank), stream_(stream) {}

  ncclResult_t run() {
    switch (c_.kind) {
      case Collective::all_reduce: return all_reduce();
      case Collective::broadcast:
        return nccl_.broadcast(c_.input, c_.output, bytes(c_.count), ncclInt8, c_.root, comm_, stream_);
      case Collective::all_gather: return all_gather();
      case Collective::reduce_scatter: return reduce_scatter();
      case Collective::all_to_all: return all_to_all();
      default: return ncclInvalidArgument;
    }
  }

 private:
  std::size_t bytes(i64 elements) const { return static_cast<std::size_t>(elements) * size_of(c_.dtype); }
  std::size_t numbers(i64 elements) const { return static_cast<std::size_t>(elements * numbers_.each); }
  const char* input(std::size_t at) const { return static_cast<const char*>(c_.input) + at; }
  char* output(std::size_t at) const { return static_cast<char*>(c_.output) + at; }
  bool has_equal_parts() const {
    return std::all_of(c_.receive.begin(), c_.receive.end(), [&](i64 n) { return n == c_.receive[0]; });
  }
  // Keeps the first error of a group of calls, and that one of them is in progress.
  void add(ncclResult_t r) {
    if (result_ == ncclSuccess || (result_ == ncclInProgress && r != ncclSuccess)) result_ = r;
  }
  // The calls for each rank with a part that is not empty, which start together.
  template <class F>
  ncclResult_t for_each_part(const F& calls) {
    add(nccl_.group_start());
    for (std::size_t r = 0; r < c_.receive.size(); ++r) calls(r);
    add(nccl_.group_end());
    return result_;
  }

  ncclResult_t all_reduce() {
    return nccl_.all_reduce(c_.input, c_.output, numbers(c_.count), numbers_.type, operation(c_.op), comm_, stream_);
  }
  ncclResult_t all_gather() {
    if (has_equal_parts()) return nccl_.all_gather(c_.input, c_.output, bytes(c_.count), ncclInt8, comm_, stream_);
    std::size_t at = 0;
    return for_each_part([&](std::size_t r) {
      const std::size_t n = bytes(c_.receive[r]);
      const void* const from = static_cast<int>(r) == rank_ ? c_.input : output(at);
      if (n) add(nccl_.broadcast(from, output(at), n, ncclInt8, static_cast<int>(r), comm_, stream_));
      at += n;
    });
  }
  ncclResult_t reduce_scatter() {
    if (has_equal_parts())
      return nccl_.reduce_scatter(c_.input, c_.output, numbers(c_.receive[0]), numbers_.type, operation(c_.op), comm_,
                                  stream_);
    std::size_t at = 0;
    return for_each_part([&](std::size_t r) {
      const i64 n = c_.receive[r];
      if (n)
        add(nccl_.reduce(input(at), c_.output, numbers(n), numbers_.type, operation(c_.op), static_cast<int>(r), comm_,
                         stream_));
      at += bytes(n);
    });
  }
  ncclResult_t all_to_all() {
    std::size_t from = 0, to = 0;
    return for_each_part([&](std::size_t r) {
      const std::size_t sent = bytes(c_.send[r]), received = bytes(c_.receive[r]);
      const int peer = static_cast<int>(r);
      if (sent) add(nccl_.send(input(from), sent, ncclInt8, peer, comm_, stream_));
      if (received) add(nccl_.receive(output(to), received, ncclInt8, peer, comm_, stream_));
      from += sent, to += received;
    });
  }

  const Collective& c_;
  const Nccl& nccl_;
  const ncclComm_t comm_;
  const int rank_;
  const cudaStream_t stream_;
  const Numbers numbers_ = combines(c_) ? numbers_of(c_.dtype, c_.op).value() : Numbers{ncclInt8, 1};
  ncclResult_t result_ = ncclSuccess;
};

}  // namespace

void check_supported(const Collective& c, const char* op) {
  if (combines(c) && !numbers_of(c.dtype, c.op))
    errors::raise<errors::UnimplementedError>(op, std::string("NCCL has no ") + distribute::name(c.op) + " of " +
                                                      tandem::name(c.dtype) +
                                                      " (move the operand by .cpu(), or cast it)");
}
ncclResult_t launch(const Collective& c, const Nccl& nccl, ncclComm_t comm, int rank, cudaStream_t stream) {
  return Launch(c, nccl, comm, rank, stream).run();
}

}  // namespace TANDEM_NS::cuda
#endif
