// Safetensors in several files with an index.
#include "tandem/io/safetensors_shards.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "tandem/tandem.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"

namespace io_safetensors_shards_test {
using namespace tandem;
using testing::error_of;

std::vector<io::NamedTensor> three(float x) {
  return {{"a", fill({4}, x)}, {"b", fill({8}, x + 1)}, {"c", fill({2}, x + 2)}};
}
int files_in(const std::string& path) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(path), {}));
}

TEST_CASE("tensors are divided among files in their order, and come back") {
  const testing::TemporaryFolder folder;
  const std::string index = folder / "model.safetensors.index.json";
  const std::pair<i64, std::size_t> cases[] = {{1, 3}, {39, 3}, {40, 2}, {48, 2}, {55, 2}, {56, 1}, {1000, 1}};
  for (const auto& [most, files] : cases) {
    io::save_safetensors_shards(index, three(1), {{"note", "text"}}, most);
    CHECK(io::list_safetensors_shards(index).size() == files);
    CHECK(files_in(folder.path) == static_cast<int>(files) + 1);  // those of the save before are gone
    const io::Safetensors r = io::load_safetensors_shards(index);
    CHECK(r.metadata == io::Metadata{{"note", "text"}});
    REQUIRE(r.tensors.size() == 3);
    CHECK(r.at("b").to_vector<float>() == std::vector<float>(8, 2));
  }
  io::save_safetensors_shards(index, {}, {}, 1);
  CHECK(io::load_safetensors_shards(index).tensors.empty());
}

TEST_CASE("an index as others write it, without checksums, is read") {
  const testing::TemporaryFolder folder;
  io::save_safetensors(folder / "model-1.safetensors", {{"a", ones({2})}, {"not listed", ones({1})}});
  const std::string index =
      folder.file("i.json", R"({"metadata":{"total_size":8},"weight_map":{"a":"model-1.safetensors"}})");
  CHECK(io::load_safetensors_shards(index).at("a").size() == 2);
  CHECK(io::load_safetensors_shards(index).tensors.size() == 1);
}

TEST_CASE("files of another save, missing and damaged ones raise with their names") {
  const testing::TemporaryFolder folder;
  const std::string index = folder / "m.safetensors.index.json", second = folder / "m-00002-of-00002.safetensors";
  io::save_safetensors_shards(index, three(5), {}, 48);
  const std::string other = testing::content_of(second);
  std::filesystem::remove(index);  // or the next one's files would have other names
  io::save_safetensors_shards(index, three(1), {}, 48);
  const std::string good = testing::content_of(second), good_index = testing::content_of(index);
  const auto error = [&] { return error_of<errors::DataLossError>([&] { io::load_safetensors_shards(index); }); };
  CHECK(error() == "no error");
  folder.file("m-00002-of-00002.safetensors", other);
  CHECK_THAT(error(), ContainsSubstring(second) && ContainsSubstring("\"c\" has another checksum"));
  io::save_safetensors(second, {{"d", ones({2})}});
  CHECK_THAT(error(), ContainsSubstring("\"c\" is not in it"));
  folder.file("m-00002-of-00002.safetensors", good.substr(0, 50));
  CHECK_THAT(error(), ContainsSubstring(second));
  std::filesystem::remove(second);
  CHECK_THROWS_AS(io::load_safetensors_shards(index), errors::NotFoundError);
  folder.file("m-00002-of-00002.safetensors", good);
  int n = 0;
  testing::for_each_damage(good_index, [&](const std::string& bytes, bool) {
    if (n++ % 7) return;
    folder.file("m.safetensors.index.json", bytes);
    try {
      const io::Safetensors r = io::load_safetensors_shards(index);
      for (const io::NamedTensor& t : r.tensors) CHECK(t.tensor.to_vector<float>()[0] < 4);
    } catch (const errors::OpError&) {
    }
  });
  for (const char* text : {"[]", "{}", R"({"weight_map":{"a":1}})", R"({"weight_map":{"a":"../x.safetensors"}})",
                           R"({"weight_map":{"a":"/etc/passwd"}})", R"({"weight_map":{"a":""}})"}) {
    folder.file("m.safetensors.index.json", text);
    CHECK_THAT(error(), ContainsSubstring(index));
  }
}

TEST_CASE("saves of names that begin alike do not touch each other's files") {
  const testing::TemporaryFolder folder;
  const auto index = [&](const char* name) { return folder / (std::string(name) + ".safetensors.index.json"); };
  for (const char* name : {"v1.2", "v1-2"}) io::save_safetensors_shards(index(name), three(7), {}, 48);
  for (const float value : {1.f, 2.f, 3.f}) {
    io::save_safetensors_shards(index("v1"), three(value), {}, 48);
    CHECK(io::load_safetensors_shards(index("v1")).at("a").to_vector<float>()[0] == value);
    for (const char* name : {"v1.2", "v1-2"})
      CHECK(io::load_safetensors_shards(index(name)).at("a").to_vector<float>()[0] == 7);
  }
}

TEST_CASE("a save of the same name that fails leaves the earlier one") {
  const testing::TemporaryFolder folder;
  const std::string index = folder / "m.safetensors.index.json";
  const auto save = [&](float value) {
    io::save_safetensors_shards(index, {{"a", fill({10}, value)}, {"b", fill({1000}, value)}}, {}, 100);
  };
  const auto files = [&] {
    std::set<std::string> r;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) r.insert(entry.path().filename());
    return r;
  };
  for (const float value : {1.f, 2.f, 3.f}) {
    save(value);
    const std::set<std::string> before = files();
    CHECK(before.size() == 3);
    {
      const testing::SmallFiles limit(2000);
      CHECK_THROWS_AS(save(9), errors::ResourceExhaustedError);
    }
    CHECK(files() == before);
    CHECK(io::load_safetensors_shards(index).at("b").to_vector<float>()[999] == value);
  }
}

TEST_CASE("where the disk is full, or the arguments make no sense, no file is left") {
  const testing::TemporaryFolder folder;
  const std::string index = folder / "m.safetensors.index.json";
  {
    const testing::SmallFiles limit(2000);
    CHECK_THROWS_AS(io::save_safetensors_shards(index, {{"a", ones({10})}, {"b", ones({1000})}}, {}, 100),
                    errors::ResourceExhaustedError);
  }
  io::save_safetensors_shards(index, three(1), {}, 1);
  for (const std::vector<io::NamedTensor>& wrong : std::vector<std::vector<io::NamedTensor>>{
           {{"a", ones({1})}, {"a", ones({1})}}, {{"a", ones({1})}, {"b", constant({"text"})}}, {{"\xff", ones({1})}}})
    CHECK_THROWS_AS(io::save_safetensors_shards(index, wrong, {}, 1), errors::InvalidArgumentError);
  CHECK(io::load_safetensors_shards(index).tensors.size() == 3);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) std::filesystem::remove(entry.path());
  CHECK_THROWS_AS(io::save_safetensors_shards(index, three(1), {}, 0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::save_safetensors_shards(folder / "m.safetensors", three(1), {}, 10),
                  errors::InvalidArgumentError);
  CHECK(files_in(folder.path) == 0);
}

}  // namespace io_safetensors_shards_test
