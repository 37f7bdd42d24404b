// What the tests of summaries share: the bytes of records, folders of event files.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tandem/io/tfrecord.hpp"
#include "tandem/summary/reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace testing {

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline std::vector<std::string> records_of(const std::string& path) {
  std::vector<std::string> records;
  tandem::io::TFRecordReader reader(path);
  for (std::string record; reader.next(record);) records.push_back(record);
  return records;
}
inline std::vector<std::string> event_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) files.push_back(entry.path().string());
  return files;
}
/// The values of a file or folder, in order, without the events that have none.
struct Written {
  tandem::i64 step;
  tandem::summary::Value value;
};
inline std::vector<Written> values_of(const std::string& path) {
  std::vector<Written> r;
  for (const auto& event : tandem::summary::read_events(path))
    for (const auto& value : event.values) r.push_back({event.step, value});
  return r;
}

}  // namespace testing
