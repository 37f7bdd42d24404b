// Numbers of buckets from strings by hashes that TensorFlow has, too: to_hash_bucket_fast, to_hash_bucket_strong,
// cross_hashed. Part of the component tandem::strings. Not here: to_hash_bucket, which needs no other program's numbers
// (numbers.hpp), layers (hash_layers.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::strings {

/// Maps each string to a number in [0, num_buckets), the one that TensorFlow gives it: the 64-bit fingerprint of its
/// bytes by FarmHash, modulo num_buckets.
///   x         string
///   returns   int64, the shape of x
///   throws    errors::InvalidArgumentError for num_buckets below 1
///   gradient  none (non-differentiable)
/// Source: Pike and Alakuijala, FarmHash, https://github.com/google/farmhash.
TANDEM_API Tensor to_hash_bucket_fast(const Tensor& x, i64 num_buckets, OpOptions = {});

/// The key of a hash: two numbers, or one that stands for both. Keras' salt = 133 is the key 133.
struct HashKey {
  constexpr HashKey(u64 both) : HashKey(both, both) {}
  constexpr HashKey(u64 of_first, u64 of_second) : first(of_first), second(of_second) {}
  u64 first, second;
};
/// Maps each string to a number in [0, num_buckets), the one that TensorFlow gives it: SipHash-2-4 of its bytes with a
/// key, modulo num_buckets. Without the key, strings that share a bucket are hard to find. Slower than
/// to_hash_bucket_fast.
///   x         string
///   key       two numbers, such as {133, 137}; one stands for both
///   returns   int64, the shape of x
///   throws    errors::InvalidArgumentError for num_buckets below 1
///   gradient  none (non-differentiable)
/// Source: Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF".
TANDEM_API Tensor to_hash_bucket_strong(const Tensor& x, i64 num_buckets, HashKey key, OpOptions = {});

struct CrossHashedOptions {
  TANDEM_OP_OPTIONS;
  u64 hash_key = 0xDECAFCAFFE;  ///< another one gives other buckets
};
/// Maps the values that several tensors have at a position, in their order, to a number in [0, num_buckets): the one of
/// tf.sparse.cross_hashed for a row with one value of each. ({"a", "b"}, {1, 2}) are the pairs ("a", 1) and ("b", 2).
///   inputs    one or more, string or integers, of one shape
///   returns   int64, that shape
///   throws    errors::InvalidArgumentError for no inputs, another dtype, shapes that differ, or num_buckets below 1
///   gradient  none (non-differentiable)
TANDEM_API Tensor cross_hashed(const TensorList& inputs, i64 num_buckets, CrossHashedOptions = {});

}  // namespace TANDEM_NS::strings

namespace TANDEM_NS {

TANDEM_OPS(string_hash_ops, to_hash_bucket_fast, to_hash_bucket_strong, cross_hashed)

namespace rules {
struct KeyedBucketAttrs {
  i64 buckets, key_0, key_1;
  TANDEM_ATTRS(KeyedBucketAttrs, buckets, key_0, key_1);
};
struct CrossAttrs {
  i64 buckets, key;
  TANDEM_ATTRS(CrossAttrs, buckets, key);
};
}  // namespace rules
}  // namespace TANDEM_NS
