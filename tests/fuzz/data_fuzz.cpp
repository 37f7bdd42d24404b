// libFuzzer target: any bytes given to the readers of tandem::data are read or refused by one of the errors that they
// declare. The first byte of an input says what the others are: a CSV text, for Table or CsvReader, an IDX file, or
// changes of a good one; and whether they are given as a file, which may be compressed; a file of records or of text in
// blocks; the bytes of an element of Dataset::cache(path); a text for Dataset::set_seek_points.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tandem/data/csv.hpp"
#include "tandem/data/csv_reader.hpp"
#include "tandem/data/dataset/element_bytes.hpp"
#include "tandem/data/dataset_blocks.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/data/file.hpp"
#include "tandem/data/idx.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/fuzz/file.hpp"

namespace {

using namespace tandem;

template <class F>
void attempt(const F& f) {
  try {
    f();
  } catch (const errors::DataLossError&) {
  } catch (const errors::InvalidArgumentError&) {    // texts that are not numbers
  } catch (const errors::ResourceExhaustedError&) {  // max_bytes
  }
}
constexpr i64 most = 1 << 20;

// Every cell lies inside of the table's text, and a table that is written and read again is the same.
void check_table(const std::string& text, const data::CsvOptions& options) {
  const data::Table t = data::parse_csv(text, options);
  std::string written;
  for (i64 i = 0; i < t.rows(); ++i) {
    const auto row = t.row(i);
    for (std::size_t c = 0; c < row.size(); ++c) {
      written += c ? ",\"" : "\"";
      for (const char x : row[c]) written += x == '"' ? std::string("\"\"") : std::string(1, x);
      written += '"';
    }
    written += '\n';
  }
  const data::Table again = data::parse_csv(written, {.header = false});
  if (again.rows() != t.rows()) __builtin_trap();
  for (i64 i = 0; i < t.rows(); ++i)
    for (std::size_t c = 0; c < t.row(i).size(); ++c)
      if (t.row(i)[c] != again.row(i)[c]) __builtin_trap();
  if (t.columns().empty()) return;
  (void)t.categories(0);
  attempt([&] { (void)t.numbers(0, {.missing = 0}); });
}
std::string changed(std::string s, const std::string& changes) {
  for (std::size_t i = 0; i + 1 < changes.size(); i += 2)
    s[static_cast<unsigned char>(changes[i]) % s.size()] = changes[i + 1];
  return s;
}
// Reads all batches, also behind errors, each of which costs at least a byte; without one they have the records of
// load_csv.
void check_reader(const std::string& text, bool header) {
  const FuzzFile file(text);
  attempt([&] {
    data::CsvReader reader(file.path(), {constant("none"), constant(-1.f)},
                           {.batch_size = 3, .header = header, .compression = io::Compression::none});
    std::vector<Tensor> batch;
    i64 rows = 0;
    std::size_t errors = 0;
    for (bool more = true; more;) {
      ++errors;
      attempt([&] {
        more = reader.next(batch);
        --errors;
        if (more) rows += batch[0].size();
      });
      if (errors > text.size() + 1) __builtin_trap();
    }
    if (!errors && rows != data::load_csv(file.path(), {.header = header}).rows()) __builtin_trap();
  });
}
// The blocks of a file together are its bytes, and so are its records.
void check_blocks(const std::string& bytes, data::TextUnit unit) {
  const FuzzFile file(bytes);
  attempt([&] {
    const std::string whole = data::read_file(file.path(), {.max_bytes = most});
    const auto check = [&](const data::Dataset<std::string>& parts) {
      std::string joined;
      for (const std::string& part : parts) joined += part;
      if (joined != whole) __builtin_trap();
    };
    check(data::TextBlockDataset(file.path(), {.block_bytes = 5, .unit = unit}));
    check(data::FixedLengthRecordDataset(file.path(), 3));
  });
}
// What is read as an element is written as the same bytes.
void check_element(const std::string& bytes) {
  attempt([&] {
    std::tuple<Tensor, std::string, i64, std::vector<Tensor>> element;
    data::detail::ElementBytes from("fuzz", bytes);
    data::detail::read_element(from, element);
    from.check_end();
    std::string written;
    data::detail::append_element("fuzz", element, written);
    if (written != bytes) __builtin_trap();
  });
}
// A pipeline with each stage that has seek points, and no files.
auto pipeline() {
  return data::range(60)
      .filter([](i64 x) { return x % 3 != 1; })
      .scan(i64{1}, [](i64 state, i64 x) { return std::pair(state ^ x, state % 5); })
      .interleave([](i64 x) { return data::range(x & 3); }, {.cycle_length = 2})
      .batch(3)
      .unbatch()
      .ignore_errors();
}
std::string good_points() {
  const auto ds = pipeline();
  i64 sum = 0;
  for (const Tensor& x : ds) sum += x.item<i64>();
  if (sum == 0) __builtin_trap();
  return ds.seek_points();
}
// An iteration behind any text ends, or says that the text is none.
void check_points(const std::string& text, i64 first) {
  attempt([&] {
    const auto ds = pipeline();
    ds.set_seek_points(text);
    i64 count = 0;
    for (auto it = ds.iterator({0, first}); it.next();)
      if (++count > 1000) __builtin_trap();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  const unsigned kind = data[0];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string good("\0\0\x0b\2\0\0\0\2\0\0\0\3abcdefghijkl", 24);
  if (kind & 32) {
    static const std::string points = good_points();
    const auto first = static_cast<i64>(kind >> 6) * 17;
    if (kind & 8) check_element(bytes);
    else check_points(kind & 16 ? bytes : changed(points, bytes), first);
    return 0;
  }
  if (kind & 16) {
    if ((kind & 7) != 7) check_reader(bytes, (kind & 8) != 0);
    else check_blocks(bytes, kind & 8 ? data::TextUnit::line : data::TextUnit::word);
    return 0;
  }
  switch (kind & 7) {
    case 0: attempt([&] { check_table(bytes, {.header = (kind & 8) != 0}); }); break;
    case 1: attempt([&] { check_table(bytes, {.field_delim = "\t", .use_quote_delim = (kind & 8) != 0}); }); break;
    case 2: attempt([&] { check_table(bytes, {.header = false, .select_cols = {1, 0}}); }); break;
    case 3: attempt([&] { (void)to_string(data::parse_idx(bytes, "fuzz")); }); break;
    case 4: attempt([&] { (void)to_string(data::parse_idx(changed(good, bytes), "fuzz")); }); break;
    case 5: attempt([&] { (void)data::load_idx(FuzzFile(bytes).path(), {.max_bytes = most}); }); break;
    case 6:
      attempt([&] { (void)data::read_lines(FuzzFile("\x1f\x8b\x08" + bytes).path(), {.max_bytes = most}); });
      break;
    default: attempt([&] { (void)data::load_tsv(FuzzFile(bytes).path(), {.max_bytes = most}); });
  }
  return 0;
}
