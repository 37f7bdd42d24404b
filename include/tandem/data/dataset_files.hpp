// Data sets of files: lines of text, TFRecord, WebDataset, JSON Lines. Part of the component tandem::data. Not here:
// the readers (tandem/io.hpp), tables of CSV files in memory (csv.hpp).
#pragma once
#include <string>
#include <vector>

#include "tandem/data/csv_reader.hpp"
#include "tandem/data/dataset.hpp"
#include "tandem/data/dataset/files.hpp"
#include "tandem/io/json_lines.hpp"
#include "tandem/io/tar.hpp"
#include "tandem/io/text_lines.hpp"
#include "tandem/io/tfrecord.hpp"

namespace TANDEM_NS::data {

/// One path or several, that are read one after another.
class Paths {
 public:
  Paths(const char* path) : paths_{path} {}
  Paths(std::string path) : paths_{std::move(path)} {}
  Paths(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  Paths(std::initializer_list<std::string> paths) : paths_(paths) {}
  const std::vector<std::string>& list() const { return paths_; }

 private:
  std::vector<std::string> paths_;
};

/// The paths that match patterns of the shell, as "data/*.tfrecord" (glob(3): *, ? and [...], which do not match a
/// slash; * and ? no leading dot), sorted by their bytes, each once. Indexed: TensorFlow's list_files is this with
/// .shuffle().
///   throws  errors::NotFoundError if a pattern matches nothing; errors::UnavailableError if a folder cannot be read
TANDEM_API Dataset<std::string> list_files(const Paths& patterns);

/// The lines of text files, without their ends. A stream; its errors are those of io::TextLineReader.
///   throws  errors::NotFoundError for a path that is not a file
class TextLineDataset : public Dataset<std::string> {
 public:
  TANDEM_API explicit TextLineDataset(const Paths& paths, io::TextLineOptions options = {});
};

struct TFRecordDatasetOptions {
  io::Compression compression = io::Compression::none;
  bool check_crc = true;
  /// The data set is indexed: it can be shuffled as a whole, and begin anywhere at no cost. The first use of a file
  /// reads it once, and writes its index beside it (io::TFRecordFile). Not for compressed files.
  bool index = false;
};
/// The records of TFRecord files, one file after another; its errors are those of io::TFRecordReader. Parse them in
/// batches, which is faster: ds.batch(128).map([=](const Tensor& records) { return io::parse_example(records,
/// features); }).
class TFRecordDataset : public Dataset<std::string> {
 public:
  ///   throws  errors::NotFoundError for a path that is not a file; errors::InvalidArgumentError for an index of
  ///           compressed files; with an index also what reading a damaged file raises
  TANDEM_API explicit TFRecordDataset(const Paths& paths, TFRecordDatasetOptions options = {});
};

/// Batches of records of CSV files, one file after another: for each column a tensor [batch_size], as data::CsvReader
/// reads them with these defaults. A stream; .unbatch() has the records one by one.
///   throws  errors::NotFoundError for a path that is not a file; the first iteration what CsvReader's constructor
///   throws
class CsvDataset : public Dataset<std::vector<Tensor>> {
 public:
  TANDEM_API CsvDataset(const Paths& paths, std::vector<Tensor> record_defaults, CsvReaderOptions options = {});
};

/// The samples of WebDataset shards (tar archives), one shard after another. A stream.
class WebDataset : public Dataset<io::WebDatasetSample> {
 public:
  TANDEM_API explicit WebDataset(const Paths& paths, io::TarOptions options = {});
};

/// The objects of JSON Lines files, as the tensors of these features (io::JsonLinesReader). A stream.
class JsonLinesDataset : public Dataset<io::ParsedFeatures> {
 public:
  TANDEM_API JsonLinesDataset(const Paths& paths, io::FeatureConfigs features, io::TextLineOptions options = {});
};

}  // namespace TANDEM_NS::data
