// CsvReader: batches of typed columns, quotes, missing values, positions, errors after which reading goes on.
#include "tandem/data/csv_reader.hpp"

#include <unistd.h>

#include <cmath>
#include <limits>
#include <random>

#include "tandem/data/decimal.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tests/data/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"

namespace csv_reader_test {
using namespace tandem;
using testing::error_of;
using Batch = std::vector<Tensor>;
using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

const Tensor required_float = zeros({0});

TEST_CASE("CsvReader: typed columns in batches, the last one shorter") {
  const testing::TemporaryFolder folder;
  data::CsvReader reader(
      folder.file("f", "\xef\xbb\xbfx,n,s,d\r\n1.5,2,a,1e300\r\n-0.25,,\"b,\"\"c\"\"\nd\",0\r\n\r\n+3,7,,.5"),
      {constant(0.f), constant(-1), constant("none"), constant(0.0, {.dtype = float64})}, {.batch_size = 2});
  CHECK(reader.columns() == Texts{"x", "n", "s", "d"});
  Batch b;
  REQUIRE(reader.next(b));
  REQUIRE(b.size() == 4);
  CHECK(b[0].to_vector<float>() == Floats{1.5f, -0.25f});
  CHECK(b[1].to_vector<std::int32_t>() == std::vector<std::int32_t>{2, -1});
  CHECK(b[2].to_vector<std::string>() == Texts{"a", "b,\"c\"\nd"});
  CHECK(b[3].to_vector<double>() == std::vector<double>{1e300, 0});
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<float>() == Floats{3});
  CHECK(b[2].to_vector<std::string>() == Texts{"none"});
  CHECK(b[3].to_vector<double>() == std::vector<double>{0.5});
  CHECK_FALSE(reader.next(b));
}

TEST_CASE("CsvReader: without a header, other delimiters, selected columns, na_value") {
  const testing::TemporaryFolder folder;
  data::CsvReader reader(
      folder.file("f", "1\t\"q\"\t3\n4\tNA\t6\n"), {constant(0.f), constant("d")},
      {.header = false, .field_delim = "\t", .use_quote_delim = false, .na_value = "NA", .select_cols = {2, 1}});
  CHECK(reader.columns() == Texts{"2", "1"});
  Batch b;
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<float>() == Floats{3, 6});
  CHECK(b[1].to_vector<std::string>() == Texts{"\"q\"", "d"});
  data::CsvReader named(folder.file("g", "a,b\n1,2\n"), {constant(0.f)}, {.select_cols = {"b"}});
  REQUIRE(named.next(b));
  CHECK(b[0].to_vector<float>() == Floats{2});
  for (const char* const empty : {"", "a,b\n", "\n\n", "\xef\xbb\xbf"}) {
    data::CsvReader none(folder.file("e", empty), {constant(0.f), constant(0.f)});
    CHECK_FALSE(none.next(b));
  }
}

TEST_CASE("CsvReader: records across the buffer's end, from every position, plain and compressed") {
  const testing::TemporaryFolder folder;
  std::string content = "n,s\r\n";
  Texts texts;
  for (int i = 0; i < 900; ++i) {
    texts.push_back(std::string(static_cast<std::size_t>(i * 37 % 1500), 'a') + (i % 5 ? "" : "\n,\""));
    std::string quoted;
    for (const char c : texts.back()) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    content += std::to_string(i) + ",\"" + quoted + (i % 2 ? "\"\r\n" : "\"\n");
  }
  const std::string path = folder.file("f", content);
  data::CsvReader reader(path, {constant(i64{0}), constant("")}, {.batch_size = 1});
  Batch b;
  std::vector<i64> positions{reader.position()};
  for (std::size_t i = 0; reader.next(b); ++i) {
    REQUIRE(b[0].to_vector<i64>() == std::vector<i64>{static_cast<i64>(i)});
    CHECK(b[1].to_vector<std::string>()[0] == texts[i]);
    positions.push_back(reader.position());
  }
  REQUIRE(positions.size() == texts.size() + 1);
  CHECK(positions.back() == static_cast<i64>(content.size()));
  for (std::size_t i = texts.size(); i-- > 0;) {
    reader.seek(positions[i]);
    REQUIRE(reader.next(b));
    CHECK(b[0].to_vector<i64>()[0] == static_cast<i64>(i));
  }
#if TANDEM_HAS_ZLIB
  data::CsvReader packed(folder.file("f.gz", testing::gzip_of(content.substr(0, 60000))),
                         {constant(i64{0}), constant("")});
  CHECK(testing::error_of([&] {
          while (packed.next(b)) {
          }
        }).find("DataLoss") == std::string::npos);
#endif
}

TEST_CASE("CsvReader: an error names file, record, offset and field, and the batch goes on behind it") {
  const testing::TemporaryFolder folder;
  data::CsvReader reader(folder.file("f", "x,s\n1,a\nzwei,b\n3,c\n,d\n5\n6,\"e\"f\n7,g\n8,h"),
                         {required_float, constant("")});
  Batch b;
  const auto error = [&] { return error_of([&] { reader.next(b); }); };
  CHECK_THAT(error(), ContainsSubstring("f: record 1 at byte 8: Field 0 (\"x\") is not a valid float32: \"zwei\""));
  CHECK_THAT(error(), ContainsSubstring("record 3 at byte 19: Field 0 (\"x\") is required but missing"));
  CHECK_THAT(error(), ContainsSubstring("record 4 at byte 22: Expect 2 fields but have 1"));
  CHECK_THAT(error(), ContainsSubstring("record 5 at byte 24: a quote inside of a quoted field must be doubled"));
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<float>() == Floats{1, 3, 7, 8});
  CHECK(b[1].to_vector<std::string>() == Texts{"a", "c", "g", "h"});
  CHECK_FALSE(reader.next(b));
}

TEST_CASE("CsvReader: a quote without an end is found in bounded memory; a file that becomes shorter raises") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("f", "x\n1\n\"" + std::string(3 << 20, 'y'));
  data::CsvReader reader(path, {constant("")}, {.max_record_bytes = 1 << 20});
  Batch b;
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { reader.next(b); }),
             ContainsSubstring("record 1 at byte 4: it has more than max_record_bytes = 1048576 bytes"));
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<std::string>() == Texts{"1"});
  CHECK_FALSE(reader.next(b));
  data::CsvReader all(path, {constant("")});
  CHECK_THAT(error_of<errors::DataLossError>([&] { all.next(b); }),
             ContainsSubstring("record 1 at byte 4: a quoted field has no end"));
  data::CsvReader shorter(path, {constant("")});
  REQUIRE(::truncate(path.c_str(), 100) == 0);
  CHECK_THROWS_AS(shorter.next(b), errors::UnavailableError);
}

TEST_CASE("CsvReader: a field of a gigabyte is not read whole") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("f", "x\n1\n\"");
  REQUIRE(::truncate(path.c_str(), off_t{1} << 30) == 0);  // a sparse file
  data::CsvReader reader(path, {constant("")}, {.batch_size = 2});
  Batch b;
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { reader.next(b); }),
             ContainsSubstring("record 1 at byte 4: it has more than max_record_bytes = 268435456 bytes"));
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<std::string>() == Texts{"1"});
}

TEST_CASE("CsvReader: a million columns") {
  const testing::TemporaryFolder folder;
  std::string record;
  for (int i = 0; i < 1'000'000; ++i) record += std::to_string(i) + (i < 999'999 ? "," : "\n");
  const std::string path = folder.file("wide.csv", record + record + record.substr(record.find(',') + 1));
  data::CsvReader reader(path, {constant(0.f), constant(i64{0})},
                         {.batch_size = 2, .header = false, .select_cols = {999'998, 7}});
  std::vector<Tensor> columns;
  REQUIRE(reader.next(columns));
  CHECK(columns[0].to_vector<float>() == std::vector<float>{999'998, 999'998});
  CHECK(columns[1].to_vector<i64>() == std::vector<i64>{7, 7});
  CHECK(error_of<errors::DataLossError>([&] { reader.next(columns); }).find("1000000 fields but have 999999") !=
        std::string::npos);
}

TEST_CASE("CsvReader: wrong defaults and options") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("f", "a,b\n1,2\n");
  const auto error = [&](Batch defaults, data::CsvReaderOptions o) {
    return error_of<errors::InvalidArgumentError>([&] { data::CsvReader(path, defaults, o); });
  };
  CHECK_THAT(error({constant(0.f)}, {}), ContainsSubstring("2 columns need as many defaults, not 1"));
  CHECK_THAT(error({constant({1.f, 2.f}), constant(0.f)}, {}), ContainsSubstring("a default must be a scalar"));
  CHECK_THAT(error({constant(0.f)}, {.select_cols = {"c"}}), ContainsSubstring("no column \"c\""));
  CHECK_THAT(error({constant(0.f), constant(0.f)}, {.select_cols = {0, "a"}}), ContainsSubstring("selected twice"));
  CHECK_THAT(error({}, {.field_delim = ";;"}), ContainsSubstring("field_delim"));
  CHECK_THAT(error({}, {.batch_size = 0}), ContainsSubstring("batch_size must be positive"));
  CHECK_THROWS_AS(data::CsvReader(folder.path + "/none", {}), errors::NotFoundError);
}

TEST_CASE("read_decimal: the number that std::from_chars reads") {
  std::mt19937_64 random(7);
  const auto check = [](const std::string& s) {
    float f = -1, want_f = -2;
    double d = -1, want_d = -2;
    const bool got = data::detail::parse_decimal(s, f), want = tandem::detail::parse_number(s, want_f);
    CHECK((got == want && (!got || std::bit_cast<std::uint32_t>(f) == std::bit_cast<std::uint32_t>(want_f))));
    data::detail::parse_decimal(s, d), tandem::detail::parse_number(s, want_d);
    CHECK((!got || std::bit_cast<u64>(d) == std::bit_cast<u64>(want_d)));
  };
  for (const char* const s : {"",
                              "-",
                              ".",
                              "-.",
                              "0",
                              "-0",
                              "1.",
                              ".5",
                              "-.5",
                              "1e3",
                              " 7 ",
                              "+2",
                              "1.2.3",
                              "--1",
                              "nan",
                              "inf",
                              "999999999999999",
                              "9999999999999999",
                              "0.000000000000001",
                              "1x",
                              "12345678901234567",
                              "16777217",
                              "1.00000005960464",
                              "33554434.9999999"})
    check(s);
  for (int i = 0; i < 20000; ++i) {
    std::string s = std::to_string(random() >> random() % 64);
    s.resize(std::min<std::size_t>(s.size(), 1 + random() % 16));
    if (random() % 4) s.insert(random() % (s.size() + 1), 1, '.');
    check((random() % 2 ? "-" : "") + s);
  }
}

TEST_CASE("CsvReader: defaults that were made on another device") {
  const sim::Installed installed;
  const testing::TemporaryFolder folder;
  data::CsvReader reader(folder.file("f", "a,b\n1,\n"), {constant(0.f).to(sim::device), constant(7).to(sim::device)},
                         {.batch_size = 1});
  Batch b;
  REQUIRE(reader.next(b));
  CHECK(b[0].to_vector<float>() == std::vector<float>{1});
  CHECK(b[1].to_vector<int>() == std::vector<int>{7});
}

}  // namespace csv_reader_test
