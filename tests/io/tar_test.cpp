// Tar archives, made here and by the tar program, and WebDataset's samples.
#include "tandem/io/tar.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace tar_test {
using namespace tandem;
using testing::error_of;
using Entries = std::vector<io::TarEntry>;

// A header, with its checksum; `prefix` is ustar's.
std::string header(const std::string& name, std::size_t size, char type = '0', const std::string& prefix = "") {
  std::string h(512, '\0');
  char digits[12];
  std::snprintf(digits, sizeof digits, "%011zo", size);
  h.replace(0, name.size(), name);
  h.replace(100, 7, "0000644").replace(108, 7, "0000000").replace(116, 7, "0000000");
  h.replace(124, 11, digits).replace(136, 11, "00000000000").replace(148, 8, "        ");
  h[156] = type;
  h.replace(257, 5, "ustar").replace(263, 2, "00").replace(345, prefix.size(), prefix);
  unsigned sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  std::snprintf(digits, sizeof digits, "%06o", sum);
  return h.replace(148, 7, std::string(digits) + '\0');
}
std::string padded(std::string s) { return s.append((512 - s.size() % 512) % 512, '\0'); }
std::string member(const std::string& name, const std::string& data) {
  return header(name, data.size()) + padded(data);
}
const std::string end(1024, '\0');

Entries read(io::TarReader reader) {
  Entries r;
  for (io::TarEntry entry; reader.next(entry);) r.push_back(entry);
  return r;
}

TEST_CASE("TarReader: files, with names from prefixes, pax and GNU headers; folders and links are passed over") {
  const testing::TemporaryFolder folder;
  const std::string long_name(300, 'n');
  const std::string pax = "17 path=p/\xc3\xa9.txt\n9 size=3\n";
  const std::string archive = member("a", "hello") + header("folder/", 0, '5') + header("link", 77, '2') +
                              header("b", 2, '0', "some/where") + padded("xy") +
                              header("././@LongLink", long_name.size() + 1, 'L') + padded(long_name + '\0') +
                              member("short", std::string(2000, 'd')) + header("pax", pax.size(), 'x') + padded(pax) +
                              header("ignored", 1) + padded("abc") + member("empty", "") + end;
  const Entries want{{"a", "hello"},
                     {"some/where/b", "xy"},
                     {long_name, std::string(2000, 'd')},
                     {"p/\xc3\xa9.txt", "abc"},
                     {"empty", ""}};
  const std::string path = folder.file("f.tar", archive);
  CHECK(read(io::TarReader(path)) == want);

  io::TarReader reader(path);
  std::vector<i64> positions{reader.position()};
  for (io::TarEntry entry; reader.next(entry);) positions.push_back(reader.position());
  for (std::size_t i = want.size(); i-- > 0;) {
    reader.seek(positions[i]);
    io::TarEntry entry;
    CHECK((reader.next(entry) && entry == want[i]));
  }
}

TEST_CASE("TarReader: archives of the tar program") {
  if (std::system("tar --version > /dev/null 2>&1") != 0) TANDEM_SKIP("there is no tar program");
  const testing::TemporaryFolder folder;
  const std::string name = std::string(80, 'l') + "/" + std::string(80, 'm');
  std::filesystem::create_directories(folder / ("in/" + name));
  folder.file("in/" + name + "/one.txt", "1");
  folder.file("in/two.bin", std::string(100000, '\0'));
  for (const std::string format : {"ustar", "pax", "gnu"}) {
    const std::string command =
        "tar -C " + folder.path + " --sort=name --format=" + format + " -czf " + (folder / "f.tar.gz") + " in";
    REQUIRE(std::system(command.c_str()) == 0);
    const Entries found = read(io::TarReader(folder / "f.tar.gz"));
    CHECK(found == Entries{{"in/" + name + "/one.txt", "1"}, {"in/two.bin", std::string(100000, '\0')}});
  }
}

TEST_CASE("TarReader: every cut is found, and every flipped bit of a header") {
  const testing::TemporaryFolder folder;
  const std::string pax = "10 path=y\n";
  const std::string good =
      member("x", "data") + header("pax", pax.size(), 'x') + padded(pax) + member("z", "more") + end;
  const Entries want{{"x", "data"}, {"y", "more"}};
  const std::string flip = folder.file("flip", good), cut = folder.file("cut", good);
  std::fstream file(flip, std::ios::in | std::ios::out | std::ios::binary);
  const auto set = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
    REQUIRE(file);
  };
  // The entries of the archive with a flipped bit; none if it is refused.
  const auto flipped = [&](std::size_t bit) {
    const std::size_t at = bit / 8;
    set(at, static_cast<char>(good[at] ^ 1 << bit % 8));
    std::optional<Entries> found;
    testing::raises([&] { found = read(io::TarReader(flip)); });
    set(at, good[at]);
    return found;
  };
  for (std::size_t bit = 0; bit < 8 * 512; ++bit) {
    const std::optional<Entries> found = flipped(bit);
    CHECK((!found || *found == want));  // a checksum has digits, spaces and zero bytes that mean the same
  }
  for (std::size_t bit = 8 * 1024; bit < 8 * good.size(); bit += 3) {
    const std::optional<Entries> found = flipped(bit);
    CHECK((!found || found->size() <= 2));
  }
  CHECK(read(io::TarReader(flip)) == want);
  for (std::size_t n = good.size() - 512; n-- > 0;) {
    std::filesystem::resize_file(cut, n);
    CHECK_THAT(error_of<errors::DataLossError>([&] { read(io::TarReader(cut)); }), ContainsSubstring("cut: "));
  }
}

TEST_CASE("TarReader: sizes that lie, limits, files that are not archives") {
  const testing::TemporaryFolder folder;
  CHECK_THAT(error_of<errors::DataLossError>(
                 [&] { read(io::TarReader(folder.file("lie", header("big", 077777777777) + end))); }),
             ContainsSubstring("\"big\" at byte 0: it has 8589934591 bytes, but the archive ends before"));
  CHECK_THAT(error_of<errors::DataLossError>([&] { read(io::TarReader(folder.file("no", std::string(600, 'x')))); }),
             ContainsSubstring("not a tar file"));
  io::TarReader reader(folder.file("f", member("a", "12345") + member("b", "1") + end), {.max_file_bytes = 4});
  io::TarEntry entry;
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { reader.next(entry); }),
             ContainsSubstring("\"a\" has 5 bytes, more than max_file_bytes = 4"));
  CHECK((reader.next(entry) && entry.name == "b"));
  CHECK_FALSE(reader.next(entry));
}

TEST_CASE("WebDatasetReader: adjacent files with one key are a sample") {
  const testing::TemporaryFolder folder;
  const std::string path =
      folder.file("f.tar", member("train/0001.JPG", "j1") + member("train/0001.seg.png", "s1") +
                               member("readme", "no extension") + member("train/.hidden", "no key") +
                               member("train/0002.jpg", "j2") + member("a.b/3.cls", "c3") + end);
  io::WebDatasetReader reader(path);
  std::vector<io::WebDatasetSample> samples;
  std::vector<i64> positions{0};
  for (io::WebDatasetSample s; reader.next(s);) samples.push_back(s), positions.push_back(reader.position());
  CHECK(samples == std::vector<io::WebDatasetSample>{{"train/0001", {{"jpg", "j1"}, {"seg.png", "s1"}}},
                                                     {"train/0002", {{"jpg", "j2"}}},
                                                     {"a.b/3", {{"cls", "c3"}}}});
  CHECK(samples[0]["jpg"] == "j1");
  CHECK_THAT(error_of<errors::NotFoundError>([&] { (void)samples[0]["txt"]; }),
             ContainsSubstring("sample \"train/0001\" has no file with the extension \"txt\" among jpg, seg.png"));
  for (std::size_t i = samples.size(); i-- > 0;) {
    reader.seek(positions[i]);
    io::WebDatasetSample s;
    CHECK((reader.next(s) && s == samples[i]));
  }
  io::WebDatasetReader twice(folder.file("twice", member("a.jpg", "1") + member("a.JPG", "2") + end));
  io::WebDatasetSample s;
  CHECK_THAT(error_of<errors::DataLossError>([&] { twice.next(s); }),
             ContainsSubstring("sample \"a\" has two files with the extension \"jpg\""));
}

TEST_CASE("WebDatasetReader: a sample with an error is passed over as a whole") {
  const testing::TemporaryFolder folder;
  using Sample = io::WebDatasetSample;
  const Sample before{"a", {{"x", "1"}}}, behind{"c", {{"x", "3"}}};
  const std::string large = member("b.large", "12345");
  // The faults of sample b, its first file, its last one, and two of them.
  for (const std::string& middle :
       {large + member("b.x", "2") + member("b.y", "2"), member("b.x", "2") + large + member("b.y", "2"),
        member("b.x", "2") + large, large, large + member("b.x", "2") + large + member("b.y", "2"),
        member("b.x", "2") + member("b.X", "2") + member("b.y", "2")}) {
    const std::string path = folder.file("f", member("a.x", "1") + middle + member("c.x", "3") + end);
    io::WebDatasetReader reader(path, {.max_file_bytes = 4});
    Sample s;
    CHECK((reader.next(s) && s == before));
    const i64 at = reader.position();
    CHECK_THROWS_AS(reader.next(s), errors::OpError);
    const i64 next = reader.position();
    CHECK((reader.next(s) && s == behind));
    CHECK_FALSE(reader.next(s));
    reader.seek(next);
    CHECK((reader.next(s) && s == behind));
    reader.seek(at);
    CHECK_THROWS_AS(reader.next(s), errors::OpError);
    CHECK((reader.next(s) && s == behind));
  }
  // A large file that is no part of a sample is passed over like others.
  io::WebDatasetReader readme(folder.file("r", member("a.x", "1") + member("readme", "12345") + end),
                              {.max_file_bytes = 4});
  Sample s;
  CHECK((readme.next(s) && s == before));
  CHECK_FALSE(readme.next(s));
  // An archive that ends early: the sample that was begun is lost, and both errors of a sample are told.
  io::WebDatasetReader cut(folder.file("cut", member("a.x", "1") + member("b.x", "2")));
  CHECK((cut.next(s) && s == before));
  CHECK_THROWS_AS(cut.next(s), errors::DataLossError);
  CHECK_FALSE(cut.next(s));
  io::WebDatasetReader both(folder.file("both", large + member("b.x", "2")), {.max_file_bytes = 4});
  CHECK_THROWS_AS(both.next(s), errors::ResourceExhaustedError);
  CHECK_THROWS_AS(both.next(s), errors::DataLossError);
  CHECK_FALSE(both.next(s));
}

}  // namespace tar_test
