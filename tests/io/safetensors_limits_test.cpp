// What is saved can be loaded: each limit of the reader is one of the writer. And headers of many parts cost no more
// than their length.
#include <filesystem>
#include <random>

#include "tandem/graph/trace/function.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct File {
  std::string path = (fs::temp_directory_path() / ("tandem_limits_" + std::to_string(std::random_device()()))).string();
  ~File() { fs::remove(path); }
};
std::string file_of(const std::string& header, const std::string& data = {}) {
  std::string r(8, '\0');
  for (int i = 0; i < 8; ++i) r[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i));
  return r + header + data;
}
io::Safetensors parse(const std::string& s) { return io::parse_safetensors(s.data(), s.size(), "memory"); }

}  // namespace

TEST_CASE("a header of 32 MiB is saved and loaded, a longer one is not saved") {
  const File file;
  const auto save = [&](std::size_t bytes) {
    io::save_safetensors(file.path, {}, {{"note", std::string(bytes, 'x')}});
  };
  const std::size_t around = std::string(R"({"__metadata__":{"crc32c":"00000000","note":""}})").size(),
                    most = (std::size_t{32} << 20) - around;
  save(most);
  CHECK(io::load_safetensors(file.path).metadata.at("note").size() == most);
  CHECK(io::load_safetensors_metadata(file.path).at("note").size() == most);
  CHECK_THROWS_AS(save(most + 1), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(save(most + 1), ContainsSubstring("33554440 bytes") && ContainsSubstring("limit of 33554432"));
  CHECK(io::load_safetensors_metadata(file.path).at("note").size() == most);
  const Variable v(ones({2}), {.name = "v"});
  CHECK_THROWS_AS(train::Checkpoint({{"v", v}}).save(file.path, {{"note", std::string(most, 'x')}}),
                  errors::InvalidArgumentError);
}

TEST_CASE("names and metadata that are not UTF-8 are refused by save, with their escaped form") {
  const File file;
  const Tensor t = ones({1});
  for (const char* bad : {"a\xff", "\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"}) {
    CHECK_THROWS_AS(io::save_safetensors(file.path, {{bad, t}}), errors::InvalidArgumentError);
    CHECK_THROWS_AS(io::save_safetensors(file.path, {}, {{bad, "text"}}), errors::InvalidArgumentError);
    CHECK_THROWS_AS(io::save_safetensors(file.path, {}, {{"key", bad}}), errors::InvalidArgumentError);
  }
  CHECK_THROWS_WITH(io::save_safetensors(file.path, {{"a\xff", t}, {"a\xfe", t}}),
                    ContainsSubstring("the name \"a\\xff\" is not UTF-8"));
  CHECK_THROWS_WITH(io::save_safetensors(file.path, {}, {{"key", "x\xfe"}}), ContainsSubstring("\"key\", \"x\\xfe\""));
  const Variable v(ones({2}), {.name = "v"});
  CHECK_THROWS_WITH(train::Checkpoint({{"w\xe9", v}}).save(file.path), ContainsSubstring("w\\xe9"));
  CHECK_FALSE(fs::exists(file.path));

  const std::vector<std::string> names{"", std::string("a\0b", 3), "caf\xc3\xa9", "\xf4\x8f\xbf\xbf", "\x7f", "\"\\\n"};
  std::vector<io::NamedTensor> tensors;
  io::Metadata metadata;
  for (const std::string& name : names) tensors.push_back({name, t}), metadata[name] = name;
  io::save_safetensors(file.path, tensors, metadata);
  const io::Safetensors r = io::load_safetensors(file.path);
  CHECK(r.metadata == metadata);
  for (const std::string& name : names) CHECK(r.at(name).size() == 1);
}

TEST_CASE("names that stand for something else are refused by save") {
  const File file;
  CHECK_THROWS_AS(io::save_safetensors(file.path, {{"__metadata__", ones({1})}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::save_safetensors(file.path, {}, {{"crc32.a", "hello"}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::save_safetensors(file.path, {}, {{"crc32c", "hello"}}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(io::save_safetensors(file.path, {{"a", ones({1})}}, {{"crc32c.b", "hello"}}),
                    ContainsSubstring("\"crc32c.b\""));
}

TEST_CASE("shapes at the limits come back") {
  const File file;
  io::save_safetensors(
      file.path,
      {{"rank 8", ones({1, 1, 1, 1, 1, 1, 1, 2})}, {"long", zeros({0, INT64_MAX})}, {"rank 0", constant(1.f)}});
  const io::Safetensors r = io::load_safetensors(file.path);
  CHECK(r.at("rank 8").shape() == Shape{1, 1, 1, 1, 1, 1, 1, 2});
  CHECK(r.at("long").shape() == Shape{0, INT64_MAX});
  CHECK(r.at("rank 0").shape() == Shape{});
}

TEST_CASE("a traced tensor is refused by save with its name") {
  const File file;
  Tensor leaked;
  function([&](const Tensor& x) { return leaked = x + 1.f; })(ones({4}));
  CHECK_THROWS_AS(io::save_safetensors(file.path, {{"leaked", leaked}}), errors::TraceError);
  CHECK_THROWS_WITH(io::save_safetensors(file.path, {{"leaked", leaked}}), ContainsSubstring("\"leaked\""));
  function([&](const Tensor& x) {
    CHECK_THROWS_AS(io::save_safetensors(file.path, {{"x", x}}), errors::TraceError);
    io::save_safetensors(file.path, {{"known", ones({2})}});
    return x;
  })(ones({4}));
  CHECK(io::load_safetensors(file.path).at("known").size() == 2);
}

// A reader that looks at all earlier parts for each would need 10^11 steps for each of these.
TEST_CASE("headers of hundreds of thousands of parts are read") {
  constexpr int n = 300000;
  std::string entries, metadata, ignored;
  for (int i = 0; i < n; ++i) {
    const std::string comma = i ? "," : "", name = '"' + std::to_string(i) + "\":";
    entries += comma + name + R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    metadata += comma + name + R"("v")";
    ignored += comma + name + "{}";
  }
  CHECK(parse(file_of("{" + entries + "}")).tensors.size() == n);
  CHECK(parse(file_of("{\"__metadata__\":{" + metadata + "}}")).metadata.size() == n);
  CHECK_THROWS_WITH(parse(file_of("{" + ignored + "}")), ContainsSubstring("entry \"0\" has a bad description"));
  CHECK_THROWS_WITH(parse(file_of("{" + entries + "," + R"("7":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")),
                    ContainsSubstring("names \"7\" twice"));
  const std::string entry = R"("w":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":[)";
  std::string numbers = "1";
  for (int i = 0; i < n; ++i) numbers += ",1";
  CHECK(parse(file_of("{" + entry + numbers + "]}}", "abcd")).at("w").size() == 4);
}

TEST_CASE("checkpoints of tens of thousands of tensors are saved and loaded") {
  const File file;
  std::vector<io::NamedTensor> tensors;
  for (int i = 0; i < 32000; ++i) tensors.push_back({"layer/kernel_" + std::to_string(i), constant(i)});
  io::save_safetensors(file.path, tensors);
  const io::Safetensors r = io::load_safetensors(file.path);
  REQUIRE(r.tensors.size() == tensors.size());
  bool equal = true;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    equal &= r.tensors[i].name == tensors[i].name && r.tensors[i].tensor.item<int>() == static_cast<int>(i);
  CHECK(equal);
}
