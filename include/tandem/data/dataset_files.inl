// Definitions of data/dataset_files.hpp.
#pragma once
#include <errno.h>
#include <glob.h>

#include <algorithm>
#include <system_error>

#include "tandem/data/dataset_files.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::data {

namespace detail {

TANDEM_INLINE void check_paths(const char* op, const std::vector<std::string>& paths) {
  if (paths.empty()) errors::raise<errors::InvalidArgumentError>(op, "there is no path");
  for (const std::string& path : paths) io::detail::RegularFile(op, path);  // raises if it cannot be read
}

template <class T, class R, class Open>
Dataset<T> dataset_of_files(const char* name, const Paths& paths, Open open) {
  return Dataset<T>(std::make_shared<Files<T, R, Open>>(name, paths.list(), std::move(open)));
}

// The paths that a pattern matches.
inline std::vector<std::string> matches(const std::string& pattern) {
  struct Found : glob_t {
    Found() : glob_t{} {}
    Found(const Found&) = delete;
    ~Found() { globfree(this); }
  } found;
  const auto stops = [](const char*, int error) { return int{error != ENOENT}; };  // not for a link to nothing
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, stops, &found);
  if (status == GLOB_NOMATCH) errors::raise<errors::NotFoundError>("list_files", "no path matches " + pattern);
  if (status != 0)
    errors::raise<errors::UnavailableError>(
        "list_files",
        "cannot list " + pattern + ": " + std::generic_category().message(status == GLOB_NOSPACE ? ENOMEM : errno));
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

inline Dataset<std::string> tf_records(const Paths& paths, const TFRecordDatasetOptions& o) {
  const char* const op = "TFRecordDataset";
  if (!o.index)
    return dataset_of_files<std::string, io::TFRecordReader>(op, paths, [o](const std::string& path) {
      return io::TFRecordReader(path, {.compression = o.compression, .check_crc = o.check_crc});
    });
  if (o.compression != io::Compression::none)
    errors::raise<errors::InvalidArgumentError>(
        op, "compressed files have no index: records begin where inflating comes to them");
  check_paths(op, paths.list());
  std::vector<std::unique_ptr<io::TFRecordFile>> files;
  for (const std::string& path : paths.list())
    files.push_back(std::make_unique<io::TFRecordFile>(path, io::TFRecordFileOptions{.check_crc = o.check_crc}));
  return Dataset<std::string>(std::make_shared<IndexedFiles<io::TFRecordFile>>(op, std::move(files)));
}

}  // namespace detail

TANDEM_INLINE Dataset<std::string> list_files(const Paths& patterns) {
  std::vector<std::string> r;
  for (const std::string& pattern : patterns.list())
    for (std::string& path : detail::matches(pattern)) r.push_back(std::move(path));
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  return from_items(std::move(r));
}
TANDEM_INLINE TextLineDataset::TextLineDataset(const Paths& paths, io::TextLineOptions options)
    : Dataset(detail::dataset_of_files<std::string, io::TextLineReader>(
          "TextLineDataset", paths, [options](const std::string& path) { return io::TextLineReader(path, options); })) {
}
TANDEM_INLINE TFRecordDataset::TFRecordDataset(const Paths& paths, TFRecordDatasetOptions options)
    : Dataset(detail::tf_records(paths, options)) {}
TANDEM_INLINE CsvDataset::CsvDataset(const Paths& paths, std::vector<Tensor> record_defaults, CsvReaderOptions options)
    : Dataset(detail::dataset_of_files<std::vector<Tensor>, CsvReader>(
          "CsvDataset", paths,
          [defaults = std::move(record_defaults), options = std::move(options)](const std::string& path) {
            return CsvReader(path, defaults, options);
          })) {}
TANDEM_INLINE WebDataset::WebDataset(const Paths& paths, io::TarOptions options)
    : Dataset(detail::dataset_of_files<io::WebDatasetSample, io::WebDatasetReader>(
          "WebDataset", paths, [options](const std::string& path) { return io::WebDatasetReader(path, options); })) {}
TANDEM_INLINE JsonLinesDataset::JsonLinesDataset(const Paths& paths, io::FeatureConfigs features,
                                                 io::TextLineOptions options)
    : Dataset(detail::dataset_of_files<io::ParsedFeatures, io::JsonLinesReader>(
          "JsonLinesDataset", paths, [features = std::move(features), options](const std::string& path) {
            return io::JsonLinesReader(path, features, options);
          })) {}

}  // namespace TANDEM_NS::data
