// load_idx: every dtype, and files whose headers lie. load_mnist, and fingerprint.
#include "tandem/data/idx.hpp"

#include <cstring>

#include "tandem/data/fingerprint.hpp"
#include "tandem/data/mnist.hpp"
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

TEST_CASE("load_mnist: four files, compressed or not, and what is wrong with them") {
  const testing::TemporaryFolder folder;
  const auto images = [](char n, std::string more = {}) {
    return std::string("\0\0\x08\x03\0\0\0", 7) + n + std::string("\0\0\0\x1c\0\0\0\x1c", 8) +
           std::string(static_cast<std::size_t>(n) * 784, '\x02') + more;
  };
  const auto labels = [](const std::string& digits) {
    return std::string("\0\0\x08\x01\0\0\0", 7) + static_cast<char>(digits.size()) + digits;
  };
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::load_mnist(folder.path + "/none"); }),
             ContainsSubstring("load_mnist: there is no folder"));
  folder.file("train-images-idx3-ubyte", images(2));
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::load_mnist(folder.path); }),
             ContainsSubstring("/train-labels-idx1-ubyte nor ") && ContainsSubstring("/train-labels-idx1-ubyte.gz"));
  folder.file("train-labels-idx1-ubyte", labels("\x07\x09"));
  folder.file("t10k-images-idx3-ubyte", images(1));
  folder.file("t10k-labels-idx1-ubyte", labels(std::string(1, '\0')));
  const auto [train, test] = data::load_mnist(folder.path);
  CHECK(train.images.spec() == Spec{{2, 28, 28}, uint8, {}});
  CHECK(train.labels.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{7, 9});
  CHECK(test.labels.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0});

  const auto error = [&] { return error_of<errors::InvalidArgumentError>([&] { data::load_mnist(folder.path); }); };
  folder.file("t10k-labels-idx1-ubyte", labels("\x0a"));
  CHECK_THAT(error(), ContainsSubstring("t10k-labels-idx1-ubyte: the label 10 is not a digit"));
  folder.file("t10k-labels-idx1-ubyte", labels("\x01\x02"));
  CHECK_THAT(error(), ContainsSubstring("not a label for each of 1 images but uint8[2]"));
  folder.file("t10k-images-idx3-ubyte", labels("\x01\x02"));
  CHECK_THAT(error(), ContainsSubstring("t10k-images-idx3-ubyte: not images of 28x28 pixels but uint8[2]"));
}

TEST_CASE("fingerprint: FNV-1a of bytes and of elements, in parts") {
  CHECK(data::fingerprint("") == 0xcbf29ce484222325u);
  CHECK(data::fingerprint("a") == 0xaf63dc4c8601ec8cu);  // of the algorithm's authors
  CHECK(data::fingerprint("foobar") == 0x85944171f73967e8u);
  CHECK(data::fingerprint("bar", data::fingerprint("foo")) == data::fingerprint("foobar"));
  CHECK(data::fingerprint(cast(constant({'f', 'o', 'o'}), uint8), 7) == data::fingerprint("foo", 7));
  CHECK(data::fingerprint(constant({1.f, 2.f, 3.f})[1]) == data::fingerprint(constant(2.f)));
  CHECK(data::fingerprint(zeros({0})) == data::fingerprint(""));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] { data::fingerprint(constant("text")); }),
             ContainsSubstring("fingerprint: the elements are texts"));
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
