// tf.train.Example and SequenceExample: named lists of bytes, floats and integers, as TensorFlow keeps them in TFRecord
// files. Part of the component tandem::io. Not here: reading them as tensors (io/parse_example.hpp).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::train {

struct BytesList {
  std::vector<std::string> value;
  bool operator==(const BytesList&) const = default;
};
struct FloatList {
  std::vector<float> value;
  bool operator==(const FloatList&) const = default;
};
struct Int64List {
  std::vector<i64> value;
  bool operator==(const Int64List&) const = default;
};
/// The values of a feature, of one kind or none.
struct Feature {
  std::variant<std::monostate, BytesList, FloatList, Int64List> list;

  Feature() = default;
  Feature(BytesList l) : list(std::move(l)) {}
  Feature(FloatList l) : list(std::move(l)) {}
  Feature(Int64List l) : list(std::move(l)) {}
  bool operator==(const Feature&) const = default;
};
struct Features {
  std::map<std::string, Feature> feature;
  bool operator==(const Features&) const = default;
};

/// A record of named features.
///
///   const train::Example example{{{{"label", train::Int64List{{7}}}, {"image", train::BytesList{{pixels}}}}}};
///   writer.write(example.serialize());
struct TANDEM_API Example {
  Features features;

  /// The bytes of the protocol buffer, features in the order of their names; numbers are packed.
  std::string serialize() const;
  /// Reads what serialize, or another implementation of protocol buffers, has written. Unknown fields are ignored; of
  /// two features of one name, and of two lists in one feature, the last one counts.
  ///   throws  errors::DataLossError if the bytes are not an Example
  static Example parse(std::string_view bytes);
  bool operator==(const Example&) const = default;
};

struct FeatureList {
  std::vector<Feature> feature;
  bool operator==(const FeatureList&) const = default;
};
struct FeatureLists {
  std::map<std::string, FeatureList> feature_list;
  bool operator==(const FeatureLists&) const = default;
};
/// A record of features that hold for a whole sequence (context), and of features at each of its steps.
struct TANDEM_API SequenceExample {
  Features context;
  FeatureLists feature_lists;

  /// As those of Example.
  std::string serialize() const;
  static SequenceExample parse(std::string_view bytes);
  bool operator==(const SequenceExample&) const = default;
};

}  // namespace TANDEM_NS::train
