// Definitions of strings/hash.hpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/strings/hash.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/util/inlined_vector.hpp"
#include "tandem/util/stable_hash.hpp"

namespace TANDEM_NS {
namespace strings::impl {

TANDEM_INLINE void check_buckets(const char* op, i64 n) {
  if (n < 1) raise(op, "num_buckets must be at least 1, not " + std::to_string(n));
}
TANDEM_INLINE Specs infer_hash_bucket_fast(const InferCall& c) {
  check_buckets(c.op.name, c.get<rules::BucketAttrs>().buckets);
  return Specs(host_spec(c.spec(0).shape, DType::int64));
}
TANDEM_INLINE void hash_bucket_fast_kernel(const KernelCall& c) {
  const u64 n = static_cast<u64>(c.attrs.get<rules::BucketAttrs>().buckets);
  map_strings<i64>(c, [&](std::string_view s) { return static_cast<i64>(tandem::detail::farm_hash64(s) % n); });
}
TANDEM_INLINE Specs infer_hash_bucket_strong(const InferCall& c) {
  check_buckets(c.op.name, c.get<rules::KeyedBucketAttrs>().buckets);
  return Specs(host_spec(c.spec(0).shape, DType::int64));
}
TANDEM_INLINE void hash_bucket_strong_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::KeyedBucketAttrs>();
  const u64 n = static_cast<u64>(a.buckets), k0 = static_cast<u64>(a.key_0), k1 = static_cast<u64>(a.key_1);
  map_strings<i64>(c, [&](std::string_view s) { return static_cast<i64>(tandem::detail::sip_hash64(k0, k1, s) % n); });
}
TANDEM_INLINE Specs infer_cross_hashed(const InferCall& c) {
  check_buckets(c.op.name, c.get<rules::CrossAttrs>().buckets);
  if (c.in.size() == 0) raise(c.op.name, "needs one input or more");
  Shape shape = c.spec(0).shape;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const Spec& s = c.spec(i);
    if (s.dtype != DType::string && s.dtype != DType::int64)
      raise(c.op.name, "inputs must be string or int64, not " + to_string(s));
    if (!s.shape.is_compatible_with(shape))
      raise(c.op.name, "inputs must have one shape, not " + to_string(c.spec(0)) + " and " + to_string(s));
    for (int d = 0; d < shape.rank(); ++d)
      if (shape.dim(d) == none) shape.set(d, s.shape.dim(d));
  }
  return Specs(host_spec(shape, DType::int64));
}
TANDEM_INLINE void cross_hashed_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::CrossAttrs>();
  const u64 n = static_cast<u64>(a.buckets);
  i64* const y = c.out[0].as<i64>();
  cpu::parallel_for(c.out[0].size(), 1024, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      u64 hash = static_cast<u64>(a.key);
      for (const Operand& x : c.in)
        hash = tandem::detail::combined_hashes(hash, x.spec->dtype == DType::string
                                                         ? tandem::detail::farm_hash64(x.as<const Bytes>()[i].view())
                                                         : static_cast<u64>(x.as<const i64>()[i]));
      y[i] = static_cast<i64>(hash % n);
    }
  });
}

}  // namespace strings::impl

TANDEM_INLINE constexpr OpDef to_hash_bucket_fast_op{.name = "to_hash_bucket_fast",
                                                     .infer = &strings::impl::infer_hash_bucket_fast,
                                                     .cpu = &strings::impl::hash_bucket_fast_kernel,
                                                     .dtypes = strings::impl::text,
                                                     .host_inputs = strings::impl::all_on_host,
                                                     .flags = {.non_differentiable = true},
                                                     .attrs = &detail::attr_type<rules::BucketAttrs>};
TANDEM_INLINE constexpr OpDef to_hash_bucket_strong_op{.name = "to_hash_bucket_strong",
                                                       .infer = &strings::impl::infer_hash_bucket_strong,
                                                       .cpu = &strings::impl::hash_bucket_strong_kernel,
                                                       .dtypes = strings::impl::text,
                                                       .host_inputs = strings::impl::all_on_host,
                                                       .flags = {.non_differentiable = true},
                                                       .attrs = &detail::attr_type<rules::KeyedBucketAttrs>};
TANDEM_INLINE constexpr OpDef cross_hashed_op{.name = "cross_hashed",
                                              .input_names = "inputs...",
                                              .infer = &strings::impl::infer_cross_hashed,
                                              .cpu = &strings::impl::cross_hashed_kernel,
                                              .dtype_input = -1,
                                              .inputs = at_least(1),
                                              .host_inputs = strings::impl::all_on_host,
                                              .flags = {.non_differentiable = true},
                                              .attrs = &detail::attr_type<rules::CrossAttrs>};

namespace strings {

TANDEM_INLINE Tensor to_hash_bucket_fast(const Tensor& x, i64 num_buckets, OpOptions o) {
  return apply1(to_hash_bucket_fast_op, rules::BucketAttrs{num_buckets}, o, x);
}
TANDEM_INLINE Tensor to_hash_bucket_strong(const Tensor& x, i64 num_buckets, HashKey key, OpOptions o) {
  const rules::KeyedBucketAttrs attrs{num_buckets, static_cast<i64>(key.first), static_cast<i64>(key.second)};
  return apply1(to_hash_bucket_strong_op, attrs, o, x);
}
TANDEM_INLINE Tensor cross_hashed(const TensorList& inputs, i64 num_buckets, CrossHashedOptions o) {
  const tandem::detail::CallSite call(o);
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  for (Tensor& x : values)
    if (is_integer(x.dtype())) x = cast(x, DType::int64);
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& x : values) in.push_back(&x);
  return apply_one(cross_hashed_op, {in.begin(), in.size()},
                   rules::CrossAttrs{num_buckets, static_cast<i64>(o.hash_key)}, {o.name, o.where});
}

}  // namespace strings
}  // namespace TANDEM_NS
