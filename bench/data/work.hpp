// The work of the data scenario: pipelines that hand elements to a loop. A run is a pass over all elements; the loop
// does nothing with them. Every competitor's file follows this list.
#pragma once
#include <cstdint>
#include <string>

namespace bench::data {

inline constexpr std::int64_t numbers = 200'000;  // of the pipelines of single numbers
inline constexpr std::int64_t batch = 1024, shuffle_buffer = 10'000;
inline constexpr const char* range_batch = "data/range_batch_200k";
inline constexpr std::int64_t few_numbers = 20'000;                          // of the slowest
inline constexpr const char* map_scalar = "data/map_20k_scalars";            // x * 2 of each
inline constexpr const char* map_batched = "data/map_200k_scalars_batched";  // x * 2 of batches
// x * 2 of one, which the library applies to many: by element, and in batches that are made behind it.
inline constexpr const char* map_at_once = "data/map_200k_scalars_at_once";
inline constexpr const char* map_at_once_batched = "data/map_200k_scalars_at_once_batched";
inline constexpr const char* shuffle = "data/shuffle_10k_of_200k_batched";

// Rows of 784 floats and a label: shuffled as a whole, batches of 128, prefetched.
inline constexpr std::int64_t rows = 60'000, row = 784, row_batch = 128;
inline constexpr const char* mnist_rows = "data/shuffle_batch_60k_rows_of_784";

// Files, which each competitor writes for itself: records of an Example with 784 bytes and a label, 20,000 of them.
inline constexpr std::int64_t records = 20'000, record_bytes = 784;
inline constexpr const char* tfrecord = "data/tfrecord_20k";
inline constexpr const char* parse = "data/tfrecord_20k_parse_single";
inline constexpr const char* parse_batched = "data/tfrecord_20k_parse_batched";

inline constexpr std::int64_t csv_rows = 100'000, csv_columns = 10, csv_batch = 256;
inline constexpr const char* csv = "data/csv_100k_rows_of_10_floats";
inline constexpr std::int64_t lines = 20'000;
inline constexpr const char* text_lines = "data/text_20k_lines";

// What an iteration costs before it gives anything: over the rows above, its first batch; over numbers that are
// shuffled as a whole and put into batches, the first batch behind so many elements. The last is as long as a day of
// training.
inline constexpr const char* first_batch = "data_start/first_batch_of_60k_rows";
inline constexpr std::int64_t passed = 190'000 / row_batch * row_batch;
inline constexpr const char* resume = "data_resume/at_190k_of_200k";
inline constexpr std::int64_t long_numbers = 6'000'000, long_passed = 5'900'000 / row_batch * row_batch;
inline constexpr const char* long_resume = "data_resume/at_5.9M_of_6M_rows";

/// Line i of the text file, about 90 bytes, without its end.
inline std::string line(std::int64_t i) {
  return std::to_string(i) +
         " the quick brown fox jumps over the lazy dog and runs through the wide green fields of wheat";
}
/// Number i of the CSV file, as it is written there.
inline std::string field(std::int64_t i) {
  return std::to_string(i * 7919 % 2000 - 1000) + "." + std::to_string(100000 + i * 104729 % 900000);
}
}  // namespace bench::data
