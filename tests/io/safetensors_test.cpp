// safetensors: round trips, a foreign file byte by byte, damage of every kind, failed writes.
#include "tandem/io/safetensors.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("tandem_safetensors_" + std::to_string(std::random_device()()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};
std::string file_of(const std::string& header, const std::string& data) {
  std::string r(8, '\0');
  for (int i = 0; i < 8; ++i) r[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i));
  return r + header + data;
}
io::Safetensors parse(const std::string& s) { return io::parse_safetensors(s.data(), s.size(), "memory"); }
std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every dtype and shape comes back") {
  const Folder folder;
  const std::string path = folder.file("all.safetensors");
  std::vector<io::NamedTensor> tensors;
  for (const DType d : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                        bool_, complex64})
    tensors.push_back({name(d), cast(constant({{0, 1, 2}, {3, 4, 5}}), d)});
  tensors.push_back({"scalar", constant(7)});
  tensors.push_back({"empty", zeros({2, 0, 3})});
  tensors.push_back({"name \"with\" \n quotes", constant({1.5f})});
  io::save_safetensors(path, tensors, {{"author", "me"}, {"text", "zwölf\tlines\n"}});
  const io::Safetensors r = io::load_safetensors(path);
  CHECK(r.metadata.size() == 2);
  CHECK(r.metadata.at("text") == "zwölf\tlines\n");
  CHECK(io::load_safetensors_metadata(path) == r.metadata);
  REQUIRE(r.tensors.size() == tensors.size());
  for (const io::NamedTensor& t : tensors) {
    INFO(t.name);
    CHECK(r.at(t.name).spec() == t.tensor.spec());
    CHECK(to_string(r.at(t.name)) == to_string(t.tensor));
  }
  CHECK_THROWS_AS(r.at("nothing"), errors::NotFoundError);
}

TEST_CASE("metadata may hold any byte that a character vocabulary has") {
  const Folder folder;
  std::string every;
  for (int c = 1; c < 128; ++c) every += static_cast<char>(c);
  io::save_safetensors(folder.file("m"), {}, {{"vocabulary", every}});
  CHECK(io::load_safetensors_metadata(folder.file("m")).at("vocabulary") == every);
}

TEST_CASE("a file of another writer, without checksums") {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const float w[2] = {1.5f, -2};
  const io::Safetensors r = parse(file_of(header, {reinterpret_cast<const char*>(w), 8}));
  CHECK(r.at("w").to_vector<float>() == std::vector<float>{1.5f, -2});
  // Its metadata may have a key of ours.
  const io::Safetensors own = parse(file_of(R"({"__metadata__":{"crc32c":"no"}})", ""));
  CHECK(own.metadata == io::Metadata{{"crc32c", "no"}});
}

TEST_CASE("damaged and hostile files raise DataLossError") {
  const std::string four(4, '\1');
  const std::string cases[] = {
      "",
      "1234567",
      file_of("", ""),
      file_of("[]", ""),
      file_of("{", ""),
      file_of(std::string(200, '['), ""),
      std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10),
      std::string("\x40\0\0\0\0\0\0\0{}", 10),
      file_of(R"({"w":1})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1]}})", four),
      file_of(R"({"w":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four + four),
      file_of(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", four),
      file_of(
          R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
          four),
      file_of(
          R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
          four),
      file_of(R"({"w":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]},"__metadata__":{"k":1}})", four),
      file_of(R"({"__metadata__":5})", ""),
      file_of(R"({"__metadata__":{"k":{}}})", ""),
      file_of(R"({"__metadata__":{"k":"1","k":"2"}})", ""),
      file_of(R"({"w":[]})", four),
      file_of(R"("w")", ""),
      file_of(R"({} x)", ""),
      file_of(R"({"w":{"dtype":"U8","shape":[4],"shape":[2,2],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":["U8"],"shape":[4],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":{"0":4},"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":4,"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":[[4]],"data_offsets":[0,4]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,"4"]}})", four),
      file_of(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"more":[[[1]]]}})", four),
      file_of(R"({"w":{"dtype":"F32","shape":[2305843009213693952,0],"data_offsets":[0,0]}})", ""),
      file_of(R"({"w":{"dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0]}})", ""),
      file_of(R"({"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2"),
      file_of(R"({"__metadata__":{"crc32.w":"1"},"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", four)};
  for (const std::string& s : cases) {
    INFO(s);
    CHECK_THROWS_AS(parse(s), errors::DataLossError);
  }
}

TEST_CASE("every truncation and every flipped bit of the data is noticed") {
  const Folder folder;
  const std::string path = folder.file("t");
  io::save_safetensors(path, {{"a", constant({1.f, 2.f})}, {"b", constant({1, 2, 3})}});
  const std::string good = contents(path);
  for (std::size_t n = 0; n < good.size(); ++n) CHECK_THROWS_AS(parse(good.substr(0, n)), errors::DataLossError);
  for (std::size_t i = good.size() - 20; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 4;
    CHECK_THROWS_WITH(parse(bad), ContainsSubstring("checksum"));
  }
  // In the header: a name, a dtype of the same size, a checksum that is missing.
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    return bad.replace(good.find(from), from.size(), to);
  };
  CHECK_THROWS_WITH(parse(replaced("\"a\":", "\"c\":")), ContainsSubstring("no checksum of \"c\""));
  CHECK_THROWS_WITH(parse(replaced("F32", "I32")), ContainsSubstring("checksum of its header"));
  CHECK_THROWS_WITH(parse(replaced("crc32c\"", "crc32d\"")), ContainsSubstring("checksum of its header"));
  CHECK_THROWS_WITH(parse(replaced("crc32c.a", "crc32d.a")), ContainsSubstring("no checksum of \"a\""));
  CHECK_THROWS_AS(io::load_safetensors(folder.file("missing")), errors::NotFoundError);
  CHECK_THROWS_AS(io::load_safetensors(folder.path.string()), errors::OpError);
}

TEST_CASE("a failed write leaves the previous file and nothing else") {
  const Folder folder;
  const std::string path = folder.file("kept");
  io::save_safetensors(path, {{"a", constant({1.f, 2.f})}});
  const std::string before = contents(path);
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()); };

  CHECK_THROWS_AS(io::save_safetensors(path, {{"s", constant({"text"})}}), errors::InvalidArgumentError);
  const Tensor no_value = Tensor::symbol({{2}, float32, {}});  // as kept from inside a traced function
  CHECK_THROWS_AS(io::save_safetensors(path, {{"a", constant({3.f})}, {"s", no_value}}), errors::TraceError);
  CHECK_THROWS_AS(io::save_safetensors(path, {{"a", constant(1)}, {"a", constant(2)}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::save_safetensors(folder.file("no/such/folder"), {}), errors::UnavailableError);

  // A full disk: the system refuses to let files grow beyond 64 KiB.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{1 << 16, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(io::save_safetensors(path, {{"a", zeros({100000})}}), errors::ResourceExhaustedError);
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK(contents(path) == before);
  CHECK(files() == 1);
}
