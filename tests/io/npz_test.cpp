// .npz files: round trips, files by NumPy, damaged and hostile archives.
#include "tandem/io/npz.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "tandem/graph/trace/function.hpp"
#include "tandem/io/zip.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/values.hpp"

namespace npz_test {
using namespace tandem;
using testing::error_of;
using testing::from_hex;
namespace fs = std::filesystem;

struct File {
  std::string path = (fs::temp_directory_path() / ("tandem_npz_" + std::to_string(std::random_device()()))).string();
  ~File() { fs::remove(path); }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};
std::vector<io::NamedTensor> parse(const std::string& s) { return io::parse_npz(s.data(), s.size(), "memory"); }
std::string fault(const std::string& s) {
  return error_of([&] { parse(s); });
}
std::string saved(const std::vector<io::NamedTensor>& tensors, io::NpzOptions options = {}) {
  const File file;
  io::save_npz(file.path, tensors, options);
  return file.bytes();
}

TEST_CASE("save_npz, load_npz: every dtype that NumPy has comes back, stored and compressed") {
  const File file;
  std::vector<io::NamedTensor> all;
  for (const DType d : {float32, float64, float16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_,
                        complex64, complex128})
    for (const Shape& s : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3, 2}})
      all.push_back({std::string(name(d)) + to_string(s), testing::numbered(s, d)});
  for (const bool compressed : {false, true}) {
    if (compressed && !TANDEM_HAS_ZLIB) continue;
    io::save_npz(file.path, all, {.compressed = compressed});
    const std::vector<io::NamedTensor> back = io::load_npz(file.path);
    REQUIRE(back.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(back[i].name == all[i].name);
      REQUIRE(back[i].tensor.spec() == all[i].tensor.spec());
      CHECK((all[i].tensor.size() == 0 ||
             std::memcmp(back[i].tensor.raw(), all[i].tensor.raw(), all[i].tensor.spec().bytes()) == 0));
    }
    CHECK(io::load_npz(file.path, "int16(3,)").dtype() == int16);
  }
  io::save_npz(file.path, std::map<std::string, Tensor>{{"b", constant(1)}, {"a", constant({2, 3})}});
  CHECK(io::load_npz(file.path)[0].name == "a");
  CHECK_THAT(error_of([&] { io::load_npz(file.path, "c"); }), ContainsSubstring("has no tensor 'c'; it has: a, b"));
  CHECK_THROWS_AS(io::load_npz("/nowhere.npz"), errors::NotFoundError);
}

#if TANDEM_HAS_ZLIB
TEST_CASE("save_npz: repetitive data are compressed, random data of more than one block survive") {
  CHECK(saved({{"x", zeros({100000})}}, {.compressed = true}).size() < 2000);
  const Tensor x = random::stateless_uniform({300000}, constant({1, 2}));
  const Tensor back = parse(saved({{"x", x}}, {.compressed = true}))[0].tensor;
  CHECK(std::memcmp(back.raw(), x.raw(), x.spec().bytes()) == 0);
}
#endif

// numpy.savez(f, a=numpy.float32([1.5]), b=numpy.int8([[1, 2]])) of NumPy 2.4, as bytes.
TEST_CASE("load_npz reads what NumPy has written") {
  const auto found = parse(
      from_hex("504b03042d00000000000000210054792e83ffffffffffffffff05001400612e6e7079010010008400000000000000840000"
               "0000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046"
               "616c73652c20277368617065273a2028312c292c207d20202020202020202020202020202020202020202020202020202020"
               "20202020202020202020202020202020202020202020202020202020202020200a0000c03f504b03042d0000000000000021"
               "00302579e2ffffffffffffffff05001400622e6e70790100100082000000000000008200000000000000934e554d50590100"
               "76007b276465736372273a20277c6931272c2027666f727472616e5f6f72646572273a2046616c73652c2027736861706527"
               "3a2028312c2032292c207d202020202020202020202020202020202020202020202020202020202020202020202020202020"
               "202020202020202020202020202020202020200a0102504b01022d032d00000000000000210054792e838400000084000000"
               "050000000000000000000000800100000000612e6e7079504b01022d032d000000000000002100302579e282000000820000"
               "000500000000000000000000008001bb000000622e6e7079504b0506000000000200020066000000740100000000"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "a");
  CHECK(found[0].tensor.to_vector<float>() == std::vector<float>{1.5f});
  CHECK(found[1].tensor.spec() == Spec{{1, 2}, int8, {}});
}

TEST_CASE("load_npz: a file that ends early or has a changed byte never yields other values") {
  for (const bool compressed : {false, true}) {
    if (compressed && !TANDEM_HAS_ZLIB) continue;
    const std::map<std::string, std::vector<float>> values{{"first", {1, 2, 3}}, {"second", {-4, 5.5f, 6}}};
    const std::string good = saved({{"first", constant(values.at("first"))}, {"second", constant(values.at("second"))}},
                                   {.compressed = compressed});
    REQUIRE(parse(good).size() == 2);
    for (std::size_t n = 0; n < good.size(); ++n) CHECK(fault(good.substr(0, n)) != "no error");
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x10);
      try {
        const auto found = parse(bad);
        CAPTURE(compressed, i);
        CHECK(found.size() == 2);
        for (const io::NamedTensor& t : found) {
          CAPTURE(t.name);
          REQUIRE(values.contains(t.name));
          CHECK(t.tensor.to_vector<float>() == values.at(t.name));
        }
      } catch (const errors::OpError&) {
      }
    }
  }
}

TEST_CASE("load_npz: what is damaged is named") {
  const std::string good = saved({{"x", constant({1.f, 2.f})}});
  const std::size_t directory = good.find("PK\1\2");
  REQUIRE(directory != good.npos);
  const auto changed = [&](std::size_t at, std::uint64_t value, int bytes) {
    std::string s = good, number;
    io::detail::append_number(number, value, bytes);
    return s.replace(at, number.size(), number);
  };
  CHECK_THAT(fault("PK"), ContainsSubstring("shorter than 22 bytes"));
  CHECK_THAT(fault(std::string(100, 'x')), ContainsSubstring("no end record"));
  CHECK_THAT(fault(changed(directory + 16, 1, 4)), ContainsSubstring("the CRC-32 of x.npy does not match"));
  CHECK_THAT(fault(changed(directory + 20, 1u << 20, 4)), ContainsSubstring("x.npy lies beyond its end"));
  CHECK_THAT(fault(changed(directory + 24, 5, 4)), ContainsSubstring("does not have the size"));
  CHECK_THAT(fault(changed(directory + 42, 7, 4)), ContainsSubstring("no header where the directory says"));
  CHECK_THAT(fault(changed(directory + 10, 12, 2)), ContainsSubstring("compressed by method 12"));
  CHECK_THAT(fault(changed(6, 1, 2)), ContainsSubstring("encrypted"));
  std::string other_dtype = good;
  other_dtype[good.find("<f4") + 1] = 'V';
  CHECK_THAT(fault(other_dtype), ContainsSubstring("the CRC-32 of x.npy does not match"));
#if TANDEM_HAS_ZLIB
  std::string bomb = saved({{"x", zeros({1000})}}, {.compressed = true});
  std::string huge;
  io::detail::append_number(huge, 0xfffffff0u, 4);
  CHECK_THAT(fault(bomb.replace(bomb.find("PK\1\2") + 24, 4, huge)),
             ContainsSubstring("larger than its compressed data can hold"));
#endif
}

// Many entries of one member would each be inflated: the archive's memory bound would be multiplied.
TEST_CASE("load_npz: members that overlap are refused") {
  const std::string good = saved({{"a", constant({1.f, 2.f})}});
  const std::size_t directory = good.find("PK\1\2"), end = good.find("PK\5\6");
  std::string entries, number;
  for (char name = 'a'; name < 'f'; ++name) {
    std::string entry = good.substr(directory, end - directory);
    entry[46] = name;
    entries += entry;
  }
  std::string bad = good.substr(0, directory) + entries + good.substr(end);
  io::detail::append_number(number, 5, 2);
  for (const std::size_t at : {8u, 10u}) bad.replace(directory + entries.size() + at, 2, number);
  number.clear();
  io::detail::append_number(number, entries.size(), 4);
  bad.replace(directory + entries.size() + 12, 4, number);
  CHECK_THAT(fault(bad), ContainsSubstring("overlap"));
}

#if TANDEM_HAS_ZLIB
TEST_CASE("load_npz: memory::set_limit holds for compressed tensors") {
  const std::string zip = saved({{"x", zeros({1 << 20})}}, {.compressed = true});
  memory::set_limit(memory::info().live + (1 << 20));
  const std::string text = error_of<errors::ResourceExhaustedError>([&] { return parse(zip); });
  memory::set_limit(0);
  CHECK_THAT(text, ContainsSubstring("4194304"));
  CHECK(parse(zip)[0].tensor.size() == 1 << 20);
}
#endif

TEST_CASE("zip: checksums and the largest sizes") {
  std::string text = "123456789";
  CHECK(io::detail::crc_by_tables(text.data(), text.size()) == 0xcbf43926u);
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  const std::uint32_t whole = io::detail::crc_by_tables(text.data(), text.size());
  for (std::size_t n = 0; n < text.size(); ++n) {
    const std::uint32_t part = io::detail::crc_by_tables(text.data(), n);
    CHECK(io::detail::crc_by_tables(text.data() + n, text.size() - n, part) == whole);
  }
  CHECK_NOTHROW(io::detail::check_32_bits(0xfffffffeu, "x"));
  CHECK_THROWS_AS(io::detail::check_32_bits(0xffffffffu, "x"), errors::InvalidArgumentError);
}

TEST_CASE("load_npz: 64-bit sizes and end records, comments") {
  const std::string good = saved({{"x", constant({1.f, 2.f})}});
  const std::size_t directory = good.find("PK\1\2"), end = good.find("PK\5\6");
  const std::uint64_t size = io::detail::number_at(good, directory + 24, 4);
  // The member's sizes and offset move into an extra field, those of the directory into a 64-bit end record.
  std::string entry = good.substr(directory, end - directory), extra;
  for (const std::size_t at : {20u, 24u, 42u}) entry.replace(at, 4, "\xff\xff\xff\xff");
  io::detail::append_number(extra, 1, 2);
  io::detail::append_number(extra, 24, 2);
  for (const std::uint64_t n : {size, size, std::uint64_t{0}}) io::detail::append_number(extra, n, 8);
  entry.replace(30, 2, std::string("\x1c\0", 2));
  std::string wide = good.substr(0, directory) + entry + extra;
  const std::size_t record = wide.size();
  io::detail::append_number(wide, 0x06064b50, 4);
  io::detail::append_number(wide, 44, 8);
  for (const int bytes : {4, 8}) io::detail::append_number(wide, 0, bytes);  // versions, then disks
  for (const std::uint64_t n :
       {std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{record - directory}, std::uint64_t{directory}})
    io::detail::append_number(wide, n, 8);
  io::detail::append_number(wide, 0x07064b50, 4);
  io::detail::append_number(wide, 0, 4);
  io::detail::append_number(wide, record, 8);
  io::detail::append_number(wide, 1, 4);
  io::detail::append_number(wide, 0x06054b50, 4);
  io::detail::append_number(wide, 0, 4);
  wide += std::string(12, '\xff');
  io::detail::append_number(wide, 5, 2);
  wide += "hello";
  CHECK(parse(wide)[0].tensor.to_vector<float>() == std::vector<float>{1, 2});
  for (std::size_t n = 0; n < wide.size(); ++n) CHECK(fault(wide.substr(0, n)) != "no error");
}

TEST_CASE("save_npz: what cannot be saved is refused, and the file stays") {
  const File file;
  const Tensor x = constant({1, 2});
  io::save_npz(file.path, {{"x", x}});
  const auto refused = [&](const std::vector<io::NamedTensor>& tensors) {
    return error_of([&] { io::save_npz(file.path, tensors); });
  };
  CHECK_THAT(refused({{"x", x}, {"x", x}}), ContainsSubstring("two tensors have the name 'x'"));
  CHECK_THAT(refused({{"", x}}), ContainsSubstring("name is empty"));
  CHECK_THAT(refused({{"x", zeros({2}, bfloat16)}}),
             ContainsSubstring("save_npz: NumPy has no dtype for bfloat16[2]: cast it"));
  const auto traced = function([&](const Tensor& t) {
    io::save_npz(file.path, {{"t", t}});
    return t;
  });
  CHECK_THROWS_AS(traced(constant(1.f)), errors::TraceError);
  CHECK(io::load_npz(file.path, "x").to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2});
  const File two;
  std::ofstream(two.path, std::ios::binary) << saved({{"x", x}});
  CHECK(io::load_npz(two.path).size() == 1);
}

}  // namespace npz_test
