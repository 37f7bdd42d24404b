#include "files.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <tandem/io.hpp>
#include <tandem/plot.hpp>
#include <tandem/summary.hpp>

using namespace tandem;

void write_vectors(const std::string& folder, const Vocabulary& v, const Tensor& table) {
  io::save_npy(folder + "/embeddings.npy", table);
  const std::int64_t size = table.shape()[1];
  const auto numbers = table.to_vector<float>();
  std::string text = fmt::format("{} {}\n", v.size() - 1, size);
  std::vector<std::vector<std::string>> words;
  for (std::int64_t i = 1; i < v.size(); ++i) {
    const float* const row = numbers.data() + i * size;
    text += fmt::format("{} {}\n", v.word(i), fmt::join(row, row + size, " "));
    words.push_back({v.word(i), std::to_string(v.count(i))});
  }
  io::write_file(folder + "/vectors.txt", text);
  summary::FileWriter(folder).embedding("vectors", table(Slice(1, none)),
                                        {.columns = {"word", "count"}, .metadata = words});
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
