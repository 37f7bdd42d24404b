// .npy files: the header's bytes, round trips, other writers' files, damaged and hostile ones.
#include "tandem/io/npy.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

namespace npy_test {
using namespace tandem;
using testing::error_of;
namespace fs = std::filesystem;

struct File {
  std::string path = (fs::temp_directory_path() / ("tandem_npy_" + std::to_string(std::random_device()()))).string();
  ~File() { fs::remove(path); }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};
std::string file_of(std::string header, const std::string& data, char version = 1) {
  std::string r = "\x93NUMPY";
  r += {version, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (version > 1) r += std::string(2, '\0');
  return r + header + data;
}
Tensor parse(const std::string& s) { return io::parse_npy(s.data(), s.size(), "memory"); }
std::string fault(const std::string& s) {
  return error_of([&] { parse(s); });
}

TEST_CASE("save_npy: the header that NumPy writes") {
  const File file;
  io::save_npy(file.path, constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
  const std::string all = file.bytes();
  CHECK(all.substr(0, 8) == std::string("\x93NUMPY\x01\0", 8));
  const std::size_t length = static_cast<unsigned char>(all[8]) + 256u * static_cast<unsigned char>(all[9]);
  CHECK((10 + length) % 64 == 0);
  const std::string header = all.substr(10, length);
  CHECK_THAT(header, ContainsSubstring("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  CHECK(header.back() == '\n');
  CHECK(all.size() == 10 + length + 24);
  io::save_npy(file.path, constant({i64{1}}));
  CHECK_THAT(file.bytes(), ContainsSubstring("'descr': '<i8', 'fortran_order': False, 'shape': (1,), }"));
  io::save_npy(file.path, constant(true));
  CHECK_THAT(file.bytes(), ContainsSubstring("'descr': '|b1', 'fortran_order': False, 'shape': (), }"));
}

TEST_CASE("save_npy, load_npy: every dtype that NumPy has comes back, in ranks 0 to 4") {
  const File file;
  for (const DType d : {float32, float64, float16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_,
                        complex64, complex128})
    for (const Shape& s :
         {Shape{}, Shape{3}, Shape{0}, Shape{2, 3}, Shape{2, 0, 3}, Shape{2, 3, 2}, Shape{2, 1, 3, 2}}) {
      const Tensor x = testing::numbered(s, d);
      io::save_npy(file.path, x);
      const Tensor y = io::load_npy(file.path);
      REQUIRE(y.spec() == x.spec());
      for (i64 i = 0; i < x.size(); ++i) REQUIRE(testing::element(y, i) == testing::element(x, i));
    }
}

TEST_CASE("load_npy: other byte and axis orders, versions and spellings") {
  const std::string big("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  const auto numbers = [](const Tensor& t) { return cast(t, int32).to_vector<std::int32_t>(); };
  const Tensor swapped = parse(file_of("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", big));
  CHECK(swapped.spec() == Spec{{2, 3}, int16, {}});
  CHECK(numbers(swapped) == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  const Tensor columns = parse(file_of("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", big, 2));
  CHECK(columns.shape() == Shape{2, 3});
  CHECK(numbers(columns) == std::vector<std::int32_t>{1, 3, 5, 2, 4, 6});
  const Tensor cube = parse(file_of("{'shape': (1, 3, 2), 'fortran_order': True, 'descr': '|u1'}", "abcdef", 3));
  CHECK(numbers(cube) == std::vector<std::int32_t>{'a', 'd', 'b', 'e', 'c', 'f'});
  const Tensor one = parse(file_of("{\"descr\":\"<f8\",\"shape\":(),\"fortran_order\":True}", std::string(8, '\0')));
  CHECK(one.item<double>() == 0);
  const std::string imaginary("\x3f\xc0\0\0\xc0\0\0\0", 8);  // 1.5 - 2i, big-endian
  const Tensor z = parse(file_of("{'descr': '>c8', 'fortran_order': False, 'shape': (), }", imaginary));
  CHECK(z.dtype() == complex64);
  const float parts[] = {1.5f, -2};
  CHECK(std::memcmp(z.raw(), parts, 8) == 0);
}

TEST_CASE("load_npy: what is damaged or cannot be a tensor is refused") {
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const std::string good = file_of(header("<i4", "(2,)"), "12345678");
  CHECK(parse(good).size() == 2);
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(fault(good.substr(0, n)) != "no error");
  CHECK_THAT(fault(good + "9"), ContainsSubstring("1 bytes follow the tensor"));
  CHECK_THAT(fault(good.substr(0, good.size() - 1)), ContainsSubstring("int32[2] does not fit its 7 bytes"));
  CHECK_THAT(fault("PK" + good.substr(2)), ContainsSubstring("does not begin as one"));
  CHECK_THAT(fault(file_of(header("<i4", "(2,)"), "12345678", 4)), ContainsSubstring("version is 4"));
  CHECK_THAT(fault(file_of(header("|O", "(2,)"), "12345678")), ContainsSubstring("pickled Python objects"));
  CHECK_THAT(fault(file_of(header("<U3", "(2,)"), "12345678")), ContainsSubstring("NumPy's \"<U3\""));
  CHECK_THAT(fault(file_of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", "1234")),
             ContainsSubstring("structures"));
  CHECK_THAT(fault(file_of(header("|b1", "(2,)"), "\1\2")), ContainsSubstring("neither 0 nor 1"));
  for (const char* shape : {"(2", "(-2,)", "(2 2)", "(2.5,)", "2", "(99999999999999999999,)", "[2]"})
    CHECK_THAT(fault(file_of(header("<i4", shape), "12345678")), ContainsSubstring("memory is damaged"));
  CHECK_THAT(fault(file_of(header("<i4", "(4294967296, 4294967296, 4294967296)"), "12345678")),
             ContainsSubstring("does not fit its 8 bytes"));
  CHECK(parse(file_of(header("<i4", "(4294967296, 0)"), "")).size() == 0);
  CHECK_THAT(fault(file_of(header("<i4", "(1,1,1,1,1,1,1,1,2)"), "12345678")), ContainsSubstring("8 axes"));
  for (const char* text : {"", "{}", "{'descr': '<i4', 'shape': (2,)}", "[1]", "{'descr': '<i4', 'descr': '<i4'}",
                           "{'fortran_order': 0, 'descr': '<i4', 'shape': (2,)}", "{'descr", "{'a': 1}",
                           "{'fortran_order': False, 'descr': '<i4', 'shape': (2,)} x"})
    CHECK_THAT(fault(file_of(text, "12345678")), ContainsSubstring("memory is damaged"));
  CHECK_THROWS_AS(io::load_npy("/nowhere.npy"), errors::NotFoundError);
}

TEST_CASE("save_npy: what NumPy does not have is refused, and the file stays") {
  const File file;
  io::save_npy(file.path, constant({1, 2}));
  CHECK_THAT(error_of([&] { io::save_npy(file.path, zeros({2}, bfloat16)); }), ContainsSubstring("cast it to float32"));
  CHECK_THROWS_AS(io::save_npy(file.path, constant({std::string("a")})), errors::InvalidArgumentError);
  const auto traced = function([&](const Tensor& x) {
    io::save_npy(file.path, x);
    return x;
  });
  CHECK_THROWS_AS(traced(constant(1.f)), errors::TraceError);
  CHECK(io::load_npy(file.path).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2});
}

}  // namespace npy_test
