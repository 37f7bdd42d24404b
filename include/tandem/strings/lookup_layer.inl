// Definitions of strings/lookup_layer.hpp.
#pragma once
#include <algorithm>

#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/strings/lookup_layer.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE const std::vector<std::string>& checked_vocabulary(const std::vector<std::string>& words,
                                                                 i64 num_oov_indices) {
  if (words.empty() || num_oov_indices < 0)
    errors::raise<errors::InvalidArgumentError>(
        "StringLookup", words.empty() ? "the vocabulary is empty" : "num_oov_indices is negative");
  return words;
}
}  // namespace detail

TANDEM_INLINE StringLookup::StringLookup(std::vector<std::string> vocabulary, StringLookupOptions options)
    : Layer("string_lookup"),
      options_(options),
      words_(static_cast<i64>(vocabulary.size())),
      table_(constant(detail::checked_vocabulary(vocabulary, options.num_oov_indices)),
             {.num_oov_buckets = std::max<i64>(options.num_oov_indices, 1)}) {
  vocabulary.insert(vocabulary.begin(), static_cast<std::size_t>(options.num_oov_indices), options.oov_token);
  mapping_ = constant(vocabulary);
}
TANDEM_INLINE Tensor StringLookup::operator()(const Tensor& x) const {
  if (options_.invert) return lookup::index_to_string(x, mapping_, {.default_value = options_.oov_token});
  const Tensor ids = table_.lookup(x);  // the table has the unknown ones behind the words
  if (options_.num_oov_indices == 0) return gather(range(i64(0), words_), ids, {.name = "StringLookup"});
  return floormod(ids + options_.num_oov_indices, constant(vocabulary_size(), {.dtype = DType::int64}));
}

}  // namespace TANDEM_NS::layers
