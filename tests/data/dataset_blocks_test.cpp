// Data sets of files that are read by place: records of one length, blocks of text; edges, shares, faults.
#include "tandem/data/dataset_blocks.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "tandem/io/inflate.hpp"
#include "tandem/ops/all.hpp"
#include "tests/data/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_dataset_blocks_test {
using namespace tandem;
using testing::error_of, testing::TemporaryFolder;
using Texts = std::vector<std::string>;

std::string joined(const Texts& parts) {
  std::string r;
  for (const std::string& part : parts) r += part;
  return r;
}
// The units of a text by the definition: a unit belongs to the block in which its first byte lies.
Texts expected_blocks(const std::string& text, std::size_t block, data::TextUnit unit) {
  const auto ends = [&](char c) {
    return c == '\n' || (unit == data::TextUnit::word && std::string_view(" \t\v\f\r").find(c) != std::string::npos);
  };
  Texts r((text.size() + block - 1) / block);
  std::size_t owner = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || ends(text[i - 1])) owner = i / block;
    r[owner] += text[i];
  }
  return r;
}

TEST_CASE("TextBlockDataset: no word or line is divided, and all bytes are there once") {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    std::string text;
    const std::size_t size = random() % 400, rare = 2 + random() % 40;
    while (text.size() < size)
      text += random() % rare == 0 ? " \n\t\r"[random() % 4] : static_cast<char>('a' + random() % 26);
    const std::string path = folder.file("text", text);
    for (const data::TextUnit unit : {data::TextUnit::word, data::TextUnit::line})
      for (const i64 block : {1, 2, 7, 64, 1000}) {
        const data::TextBlockDataset ds(path, {.block_bytes = block, .unit = unit});
        CAPTURE(trial, block, text);
        REQUIRE(ds.to_vector() == expected_blocks(text, static_cast<std::size_t>(block), unit));
        REQUIRE(joined(ds.to_vector()) == text);
      }
  }
}

TEST_CASE("TextBlockDataset: one file after another, indexed") {
  const TemporaryFolder folder;
  const std::string a = folder.file("a", "one two three "), empty = folder.file("empty", "");
  const std::string b = folder.file("b", "four five");
  const data::TextBlockDataset ds({a, empty, b}, {.block_bytes = 5});
  CHECK(ds.is_indexed());
  CHECK(ds.to_vector() == Texts{"one two ", "three ", "", "four ", "five"});
  const auto in_twos = [&](const char* text) {
    return data::TextBlockDataset(folder.file("short", text), {.block_bytes = 2}).to_vector();
  };
  CHECK(in_twos("abcd e f") == Texts{"abcd ", "", "e ", "f"});
  CHECK(in_twos("a   b") == Texts{"a ", "  ", "b"});
  CHECK(ds.size() == 5);
  CHECK(ds.at(0, 3) == "four ");
  auto it = ds.iterator({2, 3});
  CHECK(it.next() == "four ");
  CHECK((it.position() == data::Position{2, 4}));
  Texts shares = ds.shard(2, 0).to_vector();
  for (std::string& text : ds.shard(2, 1).to_vector()) shares.push_back(std::move(text));
  CHECK(shares == Texts{"one two ", "", "five", "three ", "four "});
  const auto lengths = ds.map([](const std::string& text) { return std::ssize(text); }, {.num_parallel_calls = 3});
  CHECK(lengths.to_vector() == std::vector<i64>{8, 6, 0, 5, 4});
  Texts shuffled = ds.shuffle().to_vector();
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == Texts{"", "five", "four ", "one two ", "three "});
}

TEST_CASE("TextBlockDataset: a word that is longer than a block, and a limit for it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", "ab " + std::string(5000, 'x') + " cd");
  Texts blocks = data::TextBlockDataset(path, {.block_bytes = 1000}).to_vector();
  REQUIRE(blocks.size() == 6);
  CHECK(blocks[0].size() == 5004);
  CHECK(Texts(blocks.begin() + 1, blocks.end()) == Texts{"", "", "", "", "cd"});

  const data::TextBlockDataset limited(path, {.block_bytes = 1000, .max_block_bytes = 4000});
  CHECK(error_of<errors::ResourceExhaustedError>([&] {
          limited.at(0, 0);
        }).find("TextBlockDataset: " + path + ": the block at byte 0 has more than max_block_bytes = 4000 bytes") == 0);
  auto it = limited.iterator();
  CHECK_THROWS_AS(it.next(), errors::ResourceExhaustedError);
  CHECK(it.next() == "");  // the iteration goes on behind it
  CHECK(data::TextBlockDataset(path, {.block_bytes = 1000, .max_block_bytes = 5004}).at(0, 0).size() == 5004);
  CHECK_THROWS_AS(data::TextBlockDataset(path, {.block_bytes = 1000, .max_block_bytes = 5003}).at(0, 0),
                  errors::ResourceExhaustedError);
  CHECK(error_of<errors::InvalidArgumentError>([&] {
          data::TextBlockDataset(path, {.block_bytes = 1000, .max_block_bytes = 999});
        }).find("TextBlockDataset: block_bytes = 1000 must be at most max_block_bytes = 999") == 0);
}

TEST_CASE("FixedLengthRecordDataset: records between header and footer, by number") {
  const TemporaryFolder folder;
  const std::string a = folder.file("a", "Haabbcc.."), b = folder.file("b", "Hdd..");
  const data::FixedLengthRecordDataset ds({a, b}, 2, {.header_bytes = 1, .footer_bytes = 2});
  CHECK(ds.is_indexed());
  CHECK(ds.to_vector() == Texts{"aa", "bb", "cc", "dd"});
  CHECK(ds.at(0, 3) == "dd");
  CHECK(ds.batch(2).to_vector()[1].to_vector<std::string>() == Texts{"cc", "dd"});
  Texts rest;
  for (const std::string& record : ds.epoch(4, 2)) rest.push_back(record);
  CHECK(rest == Texts{"cc", "dd"});
  Texts shuffled = ds.shuffle().to_vector();
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == Texts{"aa", "bb", "cc", "dd"});
  CHECK(data::FixedLengthRecordDataset(folder.file("empty", ""), 3).size() == 0);
}

TEST_CASE("FixedLengthRecordDataset: a tail that is no record, and wrong lengths") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", "aabbc");
  CHECK(error_of<errors::InvalidArgumentError>([&] {
          data::FixedLengthRecordDataset(path, 2);
        }).find("FixedLengthRecordDataset: " + path + ": record 2 at byte 4 has 1 bytes instead of record_bytes = 2") ==
        0);
  CHECK(error_of<errors::InvalidArgumentError>([&] {
          data::FixedLengthRecordDataset(path, 2, {.header_bytes = 4, .footer_bytes = 2});
        }).find("has 5 bytes, fewer than header_bytes = 4 and footer_bytes = 2") != std::string::npos);
  constexpr i64 huge = std::numeric_limits<i64>::max();
  for (const auto& [header, footer] : std::vector<std::pair<i64, i64>>{{-1, 0}, {0, -1}, {huge, huge}})
    CHECK_THROWS_AS(data::FixedLengthRecordDataset(path, 1, {header, footer}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::FixedLengthRecordDataset(path, 0), errors::InvalidArgumentError);
  CHECK(data::FixedLengthRecordDataset(path, 5).size() == 1);
  CHECK_THROWS_AS(data::FixedLengthRecordDataset(path, huge), errors::InvalidArgumentError);
}

TEST_CASE("data sets by place: files that are missing, compressed, damaged or change") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(data::TextBlockDataset(folder / "none"), errors::NotFoundError);
  CHECK_THROWS_AS(data::TextBlockDataset(folder.path), errors::NotFoundError);
  CHECK_THROWS_AS(data::FixedLengthRecordDataset(Texts{}, 1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::TextBlockDataset(folder.file("a", "a"), {.block_bytes = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::TextBlockDataset(folder / "a", {.max_block_bytes = 0}), errors::InvalidArgumentError);

#if TANDEM_HAS_ZLIB
  const std::string zipped = testing::gzip_of("abcdefgh"), gzip = folder.file("a.gz", zipped);
  CHECK(data::FixedLengthRecordDataset(gzip, 4).to_vector() == Texts{"abcd", "efgh"});
  CHECK(data::TextBlockDataset(gzip, {.block_bytes = 2}).to_vector() == Texts{"abcdefgh", "", "", ""});
  CHECK_THROWS_AS(data::TextBlockDataset(folder.file("cut.gz", zipped.substr(0, 20))), errors::DataLossError);
#else
  CHECK_THROWS_AS(data::TextBlockDataset(folder.file("a.gz", "\x1f\x8b")), errors::UnimplementedError);
#endif
  const std::string path = folder.file("b", "aabb");
  const data::FixedLengthRecordDataset ds(path, 2);
  CHECK(ds.at(0, 0) == "aa");
  std::filesystem::resize_file(path, 3);
  const auto message = [&](i64 index) { return error_of<errors::UnavailableError>([&] { ds.at(0, index); }); };
  CHECK(message(0).find(path + " has changed since the data set was made") != std::string::npos);
  CHECK(message(1).find("it became shorter") != std::string::npos);
  folder.file("b", "ccdd-");  // in place
  CHECK(message(1).find(path + " has changed since the data set was made") != std::string::npos);
  const std::string removed = folder.file("c", "one two");
  const data::TextBlockDataset blocks(removed);
  std::filesystem::remove(removed);
  CHECK(blocks.at(0, 0) == "one two");  // it is open
}

TEST_CASE("data sets by place: compression") {
  const TemporaryFolder folder;
  const std::string raw = folder.file("raw", "\x1f\x8b\x01\x1f\x8b\x02");  // as gzip begins
  const data::FixedLengthRecordDataset records(raw, 3, {.compression = io::Compression::none});
  CHECK(records.to_vector() == Texts{"\x1f\x8b\x01", "\x1f\x8b\x02"});
  CHECK(data::TextBlockDataset(raw, {.compression = io::Compression::none}).to_vector() ==
        Texts{"\x1f\x8b\x01\x1f\x8b\x02"});
#if TANDEM_HAS_ZLIB
  CHECK_THROWS_AS(data::FixedLengthRecordDataset(raw, 3), errors::DataLossError);
  CHECK_THROWS_AS(
      data::FixedLengthRecordDataset(folder.file("plain", "abcdef"), 3, {.compression = io::Compression::gzip}),
      errors::DataLossError);
  const std::string gzip = folder.file("a.gz", testing::gzip_of("abcdef"));
  CHECK(data::FixedLengthRecordDataset(gzip, 3, {.compression = io::Compression::gzip}).to_vector() ==
        Texts{"abc", "def"});
#endif
}

TEST_CASE("data sets by place: of many files each is open only while it is read") {
  const TemporaryFolder folder;
  Texts paths;
  for (int i = 0; i < 100; ++i) paths.push_back(folder.file(std::to_string(i), "word" + std::to_string(i) + " "));
  const data::TextBlockDataset ds(paths);
  CHECK(ds.size() == 100);
  CHECK(ds.at(0, 99) == "word99 ");
  folder.file("7", "others than before");
  CHECK(error_of<errors::UnavailableError>([&] {
          ds.at(0, 7);
        }).find(paths[7] + " has changed since the data set was made") != std::string::npos);
  std::filesystem::remove(paths[8]);
  CHECK(error_of<errors::UnavailableError>([&] { ds.at(0, 8); }).find("TextBlockDataset: cannot read " + paths[8]) ==
        0);
}

}  // namespace data_dataset_blocks_test
