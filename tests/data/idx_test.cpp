// load_idx: every dtype, and files whose headers lie.
#include "tandem/data/idx.hpp"

#include <cstring>

#include "tests/data/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_idx_test {
using namespace tandem;
using testing::big_endian;
using testing::error_of;
using testing::from_hex;

std::string idx(int dtype, const std::vector<std::uint64_t>& sizes, const std::string& elements) {
  std::string s = big_endian(static_cast<std::uint64_t>(dtype) << 8 | sizes.size(), 4);
  for (const std::uint64_t n : sizes) s += big_endian(n, 4);
  return s + elements;
}
std::string fault(const std::string& bytes) {
  return error_of<errors::DataLossError>([&] { data::parse_idx(bytes, "memory"); });
}

TEST_CASE("parse_idx: every dtype of the format, big-endian") {
  const auto parsed = [](const std::string& s) { return data::parse_idx(s, "memory"); };
  const Tensor bytes = parsed(idx(0x08, {2, 3}, from_hex("0001027f80ff")));
  CHECK(bytes.spec() == Spec{{2, 3}, uint8, {}});
  CHECK(bytes.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 1, 2, 127, 128, 255});
  CHECK(parsed(idx(0x09, {2}, from_hex("7f80"))).to_vector<std::int8_t>() == std::vector<std::int8_t>{127, -128});
  CHECK(parsed(idx(0x0b, {2}, from_hex("0102fffe"))).to_vector<std::int16_t>() == std::vector<std::int16_t>{258, -2});
  CHECK(parsed(idx(0x0c, {1, 2}, from_hex("00010000fffffffd"))).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{65536, -3});
  CHECK(parsed(idx(0x0d, {1}, from_hex("3fc00000"))).to_vector<float>() == std::vector<float>{1.5f});
  CHECK(parsed(idx(0x0e, {1}, from_hex("c004000000000000"))).to_vector<double>() == std::vector<double>{-2.5});
}

TEST_CASE("parse_idx: scalars, empty tensors, eight axes") {
  CHECK(data::parse_idx(idx(0x0c, {}, from_hex("00000007")), "memory").item<std::int32_t>() == 7);
  CHECK(data::parse_idx(idx(0x08, {0, 28, 28}, ""), "memory").shape() == Shape{0, 28, 28});
  for (const std::vector<std::uint64_t>& sizes : {std::vector<std::uint64_t>{0xffffffff, 0xffffffff, 0xffffffff, 0},
                                                  std::vector<std::uint64_t>{0, 0xffffffff, 0xffffffff, 0xffffffff}})
    CHECK_THAT(fault(idx(0x0e, sizes, "")), ContainsSubstring("larger than the file"));
  CHECK(data::parse_idx(idx(0x08, {1, 1, 1, 1, 1, 1, 1, 1}, "x"), "memory").rank() == 8);
  CHECK_THAT(fault(idx(0x08, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "x")), ContainsSubstring("has 9 axes"));
}

TEST_CASE("parse_idx: what is wrong is named, with its offset") {
  CHECK_THAT(fault(""),
             ContainsSubstring("load_idx: memory is damaged or not an IDX file: it ends within its first four "
                               "bytes (offset 0)"));
  CHECK_THAT(fault("PK\3\4"), ContainsSubstring("does not begin with two zero bytes (offset 0)"));
  CHECK_THAT(fault(from_hex("00010801")), ContainsSubstring("does not begin with two zero bytes (offset 0)"));
  CHECK_THAT(fault(idx(0x0a, {1}, "x")), ContainsSubstring("unknown dtype 10 (offset 2)"));
  CHECK_THAT(fault(idx(0x08, {1}, "").substr(0, 6)), ContainsSubstring("ends within its sizes (offset 6)"));
  CHECK_THAT(fault(idx(0x08, {3}, "abcd")), ContainsSubstring("more bytes follow its uint8[3] (offset 11)"));
  CHECK_THAT(fault(idx(0x0b, {100}, "abc")), ContainsSubstring("int16[100] of its header is larger than the file"));
  // These sizes need 2^64 bytes and more: an overflow would make them few.
  CHECK_THAT(fault(idx(0x0e, {0x80000000, 0x80000000, 4}, "abc")),
             ContainsSubstring("larger than the file (offset 4)"));
  CHECK_THAT(fault(idx(0x0e, {0xffffffff, 0xffffffff, 0xffffffff}, "abc")), ContainsSubstring("larger than the file"));
}

TEST_CASE("parse_idx: a file that ends early never yields a tensor") {
  const std::string good = idx(0x0c, {2, 3}, std::string(24, 'x'));
  REQUIRE(fault(good) == "no error");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(fault(good.substr(0, n)) != "no error");
}

TEST_CASE("load_idx: plain and compressed files") {
  const testing::TemporaryFolder folder;
  const std::string bytes = idx(0x0b, {2}, from_hex("0102fffe"));
  CHECK(data::load_idx(folder.file("x-idx1", bytes)).to_vector<std::int16_t>() == std::vector<std::int16_t>{258, -2});
  CHECK_THAT(
      error_of<errors::ResourceExhaustedError>([&] { data::load_idx(folder.file("y-idx1", bytes), {.max_bytes = 3}); }),
      ContainsSubstring("more than max_bytes = 3"));
  CHECK_THROWS_AS(data::load_idx(folder.path + "/none"), errors::NotFoundError);
  CHECK_THROWS_AS(data::load_idx(folder.file("cut", bytes.substr(0, 9))), errors::DataLossError);
#if TANDEM_HAS_ZLIB
  const std::string packed = testing::gzip_of(bytes);
  CHECK(data::load_idx(folder.file("x-idx1.gz", packed)).to_vector<std::int16_t>() ==
        std::vector<std::int16_t>{258, -2});
  for (std::size_t n = 0; n < packed.size(); ++n)
    CHECK_THROWS_AS(data::load_idx(folder.file("cut.gz", packed.substr(0, n))), errors::DataLossError);
  // A header that promises more than deflate can hold is refused before memory is allocated.
  const std::string liar = testing::gzip_of(idx(0x08, {0xffffffff}, "x"));
  CHECK_THAT(error_of<errors::DataLossError>([&] { data::load_idx(folder.file("liar.gz", liar)); }),
             ContainsSubstring("uint8[4294967295] of its header is larger than the file"));
  const std::string longer = testing::gzip_of(bytes + "x");
  CHECK_THAT(error_of<errors::DataLossError>([&] { data::load_idx(folder.file("longer.gz", longer)); }),
             ContainsSubstring("more bytes follow"));
#endif
}

TEST_CASE("load_idx: the digits beside the project") {
  const std::string folder = testing::real_data("mnist");
  if (folder.empty() || !TANDEM_HAS_ZLIB) TANDEM_SKIP("no ../shared/data/mnist, or no zlib");
  const Tensor images = data::load_idx(folder + "/t10k-images-idx3-ubyte.gz");
  const Tensor labels = data::load_idx(folder + "/t10k-labels-idx1-ubyte.gz");
  CHECK(images.spec() == Spec{{1500, 28, 28}, uint8, {}});
  CHECK(labels.spec() == Spec{{1500}, uint8, {}});
  int highest = 0, bright = 0;
  for (const std::uint8_t label : labels.data<std::uint8_t>()) highest = std::max<int>(highest, label);
  for (const std::uint8_t pixel : images.data<std::uint8_t>()) bright += pixel > 127;
  CHECK(highest == 9);
  CHECK(bright > 1500 * 40);
  CHECK(data::load_idx(folder + "/train-images-idx3-ubyte.gz").shape() == Shape{8500, 28, 28});
}

}  // namespace data_idx_test
