// Definitions of distribute/bucket_ops.hpp.
#pragma once
#include <cstring>
#include <utility>

#include "tandem/core/apply.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/exchange.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {
namespace distribute::impl {

using rules::SumBucketAttrs;

inline i64 room_of(const Shape& shape, DType dtype) {
  const std::size_t size = size_of(dtype);
  return static_cast<i64>(room_of(static_cast<std::size_t>(shape.known_size()) * size) / size);
}
inline void check_sum(const InferCall& c) {
  if (!combine_fn(ReduceOp::sum, c.spec(0).dtype)) tandem::detail::raise_specs(c, "the sum is not defined");
}
TANDEM_INLINE Specs infer_start_bucket(const InferCall& c) {
  check_sum(c);
  const DType dtype = c.spec(0).dtype;
  i64 elements = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (c.spec(i).dtype != dtype) tandem::detail::raise_specs(c, "a bucket has tensors of one dtype");
    elements += room_of(c.spec(i).shape, dtype);
  }
  return Specs(Spec{Shape{elements}, dtype, c.spec(0).device});
}
TANDEM_INLINE Specs infer_wait_bucket(const InferCall& c) {
  check_sum(c);
  return Specs(c.spec(0));
}
inline std::size_t bytes_of(const Operand& x) { return static_cast<std::size_t>(x.size()) * size_of(x.spec->dtype); }

// Copies the tensors that have not been computed in the bucket.
inline void gather(const KernelCall& c, Bucket& bucket, Device device) {
  std::byte* to = static_cast<std::byte*>(c.out[0].data);
  bucket.memory = to, bucket.copied = 0;
  for (const Operand& x : c.in) {
    const std::size_t n = bytes_of(x), room = room_of(n);
    if (n && x.data != to) copy_bytes(to, device, x.data, device, n), bucket.copied += static_cast<i64>(n);
    if (device.kind == Device::cpu && room != n) std::memset(to + n, 0, room - n);  // it travels, and nobody reads it
    to += room;
  }
}
inline Collective sum_in_place(const Operand& x) {
  const DType dtype = x.spec->dtype;
  return {.kind = Collective::all_reduce,
          .dtype = dtype,
          .input = x.data,
          .output = x.data,
          .count = x.size(),
          .combine = combine_fn(ReduceOp::sum, dtype)};
}
TANDEM_INLINE void start_bucket_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<SumBucketAttrs>();
  const Communicator group = Groups::find(c.op, a.group);
  Bucket& bucket = bucket_of(group, a.number);
  const bool gpu = is_on_gpu(c);
  // A call that failed may have left one.
  if (gpu) group.join(std::exchange(bucket.launched, Bucket::none), c);
  else bucket.running.wait();
  bucket.held = Tensor();
  gather(c, bucket, c.stream.device);
  if (gpu) bucket.launched = group.launch(sum_in_place(c.out[0]), c, "all_reduce", a.label);
  else bucket.running = group.start(sum_in_place(c.out[0]), "all_reduce", a.label), bucket.running.leave_group();
}
TANDEM_INLINE void hold_bucket(const Attrs& attrs, const Tensor& result) {
  const auto& a = attrs.get<SumBucketAttrs>();
  try {
    Bucket& bucket = bucket_of(Groups::find("all_reduce", a.group), a.number);
    if ((bucket.running || bucket.launched != Bucket::none) && bucket.memory == result.raw()) bucket.held = result;
  } catch (const errors::FailedPreconditionError&) {
    // There is no such group: nothing was begun.
  }
}
TANDEM_INLINE void wait_bucket_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<SumBucketAttrs>();
  const Communicator group = Groups::find(c.op, a.group);
  Bucket& bucket = bucket_of(group, a.number);
  const bool gpu = is_on_gpu(c), begun = gpu ? bucket.launched != Bucket::none : static_cast<bool>(bucket.running);
  if (!begun || bucket.memory != c.in[0].data)
    errors::raise<errors::InternalError>(c.op, a.label + " was not begun, or is another one");
  if (gpu) group.join(std::exchange(bucket.launched, Bucket::none), c);
  else bucket.running.wait();
  const Operand &x = c.in[0], &y = c.out[0];
  if (const std::size_t n = bytes_of(x); n && y.data != x.data)
    copy_bytes(y.data, c.stream.device, x.data, c.stream.device, n);
}
constexpr OpDef bucket_row(const char* name, const char* inputs, Specs (*infer)(const InferCall&), KernelFn kernel) {
  return {.name = name,
          .input_names = inputs,
          .infer = infer,
          .cpu = kernel,
          .cuda = TANDEM_CUDA(kernel),
          .dtype_input = -1,
          .saves = Saves::nothing,
          .flags = {.stateful = true,
                    .non_differentiable = true,
                    .takes_half = kernels_take_half,
                    .cuda_takes_half = true,
                    .collective = true},
          .attrs = &tandem::detail::attr_type<SumBucketAttrs>,
          .rare = {.in_errors = "all_reduce"}};
}
constexpr OpDef start_row() {
  OpDef row = bucket_row("start_bucket", "tensors...", &infer_start_bucket, &start_bucket_kernel);
  row.inputs = at_least(1);
  row.flags.early = true;
  row.rare.hold = &hold_bucket;
  return row;
}
constexpr OpDef wait_row() {
  OpDef row = bucket_row("wait_bucket", "begun", &infer_wait_bucket, &wait_bucket_kernel);
  row.flags.in_place = true;
  return row;
}

TANDEM_INLINE Tensor start_bucket(const Communicator& group, i64 number, const std::string& label,
                                  const std::vector<Tensor>& tensors) {
  Groups::check_alive("all_reduce", group);
  std::vector<const Tensor*> in;
  for (const Tensor& t : tensors) in.push_back(&t);
  const Tensor begun =
      apply_one(start_bucket_op, {in.data(), in.size()}, SumBucketAttrs{group.name(), number, label}, no_options);
  if (!begun.is_symbolic()) bucket_of(group, number).held = begun;
  return begun;
}
TANDEM_INLINE std::vector<Tensor> wait_bucket(const Communicator& group, i64 number, const std::string& label,
                                              const Tensor& begun, const std::vector<Tensor>& tensors) {
  Groups::check_alive("all_reduce", group);
  const Tensor* const in[] = {&begun};
  const Tensor all = apply_one(wait_bucket_op, in, SumBucketAttrs{group.name(), number, label}, no_options);
  if (!all.is_symbolic()) bucket_of(group, number).held = Tensor();
  std::vector<Tensor> r;
  i64 at = 0;
  for (const Tensor& t : tensors) {
    r.push_back(reshape(all(Slice(at, at + t.shape().known_size())), t.shape()));
    at += room_of(t.shape(), t.dtype());
  }
  return r;
}

}  // namespace distribute::impl

TANDEM_INLINE constexpr OpDef start_bucket_op = distribute::impl::start_row();
TANDEM_INLINE constexpr OpDef wait_bucket_op = distribute::impl::wait_row();

}  // namespace TANDEM_NS
