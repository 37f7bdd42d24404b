// Lookup tables from strings or integers to values. A table can be used inside of traced functions, which then refer to
// it. Tables that do not change are saved with the graph (graph/io/serialize.hpp), a MutableHashTable in checkpoints
// (train/checkpoint.hpp); functions with one cannot be saved. Part of the component tandem::strings. Not here:
// vocabularies (vocabulary.hpp).
#pragma once
#include <string>
#include <utility>

#include "tandem/module/module.hpp"
#include "tandem/strings/table.hpp"

namespace TANDEM_NS::lookup {

/// A table that is filled when it is made and never changes.
class TANDEM_API StaticHashTable {
 public:
  /// Maps keys[i] to values[i], and every other key to `default_value`.
  ///   keys      string, int32 or int64, any shape
  ///   values    string, float32, float64, int32, int64 or bool_; as many as keys
  ///   default_value  a scalar of their dtype
  ///   throws    errors::InvalidArgumentError for other dtypes or sizes, or a key with two different values, naming it;
  ///             errors::TraceError for traced tensors
  StaticHashTable(const Tensor& keys, const Tensor& values, const Tensor& default_value, OpOptions = {});
  /// The values of keys, in their shape. Also written table(keys).
  ///   throws    errors::InvalidArgumentError for keys of another dtype
  ///   gradient  none (non-differentiable)
  Tensor lookup(const Tensor& keys, OpOptions = {}) const;
  Tensor operator()(const Tensor& keys, OpOptions o = {}) const { return lookup(keys, o); }
  i64 size() const { return static_cast<i64>(table_->size()); }
  DType key_dtype() const { return table_->key; }
  DType value_dtype() const { return table_->value; }

 private:
  Ref<impl::Table> table_;
};

struct StaticVocabularyTableOptions {
  TANDEM_OP_OPTIONS;
  i64 num_oov_buckets = 1;  ///< ids of unknown keys: they are distributed by their hash (strings::to_hash_bucket)
};
/// A table from keys to their positions, 0 to n - 1. Unknown keys have ids from n to n + num_oov_buckets - 1.
class TANDEM_API StaticVocabularyTable {
 public:
  ///   keys      string, int32 or int64, any shape, no key twice
  ///   throws    errors::InvalidArgumentError for another dtype, a key that occurs twice, or num_oov_buckets below 1;
  ///             errors::TraceError for traced tensors
  explicit StaticVocabularyTable(const Tensor& keys, StaticVocabularyTableOptions = {});
  /// The ids of keys, int64 in their shape. Also written table(keys).
  ///   gradient  none (non-differentiable)
  Tensor lookup(const Tensor& keys, OpOptions = {}) const;
  Tensor operator()(const Tensor& keys, OpOptions o = {}) const { return lookup(keys, o); }
  /// The number of ids: of keys and of buckets.
  i64 size() const { return static_cast<i64>(table_->size()) + oov_buckets_; }

 private:
  Ref<impl::Table> table_;
  i64 oov_buckets_;
};

/// A table that can be changed, also inside of traced functions and by several threads. Copies share the contents. It
/// is a Module: a checkpoint of it, or of a Model with it as a member, has its keys and values, and the clone of such a
/// Model has a table of its own.
class TANDEM_API MutableHashTable : public Module {
 public:
  /// An empty table.
  ///   default_value  a scalar, for keys that are not in the table; its dtype is that of the values
  ///   throws    errors::InvalidArgumentError for dtypes that tables do not have
  MutableHashTable(DType key_dtype, const Tensor& default_value, OpOptions = {});
  /// Maps keys[i] to values[i], in order: a later value replaces an earlier one.
  ///   throws    errors::InvalidArgumentError for other dtypes, or if the shapes differ
  void insert(const Tensor& keys, const Tensor& values, OpOptions = {}) const;
  /// Removes keys, whether or not they are in the table.
  void remove(const Tensor& keys, OpOptions = {}) const;
  /// The values of keys, in their shape. gradient: none (non-differentiable)
  Tensor lookup(const Tensor& keys, OpOptions = {}) const;
  /// The present number of keys, also while a function is traced.
  i64 size() const;
  /// The present keys, in ascending order, and their values.
  std::pair<Tensor, Tensor> export_values() const;

 private:
  Ref<impl::Table> table() const { return asset<impl::TableAsset>()->table; }
};

struct IndexToStringOptions {
  TANDEM_OP_OPTIONS;
  std::string default_value = "UNK";  ///< for indices out of range
};
/// The strings mapping[indices].
///   indices   int32 or int64, any shape
///   mapping   string, [n]
///   returns   string, the shape of indices
///   throws    errors::InvalidArgumentError for other dtypes or a mapping that is not a list
///   gradient  none (non-differentiable)
TANDEM_API Tensor index_to_string(const Tensor& indices, const Tensor& mapping, IndexToStringOptions = {});

}  // namespace TANDEM_NS::lookup

namespace TANDEM_NS {

TANDEM_OPS(lookup_ops, table_find, mutable_table_find, mutable_table_insert, mutable_table_remove, index_to_string)

}  // namespace TANDEM_NS
