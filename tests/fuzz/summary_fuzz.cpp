// libFuzzer target: any bytes given to the reader of event files are read or refused by DataLossError. The first byte
// of an input says what the others are: a file (whose first length gets the right checksum), an event, the fields of a
// value of some plugin, or a tensor.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/io/crc32c.hpp"
#include "tandem/summary/plugin_data.hpp"
#include "tandem/summary/reader.hpp"
#include "tandem/summary/wire.hpp"
#include "tests/fuzz/file.hpp"

namespace {

using namespace tandem;

// Reads all events, also behind errors, of which there are at most as many as bytes.
void check_file(std::string bytes) {
  if (bytes.size() >= 12) {
    const std::uint32_t crc = io::masked_crc32c(io::crc32c(std::string_view(bytes).substr(0, 8)));
    std::memcpy(bytes.data() + 8, &crc, 4);
  }
  const FuzzFile file(bytes);
  summary::EventReader reader(file.path());
  std::size_t count = 0;
  summary::Event event;
  for (bool more = true; more;) {
    try {
      more = reader.next(event);
    } catch (const errors::DataLossError&) {
    }
    if (++count > bytes.size() + 2) __builtin_trap();
  }
}
void check_plugin_data(const std::string& bytes) {
  std::vector<summary::GraphOp> ops;
  if (summary::parse_graph(bytes, ops) && ops.size() > bytes.size()) __builtin_trap();
  summary::HParamsRecord record;
  if (summary::parse_hparams(bytes, record) && record.hparams.size() > bytes.size()) __builtin_trap();
}
// What was decoded is not larger than the bytes allow.
void check_event(const std::string& bytes) {
  summary::detail::TagInfos tags;
  summary::Event event;
  if (!summary::detail::parse_event(bytes, tags, event)) return;
  check_plugin_data(event.graph);
  for (const summary::Value& v : event.values) {
    check_plugin_data(v.plugin_content);
    const auto* const histogram = std::get_if<summary::Histogram>(&v.content);
    if (histogram && histogram->buckets.size() > std::size_t{1} << 20) __builtin_trap();
    const auto* const texts = std::get_if<summary::Texts>(&v.content);
    if (texts && texts->texts.size() > bytes.size()) __builtin_trap();
  }
}
std::string event_of(const char* plugin, const std::string& fields, bool is_tensor) {
  std::string event;
  summary::detail::append_message(event, 5, [&] {
    summary::detail::append_message(event, 1, [&] {
      summary::detail::append_field(event, 1, "tag");
      event += summary::detail::metadata_of({.name = plugin, .data_class = 2}, "");
      if (is_tensor) summary::detail::append_field(event, 8, fields);
      else event += fields;
    });
  });
  return event;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  static constexpr const char* plugins[] = {"scalars", "histograms", "images", "text", "audio", "pr_curves"};
  switch (data[0] & 3) {
    case 0: check_file(bytes); break;
    case 1: check_event(bytes); break;
    default: check_plugin_data(bytes); check_event(event_of(plugins[(data[0] >> 2) % 6], bytes, data[0] & 1));
  }
  return 0;
}
