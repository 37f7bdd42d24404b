// The contents of lookup tables, shared by the tables and the ops that read them. Part of the component
// tandem::strings.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tandem/base/bytes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/saved_object.hpp"
#include "tandem/module/asset.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS::lookup::impl {

/// A value of any dtype that tables have: the bits of a number, or a text.
struct Value {
  u64 bits = 0;
  Bytes text;
  friend bool operator==(const Value& a, const Value& b) { return a.bits == b.bits && a.text == b.text; }
};
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};
/// Keys (texts, or numbers as int64) and their values. What changes after construction is guarded by the mutex.
struct TANDEM_API Table final : SavedObject {
  DType key, value;
  Value missing;  // the value of other keys
  std::unordered_map<std::string, Value, TextHash, std::equal_to<>> texts;
  std::unordered_map<i64, Value> numbers;
  bool changes = false;  // whether it is that of a MutableHashTable
  mutable tandem::detail::ForkMutex mutex{tandem::detail::ForkMutex::plans};

  Table(DType k, DType v) : key(k), value(v) {}
  const char* kind() const override { return changes ? "mutable lookup table" : "lookup table"; }
  std::size_t size() const { return texts.size() + numbers.size(); }
  /// Keys in ascending order, their values, the value of other keys.
  TANDEM_INLINE std::vector<Tensor> parts() const override;
  bool is_fixed() const override { return !changes; }
  TANDEM_INLINE i64 bytes() const override;
};
/// The table of a MutableHashTable in checkpoints and clones.
struct TableAsset final : Asset {
  explicit TableAsset(Ref<Table> t) : table(std::move(t)) {}
  const char* kind() const override { return "table"; }
  TANDEM_INLINE std::vector<Part> parts() const override;
  TANDEM_INLINE Ref<Asset> with(const std::vector<Tensor>& values) const override;
  TANDEM_INLINE bool take(Asset& other) noexcept override;
  TANDEM_INLINE Ref<Asset> own_copy() const override;
  const Ref<Table> table;
};
/// Makes the table of an attribute of what a graph file has of it (core/saved_object.hpp).
TANDEM_API void read_field(AttrReader& r, const char* name, Ref<Table>& to);

/// The dtypes of keys and values.
inline constexpr DTypes key_dtypes = dtypes::index | DType::string;
inline constexpr DTypes value_dtypes =
    dtypes_of(DType::string, DType::float32, DType::float64, DType::int32, DType::int64, DType::bool_);

}  // namespace TANDEM_NS::lookup::impl

namespace TANDEM_NS::rules {
struct TableAttrs {
  Ref<lookup::impl::Table> table;
  i64 oov_buckets;  // of unknown keys, behind the ids of the others; 0: they have the table's default
  TANDEM_ATTRS(TableAttrs, table, oov_buckets);
};
struct IndexToStringAttrs {
  std::string default_value;
  TANDEM_ATTRS(IndexToStringAttrs, default_value);
};
}  // namespace TANDEM_NS::rules
