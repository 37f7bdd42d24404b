// Definitions of layers/discrete.hpp.
#pragma once
#include <cmath>
#include <map>
#include <string>

#include "tandem/layers/by_frequency.hpp"
#include "tandem/layers/discrete.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {

TANDEM_INLINE Tensor encode_categories(const Tensor& ids, i64 num_tokens, OutputMode mode, DType dtype) {
  return CategoryEncoding(num_tokens, {.output_mode = mode, .dtype = dtype})(ids);
}
TANDEM_INLINE void check_lookup(const LookupLimits& l, bool invert, OutputMode mode) {
  const auto fail = [&](const std::string& what) { errors::raise<errors::InvalidArgumentError>(l.layer, what); };
  if (l.num_oov_indices < 0) fail("num_oov_indices is negative");
  if (invert && mode != OutputMode::integer) fail(".invert needs OutputMode::integer");
  if (l.has_mask && mode != OutputMode::integer) fail(".mask_token needs OutputMode::integer");
  if (l.pads && !l.max_tokens) fail(".pad_to_max_tokens needs .max_tokens");
  most_tokens(l, 0);
}
TANDEM_INLINE i64 most_tokens(const LookupLimits& l, std::size_t given) {
  const auto fail = [&](const std::string& what) { errors::raise<errors::InvalidArgumentError>(l.layer, what); };
  if (!l.max_tokens) return none;
  const i64 most = *l.max_tokens - l.specials();
  const std::string limit = "max_tokens = " + std::to_string(*l.max_tokens) + " leaves ";
  if (most < 1) fail(limit + "no ids for a vocabulary");
  if (static_cast<i64>(given) > most)
    fail("the vocabulary has " + std::to_string(given) + " entries; " + limit + "ids for " + std::to_string(most));
  return most;
}
TANDEM_INLINE void raise_special(const char* layer, const char* option, const std::string& token, std::size_t at,
                                 std::size_t specials) {
  errors::raise<errors::InvalidArgumentError>(
      layer, "the vocabulary has the " + std::string(option) + " " + token + " at " + std::to_string(at) +
                 "; omit the special tokens, or begin with all " + std::to_string(specials) +
                 " of them in the order of get_vocabulary()");
}
TANDEM_INLINE void check_adapt(const char* layer, bool is_given) {
  if (is_given)
    errors::raise<errors::FailedPreconditionError>(layer,
                                                   "cannot adapt: what it would learn was given when it was made");
}
TANDEM_INLINE void raise_unadapted(const char* layer, const char* what) {
  errors::raise<errors::FailedPreconditionError>(layer,
                                                 std::string("has no ") + what + ": give it, or call adapt(data)");
}

TANDEM_INLINE void check_list(const char* layer, const Tensor& value, DType dtype) {
  if (value.dtype() != dtype || value.rank() != 1)
    errors::raise<errors::InvalidArgumentError>(
        layer, "needs a list of " + std::string(tandem::name(dtype)) + ", the file has " + to_string(value.spec()));
}
TANDEM_INLINE Tensor Boundaries::value() const {
  return is_known ? constant(values, {.shape = Shape{static_cast<i64>(values.size())}}) : Tensor();
}
TANDEM_INLINE Ref<Asset> Boundaries::with_value(const Tensor& value) const {
  check_list("Discretization", value, DType::float64);
  std::vector<double> found = value.to_vector<double>();
  check_given("Discretization", is_given(), values, found, [](double x) { return tandem::detail::shortest_text(x); });
  const auto fail = [](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("Discretization", what);
  };
  if (num_bins && static_cast<i64>(found.size()) >= *num_bins)
    fail(".num_bins = " + std::to_string(*num_bins) + ", the file has " + std::to_string(found.size()) + " boundaries");
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::isnan(found[i]) || (i > 0 && found[i] < found[i - 1])) fail("the file's boundaries are not sorted");
  return Ref<Asset>(new Boundaries(num_bins, std::move(found), is_given()));
}
TANDEM_INLINE IntegerVocabulary::IntegerVocabulary(const IntegerLookupOptions& o, std::vector<i64> list, bool is_given)
    : TensorAsset(is_given), options(o), tokens(std::move(list)) {
  const auto fail = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("IntegerLookup", what); };
  if (tokens.empty()) fail("the vocabulary is empty");
  most_tokens(limits(), tokens.size());
  std::vector<std::pair<i64, i64>> pairs;  // tokens and ids
  if (o.mask_token) pairs.emplace_back(*o.mask_token, 0);
  for (i64 id = limits().specials(); const i64 token : tokens) pairs.emplace_back(token, id++);
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [token, id] : pairs) {
    if (!sorted.empty() && sorted.back() == token) fail("the vocabulary has " + std::to_string(token) + " twice");
    sorted.push_back(token);
    ids.push_back(id);
  }
}
TANDEM_INLINE Tensor IntegerVocabulary::value() const { return tokens.empty() ? Tensor() : constant(tokens); }
TANDEM_INLINE Ref<Asset> IntegerVocabulary::with_value(const Tensor& value) const {
  check_list("IntegerLookup", value, DType::int64);
  std::vector<i64> found = value.to_vector<i64>();
  check_given("IntegerLookup", is_given(), tokens, found, [](i64 token) { return std::to_string(token); });
  return Ref<Asset>(new IntegerVocabulary(options, std::move(found), is_given()));
}
TANDEM_INLINE std::vector<i64> integers_by_id(const IntegerVocabulary& v) {
  std::vector<i64> r(static_cast<std::size_t>(v.options.num_oov_indices), v.options.oov_token);
  if (v.options.mask_token) r.insert(r.begin(), *v.options.mask_token);
  r.insert(r.end(), v.tokens.begin(), v.tokens.end());
  return r;
}
TANDEM_INLINE Tensor ids_of_integers(const IntegerVocabulary& v, const Tensor& x) {
  const i64 oov = v.options.num_oov_indices, first = v.limits().specials() - oov, n = static_cast<i64>(v.ids.size());
  const Tensor sorted = constant(v.sorted), ids = constant(v.ids), flat = reshape(x, {-1});
  const Tensor at = minimum(searchsorted(sorted, flat, {.out_type = DType::int64}), n - 1);
  const Tensor is_known = gather(sorted, at) == flat;
  const Tensor found = gather(ids, at);
  const Tensor other = oov > 1 ? floormod(flat, constant(oov, {.dtype = DType::int64})) : zeros_like(flat);
  if (oov > 0) return tandem::detail::reshape_like(where(is_known, found, other + first), x);
  // No id for unknown integers: -1 is out of range, and the error has its position.
  return tandem::detail::reshape_like(in_range("IntegerLookup", where(is_known, found, i64(-1)), n), x);
}
}  // namespace detail

TANDEM_INLINE Discretization::Discretization(const DiscretizationOptions& options)
    : Layer("discretization"), options_(options) {
  if (!options.num_bins)
    errors::raise<errors::InvalidArgumentError>("Discretization", "needs bin_boundaries, or .num_bins for adapt()");
  detail::positive("Discretization", "num_bins", *options.num_bins);
  if (!(options.epsilon > 0 && options.epsilon < 1))
    errors::raise<errors::InvalidArgumentError>("Discretization", "epsilon must be in (0, 1)");
  add_asset("bin_boundaries", Ref<Asset>(new detail::Boundaries(options.num_bins)));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void Discretization::give_boundaries(std::vector<double> bin_boundaries) const {
  if (options_.num_bins)
    errors::raise<errors::InvalidArgumentError>("Discretization", ".num_bins is for adapt(); the boundaries are given");
  for (std::size_t i = 1; i < bin_boundaries.size(); ++i)
    if (!(bin_boundaries[i - 1] < bin_boundaries[i]))
      errors::raise<errors::InvalidArgumentError>("Discretization", "bin_boundaries must ascend");
  add_asset("bin_boundaries", Ref<Asset>(new detail::Boundaries({}, std::move(bin_boundaries), true)));
  build_once([] {});
}
TANDEM_INLINE void Discretization::adapt(const Tensor& data) const {
  detail::QuantileSketch sketch = begin_adapt();
  sketch.add("Discretization", data);
  learn(sketch);
}
TANDEM_INLINE detail::QuantileSketch Discretization::begin_adapt() const {
  detail::check_adapt("Discretization", !options_.num_bins);
  return detail::QuantileSketch();
}
TANDEM_INLINE void Discretization::learn(const detail::QuantileSketch& sketch) const {
  if (sketch.size() == 0) detail::raise_empty("Discretization");
  std::vector<double> values = sketch.boundaries(*options_.num_bins, options_.epsilon);
  set_asset(0, Ref<Asset>(new detail::Boundaries(options_.num_bins, std::move(values), false)));
}
TANDEM_INLINE Tensor Discretization::operator()(const Tensor& x) const {
  const InCall here(*this);
  const Ref<detail::Boundaries> known = asset<detail::Boundaries>();
  if (!known->is_known) detail::raise_unadapted("Discretization", "boundaries");
  const std::vector<double>& boundaries = known->values;
  const DType dtype = x.dtype() == DType::float32 ? DType::float32 : DType::float64;
  const auto n = static_cast<i64>(boundaries.size());
  const Tensor bounds = constant(boundaries, {.dtype = dtype, .shape = Shape{n}});
  const Tensor flat = reshape(cast(x, dtype), {-1});
  const Tensor bins =
      tandem::detail::reshape_like(searchsorted(bounds, flat, {.side = Side::right, .out_type = DType::int64}), x);
  return options_.output_mode(bins, options_.num_bins.value_or(n + 1), options_.dtype);
}

TANDEM_INLINE IntegerLookup::IntegerLookup(const IntegerLookupOptions& options) : Layer("integer_lookup") {
  detail::check_lookup({"IntegerLookup", options}, options.invert, options.output_mode);
  add_asset("vocabulary", Ref<Asset>(new detail::IntegerVocabulary(options)));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void IntegerLookup::set_vocabulary(std::vector<i64> tokens, bool is_given) const {
  set_asset(0, Ref<Asset>(new detail::IntegerVocabulary(vocabulary()->options, std::move(tokens), is_given)));
}
TANDEM_INLINE void IntegerLookup::give_vocabulary(std::vector<i64> tokens) const {
  const Ref<detail::IntegerVocabulary> known = vocabulary();
  const IntegerLookupOptions& o = known->options;
  detail::strip_specials("IntegerLookup", tokens, detail::integers_by_id(*known),
                         o.mask_token ? &*o.mask_token : nullptr, o.invert ? &o.oov_token : nullptr,
                         [](i64 token) { return std::to_string(token); });
  set_vocabulary(std::move(tokens), true);
}
TANDEM_INLINE void IntegerLookup::adapt(const Tensor& data) const {
  Counts counts = begin_adapt();
  count(data, counts);
  learn(std::move(counts));
}
TANDEM_INLINE IntegerLookup::Counts IntegerLookup::begin_adapt() const {
  detail::check_adapt("IntegerLookup", vocabulary()->is_given());
  return {};
}
TANDEM_INLINE void IntegerLookup::count(const Tensor& data, Counts& counts) {
  detail::check_integers("IntegerLookup", data);
  for (const i64 token : cast(data, DType::int64).to_vector<i64>()) ++counts[token];
}
TANDEM_INLINE void IntegerLookup::learn(Counts counts) const {
  if (counts.empty()) detail::raise_empty("IntegerLookup");
  const Ref<detail::IntegerVocabulary> v = vocabulary();
  counts.erase(v->options.oov_token);
  if (v->options.mask_token) counts.erase(*v->options.mask_token);
  set_vocabulary(detail::by_frequency(counts, detail::most_tokens(v->limits(), 0)), false);
}
TANDEM_INLINE std::vector<i64> IntegerLookup::get_vocabulary() const { return detail::integers_by_id(*vocabulary()); }
TANDEM_INLINE Tensor IntegerLookup::operator()(const Tensor& x) const {
  const InCall here(*this);
  detail::check_integers("IntegerLookup", x);
  const Ref<detail::IntegerVocabulary> v = vocabulary();
  if (v->tokens.empty()) detail::raise_unadapted("IntegerLookup", "vocabulary");
  const IntegerLookupOptions& o = v->options;
  const Tensor ids = cast(x, DType::int64);
  if (o.invert) return gather(constant(detail::integers_by_id(*v)), ids, {.name = "IntegerLookup"});
  return o.output_mode(detail::ids_of_integers(*v, ids), v->limits().depth(v->size()), o.dtype);
}

}  // namespace TANDEM_NS::layers
