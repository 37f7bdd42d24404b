// TFRecord files: their exact bytes, checksums, damage, positions, the index.
#include "tandem/io/tfrecord.hpp"

#include <unistd.h>

#include <thread>
#include <vector>

#include "tandem/io/crc32c.hpp"
#include "tandem/io/inflate.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace tfrecord_test {
using namespace tandem;
using testing::content_of;
using testing::error_of;
using testing::from_hex;
using Texts = std::vector<std::string>;

const Texts records{"first", "", std::string(1000, 'x'), std::string("\0\xff", 2), "last"};

void write(const std::string& path, const Texts& texts, io::TFRecordWriterOptions options = {}) {
  io::TFRecordWriter writer(path, options);
  for (const std::string& s : texts) writer.write(s);
  writer.close();
}
Texts read(io::TFRecordReader reader) {
  Texts r;
  for (std::string record; reader.next(record);) r.push_back(record);
  return r;
}

TEST_CASE("crc32c: the values of RFC 3720, and any division of the bytes") {
  CHECK(io::crc32c("123456789") == 0xe3069283u);
  CHECK(io::masked_crc32c(0xe3069283u) == 0xc78ab0e5u);
  CHECK(io::unmasked_crc32c(0xc78ab0e5u) == 0xe3069283u);
  CHECK(io::crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(io::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(io::crc32c("") == 0);
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37);
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const std::string_view head = std::string_view(text).substr(0, n);
    CHECK(io::crc32c(head) == io::detail::crc32c_by_tables(head));
    CHECK(io::crc32c(std::string_view(text).substr(n), io::crc32c(head)) == io::crc32c(text));
  }
}

TEST_CASE("crc32c: long texts, of which several parts are read at a time") {
  std::string text;
  for (u64 i = 0; text.size() < 20'000; ++i) text += static_cast<char>(i * i * 0x9e3779b97f4a7c15u >> 56);
  for (const std::size_t n : {3071, 3072, 3073, 6143, 6144, 6151, 9216, 12'345, 19'999})
    for (const std::size_t from : {0, 1, 7})
      for (const std::uint32_t before : {0u, 1u, 0x80000000u, 0xffffffffu, 0x12345678u}) {
        CAPTURE(n, from, before);
        const std::string_view part = std::string_view(text).substr(from, n);
        CHECK(io::crc32c(part, before) == io::detail::crc32c_by_tables(part, before));
      }
}

TEST_CASE("TFRecord: the bytes of a record") {
  const testing::TemporaryFolder folder;
  write(folder / "one", {"\1"});
  CHECK(content_of(folder / "one") == from_hex("01 00 00 00 00 00 00 00 01 75 de 41 01 05 2b 28 43"));
  write(folder / "none", {});
  CHECK(content_of(folder / "none").empty());
  CHECK(read(io::TFRecordReader(folder / "none")).empty());
}

TEST_CASE("TFRecord: what is written is read, in each compression") {
  const testing::TemporaryFolder folder;
  Texts large = records;
  for (int i = 0; i < 300; ++i) large.push_back(std::string(static_cast<std::size_t>(i) * 31, static_cast<char>(i)));
  large.push_back(std::string(1 << 20, 'l'));
  write(folder / "plain", large);
  CHECK(read(io::TFRecordReader(folder / "plain")) == large);
#if TANDEM_HAS_ZLIB
  for (const auto compression : {io::Compression::gzip, io::Compression::zlib}) {
    write(folder / "packed", large, {.compression = compression, .compression_level = 9});
    CHECK(content_of(folder / "packed").size() < content_of(folder / "plain").size() / 10);
    CHECK(read(io::TFRecordReader(folder / "packed", {.compression = compression})) == large);
  }
#endif
}

TEST_CASE("TFRecord: flush passes records on; a closed writer refuses them") {
  const testing::TemporaryFolder folder;
  io::TFRecordWriter writer(folder / "file");
  writer.write("a");
  writer.flush();
  CHECK(read(io::TFRecordReader(folder / "file")) == Texts{"a"});
  io::TFRecordWriter other = std::move(writer);
  other.write("b");
  other.close();
  other.close();
  CHECK(read(io::TFRecordReader(folder / "file")) == Texts{"a", "b"});
  CHECK_THROWS_AS(other.write("c"), errors::FailedPreconditionError);
  CHECK_THROWS_AS(io::TFRecordWriter(folder / "none/file"), errors::UnavailableError);
  CHECK_THROWS_AS(io::TFRecordWriter(folder / "x", {.compression_level = 10}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::TFRecordWriter(folder / "x", {.compression = io::Compression::automatic}),
                  errors::InvalidArgumentError);
  if (std::filesystem::exists("/dev/full")) {
    io::TFRecordWriter full("/dev/full");
    full.write("a");
    CHECK_THROWS_AS(full.close(), errors::ResourceExhaustedError);
  }
}

TEST_CASE("TFRecord: every cut and every flipped bit is found, with file, record and offset") {
  const testing::TemporaryFolder folder;
  const Texts texts{"one", "", "three"};
  write(folder / "good", texts);
  const Texts ends{"", "one", "", "three"};
  testing::for_each_damage(content_of(folder / "good"), [&](const std::string& bytes, bool cut) {
    const std::string path = folder.file("bad", bytes);
    Texts found;
    const std::string error = error_of<errors::DataLossError>([&] {
      io::TFRecordReader reader(path);
      for (std::string record; reader.next(record);) found.push_back(record);
    });
    const bool at_end = cut && (bytes.size() == 0 || bytes.size() == 19 || bytes.size() == 35);
    CHECK((error == "no error") == at_end);
    REQUIRE(found.size() < texts.size());
    CHECK(std::equal(found.begin(), found.end(), texts.begin()));
    if (!at_end) CHECK_THAT(error, ContainsSubstring("bad: record " + std::to_string(found.size()) + " at byte "));
  });
}

TEST_CASE("TFRecord: reading goes on behind a record whose bytes are damaged, and ends where a length is") {
  const testing::TemporaryFolder folder;
  write(folder / "good", {"one", "two", "three"});
  std::string bytes = content_of(folder / "good");
  bytes[19 + 12] ^= 1;
  {
    io::TFRecordReader reader(folder.file("bytes", bytes));
    std::string record;
    CHECK(reader.next(record));
    CHECK_THAT(error_of<errors::DataLossError>([&] { reader.next(record); }),
               ContainsSubstring("bytes: record 1 at byte 19: the checksum of its bytes does not match"));
    CHECK((reader.next(record) && record == "three"));
    CHECK_FALSE(reader.next(record));
  }
  CHECK(read(io::TFRecordReader(folder / "bytes", {.check_crc = false})).size() == 3);
  bytes[19] ^= 1;
  io::TFRecordReader reader(folder.file("length", bytes));
  std::string record;
  CHECK(reader.next(record));
  CHECK_THROWS_AS(reader.next(record), errors::DataLossError);
  CHECK_FALSE(reader.next(record));
  reader.seek(0);
  CHECK((reader.next(record) && record == "one"));
}

// A length with its checksum.
std::string head_of(u64 length) {
  std::string head(reinterpret_cast<const char*>(&length), 8);
  const std::uint32_t crc = io::masked_crc32c(io::crc32c(head));
  return head.append(reinterpret_cast<const char*>(&crc), 4);
}
TEST_CASE("TFRecord: a length that lies is refused before memory is taken") {
  const testing::TemporaryFolder folder;
  for (const u64 length : {u64{1}, u64{1} << 40, u64{1} << 63, ~u64{0}, ~u64{0} - 15}) {
    const std::string path = folder.file("lie", head_of(length) + "abc");
    std::string record;
    CHECK_THAT(error_of<errors::DataLossError>([&] { io::TFRecordReader(path).next(record); }),
               ContainsSubstring("it has " + std::to_string(length) + " bytes, but the file ends before"));
    CHECK_THROWS_AS(io::TFRecordFile(path), errors::DataLossError);
#if TANDEM_HAS_ZLIB
    {
      io::detail::Output out("test", folder / "packed", io::Compression::gzip, 1);
      out.write(head_of(length) + "abc");
    }
    CHECK_THROWS_AS(io::TFRecordReader(folder / "packed", {.compression = io::Compression::gzip}).next(record),
                    errors::DataLossError);
#endif
  }
}

TEST_CASE("TFRecord: a record above the limit is passed over") {
  const testing::TemporaryFolder folder;
  write(folder / "file", {"a", std::string(600000, 'b'), "c"});
  io::TFRecordReader reader(folder / "file", {.max_record_bytes = 599999});
  std::string record;
  CHECK(reader.next(record));
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { reader.next(record); }),
             ContainsSubstring("record 1 at byte 17: it has 600000 bytes, more than max_record_bytes = 599999"));
  CHECK((reader.next(record) && record == "c"));
  CHECK_THROWS_AS(io::TFRecordReader(folder / "file", {.max_record_bytes = -1}), errors::InvalidArgumentError);
}

TEST_CASE("TFRecord: reading goes on from every position, also in compressed files") {
  const testing::TemporaryFolder folder;
  Texts texts = records;
  for (int i = 0; i < 40; ++i) texts.push_back(std::string(static_cast<std::size_t>(i) * 997, static_cast<char>(i)));
  for (const auto compression : {io::Compression::none, io::Compression::gzip, io::Compression::zlib}) {
    if (compression != io::Compression::none && !TANDEM_HAS_ZLIB) continue;
    write(folder / "file", texts, {.compression = compression});
    io::TFRecordReader reader(folder / "file", {.compression = compression});
    std::vector<i64> positions{reader.position()};
    for (std::string_view record; reader.next(record);) positions.push_back(reader.position());
    REQUIRE(positions.size() == texts.size() + 1);
    for (std::size_t i = positions.size(); i-- > 0;) {
      reader.seek(positions[i]);
      CHECK(reader.position() == positions[i]);
      std::string record;
      CHECK(reader.next(record) == (i < texts.size()));
      if (i < texts.size()) CHECK(record == texts[i]);
    }
    CHECK_THROWS_AS(reader.seek(positions.back() + 1), errors::InvalidArgumentError);
    CHECK_THROWS_AS(reader.seek(-1), errors::InvalidArgumentError);
  }
}

TEST_CASE("TFRecord: a compressed file is named when it is read as a plain one, and damage in it is found") {
#if TANDEM_HAS_ZLIB
  const testing::TemporaryFolder folder;
  write(folder / "file", {"one", "two"}, {.compression = io::Compression::gzip});
  CHECK_THAT(error_of<errors::DataLossError>([&] { read(io::TFRecordReader(folder / "file")); }),
             ContainsSubstring("use {.compression = io::Compression::gzip}"));
  const std::string bytes = content_of(folder / "file");
  for (std::size_t n = 1; n < bytes.size(); ++n) {
    io::TFRecordReader reader(folder.file("cut", bytes.substr(0, n)), {.compression = io::Compression::gzip});
    std::string record;
    CHECK_THROWS_AS(
        [&] {
          while (reader.next(record)) {
          }
        }(),
        errors::DataLossError);
    CHECK_FALSE(reader.next(record));
  }
#endif
}

TEST_CASE("TFRecord: a file that becomes shorter while it is read raises") {
  const testing::TemporaryFolder folder;
  write(folder / "file", Texts(100, std::string(10000, 'x')));
  io::TFRecordReader reader(folder / "file");
  const io::TFRecordFile indexed(folder / "file");
  std::string record;
  CHECK(reader.next(record));
  REQUIRE(::truncate((folder / "file").c_str(), 20000) == 0);
  CHECK(testing::raises([&] {
    while (reader.next(record)) {
    }
  }));
  CHECK_THAT(error_of<errors::UnavailableError>([&] { indexed.at(99); }), ContainsSubstring("it became shorter"));
}

TEST_CASE("TFRecordFile: records in any order, by an index that follows the file") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file", index = path + ".index";
  write(path, records);
  {
    const io::TFRecordFile file(path);
    REQUIRE(file.size() == 5);
    for (const i64 i : {3, 0, 4, 2, 1}) CHECK(file.at(i) == records[static_cast<std::size_t>(i)]);
    CHECK_THROWS_AS(file.at(5), errors::InvalidArgumentError);
    CHECK_THROWS_AS(file.at(-1), errors::InvalidArgumentError);
  }
  const std::string saved = content_of(index);
  CHECK(saved.size() == 32 + 8 * 6 + 4);
  CHECK(io::TFRecordFile(path).at(2) == records[2]);
  CHECK(content_of(index) == saved);
  testing::for_each_damage(saved, [&](const std::string& bytes, bool) {
    folder.file("file.index", bytes);
    CHECK(io::TFRecordFile(path, {.write_index = false}).at(4) == "last");
  });
  folder.file("file.index", saved);
  write(path, {"other", "records"});
  CHECK(io::TFRecordFile(path).at(1) == "records");
  std::filesystem::remove(index);
  CHECK(io::TFRecordFile(path, {.write_index = false}).size() == 2);
  CHECK_FALSE(std::filesystem::exists(index));
  CHECK(io::TFRecordFile(path, {.index = folder / "elsewhere"}).size() == 2);
  CHECK(std::filesystem::exists(folder / "elsewhere"));
  CHECK(io::TFRecordFile(path, {.index = folder / "none/index"}).size() == 2);
}

TEST_CASE("TFRecordFile: threads read at the same time; damage is found") {
  const testing::TemporaryFolder folder;
  Texts texts;
  for (int i = 0; i < 200; ++i) texts.push_back(std::to_string(i * i));
  write(folder / "file", texts);
  const io::TFRecordFile file(folder / "file");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < texts.size(); ++i) wrong[t] += file.at(static_cast<i64>(i)) != texts[i];
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4));
  std::string bytes = content_of(folder / "file");
  bytes[bytes.size() - 5] ^= 1;
  const io::TFRecordFile bad(folder.file("bad", bytes));
  CHECK(bad.at(0) == "0");
  CHECK_THAT(error_of<errors::DataLossError>([&] { bad.at(199); }),
             ContainsSubstring("bad: record 199 at byte " + std::to_string(bytes.size() - 21)));
}

}  // namespace tfrecord_test
