// read_file and read_lines: plain and compressed files, what is damaged, bounds.
#include "tandem/data/file.hpp"

#include <sys/stat.h>

#include "tests/data/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_file_test {
using namespace tandem;
using testing::error_of;
using testing::from_hex;
using testing::gzip_of;
using Texts = std::vector<std::string>;

// 100,000 zero bytes, by gzip -9.
const std::string zeros_gz = from_hex("1f8b0800000000000203edc13101000000c2a0f54f6d0d0fa0") + std::string(96, '\0') +
                             from_hex("8057037d9511d4a0860100");

TEST_CASE("read_file: the bytes of a file, which may be empty") {
  const testing::TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  CHECK(data::read_file(folder.file("bytes", bytes)) == bytes);
  CHECK(data::read_file(folder.file("empty", "")).empty());
  CHECK(data::read_file(folder.file("short", "\x1f")) == "\x1f");
  const std::string large(300000, 'x');
  CHECK(data::read_file(folder.file("large", large)) == large);
}

TEST_CASE("read_file: what is not a regular file is not found, and is named") {
  const testing::TemporaryFolder folder;
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::read_file(folder.path + "/none"); }),
             ContainsSubstring("read_file: cannot read " + folder.path + "/none: No such file"));
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::read_file(folder.path); }),
             ContainsSubstring("it is a directory, not a regular file"));
  const std::string pipe = folder.path + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::read_file(pipe); }), ContainsSubstring("it is a pipe"));
}

TEST_CASE("read_file: max_bytes bounds the content") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("five", "12345");
  CHECK(data::read_file(path, {.max_bytes = 5}) == "12345");
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { data::read_file(path, {.max_bytes = 4}); }),
             ContainsSubstring("five has more than max_bytes = 4 bytes"));
  CHECK_THROWS_AS(data::read_file(path, {.max_bytes = -1}), errors::InvalidArgumentError);
  CHECK(data::read_file(folder.file("none", ""), {.max_bytes = 0}).empty());
}

#if TANDEM_HAS_ZLIB
TEST_CASE("read_file: gzip is inflated, whatever the name is") {
  const testing::TemporaryFolder folder;
  const std::string hello = from_hex("1f8b0800000000000203cb48cdc9c9e72acf2fca49e10200ff5dc5c40c000000");
  CHECK(data::read_file(folder.file("hello.txt", hello)) == "hello\nworld\n");
  CHECK(data::read_file(folder.file("members.gz", hello + gzip_of("and ") + gzip_of("") + gzip_of("more"))) ==
        "hello\nworld\nand more");
  CHECK(data::read_file(folder.file("padded.gz", hello + std::string(40000, '\0'))) == "hello\nworld\n");
  CHECK(data::read_file(folder.file("none.gz", gzip_of(""))).empty());
  CHECK(data::read_file(folder.file("zeros.gz", zeros_gz)) == std::string(100000, '\0'));
}

TEST_CASE("read_file: damaged compressed data raise and never yield other content") {
  const testing::TemporaryFolder folder;
  const std::string content = "some text, some more text", good = gzip_of(content);
  const auto error = [&](const std::string& bytes) {
    const std::string path = folder.file("damaged.gz", bytes);
    std::string read = content;
    const std::string what = error_of<errors::DataLossError>([&] { read = data::read_file(path); });
    CHECK(read == content);
    return what;
  };
  CHECK(error(good) == "no error");
  for (std::size_t n = 2; n < good.size(); ++n)
    CHECK_THAT(error(good.substr(0, n)), ContainsSubstring("damaged.gz: its compressed data are damaged or end early"));
  for (std::size_t i = 10; i < good.size(); ++i) {  // the bytes before say when it was made, and by what
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    const bool unused_bit = i == 10;  // between the head of a stored block and its length
    CHECK((error(bad) == "no error") == unused_bit);
  }
  CHECK_THAT(error(good + "x"), ContainsSubstring("after 25 bytes of content"));
  CHECK(error(good + std::string(3, '\0') + "x") != "no error");
}

TEST_CASE("read_file: a small compressed file with large content is bounded, too") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("zeros.gz", zeros_gz);
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { data::read_file(path, {.max_bytes = 99999}); }),
             ContainsSubstring("has more than max_bytes = 99999 bytes"));
  CHECK(data::read_file(path, {.max_bytes = 100000}).size() == 100000);
  const std::string cut = folder.file("cut.gz", zeros_gz.substr(0, 125));
  CHECK_THROWS_AS(data::read_file(cut, {.max_bytes = 100000}), errors::DataLossError);
}
#else
TEST_CASE("read_file: without zlib, compressed files raise") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("x.gz", gzip_of("x"));
  CHECK_THAT(error_of<errors::UnimplementedError>([&] { data::read_file(path); }), ContainsSubstring("TANDEM_NO_ZLIB"));
}
#endif

TEST_CASE("read_lines: LF, CR LF, and a last line without an end") {
  const testing::TemporaryFolder folder;
  const auto lines = [&](std::string_view text) { return data::read_lines(folder.file("lines", text)); };
  CHECK(lines("").empty());
  CHECK(lines("\n") == Texts{""});
  CHECK(lines("a\nb\n") == Texts{"a", "b"});
  CHECK(lines("a\r\nb") == Texts{"a", "b"});
  CHECK(lines("\r\n\r\nx\ry\r\n") == Texts{"", "", "x\ry"});
  CHECK(lines(std::string_view("a\0b\nc", 5)) == Texts{std::string("a\0b", 3), "c"});
  const std::string_view text = "one\ntwo";
  CHECK(data::lines_of(text)[1].data() == text.data() + 4);
  CHECK_THAT(error_of([&] { data::read_lines(folder.path); }), ContainsSubstring("read_lines: cannot read"));
}

TEST_CASE("read_file and read_lines: the texts beside the project") {
  const std::string path = testing::real_data("text/moby_dick.txt.gz");
  if (path.empty() || !TANDEM_HAS_ZLIB) TANDEM_SKIP("no ../shared/data/text/moby_dick.txt.gz, or no zlib");
  const std::string text = data::read_file(path);
  CHECK(text.size() > 1000000);
  CHECK(text.find("Call me Ishmael") != text.npos);
  std::size_t joined = 0;
  for (const std::string& line : data::read_lines(path)) joined += line.size() + 1;
  CHECK(joined >= text.size());
}

}  // namespace data_file_test
