#include "files.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <charconv>

#include <tandem/io.hpp>
#include <tandem/plot.hpp>

using namespace tandem;

namespace {

void append(std::string& text, float x) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}
// Appends a row of numbers with `separator` between them.
void append_row(std::string& text, const float* row, std::int64_t size, char separator) {
  for (std::int64_t j = 0; j < size; ++j) {
    if (j) text += separator;
    append(text, row[j]);
  }
  text += '\n';
}

}  // namespace

void write_vectors(const std::string& folder, const Vocabulary& v, const Tensor& table) {
  const std::int64_t size = table.shape()[1];
  const auto numbers = table.to_vector<float>();
  const auto row = [&](std::int64_t i) { return numbers.data() + i * size; };
  io::save_npy(folder + "/embeddings.npy", table);

  std::string text = fmt::format("{} {}\n", v.size() - 1, size), columns, words = "word\tcount\n";
  for (std::int64_t i = 1; i < v.size(); ++i) {
    text += v.word(i) + " ";
    append_row(text, row(i), size, ' ');
    append_row(columns, row(i), size, '\t');
    words += fmt::format("{}\t{}\n", v.word(i), v.count(i));
  }
  io::write_file(folder + "/vectors.txt", text);
  io::write_file(folder + "/vectors.tsv", columns);
  io::write_file(folder + "/metadata.tsv", words);
  io::write_file(folder + "/projector_config.pbtxt",
                 "embeddings {\n  tensor_name: \"words\"\n  tensor_path: \"vectors.tsv\"\n"
                 "  metadata_path: \"metadata.tsv\"\n}\n");
}

void write_picture(const std::string& path, const Vocabulary& v, const Vectors& vectors, std::int64_t count) {
  const std::int64_t skipped = v.size() > 50 + count ? 50 : 0, last = std::min(1 + skipped + count, v.size());
  const std::int64_t first = 1 + skipped, drawn = last - first;
  // Each word lies at its ranks along the two directions, so that they are spread evenly.
  const Tensor ranks = argsort(argsort(vectors.plane(first, last), 0), 0);
  std::vector<std::string> words;
  std::vector<double> sizes;
  for (std::int64_t i = 0; i < drawn; ++i) {  // the most frequent ones first
    words.push_back(v.word(first + i));
    sizes.push_back(5 * i < drawn ? 16 : 12);
  }
  plot::scatter(ranks(Ellipsis, 0), ranks(Ellipsis, 1),
                {.title = "Word vectors by their ranks along the first two principal components; large: frequent words",
                 .labels = words,
                 .axes = false,
                 .radius = 2,
                 .label_sizes = sizes,
                 .width = 1400,
                 .height = 1060})
      .save(path);
}
