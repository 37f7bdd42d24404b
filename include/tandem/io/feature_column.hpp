// Decoding a feature of several records, or steps, into tensors. For the definitions of io/parse_example.hpp.
#pragma once
#include <string>
#include <string_view>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/io/feature_view.hpp"
#include "tandem/io/parse_example.hpp"

namespace TANDEM_NS::io::detail {

/// What an error is about: "parse_example: example 3, feature "label": it has ...".
struct FeaturePlace {
  const char* op;
  const char* unit;  // "example" or "step"; null for a single one
  std::string_view key;

  [[noreturn]] void raise(std::size_t number, const std::string& what) const;
  [[noreturn]] void raise_damaged(std::size_t number) const;
};

/// The kind of list whose values have this dtype; none if there is no such kind.
FeatureKind kind_of(DType dtype);
/// The number of values of a list; -1 if it is damaged.
i64 count_values(const FeatureView& feature);
/// Decodes a list of count_values() values to where `to` begins, elements of the list's dtype.
void decode_values(const FeatureView& feature, void* to);

/// Decodes features with `size` values each one behind the other; `missing` (may be null) has the values of those that
/// have no list.
void decode_fixed(const FeaturePlace& place, DType dtype, i64 size, const void* missing,
                  Span<const FeatureView> features, char* to);
/// Checks that a feature has values of this kind, or none.
void check_kind(const FeaturePlace& place, DType dtype, const FeatureView& feature, std::size_t number);
/// Decodes features of any number of values: all values as one list, and the number of each (int64, as many as there
/// are features).
Tensor decode_varying(const FeaturePlace& place, DType dtype, Span<const FeatureView> features, i64* row_lengths);

/// Finds the features of a record: calls f(index of the key, value) for those that `keys` has. False if the bytes are
/// not a map of messages.
template <class F>
bool find_features(std::string_view map, const std::vector<std::string>& keys, std::size_t& guess, const F& f) {
  return for_each_entry(map, [&](std::string_view key, std::string_view value) {
    // Records mostly have the same features in one order, so that the next key is the next one.
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (guess >= keys.size()) guess = 0;
      const std::size_t at = guess++;
      if (keys[at] == key) return f(at, value);
    }
    return true;
  });
}

/// Checks the features of a parser, and returns their names.
std::shared_ptr<const std::vector<std::string>> check_configs(const char* op, const FeatureConfigs& features,
                                                              bool of_steps);

}  // namespace TANDEM_NS::io::detail
