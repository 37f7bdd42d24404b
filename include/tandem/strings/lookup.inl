// Definitions of strings/lookup.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/strings/lookup.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/string_kernels.hpp"

namespace TANDEM_NS {
namespace lookup::impl {

using strings::impl::all_on_host;
using strings::impl::host_spec;
using strings::impl::raise;

inline i64 number_key(DType d, const void* keys, i64 i) {
  return d == DType::int64 ? static_cast<const i64*>(keys)[i] : static_cast<const std::int32_t*>(keys)[i];
}
inline std::string_view text_key(const void* keys, i64 i) { return static_cast<const Bytes*>(keys)[i].view(); }
inline std::string key_text(DType d, const void* keys, i64 i) {
  return d == DType::string ? strings::impl::in_quotes(text_key(keys, i)) : std::to_string(number_key(d, keys, i));
}
inline Value value_at(DType d, const void* values, i64 i) {
  Value v;
  if (d == DType::string) v.text = static_cast<const Bytes*>(values)[i];
  else std::memcpy(&v.bits, static_cast<const char*>(values) + static_cast<std::size_t>(i) * size_of(d), size_of(d));
  return v;
}
inline void put_value(DType d, void* values, i64 i, const Value& v) {
  if (d == DType::string) static_cast<Bytes*>(values)[i] = v.text;
  else std::memcpy(static_cast<char*>(values) + static_cast<std::size_t>(i) * size_of(d), &v.bits, size_of(d));
}
/// The value of a key, or null.
inline const Value* find(const Table& t, const void* keys, i64 i) {
  if (t.key == DType::string) {
    const auto at = t.texts.find(text_key(keys, i));
    return at == t.texts.end() ? nullptr : &at->second;
  }
  const auto at = t.numbers.find(number_key(t.key, keys, i));
  return at == t.numbers.end() ? nullptr : &at->second;
}
inline Value& entry(Table& t, const void* keys, i64 i) {
  if (t.key == DType::string) return t.texts[std::string(text_key(keys, i))];
  return t.numbers[number_key(t.key, keys, i)];
}

inline void check_dtypes(const char* op, DType key, DType value) {
  if (!key_dtypes.has(key)) raise(op, std::string("keys are string, int32 or int64, not ") + name(key));
  if (!value_dtypes.has(value))
    raise(op, std::string("values are string, float32, float64, int32, int64 or bool, not ") + name(value));
}
inline Value default_of(const char* op, const Tensor& t, DType dtype) {
  if (t.size() != 1 || t.dtype() != dtype)
    raise(op, std::string("the default must be one ") + name(dtype) + ": " + to_string(t.spec()));
  tandem::detail::check_value(op, t);
  return value_at(dtype, t.cpu().raw(), 0);
}

TANDEM_INLINE std::vector<Tensor> Table::parts() const {
  const Shape shape{static_cast<i64>(size())};
  const Tensor all = Tensor::allocate(host_spec(shape, key)), of_all = Tensor::allocate(host_spec(shape, value));
  const auto write = [&](const auto& map, const auto& write_key) {
    std::vector<const typename std::remove_cvref_t<decltype(map)>::value_type*> order;
    for (const auto& entry : map) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      write_key(i, order[i]->first);
      put_value(value, of_all.raw(), static_cast<i64>(i), order[i]->second);
    }
  };
  if (key == DType::string)
    write(texts, [&](std::size_t i, const std::string& s) { static_cast<Bytes*>(all.raw())[i] = Bytes(s); });
  else
    write(numbers, [&](std::size_t i, i64 k) {
      if (key == DType::int64) static_cast<i64*>(all.raw())[i] = k;
      else static_cast<std::int32_t*>(all.raw())[i] = static_cast<std::int32_t>(k);
    });
  const Tensor other = Tensor::allocate(host_spec({}, value));
  put_value(value, other.raw(), 0, missing);
  return {all, of_all, other};
}
TANDEM_INLINE i64 Table::bytes() const {
  constexpr std::size_t node = 2 * sizeof(void*);  // of a hash table: the next one, and the hash or the bucket
  std::size_t n = sizeof(Table) + texts.size() * (node + sizeof(*texts.begin())) +
                  numbers.size() * (node + sizeof(*numbers.begin()));
  for (const auto& [k, v] : texts) n += k.size() + v.text.view().size();
  for (const auto& [k, v] : numbers) n += v.text.view().size();
  return static_cast<i64>(n);
}
/// Fills an empty table, with keys and values of its dtypes; false if a key occurs twice.
inline bool fill(Table& t, const Tensor& keys, const Tensor& values) {
  for (i64 i = 0; i < keys.size(); ++i) {
    if (find(t, keys.raw(), i)) return false;
    entry(t, keys.raw(), i) = value_at(values.dtype(), values.raw(), i);
  }
  return true;
}
/// The table of these parts; null if no table has them.
TANDEM_INLINE Ref<Table> table_of(const ObjectParts& parts) {
  if (parts.of_kind != "lookup table" || parts.tensors.size() != 3) return {};
  const Tensor &keys = parts.tensors[0], &values = parts.tensors[1], &other = parts.tensors[2];
  for (const Tensor& t : parts.tensors)
    if (t.device().kind != Device::cpu) return {};
  if (!key_dtypes.has(keys.dtype()) || !value_dtypes.has(values.dtype()) || keys.shape().rank() != 1 ||
      !(keys.shape() == values.shape()) || other.dtype() != values.dtype() || other.shape().rank() != 0)
    return {};
  const auto r = make_ref<Table>(keys.dtype(), values.dtype());
  r->missing = value_at(values.dtype(), other.raw(), 0);
  return fill(*r, keys, values) ? r : Ref<Table>();
}
TANDEM_INLINE void read_field(AttrReader& r, const char* name, Ref<Table>& to) {
  const Ref<Opaque> value = TANDEM_VIRTUAL(r, AttrReader::opaque)(name);
  auto* const parts = dynamic_cast<ObjectParts*>(value.get());
  if (parts && !parts->made) parts->made = Ref<Opaque>(table_of(*parts).get());
  to = Ref<Table>(dynamic_cast<Table*>(parts ? parts->made.get() : value.get()));
  if (!to) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
}

TANDEM_INLINE Ref<Table> changing_table(DType key, DType value) {
  const auto r = make_ref<Table>(key, value);
  r->changes = true;
  return r;
}
TANDEM_INLINE std::vector<Asset::Part> TableAsset::parts() const {
  const std::lock_guard lock(table->mutex);
  const std::vector<Tensor> all = table->parts();
  return {{".keys", all[0]}, {".values", all[1]}};
}
TANDEM_INLINE Ref<Asset> TableAsset::with(const std::vector<Tensor>& values) const {
  const Tensor &k = values[0], &v = values[1];
  if (k.dtype() != table->key || v.dtype() != table->value || k.shape().rank() != 1 || !(k.shape() == v.shape()))
    raise("MutableHashTable", std::string("needs as many ") + name(table->key) + " keys as " + name(table->value) +
                                  " values, the file has " + to_string(k.spec()) + " and " + to_string(v.spec()));
  const Ref<Table> r = changing_table(table->key, table->value);
  if (!fill(*r, k.cpu(), v.cpu())) raise("MutableHashTable", "the file has a key twice");
  r->missing = table->missing;
  return Ref<Asset>(new TableAsset(r));
}
TANDEM_INLINE bool TableAsset::take(Asset& other) noexcept {
  Table& from = *static_cast<TableAsset&>(other).table;  // of with(), which nothing else refers to
  const std::lock_guard lock(table->mutex);
  table->texts.swap(from.texts);
  table->numbers.swap(from.numbers);
  return true;
}
TANDEM_INLINE Ref<Asset> TableAsset::own_copy() const {
  const Ref<Table> r = changing_table(table->key, table->value);
  const std::lock_guard lock(table->mutex);
  r->missing = table->missing;
  r->texts = table->texts;
  r->numbers = table->numbers;
  return Ref<Asset>(new TableAsset(r));
}

// The key's id among the buckets of unknown keys.
inline i64 bucket_of(const Table& t, const void* keys, i64 i, i64 buckets) {
  const u64 h = t.key == DType::string ? strings::impl::stable_hash(text_key(keys, i))
                                       : strings::impl::stable_hash(std::to_string(number_key(t.key, keys, i)));
  return static_cast<i64>(t.size() + h % static_cast<u64>(buckets));
}
inline void check_keys(const InferCall& c) {
  const auto& a = c.get<rules::TableAttrs>();
  if (!a.table) raise(c.op.name, "there is no table");
  if (c.spec(0).dtype != a.table->key)
    raise(c.op.name, std::string("the table's keys are ") + name(a.table->key) + ", not " + to_string(c.spec(0)));
}
TANDEM_INLINE Specs infer_find(const InferCall& c) {
  check_keys(c);
  const auto& a = c.get<rules::TableAttrs>();
  if (a.oov_buckets < 0 || (a.oov_buckets > 0 && a.table->value != DType::int64))
    raise(c.op.name, std::to_string(a.oov_buckets) + " buckets of a table of " + name(a.table->value) +
                         ": a number of at least 0, of int64 values");
  return Specs(host_spec(c.spec(0).shape, a.table->value));
}
inline void find_all(const KernelCall& c, const Table& t, i64 buckets) {
  cpu::parallel_for(c.in[0].size(), 512, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const Value* const v = find(t, c.in[0].data, i);
      if (!v && buckets) c.out[0].as<i64>()[i] = bucket_of(t, c.in[0].data, i, buckets);
      else put_value(t.value, c.out[0].data, i, v ? *v : t.missing);
    }
  });
}
TANDEM_INLINE void find_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::TableAttrs>();
  find_all(c, *a.table, a.oov_buckets);
}
TANDEM_INLINE void mutable_find_kernel(const KernelCall& c) {
  const Table& t = *c.attrs.get<rules::TableAttrs>().table;
  const std::lock_guard lock(t.mutex);
  find_all(c, t, 0);
}
TANDEM_INLINE Specs infer_insert(const InferCall& c) {
  check_keys(c);
  const Table& t = *c.get<rules::TableAttrs>().table;
  if (c.spec(1).dtype != t.value || !c.spec(1).shape.is_compatible_with(c.spec(0).shape))
    tandem::detail::raise_specs(c, std::string("the values must be ") + name(t.value) + " in the shape of the keys");
  return {};
}
TANDEM_INLINE void insert_kernel(const KernelCall& c) {
  Table& t = *c.attrs.get<rules::TableAttrs>().table;
  const std::lock_guard lock(t.mutex);
  for (i64 i = 0; i < c.in[0].size(); ++i) entry(t, c.in[0].data, i) = value_at(t.value, c.in[1].data, i);
}
TANDEM_INLINE Specs infer_remove(const InferCall& c) {
  check_keys(c);
  return {};
}
TANDEM_INLINE void remove_kernel(const KernelCall& c) {
  Table& t = *c.attrs.get<rules::TableAttrs>().table;
  const std::lock_guard lock(t.mutex);
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    if (t.key == DType::string) t.texts.erase(std::string(text_key(c.in[0].data, i)));
    else t.numbers.erase(number_key(t.key, c.in[0].data, i));
  }
}

TANDEM_INLINE Specs infer_index_to_string(const InferCall& c) {
  if (c.spec(1).dtype != DType::string || c.spec(1).shape.rank() != 1)
    tandem::detail::raise_specs(c, "the mapping must be string [n]");
  return Specs(host_spec(c.spec(0).shape, DType::string));
}
TANDEM_INLINE void index_to_string_kernel(const KernelCall& c) {
  const Bytes other(c.attrs.get<rules::IndexToStringAttrs>().default_value);
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    const i64 at = number_key(c.in[0].spec->dtype, c.in[0].data, i);
    c.out[0].as<Bytes>()[i] = at >= 0 && at < c.in[1].size() ? c.in[1].as<const Bytes>()[at] : other;
  }
}

}  // namespace lookup::impl

TANDEM_INLINE constexpr OpDef table_find_op{.name = "table_find",
                                            .input_names = "keys",
                                            .infer = &lookup::impl::infer_find,
                                            .cpu = &lookup::impl::find_kernel,
                                            .dtypes = lookup::impl::key_dtypes,
                                            .host_inputs = strings::impl::all_on_host,
                                            .flags = {.non_differentiable = true},
                                            .attrs = &detail::attr_type<rules::TableAttrs>,
                                            .rare = {.in_errors = "lookup"}};
TANDEM_INLINE constexpr OpDef mutable_table_find_op{.name = "mutable_table_find",
                                                    .input_names = "keys",
                                                    .infer = &lookup::impl::infer_find,
                                                    .cpu = &lookup::impl::mutable_find_kernel,
                                                    .dtypes = lookup::impl::key_dtypes,
                                                    .host_inputs = strings::impl::all_on_host,
                                                    .flags = {.stateful = true, .non_differentiable = true},
                                                    .attrs = &detail::attr_type<rules::TableAttrs>,
                                                    .rare = {.in_errors = "lookup"}};
TANDEM_INLINE constexpr OpDef mutable_table_insert_op{.name = "mutable_table_insert",
                                                      .input_names = "keys, values",
                                                      .infer = &lookup::impl::infer_insert,
                                                      .cpu = &lookup::impl::insert_kernel,
                                                      .dtypes = lookup::impl::key_dtypes,
                                                      .inputs = 2,
                                                      .outputs = 0,
                                                      .host_inputs = strings::impl::all_on_host,
                                                      .flags = {.stateful = true, .non_differentiable = true},
                                                      .attrs = &detail::attr_type<rules::TableAttrs>,
                                                      .rare = {.in_errors = "insert"}};
TANDEM_INLINE constexpr OpDef mutable_table_remove_op{.name = "mutable_table_remove",
                                                      .input_names = "keys",
                                                      .infer = &lookup::impl::infer_remove,
                                                      .cpu = &lookup::impl::remove_kernel,
                                                      .dtypes = lookup::impl::key_dtypes,
                                                      .outputs = 0,
                                                      .host_inputs = strings::impl::all_on_host,
                                                      .flags = {.stateful = true, .non_differentiable = true},
                                                      .attrs = &detail::attr_type<rules::TableAttrs>,
                                                      .rare = {.in_errors = "remove"}};
TANDEM_INLINE constexpr OpDef index_to_string_op{.name = "index_to_string",
                                                 .input_names = "indices, mapping",
                                                 .infer = &lookup::impl::infer_index_to_string,
                                                 .cpu = &lookup::impl::index_to_string_kernel,
                                                 .dtypes = dtypes::index,
                                                 .inputs = 2,
                                                 .host_inputs = strings::impl::all_on_host,
                                                 .flags = {.non_differentiable = true},
                                                 .attrs = &detail::attr_type<rules::IndexToStringAttrs>};

namespace lookup {

TANDEM_INLINE StaticHashTable::StaticHashTable(const Tensor& keys, const Tensor& values, const Tensor& default_value,
                                               OpOptions o) {
  constexpr const char* op = "StaticHashTable";
  const tandem::detail::CallSite call(o);
  impl::check_dtypes(op, keys.dtype(), values.dtype());
  if (keys.size() != values.size())
    impl::raise(op,
                "there must be one value for each key: " + to_string(keys.spec()) + " x " + to_string(values.spec()));
  tandem::detail::check_value(op, keys);
  tandem::detail::check_value(op, values);
  table_ = make_ref<impl::Table>(keys.dtype(), values.dtype());
  table_->missing = impl::default_of(op, default_value, values.dtype());
  const Tensor k = keys.cpu(), v = values.cpu();
  for (i64 i = 0; i < k.size(); ++i) {
    const impl::Value value = impl::value_at(v.dtype(), v.raw(), i);
    const impl::Value* const found = impl::find(*table_, k.raw(), i);
    if (found && !(*found == value))
      impl::raise(op, "the key " + impl::key_text(k.dtype(), k.raw(), i) + " has two different values");
    impl::entry(*table_, k.raw(), i) = value;
  }
}
TANDEM_INLINE Tensor StaticHashTable::lookup(const Tensor& keys, OpOptions o) const {
  return apply1(table_find_op, rules::TableAttrs{table_, 0}, o, keys);
}

TANDEM_INLINE StaticVocabularyTable::StaticVocabularyTable(const Tensor& keys, StaticVocabularyTableOptions o)
    : oov_buckets_(o.num_oov_buckets) {
  constexpr const char* op = "StaticVocabularyTable";
  const tandem::detail::CallSite call(o);
  impl::check_dtypes(op, keys.dtype(), DType::int64);
  if (oov_buckets_ < 1) impl::raise(op, "num_oov_buckets must be at least 1, not " + std::to_string(oov_buckets_));
  tandem::detail::check_value(op, keys);
  table_ = make_ref<impl::Table>(keys.dtype(), DType::int64);
  const Tensor k = keys.cpu();
  for (i64 i = 0; i < k.size(); ++i) {
    if (impl::find(*table_, k.raw(), i))
      impl::raise(op, "the key " + impl::key_text(k.dtype(), k.raw(), i) + " occurs twice");
    impl::entry(*table_, k.raw(), i).bits = static_cast<u64>(i);
  }
}
TANDEM_INLINE Tensor StaticVocabularyTable::lookup(const Tensor& keys, OpOptions o) const {
  return apply1(table_find_op, rules::TableAttrs{table_, oov_buckets_}, o, keys);
}

TANDEM_INLINE MutableHashTable::MutableHashTable(DType key_dtype, const Tensor& default_value, OpOptions o)
    : Module("mutable_hash_table") {
  const tandem::detail::CallSite call(o);
  impl::check_dtypes("MutableHashTable", key_dtype, default_value.dtype());
  const Ref<impl::Table> table = impl::changing_table(key_dtype, default_value.dtype());
  table->missing = impl::default_of("MutableHashTable", default_value, default_value.dtype());
  add_asset("table", Ref<Asset>(new impl::TableAsset(table)));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void MutableHashTable::insert(const Tensor& keys, const Tensor& values, OpOptions o) const {
  const Tensor* const in[] = {&keys, &values};
  apply(mutable_table_insert_op, in, rules::TableAttrs{table(), 0}, o);
}
TANDEM_INLINE void MutableHashTable::remove(const Tensor& keys, OpOptions o) const {
  const Tensor* const in[] = {&keys};
  apply(mutable_table_remove_op, in, rules::TableAttrs{table(), 0}, o);
}
TANDEM_INLINE Tensor MutableHashTable::lookup(const Tensor& keys, OpOptions o) const {
  return apply1(mutable_table_find_op, rules::TableAttrs{table(), 0}, o, keys);
}
TANDEM_INLINE i64 MutableHashTable::size() const {
  const Ref<impl::Table> t = table();
  const std::lock_guard lock(t->mutex);
  return static_cast<i64>(t->size());
}
TANDEM_INLINE std::pair<Tensor, Tensor> MutableHashTable::export_values() const {
  const Ref<impl::Table> t = table();
  const std::lock_guard lock(t->mutex);
  const std::vector<Tensor> parts = t->parts();
  return {parts[0], parts[1]};
}

TANDEM_INLINE Tensor index_to_string(const Tensor& indices, const Tensor& mapping, IndexToStringOptions o) {
  return apply1(index_to_string_op, rules::IndexToStringAttrs{o.default_value}, {o.name, o.where}, indices, mapping);
}

}  // namespace lookup
}  // namespace TANDEM_NS
