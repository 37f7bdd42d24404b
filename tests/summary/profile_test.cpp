// write_profile: the messages are those of XLA's profiler, as protoc reads them. (What TensorBoard's plugin shows:
// tests/readers/profile.py.)
#include "tandem/summary/profile.hpp"

#include <thread>

#include "tandem/tandem.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/protoc.hpp"

namespace profile_test {
using namespace tandem;
using testing::TemporaryFolder;

constexpr char definitions[] = R"(syntax = "proto3";
package profiler;
message XSpace {
  repeated XPlane planes = 1;
  repeated string errors = 2;
  repeated string warnings = 3;
  repeated string hostnames = 4;
}
message XPlane {
  int64 id = 1;
  string name = 2;
  repeated XLine lines = 3;
  map<int64, XEventMetadata> event_metadata = 4;
  map<int64, XStatMetadata> stat_metadata = 5;
  repeated XStat stats = 6;
}
message XLine {
  int64 id = 1;
  string name = 2;
  int64 timestamp_ns = 3;
  repeated XEvent events = 4;
  int64 duration_ps = 9;
  int64 display_id = 10;
  string display_name = 11;
}
message XEvent {
  int64 metadata_id = 1;
  oneof data { int64 offset_ps = 2; int64 num_occurrences = 5; }
  int64 duration_ps = 3;
  repeated XStat stats = 4;
}
message XStat {
  int64 metadata_id = 1;
  oneof value {
    double double_value = 2;
    uint64 uint64_value = 3;
    int64 int64_value = 4;
    string str_value = 5;
    bytes bytes_value = 6;
    uint64 ref_value = 7;
  }
}
message XEventMetadata { int64 id = 1; string name = 2; bytes metadata = 3; string display_name = 4; }
message XStatMetadata { int64 id = 1; string name = 2; string description = 3; }
)";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
std::string decoded(const std::string& path) {
  return testing::Protoc(definitions).run("--decode=profiler.XSpace", testing::bytes_of_file(path));
}

TEST_CASE("a profile has each event with its thread, times, shapes and name") {
  if (!testing::Protoc::found()) TANDEM_SKIP("there is no protoc");
  const TemporaryFolder folder;
  Profiler profiler;
  {
    const ProfileScope step("step 12");
    matmul(ones({2, 3}), ones({3, 4}), {.name = "product"});
    std::thread([] { matmul(ones({5, 3}), ones({3, 4}), {.name = "product"}); }).join();
  }
  const ProfileScope open("not ended");
  profiler.stop();
  const std::string path = summary::write_profile(profiler, folder.path, {.run = "a run", .host = "box"});
  CHECK(path == folder / "plugins/profile/a run/box.xplane.pb");
  const std::string text = decoded(path);
  INFO(text);
  CHECK(count(text, "name: \"/host:CPU\"") == 1);
  CHECK(count(text, "hostnames: \"box\"") == 1);
  CHECK(count(text, "\n  lines {") == 2);  // threads
  CHECK(count(text, "warnings") == 0);
  CHECK(count(text, "name: \"product:matmul\"") == 1);  // once, for two events
  CHECK(count(text, "str_value: \"float32[2,3] x float32[3,4] -> float32[2,4]\"") == 1);
  CHECK(count(text, "str_value: \"float32[5,3] x float32[3,4] -> float32[5,4]\"") == 1);
  CHECK(count(text, "int64_value: " + std::to_string(4 * (6 + 12 + 8))) == 1);  // bytes
  CHECK(count(text, "name: \"step\"") == 1);
  CHECK(count(text, "name: \"step_num\"") == 1);
  CHECK(count(text, "int64_value: 12\n") == 1);
  CHECK(count(text, "not ended") == 0);
  const auto events = profiler.events();
  CHECK(count(text, "\n    events {") == events.size());
  for (const ProfileEvent& e : events) {
    CHECK(count(text, "offset_ps: " + std::to_string(e.start * 1000) +
                          "\n      duration_ps: " + std::to_string(e.duration * 1000) + "\n") >= 1);
  }
}

TEST_CASE("a profile has events as they began, each before what it contains") {
  if (!testing::Protoc::found()) TANDEM_SKIP("there is no protoc");
  const TemporaryFolder folder;
  Profiler first;
  {
    const ProfileScope step("step 3");
    const ProfileScope part("part");
    const ProfileScope inner("step by step");
  }
  first.stop();
  Profiler second;
  { const ProfileScope step("step 4"); }
  second.stop();
  const std::string text = decoded(summary::detail::write_profile({{&first, 5'000'000'000}, {&second, 7'000'000'000}},
                                                                  folder.path, {.host = "box"}));
  INFO(text);
  CHECK(count(text, "\n    events {") == 4);
  CHECK(count(text, "int64_value: 3\n") == 1);
  CHECK(count(text, "int64_value: 4\n") == 1);
  // Names are numbered in the order of the events.
  const auto number_of = [&](const std::string& name) {
    const std::size_t at = text.find("name: \"" + name + "\"");
    REQUIRE(at != text.npos);
    return text.substr(text.rfind("id: ", at), 5);
  };
  CHECK(number_of("step") == "id: 1");
  CHECK(number_of("part") == "id: 2");
  CHECK(number_of("step by step") == "id: 3");
  const std::vector<ProfileEvent> of_second = second.events();
  REQUIRE(of_second.size() == 1);
  CHECK(count(text, "offset_ps: " + std::to_string((of_second[0].start + 2'000'000'000) * 1000) + "\n") == 1);
}

TEST_CASE("a profile says what it lacks, and has a folder for each run") {
  const TemporaryFolder folder;
  Profiler profiler({.max_events = 1});
  for (int i = 0; i < 3; ++i) ones({2}) + ones({2});
  const std::string path = summary::write_profile(profiler, folder / "logs");
  const std::string host = path.substr(path.rfind('/') + 1);
  CHECK(path.starts_with(folder / "logs/plugins/profile/20"));
  CHECK(host.ends_with(".xplane.pb"));
  CHECK(host.size() > std::string(".xplane.pb").size());
  CHECK(testing::bytes_of_file(path).find(std::to_string(profiler.dropped()) + " events were dropped") !=
        std::string::npos);
  for (const char* name : {"a/b", "..", "."})
    for (const bool is_run : {false, true}) {
      summary::ProfileOptions o;
      (is_run ? o.run : o.host) = name;
      const std::string error =
          testing::error_of<errors::InvalidArgumentError>([&] { summary::write_profile(profiler, folder.path, o); });
      CHECK(error.find(name) != error.npos);
    }
  CHECK(!std::filesystem::exists(folder / "plugins"));
  const std::string file = folder.file("file", "");
  CHECK(testing::error_of<errors::UnavailableError>([&] { summary::write_profile(profiler, file); }).find(file) !=
        std::string::npos);
}

}  // namespace profile_test
