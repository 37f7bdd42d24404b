// Saved models that are damaged, half copied or hostile: refused with the file's name, whatever is wrong.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/saved_model/models.hpp"

namespace saved_model_damaged_test {

using namespace tandem;
using testing::content_of;
using testing::error_of;
using testing::HalfPlusTwo;

// A model in a folder of its own, whose files a test changes.
struct Victim {
  testing::TemporaryFolder folder;
  std::string path = folder / "m/1";
  Victim() { HalfPlusTwo().save(path, {.assets = {{"a.txt", folder.file("a.txt", "text")}}}); }
  std::string manifest() const { return content_of(path + "/model.json"); }
  void write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path + "/" + file, std::ios::binary) << bytes;
  }
  // The manifest with a part replaced.
  void replace(const std::string& from, const std::string& to) const {
    std::string text = manifest();
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    write("model.json", text.replace(at, from.size(), to));
  }
  template <class Error = errors::DataLossError>
  std::string error() const {
    return error_of<Error>([&] { saved_model::load(path); });
  }
};
// The manifest of a file that is replaced by other bytes, with their size and checksum.
void forge(const Victim& v, const std::string& file, const std::string& bytes) {
  v.write(file, bytes);
  std::string text = v.manifest();
  const std::size_t at = text.find("\"" + file + "\": {"), end = text.find('}', at);
  REQUIRE(at != text.npos);
  char entry[100];
  std::snprintf(entry, sizeof entry, "\"bytes\": %zu, \"crc32c\": \"%08x\"", bytes.size(), io::crc32c(bytes));
  text.replace(at, end - at, "\"" + file + "\": {" + entry);
  v.write("model.json", text);
}

TEST_CASE("damaged model: parameters of batches may be put into a version, but not as a link or elsewhere") {
  const Victim v;
  v.write("batching_params.pbtxt", "max_batch_size { value: 4 }");
  CHECK_NOTHROW(saved_model::load(v.path));
  v.write("assets/batching_params.pbtxt", "max_batch_size { value: 4 }");
  CHECK_THAT(v.error(), ContainsSubstring("assets/batching_params.pbtxt is damaged: the manifest does not list it"));
  std::filesystem::remove(v.path + "/assets/batching_params.pbtxt");
  std::filesystem::remove(v.path + "/batching_params.pbtxt");
  std::filesystem::create_symlink(v.path + "/model.json", v.path + "/batching_params.pbtxt");
  CHECK_THAT(v.error(), ContainsSubstring("batching_params.pbtxt is damaged: it is a link"));
}

TEST_CASE("damaged model: every file that is shorter, changed, missing or not listed is named") {
  for (const char* file : {"variables.safetensors", "graphs/serving_default.graph", "assets/a.txt"}) {
    const Victim v;
    const std::string good = content_of(v.path + "/" + file);
    v.write(file, good.substr(0, good.size() - 1));
    CHECK_THAT(v.error(), ContainsSubstring(v.path + "/" + file + " is damaged") && ContainsSubstring("bytes"));
    for (std::size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      v.write(file, bad);
      REQUIRE_THAT(v.error(), ContainsSubstring(v.path + "/" + file) && ContainsSubstring("checksum"));
    }
    std::filesystem::remove(v.path + "/" + file);
    CHECK_THAT(v.error(), ContainsSubstring(v.path + "/" + file) && ContainsSubstring("it is missing"));
    v.write(file, good);
    CHECK(v.error() == "no error");
    v.write("graphs/more", "");
    CHECK_THAT(v.error(), ContainsSubstring("graphs/more") && ContainsSubstring("the manifest does not list it"));
  }
}

TEST_CASE("damaged model: links, pipes and folders in place of files are refused") {
  {
    const Victim v;
    std::filesystem::rename(v.path + "/assets/a.txt", v.folder / "elsewhere");
    std::filesystem::create_symlink(v.folder / "elsewhere", v.path + "/assets/a.txt");
    CHECK_THAT(v.error(), ContainsSubstring("a.txt is damaged: it is a link"));
  }
  {
    const Victim v;
    std::filesystem::create_directory_symlink("/", v.path + "/assets/root");
    CHECK_THAT(v.error(), ContainsSubstring("it is a link"));
  }
  {
    const Victim v;
    REQUIRE(::mkfifo((v.path + "/pipe").c_str(), 0600) == 0);
    CHECK_THAT(v.error(), ContainsSubstring("it is not a regular file"));
  }
  {
    const Victim v;
    std::filesystem::rename(v.path + "/model.json", v.folder / "manifest");
    CHECK_THAT(v.error(), ContainsSubstring("model.json is damaged: it is missing"));
    std::filesystem::create_symlink(v.folder / "manifest", v.path + "/model.json");
    CHECK_THAT(v.error(), ContainsSubstring("model.json is damaged: it is not a regular file"));
  }
  CHECK_THROWS_AS(saved_model::load("/none/1"), errors::NotFoundError);
}

TEST_CASE("damaged model: a manifest that is cut off, changed or too long is damage") {
  const Victim v;
  const std::string good = v.manifest();
  for (std::size_t n = 0; n + 1 < good.size(); ++n) {  // the last one is a line break
    v.write("model.json", good.substr(0, n));
    REQUIRE_THAT(v.error(), ContainsSubstring(v.path + "/model.json is damaged"));
  }
  int read = 0;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int change : {1, 0x80}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      v.write("model.json", bad);
      read += !testing::raises([&] { saved_model::load(v.path); });
    }
  CHECK(read > 0);  // spaces and the producer may be anything
  CHECK(read < 100);
  v.write("model.json", std::string((1 << 20) + 1, ' '));
  CHECK_THAT(v.error(), ContainsSubstring("above the limit of 1048576"));
  v.write("model.json", std::string(1 << 20, '['));
  CHECK_THAT(v.error(), ContainsSubstring("is damaged"));
  v.write("model.json", "{\"format\": " + std::string(500'000, '[') + std::string(500'000, ']') + "}");
  CHECK_THAT(v.error(), ContainsSubstring("an array is not an integer"));
}

TEST_CASE("damaged model: a manifest with wrong contents says what is wrong") {
  struct Case {
    const char *from, *to, *text;
  };
  for (const Case& c :
       {Case{"\"format\": 1", "\"format\": 0", "format 0"}, Case{"\"format\": 1", "\"format\": 1.5", "not an integer"},
        Case{"\"format\": 1", "\"format\": 1, \"format\": 1", "a key twice"},
        Case{"\"assets/a.txt\"", "\"../a.txt\"", "it has the name \"../a.txt\""},
        Case{"\"assets/a.txt\"", "\"/etc/passwd\"", "it has the name \"/etc/passwd\""},
        Case{"\"assets/a.txt\"", "\"model.json\"", "it lists itself"},
        Case{"\"bytes\": 4", "\"bytes\": -4", "-4 bytes"},
        Case{"\"bytes\": 4", "\"bytes\": 18446744073709551615", "not an integer"},
        Case{"\"crc32c\": \"", "\"crc32c\": \"g", "8 hexadecimal digits"},
        Case{"graphs/serving_default.graph\",", "graphs/x\",", "its graph is not among the files"},
        Case{"serving/predict", "serving/guess", "there is no method"},
        Case{"serving/predict", "serving/classify", "must have features"},
        Case{"\"float32\"", "\"float31\"", "there is no dtype \"float31\""},
        Case{"\"float32\"", "\"int32\"", "in the manifest"},
        Case{"\"name\": \"x\"", "\"name\": \"z\"", "in the manifest 'z'"}, Case{"null", "-1", "a dimension is -1"},
        Case{"null", "3", "is batched"}, Case{"null", "null,1,1,1,1,1,1,1,1", "more than 8 dimensions"},
        Case{"\"batch\": true", "\"batch\": 1", "boolean"}}) {
    const Victim v;
    v.replace(c.from, c.to);
    CAPTURE(c.from, c.to);
    CHECK_THAT(v.error(), ContainsSubstring(c.text) && ContainsSubstring(v.path + "/"));
  }
  const Victim v;
  v.replace("\"format\": 1", "\"format\": 2");
  CHECK_THAT(v.error<errors::FailedPreconditionError>(), ContainsSubstring("model.json has format 2, written by"));
}

TEST_CASE("damaged model: files that fit their checksums, but are not what they must be") {
  const Victim v;
  const std::string graph = "graphs/serving_default.graph", good = content_of(v.path + "/" + graph);
  forge(v, graph, good);
  CHECK(v.error() == "no error");
  forge(v, graph, "no graph");
  CHECK_THAT(v.error(), ContainsSubstring("in " + v.path + "/" + graph));
  const auto other = function([](const Tensor& x) { return x; }).get_concrete_function(Spec{{none}, float32, {}});
  forge(v, graph, serialize(other->graph()));
  CHECK_THAT(v.error(), ContainsSubstring(graph) && ContainsSubstring("it has 0 inputs or outputs with names"));
  forge(v, graph, good);
  io::save_safetensors(v.folder / "none", {{"a", constant(1.f)}});
  forge(v, "variables.safetensors", content_of(v.folder / "none"));
  CHECK_THAT(v.error<errors::NotFoundError>(), ContainsSubstring("the value of the Variable 'b'"));
}

TEST_CASE("damaged model: two signatures do not have one graph") {
  const Victim v;
  nlohmann::json manifest = nlohmann::json::parse(v.manifest());
  manifest["signatures"]["zz"] = manifest["signatures"]["serving_default"];
  v.write("model.json", manifest.dump());
  CHECK_THAT(v.error(), ContainsSubstring("the signature 'zz': another signature has its graph"));
}

TEST_CASE("damaged model: a graph that writes to files is refused") {
  const Victim v;
  const auto f = function([](const Tensor& x) {
    print("x", x);
    return x;
  });
  saved_model::save(v.folder / "m/2", {{"f", saved_model::predict(f, {{"x", {{none}, float32}}})}});
  CHECK_THAT(error_of<errors::NotFoundError>([&] { saved_model::load(v.folder / "m/2"); }),
             ContainsSubstring("the op 'print'") && ContainsSubstring("in " + (v.folder / "m/2/graphs/f.graph")));
}

}  // namespace saved_model_damaged_test
