// Reading event files: folders, torn ends, damage, what TensorFlow 1 wrote.
#include <algorithm>
#include <tuple>

#include "tandem/io/file.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/summary/functions.hpp"
#include "tandem/summary/wire.hpp"
#include "tests/io/files.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;

namespace {

// The bytes of a file with one value of each kind.
std::string good_file(const testing::TemporaryFolder& folder) {
  summary::FileWriter writer(folder / "good");
  writer.scalar("s", 1.5, {.step = 1, .description = "d"});
  writer.histogram("h", constant({1.f, 2.f}), {.step = 1, .buckets = 2});
  writer.text("t", "x", {.step = 1});
  writer.image("i", zeros({1, 1, 1, 1}), {.step = 1});
  writer.scalar("s", 2.5, 2);
  writer.close();
  return testing::content_of(writer.path());
}

}  // namespace

TEST_CASE("event reader: files of a folder, in the order of their names") {
  const testing::TemporaryFolder folder;
  const std::string bytes = good_file(folder);
  const std::string run = folder / "run";
  io::write_file(run + "/events.out.tfevents.2", bytes), io::write_file(run + "/events.out.tfevents.1", bytes);
  io::write_file(run + "/notes.txt", "not an event file"), io::write_file(run + "/sub/events.out.tfevents.3", bytes);
  summary::EventReader reader(run);
  std::vector<std::string> files;
  for (summary::Event e; reader.next(e);) {
    if (!e.file_version.empty()) files.push_back(reader.path().substr(run.size()));
    for (const auto& v : e.values) CHECK(v.description == (v.tag == "s" ? "d" : ""));
  }
  CHECK(files == std::vector<std::string>{"/events.out.tfevents.1", "/events.out.tfevents.2"});
  CHECK(summary::read_events(run + "/events.out.tfevents.1").size() == 6);
  CHECK_THROWS_AS(summary::EventReader(folder / "missing"), errors::NotFoundError);
  io::ensure_directory(folder / "empty");
  CHECK_THROWS_AS(summary::EventReader(folder / "empty"), errors::NotFoundError);
}

TEST_CASE("event reader: a torn record is the end, a damaged one an error that names its place") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder / "good");
  writer.scalar("s", 1.5, 1), writer.text("t", "x", {.step = 1}), writer.scalar("s", 2.5, 2);
  writer.close();
  const std::string good = testing::content_of(writer.path());
  std::vector<std::size_t> ends{0};  // of records
  io::TFRecordReader records(writer.path());
  for (std::string_view r; records.next(r);) ends.push_back(static_cast<std::size_t>(records.position()));
  REQUIRE(ends.size() == 5);
  std::size_t wrong = 0;
  testing::for_each_damage(good, [&](const std::string& bytes, bool is_prefix) {
    const std::string path = folder.file("damaged", bytes);
    if (is_prefix) {
      const auto complete = std::upper_bound(ends.begin(), ends.end(), bytes.size()) - ends.begin() - 1;
      wrong += summary::read_events(path).size() != static_cast<std::size_t>(complete);
    } else {
      const std::string error = testing::error_of<errors::DataLossError>([&] { summary::read_events(path); });
      wrong += error.find(path + ": record ") == std::string::npos;
    }
  });
  CHECK(wrong == 0);
  std::string bytes = good;
  bytes[ends[2] + 20] ^= 1;
  summary::EventReader reader(folder.file("damaged", bytes));
  summary::Event e;
  CHECK((reader.next(e) && reader.next(e)));
  CHECK_THAT(testing::error_of<errors::DataLossError>([&] { reader.next(e); }),
             ContainsSubstring("damaged: record 2 at byte " + std::to_string(ends[2]) + ": the checksum of its bytes"));
  CHECK((reader.next(e) && e.step == 2));  // goes on behind it
}

TEST_CASE("event reader: bytes that are not an event") {
  const testing::TemporaryFolder folder;
  for (const char* const bad : {"\xff", "\x2a\x05zz", "\x2a\x02\x0a\x7f"}) {
    io::TFRecordWriter writer(folder / "x");
    writer.write(bad);
    writer.close();
    CHECK_THROWS_AS(summary::read_events(folder / "x"), errors::DataLossError);
  }
}

TEST_CASE("event reader: a tensor that is not what its plugin writes is bytes") {
  using namespace summary::detail;
  const testing::TemporaryFolder folder;
  // A value of this plugin with a tensor of this shape, and one number or text.
  const auto content_of = [&](const char* plugin, const std::vector<i64>& shape, bool is_text) {
    std::string event;
    append_message(event, 5, [&] {
      append_message(event, 1, [&] {
        append_field(event, 1, "x");
        append_message(event, 8, [&] {
          append_integer(event, 1, is_text ? 7 : 1);
          append_message(event, 2, [&] { append_dims(event, shape); });
          if (is_text) append_field(event, 8, "1");
          else append_fixed(event, 5, 2.f);
        });
        event += metadata_of({.name = plugin, .data_class = 2}, "");
      });
    });
    io::TFRecordWriter writer(folder / "x");
    writer.write(event);
    writer.close();
    return testing::values_of(folder / "x").at(0).value.content;
  };
  const i64 huge = i64{1} << 60;
  CHECK(std::holds_alternative<double>(content_of("scalars", {1}, false)));
  CHECK(std::get<summary::Histogram>(content_of("histograms", {2, 3}, false)).buckets.size() == 2);  // filled
  CHECK(std::get<summary::Texts>(content_of("text", {1, 1}, true)).texts.size() == 1);
  for (const auto& [plugin, shape, is_text] :
       std::vector<std::tuple<const char*, std::vector<i64>, bool>>{{"scalars", {2}, false},
                                                                    {"scalars", {huge, huge}, false},
                                                                    {"scalars", {}, true},
                                                                    {"histograms", {huge, 3}, false},
                                                                    {"histograms", {3}, false},
                                                                    {"images", {1}, true},
                                                                    {"text", {2}, true},
                                                                    {"audio", {huge, 0}, true},
                                                                    {"other", {}, false}})
    CHECK(std::holds_alternative<summary::OtherValue>(content_of(plugin, shape, is_text)));
}
