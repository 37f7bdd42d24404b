// Definitions of distribute/bucket_ops.hpp.
#pragma once
#include <cstring>
#include <utility>

#include "tandem/core/apply.hpp"
#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/exchange.hpp"

namespace TANDEM_NS {
namespace distribute::impl {

using rules::SumBucketAttrs;

// The first input of wait_bucket is the token.
inline void check_bucket(const InferCall& c, std::size_t first) {
  for (std::size_t i = first; i < c.in.size(); ++i)
    if (c.spec(i).dtype != c.spec(first).dtype) tandem::detail::raise_specs(c, "a bucket has tensors of one dtype");
  if (!combine_fn(ReduceOp::sum, c.spec(first).dtype)) tandem::detail::raise_specs(c, "the sum is not defined");
}
TANDEM_INLINE Specs infer_start_bucket(const InferCall& c) {
  check_bucket(c, 0);
  return Specs(Spec{Shape{}, DType::int64, c.spec(0).device});
}
TANDEM_INLINE Specs infer_wait_bucket(const InferCall& c) {
  check_bucket(c, 1);
  Specs r;
  for (std::size_t i = 1; i < c.in.size(); ++i) r.push(c.spec(i));
  return r;
}
inline std::size_t bytes_of(const Operand& x) { return static_cast<std::size_t>(x.size()) * size_of(x.spec->dtype); }
inline std::size_t bytes_of(Span<const Operand> all) {
  std::size_t bytes = 0;
  for (const Operand& x : all) bytes += bytes_of(x);
  return bytes;
}
// The sum runs beside the kernels that follow. The token's value is not read: its memory stays as it is.
inline void start_on_gpu(const KernelCall& c, const SumBucketAttrs& a, const Communicator& group, Bucket& bucket) {
  const Device device = c.stream.device;
  if (bucket.launched != Bucket::none) group.join(bucket.launched, c);  // a call that failed has left it
  bucket.launched = Bucket::none;
  bucket.on_gpu.resize(bytes_of(c.in), device);
  std::byte* to = bucket.on_gpu.data();
  for (const Operand& x : c.in)
    if (const std::size_t n = bytes_of(x)) copy_bytes(to, device, x.data, device, n), to += n;
  const DType dtype = c.in[0].spec->dtype;
  bucket.launched = group.launch({.kind = Collective::all_reduce,
                                  .dtype = dtype,
                                  .input = bucket.on_gpu.data(),
                                  .output = bucket.on_gpu.data(),
                                  .count = static_cast<i64>(bucket.on_gpu.size() / size_of(dtype))},
                                 c, "all_reduce", a.label);
}
inline void wait_on_gpu(const KernelCall& c, const Communicator& group, Bucket& bucket) {
  group.join(std::exchange(bucket.launched, Bucket::none), c);
  const Device device = c.stream.device;
  const std::byte* from = bucket.on_gpu.data();
  for (const Operand& y : c.out)
    if (const std::size_t n = bytes_of(y)) copy_bytes(y.data, device, from, device, n), from += n;
}
TANDEM_INLINE void start_bucket_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<SumBucketAttrs>();
  const Communicator group = Groups::find(c.op, a.group);
  Bucket& bucket = bucket_of(group, a.number);
  if (is_on_gpu(c)) return start_on_gpu(c, a, group, bucket);
  bucket.running.wait();  // a call that failed has left it
  const std::size_t bytes = bytes_of(c.in);
  bucket.bytes.resize(bytes);
  std::size_t at = 0;
  for (const Operand& x : c.in) {
    if (const std::size_t n = bytes_of(x)) std::memcpy(bucket.bytes.data() + at, x.data, n), at += n;
  }
  const DType dtype = c.in[0].spec->dtype;
  bucket.running = group.start({.kind = Collective::all_reduce,
                                .dtype = dtype,
                                .input = bucket.bytes.data(),
                                .output = bucket.bytes.data(),
                                .count = static_cast<i64>(bytes / size_of(dtype)),
                                .combine = combine_fn(ReduceOp::sum, dtype)},
                               "all_reduce", a.label);
  *c.out[0].as<i64>() = a.number;
}
TANDEM_INLINE void wait_bucket_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<SumBucketAttrs>();
  const Communicator group = Groups::find(c.op, a.group);
  Bucket& bucket = bucket_of(group, a.number);
  const bool gpu = is_on_gpu(c), begun = gpu ? bucket.launched != Bucket::none : static_cast<bool>(bucket.running);
  if (!begun || bytes_of(c.out) != (gpu ? bucket.on_gpu.size() : bucket.bytes.size()))
    errors::raise<errors::InternalError>(c.op, a.label + " was not begun, or is another one");
  if (gpu) return wait_on_gpu(c, group, bucket);
  bucket.running.wait();
  std::size_t at = 0;
  for (const Operand& y : c.out) {
    if (const std::size_t n = bytes_of(y)) std::memcpy(y.data, bucket.bytes.data() + at, n), at += n;
  }
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
  return row;
}
constexpr OpDef wait_row() {
  OpDef row = bucket_row("wait_bucket", "token, tensors...", &infer_wait_bucket, &wait_bucket_kernel);
  row.inputs = at_least(2);
  row.outputs = -1;
  row.shape_inputs = 0xfffe;  // all but the token
  return row;
}

TANDEM_INLINE Tensor start_bucket(const Communicator& group, i64 number, const std::string& label,
                                  const std::vector<Tensor>& tensors) {
  Groups::check_alive("all_reduce", group);
  std::vector<const Tensor*> in;
  for (const Tensor& t : tensors) in.push_back(&t);
  return apply_one(start_bucket_op, {in.data(), in.size()}, SumBucketAttrs{group.name(), number, label}, no_options);
}
TANDEM_INLINE std::vector<Tensor> wait_bucket(const Communicator& group, i64 number, const std::string& label,
                                              const Tensor& token, const std::vector<Tensor>& tensors) {
  Groups::check_alive("all_reduce", group);
  std::vector<const Tensor*> in{&token};
  for (const Tensor& t : tensors) in.push_back(&t);
  const Tensors r =
      apply(wait_bucket_op, {in.data(), in.size()}, SumBucketAttrs{group.name(), number, label}, no_options);
  return {r.begin(), r.end()};
}

}  // namespace distribute::impl

TANDEM_INLINE constexpr OpDef start_bucket_op = distribute::impl::start_row();
TANDEM_INLINE constexpr OpDef wait_bucket_op = distribute::impl::wait_row();

}  // namespace TANDEM_NS
