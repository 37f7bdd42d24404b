// Data sets of files: lines, records, columns, samples, objects; several files, positions, errors.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tandem/data/dataset_files.hpp"
#include "tandem/ops/all.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_dataset_files_test {
using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
std::string records(const std::string& path, i64 begin, i64 end) {
  io::TFRecordWriter writer(path);
  for (i64 i = begin; i < end; ++i) writer.write("record " + std::to_string(i));
  writer.close();
  return path;
}

TEST_CASE("TextLineDataset: lines of one file after another, from any position") {
  const testing::TemporaryFolder folder;
  write(folder / "a.txt", "one\r\ntwo\n");
  write(folder / "empty.txt", "");
  write(folder / "b.txt", "three\n\nfive");
  const data::TextLineDataset lines({folder / "a.txt", folder / "empty.txt", folder / "b.txt"});
  CHECK(lines.to_vector() == Texts{"one", "two", "three", "", "five"});
  CHECK(lines.cardinality() == data::unknown_cardinality);
  Texts rest;
  for (const std::string& line : lines.epoch(3, 2)) rest.push_back(line);
  CHECK(rest == Texts{"three", "", "five"});
  CHECK(lines.map([](const std::string& line) { return static_cast<i64>(line.size()); })
            .batch(5)
            .to_vector()[0]
            .to_vector<i64>() == std::vector<i64>{3, 3, 5, 0, 4});
  CHECK(lines.batch(2).to_vector()[1].to_vector<std::string>() == Texts{"three", ""});
  CHECK(lines.shuffle(100).to_vector().size() == 5);
  CHECK_THROWS_AS(data::TextLineDataset(folder / "none.txt"), errors::NotFoundError);
  CHECK_THROWS_AS(data::TextLineDataset(Texts{}), errors::InvalidArgumentError);
}

TEST_CASE("TFRecordDataset: as a stream, and by number with an index") {
  const testing::TemporaryFolder folder;
  const data::Paths paths({records(folder / "a", 0, 5), records(folder / "b", 5, 5), records(folder / "c", 5, 12)});
  Texts all;
  for (int i = 0; i < 12; ++i) all.push_back("record " + std::to_string(i));
  const data::TFRecordDataset stream(paths), indexed(paths, {.index = true});
  CHECK(stream.to_vector() == all);
  CHECK(!stream.is_indexed());
  CHECK(indexed.to_vector() == all);
  CHECK(indexed.size() == 12);
  CHECK(indexed.at(0, 7) == "record 7");
  for (const data::Dataset<std::string>& ds :
       {data::Dataset<std::string>(stream), data::Dataset<std::string>(indexed)}) {
    Texts rest;
    for (const std::string& r : ds.epoch(0, 4)) rest.push_back(r);
    CHECK(rest == Texts(all.begin() + 4, all.end()));
  }
  Texts shuffled = indexed.shuffle().map([](std::string r) { return r; }, {.num_parallel_calls = 3}).to_vector();
  CHECK(shuffled != all);
  std::sort(shuffled.begin(), shuffled.end());
  std::sort(all.begin(), all.end());
  CHECK(shuffled == all);
  CHECK_THROWS_AS(data::TFRecordDataset(paths, {.compression = io::Compression::gzip, .index = true}), errors::OpError);
}

TEST_CASE("TFRecordDataset: a damaged record is an error at its place; the others are read") {
  const testing::TemporaryFolder folder;
  const std::string path = records(folder / "a", 0, 4);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(24 + 14);  // in the second record
  file.put('!');
  file.close();
  const data::TFRecordDataset ds(path);
  auto it = ds.iterator();
  CHECK(*it.next() == "record 0");
  CHECK_THROWS_AS(it.next(), errors::DataLossError);
  CHECK(*it.next() == "record 2");
  set_warning_handler(nullptr);
  CHECK(ds.ignore_errors().to_vector() == Texts{"record 0", "record 2", "record 3"});
}

TEST_CASE("list_files: the paths of patterns, sorted") {
  const testing::TemporaryFolder folder;
  for (const char* name : {"b.txt", "a.txt", "c.csv", ".hidden.txt", "x10.txt", "x2.txt"}) write(folder / name, name);
  const auto names = [&](const data::Dataset<std::string>& ds) {
    Texts r = ds.to_vector();
    for (std::string& path : r) path = path.substr((folder / "").size());
    return r;
  };
  const auto ds = data::list_files(folder / "*.txt");
  CHECK(ds.is_indexed());
  CHECK(names(ds) == Texts{"a.txt", "b.txt", "x10.txt", "x2.txt"});
  CHECK(names(data::list_files({folder / "[ab].txt", folder / "a.???", folder / "c.csv"})) ==
        Texts{"a.txt", "b.txt", "c.csv"});
  CHECK(ds.flat_map([](const std::string& path) { return data::TextLineDataset(path); }).to_vector() ==
        Texts{"a.txt", "b.txt", "x10.txt", "x2.txt"});
  CHECK(testing::error_of<errors::NotFoundError>([&] {
          data::list_files({folder / "*.txt", folder / "*.png"});
        }).find("list_files: no path matches " + (folder / "*.png")) == 0);
  CHECK_THROWS_AS(data::list_files(folder / "none/*"), errors::NotFoundError);
  std::filesystem::create_directory(folder / "parts");
  write(folder / "parts/p.txt", "p");
  std::filesystem::create_symlink("nowhere", folder / "gone");  // which hides nothing
  CHECK(names(data::list_files(folder / "*/*.txt")) == Texts{"parts/p.txt"});
  if (::geteuid() != 0) {  // who may read all
    std::filesystem::permissions(folder / "", std::filesystem::perms::none);
    CHECK_THROWS_AS(data::list_files(folder / "*.txt"), errors::UnavailableError);
    std::filesystem::permissions(folder / "", std::filesystem::perms::owner_all);
  }
}

TEST_CASE("CsvDataset: columns in batches, and records") {
  const testing::TemporaryFolder folder;
  write(folder / "a.csv", "x,name\n1.5,one\n2,two\n3,three\n");
  write(folder / "b.csv", "x,name\n4,four\n");
  const data::CsvDataset ds({folder / "a.csv", folder / "b.csv"}, {constant(0.f), constant("")}, {.batch_size = 2});
  const auto batches = ds.to_vector();
  REQUIRE(batches.size() == 3);
  CHECK(batches[0][0].to_vector<float>() == std::vector<float>{1.5f, 2});
  CHECK(batches[1][1].to_vector<std::string>() == Texts{"three"});
  const auto rows = ds.unbatch();
  CHECK(rows.to_vector().size() == 4);
  CHECK(rows.batch(4).to_vector()[0][0].to_vector<float>() == std::vector<float>{1.5f, 2, 3, 4});
}

TEST_CASE("JsonLinesDataset and WebDataset") {
  const testing::TemporaryFolder folder;
  write(folder / "a.jsonl", "{\"label\": 3, \"text\": \"abc\"}\n{\"label\": 4, \"text\": \"\"}\n");
  const data::JsonLinesDataset objects(folder / "a.jsonl", {{"label", io::FixedLenFeature{{}, int64}}});
  const auto labels = objects.map([](const io::ParsedFeatures& f) { return f["label"]; }).batch(8).to_vector();
  CHECK(labels[0].to_vector<i64>() == std::vector<i64>{3, 4});
  CHECK_THROWS_AS(data::WebDataset(folder / "none.tar"), errors::NotFoundError);
}

}  // namespace data_dataset_files_test
