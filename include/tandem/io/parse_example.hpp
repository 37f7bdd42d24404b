// Reading tf.Example and SequenceExample records as tensors. Part of the component tandem::io. Not here: making them
// (io/example.hpp), the files that they are in (io/tfrecord.hpp).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::io {

/// A feature with one value for each element of `shape`, in every record.
struct FixedLenFeature {
  Shape shape;
  DType dtype;                ///< float32, int64 or string
  Tensor default_value = {};  ///< for records without the feature, as many values as `shape` has; unset: they raise
};
/// A feature whose number of values differs by record.
struct VarLenFeature {
  DType dtype;  ///< float32, int64 or string
};
/// A feature of a SequenceExample with one value for each element of `shape`, at every step.
struct FixedLenSequenceFeature {
  Shape shape;
  DType dtype;                 ///< float32, int64 or string
  bool allow_missing = false;  ///< a record without the feature has no steps; otherwise it raises
};
/// How a feature is read: one of the three.
struct FeatureConfig {
  enum Kind { fixed, varying, sequence };
  Kind kind;
  DType dtype;
  Shape shape;
  Tensor default_value;
  bool allow_missing = false;

  FeatureConfig(FixedLenFeature f)
      : kind(fixed), dtype(f.dtype), shape(f.shape), default_value(std::move(f.default_value)) {}
  FeatureConfig(VarLenFeature f) : kind(varying), dtype(f.dtype) {}
  FeatureConfig(FixedLenSequenceFeature f)
      : kind(sequence), dtype(f.dtype), shape(f.shape), allow_missing(f.allow_missing) {}
};
/// {{"image", io::FixedLenFeature{{}, string}}, {"words", io::VarLenFeature{int64}}}
using FeatureConfigs = std::vector<std::pair<std::string, FeatureConfig>>;

/// Features as tensors, by name.
class TANDEM_API ParsedFeatures {
 public:
  /// A feature's values.
  ///   throws  errors::NotFoundError, with the names that there are
  const Tensor& operator[](std::string_view key) const { return values_[index_of(key)]; }
  /// Of a feature whose number of values differs: how many each record (or step) has. int64 [n]; unset for others.
  const Tensor& row_lengths(std::string_view key) const { return row_lengths_[index_of(key)]; }
  /// Of a feature of a sequence: how many steps each record has. int64, the shape of the batch; unset for others.
  const Tensor& steps(std::string_view key) const { return steps_[index_of(key)]; }
  /// The names, in the order of the configuration.
  const std::vector<std::string>& keys() const { return *keys_; }

 private:
  friend class ExampleParser;
  friend class JsonLinesReader;
  friend class SequenceExampleParser;
  std::size_t index_of(std::string_view key) const;

  std::shared_ptr<const std::vector<std::string>> keys_;
  std::vector<Tensor> values_, row_lengths_, steps_;
};

/// Reads records with the same features; what parse_example checks of the features is checked once. Threads may use one
/// parser at the same time.
class TANDEM_API ExampleParser {
 public:
  ///   throws  errors::InvalidArgumentError, naming the feature, for one that occurs twice, for other dtypes, a shape
  ///           with unknown dimensions, a default value of another dtype or size, and for a FixedLenSequenceFeature
  explicit ExampleParser(const FeatureConfigs& features);
  /// parse_single_example and parse_example.
  ParsedFeatures parse_single(std::string_view serialized) const;
  ParsedFeatures parse(Span<const std::string_view> serialized) const;

 private:
  std::shared_ptr<const std::vector<std::string>> keys_;
  std::vector<FeatureConfig> configs_;
};
/// Reads one serialized Example.
///   serialized  its bytes, or a string scalar
///   returns     for a FixedLenFeature a tensor of its shape; for a VarLenFeature its values, [n]. Other features of
///               the Example are ignored
///   throws      errors::DataLossError if the bytes are not an Example; errors::InvalidArgumentError, naming the
///               feature, if it is missing without a default, or has values of another kind or number; otherwise as
///               ExampleParser
TANDEM_API ParsedFeatures parse_single_example(std::string_view serialized, const FeatureConfigs& features);
TANDEM_API ParsedFeatures parse_single_example(const Tensor& serialized, const FeatureConfigs& features);
/// Reads serialized Examples as one batch.
///   serialized  string [n], or their bytes
///   returns     for a FixedLenFeature [n, shape...]; for a VarLenFeature the values of all Examples, one Example after
///               the other, and row_lengths [n]
///   throws      as parse_single_example, with the number of the Example
TANDEM_API ParsedFeatures parse_example(Span<const std::string_view> serialized, const FeatureConfigs& features);
TANDEM_API ParsedFeatures parse_example(const Tensor& serialized, const FeatureConfigs& features);

/// The bytes of Examples that are given in the JSON form of protocol buffers, for parse_example:
/// {"features": {"feature": {"x": {"int64List": {"value": ["1", 2]}}, "y": {"bytesList": {"value": ["aGVsbG8="]}}}}}.
/// Names of fields may be in camel case or with underscores; bytes are in base64.
///   json_examples  texts, of any shape
///   returns        string, the same shape
///   throws         errors::InvalidArgumentError with the number of the Example for what is not the JSON of one
TANDEM_API Tensor decode_json_example(const Tensor& json_examples);

struct ParsedSequence {
  ParsedFeatures context, feature_lists;
};
/// Reads SequenceExamples, as ExampleParser does Examples. Those of feature_lists are FixedLenSequenceFeature and
/// VarLenFeature.
class TANDEM_API SequenceExampleParser {
 public:
  SequenceExampleParser(const FeatureConfigs& context_features, const FeatureConfigs& sequence_features);
  ParsedSequence parse_single(std::string_view serialized) const;
  ParsedSequence parse(Span<const std::string_view> serialized) const;

 private:
  ParsedFeatures lists(Span<const std::string_view> serialized, bool single) const;

  ExampleParser context_;
  std::shared_ptr<const std::vector<std::string>> keys_;
  std::vector<FeatureConfig> configs_;
};
/// Reads one serialized SequenceExample.
///   returns  the context as parse_single_example; of the feature lists for a FixedLenSequenceFeature [steps,
///            shape...], for a VarLenFeature the values of all steps, and row_lengths [steps]
///   throws   as parse_single_example
TANDEM_API ParsedSequence parse_single_sequence_example(std::string_view serialized,
                                                        const FeatureConfigs& context_features,
                                                        const FeatureConfigs& sequence_features);
/// Reads serialized SequenceExamples as one batch.
///   returns  the context as parse_example; of the feature lists for a FixedLenSequenceFeature [n, steps, shape...],
///            where shorter sequences end in zeros or empty strings, and steps [n]; for a VarLenFeature the values of
///            all steps of all records, their row_lengths, and steps [n]
///   throws   as parse_example
TANDEM_API ParsedSequence parse_sequence_example(Span<const std::string_view> serialized,
                                                 const FeatureConfigs& context_features,
                                                 const FeatureConfigs& sequence_features);

}  // namespace TANDEM_NS::io
