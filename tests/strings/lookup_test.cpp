// Lookup tables, vocabularies, CSV records, bytes and serialized tensors.
#include "tandem/strings/lookup.hpp"

#include <unistd.h>

#include <complex>
#include <cstdio>
#include <fstream>
#include <random>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/strings/codec.hpp"
#include "tandem/strings/csv.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/vocabulary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;

namespace {
Texts texts(const Tensor& t) { return t.to_vector<std::string>(); }
// A folder of this test, removed at the end.
struct Folder {
  std::string path = "/tmp/tandem_strings_XXXXXX";
  Texts files;
  Folder() {
    if (!::mkdtemp(path.data())) throw std::runtime_error("no temporary folder");
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    for (const std::string& f : files) std::remove(f.c_str());
    ::rmdir(path.c_str());
  }
  std::string file(const std::string& name, const std::string& text) {
    files.push_back(path + "/" + name);
    std::ofstream(files.back(), std::ios::binary) << text;
    return files.back();
  }
};
std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
}  // namespace

TEST_CASE("StaticHashTable: texts and numbers to values of every dtype") {
  const lookup::StaticHashTable ids(constant({"a", "b", "b"}), constant({1, 2, 2}), constant(-1));
  CHECK(ids.size() == 2);
  CHECK(ids(constant({{"b", "z"}, {"a", ""}})).to_vector<std::int32_t>() == Ints{2, -1, 1, -1});
  const lookup::StaticHashTable names(constant({i64{7}, i64{-2}}), constant({"seven", "minus two"}), constant("?"));
  CHECK(texts(names(constant({i64{-2}, i64{0}, i64{7}}))) == Texts{"minus two", "?", "seven"});
  const lookup::StaticHashTable flags(constant({1, 2}), constant({true, false}), constant(true));
  CHECK(flags(constant({2, 3})).to_vector<bool>() == std::vector<bool>{false, true});
  const lookup::StaticHashTable weights(constant({"x"}), constant({0.5}, float64), constant(0., float64));
  CHECK(weights(constant("x")).item<double>() == 0.5);
  CHECK(names(zeros({0}, {.dtype = int64})).shape() == Shape{0});
  const std::string bytes("\0a", 2);
  CHECK(lookup::StaticHashTable(constant({bytes}), constant({9}), constant(0))(constant(bytes)).item<std::int32_t>() ==
        9);
}

TEST_CASE("StaticHashTable: wrong operands") {
  CHECK_THAT(error_of([] {
               lookup::StaticHashTable(constant({"a", "a"}), constant({1, 2}), constant(0));
             }),
             ContainsSubstring("StaticHashTable: the key \"a\" has two different values"));
  CHECK_THAT(error_of([] {
               lookup::StaticHashTable(constant({5, 5}), constant({"x", "y"}), constant(""));
             }),
             ContainsSubstring("the key 5 has two different values"));
  CHECK_THAT(error_of([] {
               lookup::StaticHashTable(constant({"a"}), constant({1, 2}), constant(0));
             }),
             ContainsSubstring("one value for each key: string[1] x int32[2]"));
  CHECK_THAT(error_of([] { lookup::StaticHashTable(constant({"a"}), constant({1}), constant(0.f)); }),
             ContainsSubstring("the default must be one int32"));
  CHECK_THAT(error_of([] { lookup::StaticHashTable(constant({1.f}), constant({1}), constant(0)); }),
             ContainsSubstring("keys are string, int32 or int64, not float32"));
  const lookup::StaticHashTable ids(constant({"a"}), constant({1}), constant(-1));
  CHECK_THAT(error_of([&] {
               ids(constant({1, 2}));
             }),
             ContainsSubstring("lookup: the table's keys are string, not int32[2]"));
  CHECK_THAT(error_of([&] { ids(constant({1.f})); }), ContainsSubstring("lookup: no kernel for float32"));
}

TEST_CASE("StaticVocabularyTable: positions, and buckets for unknown keys") {
  const lookup::StaticVocabularyTable table(constant({"a", "b", "c"}), {.num_oov_buckets = 4});
  CHECK(table.size() == 7);
  CHECK(table(constant({"c", "a"})).to_vector<i64>() == Longs{2, 0});
  const Longs other = table(constant({"x", "y", "x"})).to_vector<i64>();
  CHECK(other[0] == other[2]);
  const Longs want = strings::to_hash_bucket(constant({"x", "y"}), 4).to_vector<i64>();
  CHECK(other[0] == 3 + want[0]);
  CHECK(other[1] == 3 + want[1]);
  CHECK(lookup::StaticVocabularyTable(constant({10, 20}))(constant({20, 30})).to_vector<i64>() == Longs{1, 2});
  CHECK_THAT(error_of([] {
               lookup::StaticVocabularyTable(constant({"a", "a"}));
             }),
             ContainsSubstring("the key \"a\" occurs twice"));
  CHECK_THAT(error_of([] { lookup::StaticVocabularyTable(constant({"a"}), {.num_oov_buckets = 0}); }),
             ContainsSubstring("num_oov_buckets must be at least 1, not 0"));
}

TEST_CASE("MutableHashTable: inserts, removes, also in traced functions") {
  const lookup::MutableHashTable table(string, constant(0));
  table.insert(constant({"a", "b", "a"}), constant({1, 2, 3}));
  CHECK(table.size() == 2);
  CHECK(table.lookup(constant({"a", "b", "c"})).to_vector<std::int32_t>() == Ints{3, 2, 0});
  table.remove(constant({"a", "z"}));
  CHECK(table.lookup(constant({"a", "b"})).to_vector<std::int32_t>() == Ints{0, 2});
  auto count = function([&](const Tensor& words) {
    table.insert(words, table.lookup(words) + 1);
    return table.lookup(words);
  });
  CHECK(count(constant({"b", "c"})).to_vector<std::int32_t>() == Ints{3, 1});
  CHECK(count(constant({"b", "c"})).to_vector<std::int32_t>() == Ints{4, 2});
  const auto [keys, values] = table.export_values();
  CHECK(texts(keys) == Texts{"b", "c"});
  CHECK(values.to_vector<std::int32_t>() == Ints{4, 2});
  CHECK_THAT(error_of([&] {
               table.insert(constant({"a"}), constant({1, 2}));
             }),
             ContainsSubstring("insert: the values must be int32 in the shape of the keys"));
  CHECK_THAT(error_of([] { lookup::MutableHashTable(float32, constant(0)); }),
             ContainsSubstring("MutableHashTable: keys are"));
}

TEST_CASE("index_to_string: out of range is the default") {
  const Tensor mapping = constant({"a", "b", "c"});
  CHECK(texts(lookup::index_to_string(constant({0, 2, 9}), mapping)) == Texts{"a", "c", "UNK"});
  CHECK(texts(lookup::index_to_string(constant({i64{-1}, i64{1}}), mapping, {.default_value = "-"})) ==
        Texts{"-", "b"});
  CHECK_THAT(error_of([] { lookup::index_to_string(constant({0}), constant("a")); }),
             ContainsSubstring("the mapping must be string [n]"));
}

TEST_CASE("Vocabulary: from counts, from a list, in a file, and back") {
  const lookup::Vocabulary v =
      lookup::Vocabulary::from_counts({{"b", 2}, {"a", 2}, {"c", 9}, {"rare", 1}, {"<unk>", 50}}, {.min_count = 2});
  CHECK(v.words() == Texts{"<unk>", "c", "a", "b"});
  CHECK(v.encode(constant({{"a", "zzz"}, {"c", "<unk>"}})).to_vector<i64>() == Longs{2, 0, 1, 0});
  CHECK(texts(v.decode(constant({3, 0, 17}))) == Texts{"b", "<unk>", "<unk>"});
  CHECK(v.index("b") == 3);
  CHECK(v.index("nothing") == 0);
  CHECK(v.word(1) == "c");
  CHECK(lookup::Vocabulary::from_counts({{"b", 2}, {"a", 2}, {"c", 9}}, {.max_size = 3}).words() ==
        Texts{"<unk>", "c", "a"});
  CHECK(lookup::Vocabulary({"x"}, {.unknown = "?"}).words() == Texts{"?", "x"});
  Folder folder;
  const std::string path = folder.file("words.txt", "");
  v.save(path);
  CHECK(text_of(path) == "<unk>\nc\na\nb\n");
  CHECK(lookup::Vocabulary::load(path).words() == v.words());
  CHECK(lookup::Vocabulary::load(folder.file("dos.txt", "<unk>\r\nx\r\ny")).words() == Texts{"<unk>", "x", "y"});
  CHECK_THROWS_AS(lookup::Vocabulary::load(folder.path + "/none"), errors::NotFoundError);
  CHECK_THROWS_AS(lookup::Vocabulary::load(folder.file("empty.txt", "")), errors::DataLossError);
  CHECK_THROWS_AS(lookup::Vocabulary::load(folder.file("twice.txt", "a\nb\nb\n")), errors::DataLossError);
  CHECK_THAT(error_of([] {
               lookup::Vocabulary::from_counts({{"a", 9}, {"b", 5}, {"a", 1}}, {.max_size = 2});
             }),
             ContainsSubstring("the word \"a\" occurs twice"));
  CHECK_THAT(error_of([] { lookup::Vocabulary({"a", "a"}); }), ContainsSubstring("the word \"a\" occurs twice"));
  CHECK_THAT(error_of([&] { lookup::Vocabulary({"a\nb"}).save(path); }), ContainsSubstring("has a line break"));
  CHECK_THAT(error_of([&] { v.word(4); }), ContainsSubstring("index 4 is out of range [0, 4)"));
  auto traced = function([&](const Tensor& words) { return v.decode(v.encode(words)); });
  CHECK(texts(traced(constant({"c", "q"}))) == Texts{"c", "<unk>"});
}

TEST_CASE("decode_csv: columns, defaults, quotes") {
  const Tensor records = constant({"1,2.5,text,7", "-3, 1e2 ,\"a,\"\"b\"\"\",", ",,,9"});
  const auto columns = io::decode_csv(records, {constant(5), constant({0.5f}), constant("none"), constant({i64{8}})});
  REQUIRE(columns.size() == 4);
  CHECK(columns[0].to_vector<std::int32_t>() == Ints{1, -3, 5});
  CHECK(columns[1].to_vector<float>() == std::vector<float>{2.5f, 100, 0.5f});
  CHECK(texts(columns[2]) == Texts{"text", "a,\"b\"", "none"});
  CHECK(columns[3].to_vector<i64>() == Longs{7, 8, 9});
  const auto selected = io::decode_csv(constant({{"a;b;NA"}, {"c;d;4"}}), {constant(""), constant(1., float64)},
                                       {.field_delim = ";", .na_value = "NA", .select_cols = {0, 2}});
  CHECK(texts(selected[0]) == Texts{"a", "c"});
  CHECK(selected[1].to_vector<double>() == std::vector<double>{1, 4});
  CHECK(selected[1].shape() == Shape{2, 1});
  CHECK(texts(io::decode_csv(constant({"\"a,b"}), {constant(""), constant("")}, {.use_quote_delim = false})[0]) ==
        Texts{"\"a"});
  CHECK(texts(io::decode_csv(constant({"\"x\ny\""}), {constant("")})[0]) == Texts{"x\ny"});
  CHECK(io::decode_csv(zeros({0}, {.dtype = string}), {constant(1)})[0].shape() == Shape{0});
}

TEST_CASE("tables, decode_csv, decode_raw and decode_base64 of many elements on several threads") {
  constexpr i64 n = 5000;
  const Tensor numbers = range(n), digits = strings::as_string(numbers);
  const lookup::StaticVocabularyTable table(digits);
  CHECK(table(digits).to_vector<i64>() == cast(numbers, int64).to_vector<i64>());
  CHECK(io::decode_csv(digits, {constant(i64{0})})[0].to_vector<i64>() == cast(numbers, int64).to_vector<i64>());
  CHECK(texts(io::decode_base64(io::encode_base64(digits))) == texts(digits));
  const Tensor raw = io::decode_raw(constant(Texts(n, std::string("\1\0\2\0", 4))), int16);
  CHECK(raw.shape() == Shape{n, 2});
  CHECK(raw.to_vector<std::int16_t>()[2 * n - 1] == 2);
  Texts bad = texts(digits);
  bad[70] = "x", bad[4000] = "y";
  CHECK_THAT(error_of([&] { io::decode_csv(constant(bad), {constant(0)}); }),
             ContainsSubstring("Field 0 in record 70 is not a valid int32: x"));
}

TEST_CASE("decode_csv: errors name field and record") {
  const Tensor required = zeros({0}), text = constant("");
  const auto error = [](const Texts& records, const std::vector<Tensor>& defaults, io::DecodeCsvOptions o = {}) {
    return error_of<errors::InvalidArgumentError>([&] { io::decode_csv(constant(records), defaults, o); });
  };
  CHECK_THAT(error({"1,2,3,"}, {required, required, required, required}),
             ContainsSubstring("decode_csv: Field 3 is required but missing in record 0"));
  CHECK_THAT(error({"1,2,3"}, {required, required, required, required}),
             ContainsSubstring("decode_csv: Expect 4 fields but have 3 in record 0"));
  CHECK_THAT(error({"1,2", "1,2,3"}, {required, required}),
             ContainsSubstring("decode_csv: Expect 2 fields but have 3 in record 1"));
  CHECK_THAT(error({"1,abc"}, {required, required}),
             ContainsSubstring("decode_csv: Field 1 in record 0 is not a valid float: abc"));
  CHECK_THAT(error({"1.5"}, {constant(1)}),
             ContainsSubstring("decode_csv: Field 0 in record 0 is not a valid int32: 1.5"));
  CHECK_THAT(error({"1", "9e99x"}, {constant(1., float64)}),
             ContainsSubstring("decode_csv: Field 0 in record 1 is not a valid double: 9e99x"));
  CHECK_THAT(error({"99999999999999999999"}, {constant(i64{1})}), ContainsSubstring("is not a valid int64"));
  CHECK_THAT(error({"\"a"}, {text}), ContainsSubstring("a quoted field has no end in record 0"));
  CHECK_THAT(error({"\"a\"b"}, {text}), ContainsSubstring("must be doubled in record 0"));
  CHECK_THAT(error({"a\"b"}, {text}), ContainsSubstring("an unquoted field has a quote in record 0"));
  CHECK_THAT(error({"a\nb"}, {text}), ContainsSubstring("an unquoted field has a line break"));
  CHECK_THAT(error({"a"}, {text}, {.field_delim = ",,"}), ContainsSubstring("field_delim must be one character"));
  CHECK_THAT(error({"a"}, {text}, {.select_cols = {0, 1}}),
             ContainsSubstring("2 selected columns need as many defaults, not 1"));
  CHECK_THAT(error({"a"}, {text, text}, {.select_cols = {1, 0}}), ContainsSubstring("select_cols must be ascending"));
  CHECK_THAT(error({"a"}, {constant(true)}), ContainsSubstring("the default of column 0 must be"));
  CHECK_THAT(error({"a"}, {constant({1, 2})}), ContainsSubstring("a list of at most one element"));
  CHECK_THAT(error({"a"}, {}), ContainsSubstring("there are no record_defaults"));
}

TEST_CASE("decode_raw: bytes as numbers of either order") {
  const Tensor x = constant({std::string("\1\0\2\1", 4), std::string("\xff\xff\0\x80", 4)});
  CHECK(io::decode_raw(x, uint8).shape() == Shape{2, 4});
  CHECK(io::decode_raw(x, int16).to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 258, -1, -32768});
  CHECK(io::decode_raw(x, int16, {.little_endian = false}).to_vector<std::int16_t>() ==
        std::vector<std::int16_t>{256, 513, -1, 128});
  CHECK(io::decode_raw(x, bool_).to_vector<bool>() ==
        std::vector<bool>{true, false, true, true, true, true, false, true});
  CHECK(io::decode_raw(constant(std::string("\0\0\x80\x3f\0\0\0\xc0", 8)), complex64)
            .to_vector<std::complex<float>>()[0] == std::complex<float>(1, -2));
  CHECK(io::decode_raw(zeros({3}, {.dtype = string}), float32).shape() == Shape{3, 0});
  CHECK(io::decode_raw(zeros({0}, {.dtype = string}), float32).shape() == Shape{0, 0});
  CHECK_THAT(error_of([] {
               io::decode_raw(constant({"abcd", "ef"}), uint8);
             }),
             ContainsSubstring("decode_raw: the strings have different lengths: 4, and 2 in element 1"));
  CHECK_THAT(error_of([] { io::decode_raw(constant({"abcde"}), int32); }),
             ContainsSubstring("the length 5 is not a multiple of the 4 bytes of int32"));
  CHECK_THAT(error_of([] { io::decode_raw(constant({"a"}), string); }), ContainsSubstring("not string"));
}

TEST_CASE("base64: RFC 4648's examples, and damage") {
  const Tensor x = constant({"", "f", "fo", "foo", "foob", "\xfb\xff"});
  const Texts padded{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "-_8="}, bare{"", "Zg", "Zm8", "Zm9v", "Zm9vYg", "-_8"};
  CHECK(texts(io::encode_base64(x, {.pad = true})) == padded);
  CHECK(texts(io::encode_base64(x)) == bare);
  CHECK(texts(io::decode_base64(constant(padded))) == texts(x));
  CHECK(texts(io::decode_base64(constant(bare))) == texts(x));
  CHECK(texts(io::decode_base64(constant({"Zh", "Zh==", "Zm9"}))) ==
        Texts{"f", "f", "fo"});  // bits behind the last byte
  for (const char* bad : {"Z", "Zg=", "Zg===", "Z+8=", "=", "Zg==Zg==", "Zm 9", "===="}) {
    CAPTURE(bad);
    CHECK_THAT(error_of([&] {
                 io::decode_base64(constant({"Zg", bad}));
               }),
               ContainsSubstring("decode_base64: \"" + std::string(bad) + "\" is not valid base64 (element 1)"));
  }
}

TEST_CASE("serialize_tensor and parse_tensor: every dtype, and damaged bytes") {
  for (int k = 0; k < dtype_count; ++k)
    for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0, 4}}) {
      const auto d = static_cast<DType>(k);
      CAPTURE(name(d), to_string(shape));
      Tensor t = Tensor::allocate({shape, d, {}});
      if (d == string)
        for (i64 i = 0; i < t.size(); ++i)
          static_cast<Bytes*>(t.raw())[i] = Bytes(std::string(static_cast<std::size_t>(i), 'x'));
      else
        for (std::size_t i = 0; i < t.spec().bytes(); ++i)
          static_cast<char*>(t.raw())[i] = static_cast<char>(d == bool_ ? i % 2 : 37 * i);
      const Tensor s = io::serialize_tensor(t), back = io::parse_tensor(s, d);
      CHECK(back.spec() == t.spec());
      CHECK(io::serialize_tensor(back).item<std::string>() == s.item<std::string>());
      const std::string bytes = s.item<std::string>();
      for (std::size_t n = 0; n < bytes.size(); ++n)
        CHECK_THROWS_AS(io::parse_tensor(constant(bytes.substr(0, n)), d), errors::DataLossError);
      CHECK_THROWS_AS(io::parse_tensor(constant(bytes + "x"), d), errors::DataLossError);
    }
  const std::string good = io::serialize_tensor(constant({1, 2, 3})).item<std::string>();
  CHECK(good == std::string("TNDT\1\4\1\0\3\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0", 28));
  // A shape larger than the bytes that are there, one whose size overflows, and random changes.
  std::string large = good;
  large[12] = '\x7f';
  CHECK_THROWS_AS(io::parse_tensor(constant(large), int32), errors::DataLossError);
  const std::string overflow =
      std::string("TNDT\1\4\2\0", 8) + std::string("\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0", 16) + "1234";
  CHECK_THROWS_AS(io::parse_tensor(constant(overflow), int32), errors::DataLossError);
  std::string empty = std::string("TNDT\1\4\3\0", 8) + std::string(24, '\0');
  empty[15] = '\x40', empty[16] = 4;  // [2^62, 4, 0]
  CHECK_THROWS_AS(io::parse_tensor(constant(empty), int32), errors::DataLossError);
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    try {
      read += io::parse_tensor(constant(bad), int32).dtype() == int32;
    } catch (const errors::OpError& e) {
      refused += e.op() == "parse_tensor";
    }
  }
  CHECK(read + refused == 2000);
  CHECK((read > 500 && refused > 500));
  CHECK_THAT(error_of([&] { io::parse_tensor(constant(good), float32); }),
             ContainsSubstring("the tensor is int32, not float32"));
  CHECK_THAT(error_of([] { io::parse_tensor(constant({"a", "b"}), int32); }), ContainsSubstring("must be one string"));
  auto traced = function([](const Tensor& x) { return io::parse_tensor(x, int32); });
  CHECK_THROWS_AS(traced(constant(good)), errors::TraceError);
}

TEST_CASE("matching_files: sorted names") {
  Folder folder;
  for (const char* name : {"b.txt", "a.txt", "c.log", "a2.txt"}) folder.file(name, "");
  const std::string at = folder.path + "/";
  CHECK(texts(io::matching_files(at + "*.txt")) == Texts{at + "a.txt", at + "a2.txt", at + "b.txt"});
  CHECK(texts(io::matching_files(at + "?.*")) == Texts{at + "a.txt", at + "b.txt", at + "c.log"});
  CHECK(texts(io::matching_files(Texts{at + "c*", at + "[ab].txt", at + "c.log"})) ==
        Texts{at + "a.txt", at + "b.txt", at + "c.log"});
  CHECK(io::matching_files(at + "none*").shape() == Shape{0});
}
