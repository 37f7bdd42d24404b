// TextLineReader: ends of lines, byte order marks, positions, limits, compressed files.
#include "tandem/io/text_lines.hpp"

#include <unistd.h>

#include <vector>

#include "tandem/io/output.hpp"
#include "tandem/io/zip.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace text_lines_test {
using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;

Texts read(io::TextLineReader reader) {
  Texts r;
  for (std::string line; reader.next(line);) r.push_back(line);
  return r;
}

TEST_CASE("TextLineReader: LF, CR LF, empty lines, a last line without an end") {
  const testing::TemporaryFolder folder;
  const auto lines = [&](std::string_view content) { return read(io::TextLineReader(folder.file("f", content))); };
  CHECK(lines("") == Texts{});
  CHECK(lines("a") == Texts{"a"});
  CHECK(lines("a\n") == Texts{"a"});
  CHECK(lines("a\r\nb\n\n\r\nc\r") == Texts{"a", "b", "", "", "c\r"});
  CHECK(lines("a\rb\n") == Texts{"a\rb"});
  CHECK(lines("\n") == Texts{""});
  CHECK(lines("\xef\xbb\xbf") == Texts{});
  CHECK(lines("\xef\xbb\xbfx\n\xef\xbb\xbfy") == Texts{"x", "\xef\xbb\xbfy"});
  CHECK(lines("\xef\xbb") == Texts{"\xef\xbb"});
  CHECK(lines(std::string_view("a\0b\n", 4)) == Texts{std::string("a\0b", 3)});
}

TEST_CASE("TextLineReader: lines across the buffer's end, plain and compressed, and from every position") {
  const testing::TemporaryFolder folder;
  Texts texts;
  std::string content;
  for (std::size_t i = 0; i < 700; ++i) {
    texts.push_back(std::string(i * 7 % 1999, static_cast<char>('a' + i % 26)));
    content += texts.back() + (i % 3 ? "\n" : "\r\n");
  }
  texts.push_back(std::string(900000, 'z'));
  content += texts.back();
  std::vector<std::string> paths{folder.file("plain", content)};
#if TANDEM_HAS_ZLIB
  io::detail::Output out("test", folder / "packed", io::Compression::gzip, 1);
  out.write(content);
  out.close();
  paths.push_back(folder / "packed");
#endif
  for (const std::string& path : paths) {
    CHECK(read(io::TextLineReader(path)) == texts);
    io::TextLineReader reader(path);
    std::vector<i64> positions{0};
    for (std::string_view line; reader.next(line);) positions.push_back(reader.position());
    CHECK(positions.back() == static_cast<i64>(content.size()));
    std::string line;
    for (std::size_t i = texts.size(); i > 0; i -= std::min<std::size_t>(i, 53)) {
      reader.seek(positions[i - 1]);
      CHECK((reader.next(line) && line == texts[i - 1]));
    }
    reader.seek(positions.back());
    CHECK_FALSE(reader.next(line));
    CHECK_THROWS_AS(reader.seek(positions.back() + 1), errors::InvalidArgumentError);
  }
}

TEST_CASE("TextLineReader: a line above the limit is passed over in bounded memory") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("f", "one\n" + std::string(2000000, 'x') + "\nthree\n" + std::string(9, 'y'));
  io::TextLineReader reader(path, {.max_line_bytes = 8});
  std::string line;
  CHECK((reader.next(line) && line == "one"));
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { reader.next(line); }),
             ContainsSubstring("f: line 2 at byte 4: it has more than max_line_bytes = 8"));
  CHECK((reader.next(line) && line == "three"));
  CHECK_THROWS_AS(reader.next(line), errors::ResourceExhaustedError);
  CHECK_FALSE(reader.next(line));
  CHECK_THROWS_AS(io::TextLineReader(path, {.max_line_bytes = -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::TextLineReader(folder / "none"), errors::NotFoundError);
}

TEST_CASE("TextLineReader: damage in compressed data and a file that becomes shorter raise once, then it ends") {
  const testing::TemporaryFolder folder;
  std::string line;
#if TANDEM_HAS_ZLIB
  {
    io::detail::Output out("test", folder / "packed", io::Compression::gzip, 9);
    out.write("some\nlines\nof text\n");
  }
  testing::for_each_damage(testing::content_of(folder / "packed"), [&](const std::string& bytes, bool cut) {
    if (bytes.size() < 2 || bytes[0] != '\x1f' || bytes[1] != '\x8b') return;
    io::TextLineReader reader(folder.file("bad", bytes));
    const bool raised = testing::raises([&] {
      while (reader.next(line)) {
      }
    });
    if (cut) CHECK(raised);
    CHECK_FALSE(reader.next(line));
  });
#endif
  io::TextLineReader reader(folder.file("plain", std::string(3 << 20, 'x')));
  REQUIRE(::truncate((folder / "plain").c_str(), 1000) == 0);
  CHECK_THROWS_AS(reader.next(line), errors::UnavailableError);
  CHECK_FALSE(reader.next(line));
}

}  // namespace text_lines_test
