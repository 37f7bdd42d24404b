// layers::Hashing and HashedCrossing: strings and integers to a fixed number of categories, without a vocabulary. Part
// of the component tandem::strings. Not here: the ops (hash.hpp), layers::StringLookup (lookup_layer.hpp).
#pragma once
#include <optional>
#include <string>

#include "tandem/layers/discrete.hpp"
#include "tandem/ops/tensor_list.hpp"
#include "tandem/strings/hash.hpp"

namespace TANDEM_NS::layers {

struct HashingOptions {
  /// Stands for padding: it has the id 0, and the others, in num_bins - 1 buckets, move up by one. For integers its
  /// digits: "0".
  std::optional<std::string> mask_value = {};
  /// The key of SipHash, as Keras' salt: 133 or strings::HashKey{133, 137}. Default: FarmHash, which has none.
  std::optional<strings::HashKey> salt = {};
  detail::CategoryMode output_mode = {};
  DType dtype = DType::float32;  ///< of the encoded modes
};
/// Maps strings and integers to ids in [0, num_bins) by a hash, with Keras' numbers: strings::to_hash_bucket_fast, or
/// with .salt to_hash_bucket_strong; of integers that of their decimal digits. Different values may share an id.
///   x         string or integers, any shape
///   returns   int64 in x's shape, or with .output_mode encoded as CategoryEncoding does
///   throws    errors::InvalidArgumentError for a num_bins below 1, or x of another dtype
class TANDEM_API Hashing : public Layer {
 public:
  explicit Hashing(i64 num_bins, const HashingOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  i64 num_bins_;
  HashingOptions options_;
};

struct HashedCrossingOptions {
  detail::CategoryMode output_mode = {};  ///< integer or one_hot
  DType dtype = DType::float32;           ///< of one_hot
};
/// Maps combinations of the values of several features to ids in [0, num_bins) by a hash, with Keras' numbers:
/// strings::cross_hashed. HashedCrossing(1000)({city, weekday}).
///   inputs    two or more, string or integers, of one shape: [batch], [batch, 1] or []
///   returns   int64 in that shape, or with OutputMode::one_hot [batch, num_bins], or [num_bins]
///   throws    errors::InvalidArgumentError for a num_bins below 1, another mode, fewer inputs, shapes that differ or
///             are others, or inputs of another dtype
class TANDEM_API HashedCrossing : public Layer {
 public:
  explicit HashedCrossing(i64 num_bins, const HashedCrossingOptions& options = {});
  Tensor operator()(const TensorList& inputs) const;

 private:
  i64 num_bins_;
  HashedCrossingOptions options_;
};

}  // namespace TANDEM_NS::layers
