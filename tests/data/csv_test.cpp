// load_csv, load_tsv and Table: quotes, headers, missing values, numbers, categories, what is damaged.
#include "tandem/data/csv.hpp"

#include <cmath>

#include "tests/data/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_csv_test {
using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;
using Floats = std::vector<float>;

Texts row(const data::Table& t, i64 i) {
  const auto cells = t.row(i);
  return {cells.begin(), cells.end()};
}
std::string fault(const std::string& text, data::CsvOptions o = {}) {
  return error_of<errors::DataLossError>([&] { data::parse_csv(text, o); });
}

TEST_CASE("parse_csv: header, rows, columns") {
  const data::Table t = data::parse_csv("name,age\nAda,36\r\nAlan,41");
  CHECK(t.columns() == Texts{"name", "age"});
  CHECK(t.rows() == 2);
  CHECK(row(t, 0) == Texts{"Ada", "36"});
  CHECK(t.text(1, "name") == "Alan");
  CHECK(t.text(1, 1) == "41");
  CHECK(t.texts("age") == Texts{"36", "41"});
  const data::Table bare = data::parse_csv("1;2\n3;4\n", {.header = false, .field_delim = ";"});
  CHECK(bare.columns() == Texts{"0", "1"});
  CHECK(row(bare, 1) == Texts{"3", "4"});
  CHECK(data::parse_csv("1,2\n", {.header = false, .column_names = {"a", "b"}}).text(0, "b") == "2");
  CHECK(data::parse_csv("x,y\n1,2\n", {.column_names = {"a", "b"}}).columns() == Texts{"a", "b"});
}

TEST_CASE("parse_csv: records end with LF, CR LF or CR") {
  for (const char* text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4", "a,b\r1,2\r3,4\r", "a,\"b\"\r\n\"1\",\"2\"\r\n3,\"4\""}) {
    const data::Table t = data::parse_csv(text);
    CHECK(t.columns() == Texts{"a", "b"});
    CHECK(t.numbers({"a", "b"}).to_vector<float>() == Floats{1, 2, 3, 4});
  }
}

TEST_CASE("parse_csv: quotes, doubled quotes, embedded delimiters and line breaks") {
  const data::Table t =
      data::parse_csv("a,b\n\"x, y\",\"He said \"\"no\"\"\"\n\"two\nlines\",\"\"\n\"\"\"\",\"\"\"a\"\"b\"\n");
  CHECK(row(t, 0) == Texts{"x, y", "He said \"no\""});
  CHECK(row(t, 1) == Texts{"two\nlines", ""});
  CHECK(row(t, 2) == Texts{"\"", "\"a\"b"});
  CHECK(row(data::parse_csv("a,b\n\"x,y\n", {.use_quote_delim = false}), 0) == Texts{"\"x", "y"});
  CHECK(data::parse_csv("\"a,b\",c\n1,2\n").columns() == Texts{"a,b", "c"});
}

TEST_CASE("parse_csv: empty lines, empty texts, a byte order mark") {
  const data::Table t = data::parse_csv("\xef\xbb\xbf\na,b\n\n1,2\r\n\r\n,\n\n");
  CHECK(t.columns() == Texts{"a", "b"});
  CHECK(t.rows() == 2);
  CHECK(row(t, 1) == Texts{"", ""});
  const data::Table one = data::parse_csv("a\n\"\"\n\nx\n");  // a quoted field is a record, an empty line is not
  CHECK(one.texts("a") == Texts{"", "x"});
  CHECK(data::parse_csv("").rows() == 0);
  CHECK(data::parse_csv("").columns().empty());
  CHECK(data::parse_csv("\xef\xbb\xbf").rows() == 0);
  CHECK(data::Table().rows() == 0);
  CHECK(data::parse_csv("a,b\n").rows() == 0);
  CHECK(data::parse_csv("a,b\n").numbers({"a", "b"}).shape() == Shape{0, 2});
}

TEST_CASE("parse_csv: selected columns, in their order") {
  const data::Table t = data::parse_csv("a,b,c\n1,2,3\n4,5,6\n", {.select_cols = {"c", 0}});
  CHECK(t.columns() == Texts{"c", "a"});
  CHECK(row(t, 1) == Texts{"6", "4"});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] { data::parse_csv("a,b\n1,2\n", {.select_cols = {"c"}}); }),
             ContainsSubstring("parse_csv: the text has no column \"c\"; its columns are \"a\", \"b\""));
  CHECK_THAT(error_of([] { data::parse_csv("a,b\n", {.select_cols = {2}}); }), ContainsSubstring("has no column 2"));
  CHECK_THAT(error_of([] { data::parse_csv("a,b\n", {.select_cols = {-1}}); }), ContainsSubstring("has no column -1"));
  CHECK_THAT(error_of([] { data::parse_csv("a,a\n", {.select_cols = {"a"}}); }),
             ContainsSubstring("two columns \"a\": use their numbers"));
}

TEST_CASE("parse_csv: faults name record and line") {
  CHECK_THAT(fault("a,b\n1,2\n\n1,2,3\n"),
             ContainsSubstring("parse_csv: the text: 3 fields instead of 2 in record 2 (line 4)"));
  CHECK_THAT(fault("a,b\n\"x\ny\",2\n1\n"), ContainsSubstring("1 fields instead of 2 in record 2 (line 4)"));
  CHECK_THAT(fault("a,b\n\"\"\"\n\n\"\"\",2\n1\n"), ContainsSubstring("in record 2 (line 5)"));
  CHECK_THAT(fault("a,b\n1,\"2\n3,4\n"), ContainsSubstring("a quoted field has no end in record 1 (line 2)"));
  CHECK_THAT(fault("a,b\n1,x\"y\"\n"), ContainsSubstring("an unquoted field has a quote in record 1 (line 2)"));
  CHECK_THAT(fault("a,b\n1,\"x\"y\n"), ContainsSubstring("must be doubled in record 1 (line 2)"));
  CHECK_THAT(fault("\"a\n"), ContainsSubstring("a quoted field has no end in the header (line 1)"));
  CHECK_THAT(fault("1,2\n1\n", {.header = false}), ContainsSubstring("1 fields instead of 2 in record 2 (line 2)"));
  for (const char* d : {"", ",,", "\n", "\""})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { data::parse_csv("a", {.field_delim = d}); }),
               ContainsSubstring("field_delim must be one character"));
  CHECK_THAT(error_of([] { data::parse_csv("a,b\n", {.column_names = {"x"}}); }),
             ContainsSubstring("has 2 columns, but there are 1 column_names"));
}

TEST_CASE("Table::numbers: float32 and float64, one column and several") {
  const data::Table t = data::parse_csv("x,y\n1.5,-2\n 3e2 ,+4\n-0,1e-400\n");
  CHECK(t.numbers("x").spec() == Spec{{3}, float32, {}});
  CHECK(t.numbers("x").to_vector<float>() == Floats{1.5f, 300, -0.f});
  CHECK(t.numbers({"y", "x"}).to_vector<float>() == Floats{-2, 1.5f, 4, 300, 0, -0.f});
  CHECK(t.numbers(t.columns(), {.dtype = float64}).to_vector<double>() == std::vector<double>{1.5, -2, 300, 4, -0., 0});
  CHECK(t.numbers({1}).shape() == Shape{3, 1});
  CHECK(data::parse_csv("x\n0.1\n").numbers(0, {.dtype = float64}).item<double>() == 0.1);
  CHECK_THAT(error_of([&] { t.numbers("x", {.dtype = int32}); }),
             ContainsSubstring("dtype must be float32 or float64"));
}

TEST_CASE("Table::numbers: missing and wrong fields raise, or missing ones are replaced") {
  const data::Table t = data::parse_csv("name,age\nAda,36\n\"B, C\",\nD,NA\nE,old\n", {.na_value = "NA"}, "people.csv");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { t.numbers("age"); }),
             ContainsSubstring("Table::numbers: people.csv: record 2, column \"age\": \"\" is missing"));
  CHECK_THAT(error_of([&] { t.numbers("age", {.missing = 0}); }),
             ContainsSubstring("people.csv: record 4, column \"age\": \"old\" is not a number"));
  CHECK_THAT(error_of([&] {
               t.numbers({"age", "name"}, {.missing = 0});
             }),
             ContainsSubstring("record 1, column \"name\": \"Ada\" is not a number"));
  CHECK_THAT(error_of([&] { t.numbers("size"); }),
             ContainsSubstring("people.csv has no column \"size\"; its columns are \"name\", \"age\""));
  CHECK_THAT(error_of([&] { t.row(4); }), ContainsSubstring("there is no row 4 in 4"));
  const data::Table filled = data::parse_csv("age\n36\n\"\"\nNA\n", {.na_value = "NA"});
  CHECK(filled.numbers("age", {.missing = -1}).to_vector<float>() == Floats{36, -1, -1});
  CHECK(std::isnan(filled.numbers("age", {.missing = NAN}).at<float>({1})));
  for (const char* wrong : {"1,5", "0x10", "1 2", "--1", "1f", " "})
    CHECK_THROWS_AS(data::parse_csv("a\n\"" + std::string(wrong) + "\"\n").numbers("a"), errors::InvalidArgumentError);
}

TEST_CASE("Table::numbers: finite refuses what is not, in the dtype that is asked for") {
  const data::Table t = data::parse_csv("a,b,c\n1,2,\nnan,1e40,inf\n", {}, "t.csv");
  CHECK(t.numbers("b", {.dtype = float64, .finite = true}).to_vector<double>() == std::vector<double>{2, 1e40});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { t.numbers("b", {.finite = true}); }),
             ContainsSubstring("t.csv: record 2, column \"b\": \"1e40\" is not a finite number"));
  CHECK_THAT(error_of([&] { t.numbers("a", {.finite = true}); }), ContainsSubstring("\"nan\" is not a finite number"));
  CHECK_THAT(error_of([&] {
               t.numbers("c", {.missing = NAN, .finite = true});  // `missing` is the caller's choice
             }),
             ContainsSubstring("record 2, column \"c\": \"inf\" is not a finite number"));
  CHECK(std::isinf(t.numbers("b").at<float>({1})));
}

TEST_CASE("Table::categories: codes in the order of first appearance") {
  const data::Table t = data::parse_csv("c\nb\na\nb\nc\na\n");
  const auto [codes, names] = t.categories("c");
  CHECK(codes.spec() == Spec{{5}, int32, {}});
  CHECK(codes.to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 0, 2, 1});
  CHECK(names == Texts{"b", "a", "c"});
}

TEST_CASE("Table: copies share texts that outlive the first") {
  data::Table copy;
  {
    const data::Table t = data::parse_csv("a\n\"x\"\"y\"\n");
    copy = t;
  }
  CHECK(copy.text(0, "a") == "x\"y");
}

TEST_CASE("load_csv and load_tsv: files, also compressed ones") {
  const testing::TemporaryFolder folder;
  CHECK(data::load_csv(folder.file("a.csv", "a,b\n1,2\n")).numbers("b").item<float>() == 2);
  const data::Table t = data::load_tsv(folder.file("a.tsv", "a\tb\n\"1\t\"x\" y\n"), {.select_cols = {"b", "a"}});
  CHECK(row(t, 0) == Texts{"\"x\" y", "\"1"});
  CHECK(data::load_tsv(folder.file("b.tsv", "1\tNA\n"), {.header = false, .na_value = "NA", .column_names = {"x", "y"}})
            .numbers("y", {.missing = 3})
            .item<float>() == 3);
  CHECK_THAT(error_of<errors::NotFoundError>([&] { data::load_csv(folder.path + "/none.csv"); }),
             ContainsSubstring("load_csv: cannot read"));
  CHECK_THAT(error_of<errors::DataLossError>([&] { data::load_tsv(folder.file("c.tsv", "a\tb\n1\n")); }),
             ContainsSubstring("c.tsv: 1 fields instead of 2 in record 1 (line 2)"));
  CHECK_THROWS_AS(data::load_csv(folder.file("d.csv", "a,b\n1,2\n"), {.max_bytes = 3}), errors::ResourceExhaustedError);
#if TANDEM_HAS_ZLIB
  CHECK(data::load_csv(folder.file("a.csv.gz", testing::gzip_of("a\n7\n"))).numbers("a").item<float>() == 7);
#endif
}

TEST_CASE("load_csv: iris beside the project") {
  const std::string path = testing::real_data("iris.csv");
  if (path.empty()) TANDEM_SKIP("no ../shared/data/iris.csv");
  const data::Table iris = data::load_csv(path);
  CHECK(iris.rows() == 150);
  CHECK(iris.columns() == Texts{"sepal_length", "sepal_width", "petal_length", "petal_width", "class"});
  const auto [codes, names] = iris.categories("class");
  CHECK(names == Texts{"Iris-setosa", "Iris-versicolor", "Iris-virginica"});
  const Tensor x = iris.numbers({0, 1, 2, 3}, {.dtype = float64});
  CHECK(x.shape() == Shape{150, 4});
  double sum[4] = {};
  int of_class[3] = {};
  for (i64 i = 0; i < 150; ++i) {
    for (int k = 0; k < 4; ++k) sum[k] += x.at<double>({i, k});
    ++of_class[codes.at<std::int32_t>({i})];
  }
  // Golden: sums of the columns, by NumPy.
  CHECK(sum[0] == Approx(876.5).epsilon(1e-12));
  CHECK(sum[1] == Approx(458.6).epsilon(1e-12));
  CHECK(sum[2] == Approx(563.7).epsilon(1e-12));
  CHECK(sum[3] == Approx(179.9).epsilon(1e-12));
  CHECK((of_class[0] == 50 && of_class[1] == 50 && of_class[2] == 50));
  CHECK(x.at<double>({0, 0}) == 5.1);
  CHECK(x.at<double>({149, 3}) == 1.8);
}

TEST_CASE("load_tsv: the mails beside the project") {
  const std::string path = testing::real_data("text/spam.tsv.gz");
  if (path.empty() || !TANDEM_HAS_ZLIB) TANDEM_SKIP("no ../shared/data/text/spam.tsv.gz, or no zlib");
  const data::Table mails = data::load_tsv(path);
  CHECK(mails.columns() == Texts{"label", "subject", "body"});
  CHECK(mails.rows() == 6046);
  const auto [codes, names] = mails.categories("label");
  REQUIRE(names == Texts{"spam", "ham"});
  i64 spam = 0;
  for (const std::int32_t code : codes.data<std::int32_t>()) spam += code == 0;
  CHECK(spam == 1896);
}

}  // namespace data_csv_test
