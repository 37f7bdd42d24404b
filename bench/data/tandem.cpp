// Pipelines of data in Tandem.
#include <tandem/data.hpp>
#include <tandem/io.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::data;
namespace td = tandem::data;
using tandem::i64;
using tandem::Tensor;

// A pass over a data set; `sum` makes a number of each element, whose sum is compared.
template <class D, class Sum>
bench::Work pass(D ds, Sum sum) {
  bench::Work work;
  work.run = [ds](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (auto& element : ds.epoch(i)) benchmark::DoNotOptimize(element);
  };
  work.result = [ds, sum] {
    double total = 0;
    for (auto& element : ds.epoch(0)) total += static_cast<double>(sum(element));
    return std::vector<float>{static_cast<float>(total)};
  };
  return work;
}
double sum_of(const Tensor& x) { return tandem::reduce_sum(tandem::cast(x, tandem::float64)).item<double>(); }

td::MapOptions mapped() { return {.num_parallel_calls = bench::threads() > 1 ? bench::threads() : 0}; }
td::MapBatchedOptions mapped_at_once() { return {.num_parallel_calls = mapped().num_parallel_calls}; }
td::Dataset<Tensor> scalars(std::int64_t n) {
  return td::from_tensor_slices(tandem::cast(tandem::range(n), tandem::int64));
}
Tensor twice(const Tensor& x) { return x * 2; }

auto mnist() {
  const Tensor images = bench::tandem_normal({rows, row}, 1), labels = tandem::range(rows);
  return td::from_tensor_slices({images, labels}).shuffle().batch(row_batch).prefetch(2);
}
bench::Work rows_shuffled() {
  return pass(mnist(), [](const auto& batch) { return sum_of(batch[1]); });
}

// The first element of an iteration that begins at element `index`.
template <class Make>
bench::Work begun(Make make, std::int64_t index) {
  bench::Work work;
  work.run = [ds = make(), index](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto it = ds.iterator({i, index});
      auto element = it.next();
      benchmark::DoNotOptimize(element);
    }
  };
  work.result = [] { return std::vector<float>(); };  // the orders differ
  return work;
}
// Rows, with a label each, in the order of a permutation.
auto long_rows() {
  return td::zip(td::range(long_numbers), td::range(long_numbers)).shuffle().batch(row_batch).prefetch(2);
}

// A file that exists as long as the process.
struct File {
  std::string path;
  explicit File(const char* name)
      : path((std::filesystem::temp_directory_path() / (name + std::to_string(std::rand()))).string()) {}
  File(const File&) = delete;
  ~File() { std::filesystem::remove(path); }
};

const std::string& record_file() {
  static const File file("bench_tfrecord");
  static const bool written = [] {
    tandem::io::TFRecordWriter writer(file.path);
    for (std::int64_t i = 0; i < records; ++i) {
      const std::string image(record_bytes, static_cast<char>('a' + i % 26));
      const tandem::train::Example example{
          {{{"image", tandem::train::BytesList{{image}}}, {"label", tandem::train::Int64List{{i}}}}}};
      writer.write(example.serialize());
    }
    writer.close();
    return true;
  }();
  benchmark::DoNotOptimize(written);
  return file.path;
}
td::Dataset<std::string> tf_records() { return td::TFRecordDataset(record_file()); }
tandem::io::FeatureConfigs features() {
  return {{"image", tandem::io::FixedLenFeature{{}, tandem::string}},
          {"label", tandem::io::FixedLenFeature{{}, tandem::int64}}};
}
bench::Work parsed() {
  return pass(tf_records().map([p = tandem::io::ExampleParser(features())](
                                   const std::string& r) { return p.parse_single(r)["label"]; },
                               mapped()),
              [](const Tensor& label) { return label.item<i64>(); });
}
bench::Work parsed_batched() {
  return pass(tf_records().batch(128).map(
                  [](const Tensor& r) { return tandem::io::parse_example(r, features())["label"]; }, mapped()),
              sum_of);
}

bench::Work csv_columns_read() {
  static const File file("bench_csv");
  std::ofstream out(file.path);
  for (std::int64_t i = 0; i < csv_rows; ++i)
    for (std::int64_t c = 0; c < csv_columns; ++c)
      out << field(i * csv_columns + c) << (c + 1 < csv_columns ? ',' : '\n');
  out.close();
  const std::vector<Tensor> defaults(csv_columns, tandem::constant(0.f));
  return pass(td::CsvDataset(file.path, defaults, {.batch_size = csv_batch, .header = false}),
              [](const std::vector<Tensor>& columns) { return sum_of(columns[3]); });
}
bench::Work lines_read() {
  static const File file("bench_lines");
  std::ofstream out(file.path);
  for (std::int64_t i = 0; i < lines; ++i) out << line(i) << '\n';
  out.close();
  return pass(td::TextLineDataset(file.path), [](const std::string& text) { return text.size(); });
}

[[maybe_unused]] const bool added[] = {
    bench::add(range_batch, [] { return pass(td::range(numbers).batch(batch), sum_of); }),
    bench::add(map_scalar, [] { return pass(scalars(few_numbers).map(twice, mapped()), sum_of); }),
    bench::add(map_batched, [] { return pass(scalars(numbers).batch(batch).map(twice, mapped()), sum_of); }),
    bench::add(map_at_once, [] { return pass(scalars(numbers).map_batched(twice, mapped_at_once()), sum_of); }),
    bench::add(map_at_once_batched,
               [] { return pass(scalars(numbers).map_batched(twice, mapped_at_once()).batch(batch), sum_of); }),
    bench::add(shuffle, [] { return pass(td::range(numbers).shuffle(shuffle_buffer).batch(batch), sum_of); }),
    bench::add(mnist_rows, rows_shuffled),
    bench::add(first_batch, [] { return begun(mnist, 0); }),
    bench::add(resume,
               [] { return begun([] { return td::range(numbers).shuffle().batch(row_batch); }, passed / row_batch); }),
    bench::add(long_resume, [] { return begun(long_rows, long_passed / row_batch); }),
    bench::add(tfrecord, [] { return pass(tf_records(), [](const std::string& r) { return r.size(); }); }),
    bench::add(parse, parsed),
    bench::add(parse_batched, parsed_batched),
    bench::add(csv, csv_columns_read),
    bench::add(text_lines, lines_read)};
}  // namespace
