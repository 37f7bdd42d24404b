// Layers that map numbers to categories: Discretization, IntegerLookup. What they learn from data by adapt() is an
// asset (module/asset.hpp): copies share it, and checkpoints have it. Not here: CategoryEncoding (preprocessing.hpp),
// StringLookup (tandem/strings/lookup_layer.hpp).
#pragma once
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/layers/preprocessing.hpp"
#include "tandem/layers/quantiles.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// Categories in another form than their numbers, as CategoryEncoding has it.
TANDEM_API Tensor encode_categories(const Tensor& ids, i64 num_tokens, OutputMode mode, DType dtype);

/// The option `output_mode` of layers whose result are categories. Programs that do not set it do not compile the code.
class CategoryMode {
 public:
  constexpr CategoryMode() = default;
  constexpr CategoryMode(OutputMode mode) : mode_(mode), encode_(&encode_categories) {}
  constexpr operator OutputMode() const { return mode_; }
  Tensor operator()(const Tensor& ids, i64 num_tokens, DType dtype) const {
    return mode_ == OutputMode::integer ? ids : encode_(ids, num_tokens, mode_, dtype);
  }

 private:
  OutputMode mode_ = OutputMode::integer;
  Tensor (*encode_)(const Tensor&, i64, OutputMode, DType) = nullptr;
};

/// The first field of options that are a layer's only argument: a list of numbers is not taken for options.
struct ByName {
  explicit constexpr ByName() = default;
};
/// The boundaries of bins.
struct Boundaries final : TensorAsset {
  explicit Boundaries(std::optional<i64> bins) : num_bins(bins) {}
  Boundaries(std::optional<i64> bins, std::vector<double> v, bool is_given)
      : TensorAsset(is_given), num_bins(bins), values(std::move(v)), is_known(true) {}
  const char* kind() const override { return "boundaries"; }
  TANDEM_INLINE Tensor value() const override;
  TANDEM_INLINE Ref<Asset> with_value(const Tensor& value) const override;
  std::optional<i64> num_bins;
  std::vector<double> values;
  bool is_known = false;
};
/// Checks the value of an asset in a file.
///   throws  errors::InvalidArgumentError, in the layer's name, unless it is a list of that dtype
TANDEM_API void check_list(const char* layer, const Tensor& value, DType dtype);
/// Raises unless what a layer was given, if it was given, is what a file has.
template <class T, class Text>
void check_given(const char* layer, bool is_given, const std::vector<T>& given, const std::vector<T>& in_file,
                 const Text& text) {
  if (!is_given || given == in_file) return;
  std::string difference = std::to_string(given.size()) + " entries, the file " + std::to_string(in_file.size());
  for (std::size_t i = std::min(given.size(), in_file.size()); i-- > 0;)
    if (!(given[i] == in_file[i]))
      difference = text(given[i]) + " at " + std::to_string(i) + ", the file " + text(in_file[i]);
  errors::raise<errors::InvalidArgumentError>(layer, "it was given " + difference);
}
/// The options of a lookup layer that do not depend on what it looks up.
struct LookupLimits {
  const char* layer;
  std::optional<i64> max_tokens;
  i64 num_oov_indices;
  bool has_mask, pads;

  template <class Options>
  LookupLimits(const char* layer_name, const Options& o)
      : layer(layer_name),
        max_tokens(o.max_tokens),
        num_oov_indices(o.num_oov_indices),
        has_mask(o.mask_token.has_value()),
        pads(o.pad_to_max_tokens) {}
  /// The number of ids below those of the vocabulary.
  i64 specials() const { return num_oov_indices + (has_mask ? 1 : 0); }
  /// The length of encoded categories.
  i64 depth(i64 ids) const { return pads ? *max_tokens : ids; }
};
/// Checks the options of a lookup layer that do not fit together.
///   throws  errors::InvalidArgumentError, in the layer's name
TANDEM_API void check_lookup(const LookupLimits& limits, bool invert, OutputMode mode);
/// How many tokens a lookup layer can learn; `none`: any number.
///   throws  errors::InvalidArgumentError, in the layer's name, if the vocabulary that it has is larger
TANDEM_API i64 most_tokens(const LookupLimits& limits, std::size_t given);
/// Raises for a special token among the others (strip_specials, by_frequency.hpp).
[[noreturn]] TANDEM_API void raise_special(const char* layer, const char* option, const std::string& token,
                                           std::size_t at, std::size_t specials);
/// Raises errors::FailedPreconditionError, in the layer's name, if what it would learn by adapt() was given.
TANDEM_API void check_adapt(const char* layer, bool is_given);
/// Raises before adapt().
[[noreturn]] TANDEM_API void raise_unadapted(const char* layer, const char* what);
}  // namespace detail

struct DiscretizationOptions {
  detail::ByName by_name = detail::ByName();
  std::optional<i64> num_bins = {};  ///< for adapt()
  double epsilon = 0.01;             ///< of adapt(): the part of the data to which quantiles are exact
  detail::CategoryMode output_mode = {};
  DType dtype = DType::float32;  ///< of the encoded modes
};
/// Maps numbers to the intervals between boundaries: 0 below the first one, i from boundary i - 1 on. The boundaries
/// are given, or computed by adapt().
///   x         real numbers, any shape
///   returns   int64 in x's shape, or with .output_mode encoded as CategoryEncoding does
///   throws    errors::InvalidArgumentError unless the boundaries ascend, or for options that do not fit together;
///             errors::FailedPreconditionError before adapt()
class TANDEM_API Discretization : public Layer {
 public:
  /// Discretization({.num_bins = 4}), with boundaries from adapt().
  explicit Discretization(const DiscretizationOptions& options);
  /// Discretization({0, 1.5}), with these boundaries.
  template <std::same_as<std::vector<double>> Bins = std::vector<double>>
  explicit Discretization(Bins bin_boundaries, const DiscretizationOptions& options = {})
      : Layer("discretization"), options_(options) {
    give_boundaries(std::move(bin_boundaries));
  }
  Tensor operator()(const Tensor& x) const;
  /// Sets the boundaries to quantiles of `data`, so that its values are spread evenly over the bins; with Keras'
  /// numbers: at most about 1 / epsilon of the sorted values are kept, and the boundaries interpolated between them.
  /// Of 131,072 values or more, the memory is bounded and the ranks are within 0.02 % (detail::QuantileSketch).
  /// Replaces those of an earlier call. A traced function is traced again when adapt() or a checkpoint has set
  /// other boundaries.
  ///   data      real numbers, any shape, not empty
  ///   throws    errors::FailedPreconditionError if the boundaries are given; errors::InvalidArgumentError for empty
  ///             data or a NaN
  void adapt(const Tensor& data) const;
  /// The same of the elements of a data set, as if they were one tensor: batches or single numbers, one pass.
  template <detail::Batches Data>
  void adapt(const Data& data) const {
    detail::QuantileSketch sketch = begin_adapt();
    detail::each_batch(data, [&](const Tensor& x) { sketch.add("Discretization", x); });
    learn(sketch);
  }
  /// The boundaries; none before adapt().
  std::vector<double> bin_boundaries() const { return asset<detail::Boundaries>()->values; }

 private:
  void give_boundaries(std::vector<double> boundaries) const;
  detail::QuantileSketch begin_adapt() const;
  void learn(const detail::QuantileSketch& sketch) const;
  DiscretizationOptions options_;
};

struct IntegerLookupOptions {
  detail::ByName by_name = detail::ByName();
  std::optional<i64> max_tokens = {};  ///< the most ids, with those of unknown integers and the mask; default: any
  i64 num_oov_indices = 1;             ///< ids of integers that are not in the vocabulary: those modulo that number
  std::optional<i64> mask_token = {};  ///< stands for padding: it has the id 0, and the others move up by one
  i64 oov_token = -1;                  ///< .invert: the integer of the ids of unknown ones
  bool invert = false;                 ///< map ids to integers
  detail::CategoryMode output_mode = {};
  bool pad_to_max_tokens = false;  ///< the encoded modes have max_tokens columns
  DType dtype = DType::float32;    ///< of the encoded modes
};
namespace detail {
/// The integers of a vocabulary, and these with the mask, sorted, with their ids.
struct IntegerVocabulary final : TensorAsset {
  explicit IntegerVocabulary(const IntegerLookupOptions& o) : options(o) {}
  /// throws errors::InvalidArgumentError, in the name of IntegerLookup, for an empty or too large vocabulary, or one
  /// with an integer twice
  TANDEM_INLINE IntegerVocabulary(const IntegerLookupOptions& options, std::vector<i64> tokens, bool is_given);
  const char* kind() const override { return "vocabulary"; }
  TANDEM_INLINE Tensor value() const override;
  TANDEM_INLINE Ref<Asset> with_value(const Tensor& value) const override;
  LookupLimits limits() const { return {"IntegerLookup", options}; }
  i64 size() const { return static_cast<i64>(tokens.size()) + limits().specials(); }
  IntegerLookupOptions options;
  std::vector<i64> tokens, sorted, ids;
};
}  // namespace detail
/// Maps integers to ids: those of the vocabulary to num_oov_indices, num_oov_indices + 1, ..., in its order (with a
/// mask from num_oov_indices + 1 on); others to the ids below. The vocabulary is given, or made by adapt().
///   x         int32 or int64, any shape
///   returns   int64 in x's shape, or with .output_mode encoded as CategoryEncoding does
///   throws    errors::InvalidArgumentError for an empty vocabulary, an entry that occurs twice, x of another dtype, or
///             options that do not fit together; with .num_oov_indices = 0 for an integer that is not in the
///             vocabulary; with .invert for an id out of range; errors::FailedPreconditionError before adapt()
class TANDEM_API IntegerLookup : public Layer {
 public:
  /// IntegerLookup({.max_tokens = 100}), with a vocabulary from adapt().
  explicit IntegerLookup(const IntegerLookupOptions& options = {});
  /// IntegerLookup({12, 36}), with this vocabulary. It may begin with the special tokens, as get_vocabulary() has them.
  template <std::same_as<std::vector<i64>> List = std::vector<i64>>
  explicit IntegerLookup(List vocabulary, const IntegerLookupOptions& options = {}) : IntegerLookup(options) {
    give_vocabulary(std::move(vocabulary));
  }
  Tensor operator()(const Tensor& x) const;
  /// Makes the vocabulary of the integers in `data`: the most frequent ones first, and the larger one first of those
  /// that occur equally often, as in Keras; without .oov_token and .mask_token. Replaces that of an earlier call. A
  /// traced function is traced again when adapt() or a checkpoint has set another vocabulary.
  ///   data      int32 or int64, any shape, not empty
  ///   throws    errors::FailedPreconditionError if the vocabulary is given; errors::InvalidArgumentError for empty
  ///             data or another dtype
  void adapt(const Tensor& data) const;
  /// The same of the elements of a data set, as if they were one tensor: batches or single integers, one pass. Memory
  /// grows with the number of different integers alone.
  template <detail::Batches Data>
  void adapt(const Data& data) const {
    Counts counts = begin_adapt();
    detail::each_batch(data, [&](const Tensor& x) { count(x, counts); });
    learn(std::move(counts));
  }
  /// The integers of all ids: the mask if there is one, .oov_token for unknown ones, the vocabulary.
  std::vector<i64> get_vocabulary() const;
  /// The number of ids.
  i64 vocabulary_size() const { return vocabulary()->size(); }

 private:
  using Counts = std::map<i64, i64>;
  void give_vocabulary(std::vector<i64> tokens) const;
  Counts begin_adapt() const;
  static void count(const Tensor& data, Counts& counts);
  void learn(Counts counts) const;
  Ref<detail::IntegerVocabulary> vocabulary() const { return asset<detail::IntegerVocabulary>(); }
  void set_vocabulary(std::vector<i64> tokens, bool is_given) const;
};

}  // namespace TANDEM_NS::layers
