// Files of JSON Lines: an object in each line (https://jsonlines.org), as tensors. Part of the component tandem::io.
#pragma once
#include <string>

#include "tandem/io/parse_example.hpp"
#include "tandem/io/text_lines.hpp"

namespace TANDEM_NS::io {

/// Reads the objects of a file one after the other. Empty lines are skipped.
///
///   io::JsonLinesReader reader("train.jsonl", {{"text", io::FixedLenFeature{{}, string}},
///                                              {"label", io::FixedLenFeature{{}, int64}}});
///   for (io::ParsedFeatures record; reader.next(record);) use(record["text"], record["label"]);
class TANDEM_API JsonLinesReader {
 public:
  /// Features of the objects: for a FixedLenFeature a number, text or nested lists of the feature's shape; for a
  /// VarLenFeature a list of any length. A key that an object does not have, and null, is a missing feature.
  ///   throws  as TextLineReader and as ExampleParser
  JsonLinesReader(const std::string& path, const FeatureConfigs& features, TextLineOptions = {});

  /// Reads the next object; false at the end of the file.
  ///   returns  for a FixedLenFeature a tensor of its shape, for a VarLenFeature [n]. int64 takes integers, true and
  ///            false; float32 all numbers
  ///   throws   errors::DataLossError, naming file, line, byte offset and column, if a line is not a JSON object;
  ///            errors::InvalidArgumentError, naming the line and the feature, if that is missing without a default, or
  ///            has other values: the next call reads the next line; otherwise as TextLineReader::next
  bool next(ParsedFeatures& record);
  i64 position() const { return lines_.position(); }
  void seek(i64 position) { lines_.seek(position); }

 private:
  TextLineReader lines_;
  std::shared_ptr<const std::vector<std::string>> keys_;
  std::vector<FeatureConfig> configs_;
};

}  // namespace TANDEM_NS::io
