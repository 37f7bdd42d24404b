// libFuzzer target: any bytes given to the readers of records are read or refused by one of the errors that they
// declare. The first byte of an input says what the others are: a TFRecord file (whose first length gets the right
// checksum, or which is compressed), its index, an Example, a SequenceExample, a tar archive, JSON lines or lines of
// text.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tandem/core/tensor.hpp"
#include "tandem/io/crc32c.hpp"
#include "tandem/io/example.hpp"
#include "tandem/io/json_lines.hpp"
#include "tandem/io/parse_example.hpp"
#include "tandem/io/tar.hpp"
#include "tandem/io/tfrecord.hpp"
#include "tests/fuzz/file.hpp"

namespace {

using namespace tandem;

template <class F>
bool attempt(const F& f) {
  try {
    f();
    return true;
  } catch (const errors::DataLossError&) {
  } catch (const errors::InvalidArgumentError&) {    // features that are missing or of another kind
  } catch (const errors::ResourceExhaustedError&) {  // limits
  }
  return false;
}
constexpr i64 most = 1 << 20;

// Reads all records, also behind errors, of which there are at most as many as bytes; then the last one again.
template <class Reader, class Record>
void read_all(Reader reader, Record record, std::size_t bytes) {
  i64 before = reader.position(), last = before;
  std::size_t count = 0;
  for (bool more = true; more;) {
    before = reader.position();
    if (attempt([&] { more = reader.next(record); }) && more) last = before;
    if (++count > bytes + 2) __builtin_trap();
  }
  attempt([&] {
    reader.seek(last);
    reader.next(record);
  });
}

const io::FeatureConfigs configs{{"a", io::FixedLenFeature{{2}, float32}},
                                 {"b", io::VarLenFeature{int64}},
                                 {"c", io::VarLenFeature{tandem::string}},
                                 {"d", io::VarLenFeature{float32}}};
const io::FeatureConfigs of_steps{{"a", io::FixedLenSequenceFeature{{2}, float32, true}},
                                  {"b", io::VarLenFeature{int64}}};

void check_example(const std::string& bytes) {
  static const io::ExampleParser parser(configs);
  attempt([&] { (void)parser.parse_single(bytes); });
  const std::string_view two[] = {bytes, bytes};
  attempt([&] { (void)parser.parse(two); });
  attempt([&] {
    const std::string again = train::Example::parse(bytes).serialize();
    if (train::Example::parse(again).serialize() != again) __builtin_trap();
  });
}
void check_sequence(const std::string& bytes) {
  static const io::SequenceExampleParser parser({}, of_steps);
  attempt([&] { (void)parser.parse_single(bytes); });
  attempt([&] {
    const std::string again = train::SequenceExample::parse(bytes).serialize();
    if (train::SequenceExample::parse(again).serialize() != again) __builtin_trap();
  });
}
// Gives the length at the beginning its checksum.
std::string with_checksum(std::string bytes) {
  if (bytes.size() < 12) return bytes;
  const std::uint32_t crc = io::masked_crc32c(io::crc32c(std::string_view(bytes).substr(0, 8)));
  std::memcpy(bytes.data() + 8, &crc, 4);
  return bytes;
}
// A file with an index that may be damaged.
void check_index(const std::string& bytes) {
  const FuzzFile index(bytes), file(with_checksum(std::string("\1\0\0\0\0\0\0\0....x....", 17)));
  attempt([&] {
    const io::TFRecordFile records(file.path(), {.index = index.path(), .write_index = false, .check_crc = false});
    for (i64 i = 0; i < records.size(); ++i) attempt([&] { (void)records.at(i); });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t n = bytes.size();
  const auto records = [&](const std::string& content, io::TFRecordOptions options) {
    const FuzzFile file(content);
    read_all(io::TFRecordReader(file.path(), options), std::string(), n);
    attempt([&] { (void)io::TFRecordFile(file.path(), {.write_index = false}); });
  };
  switch (data[0] & 7) {
    case 0: records(with_checksum(bytes), {.check_crc = (data[0] & 8) != 0}); break;
    case 1: records("\x1f\x8b\x08" + bytes, {.compression = io::Compression::gzip, .max_record_bytes = most}); break;
    case 2: check_example(bytes); break;
    case 3: check_sequence(bytes); break;
    case 4: {
      const FuzzFile file(bytes);
      read_all(io::WebDatasetReader(file.path(), {.max_file_bytes = most}), io::WebDatasetSample(), n);
      break;
    }
    case 5: {
      const FuzzFile file(bytes);
      read_all(io::JsonLinesReader(file.path(), configs, {.max_line_bytes = most}), io::ParsedFeatures(), n);
      break;
    }
    case 6: {
      const FuzzFile file(bytes);
      read_all(io::TextLineReader(file.path(), {.max_line_bytes = 100}), std::string(), n);
      break;
    }
    default: check_index(bytes);
  }
  return 0;
}
