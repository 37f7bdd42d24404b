#include "files.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <charconv>

#include <tandem/io.hpp>

#include "examples/support/svg.hpp"
#include "examples/support/text_file.hpp"

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

// --- the picture

// Part of a picture, in its units.
struct Box {
  double left, top, right, bottom;
  bool overlaps(const Box& b) const { return left < b.right && b.left < right && top < b.bottom && b.top < bottom; }
};
// A letter of a sans-serif font is about 0.6 of its size wide; a character of UTF-8 begins with a byte of another form
// than those that follow.
double width_of(const std::string& word, double size) {
  const auto letters = std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return 0.6 * size * static_cast<double>(letters);
}
// The positions that a name may have beside its dot: right, left, above, below.
struct WordLabel {
  Box box;
  double x, y;
  Svg::Anchor anchor;
};
std::vector<WordLabel> places_of(double x, double y, double width, double size) {
  constexpr double gap = 5;
  const double middle = y + 0.35 * size;
  const auto name = [&](double left, double baseline, double at, Svg::Anchor anchor) {
    return WordLabel{{left, baseline - 0.8 * size, left + width, baseline + 0.25 * size}, at, baseline, anchor};
  };
  return {name(x + gap, middle, x + gap, Svg::Anchor::start), name(x - gap - width, middle, x - gap, Svg::Anchor::end),
          name(x - width / 2, y - gap, x, Svg::Anchor::middle),
          name(x - width / 2, y + gap + 0.8 * size, x, Svg::Anchor::middle)};
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
  write_text(folder + "/vectors.txt", text);
  write_text(folder + "/vectors.tsv", columns);
  write_text(folder + "/metadata.tsv", words);
}

void write_picture(const std::string& path, const Vocabulary& v, const Vectors& vectors, std::int64_t count) {
  constexpr double width = 1400, height = 1060, margin = 70, top = 90;
  const std::int64_t skipped = v.size() > 50 + count ? 50 : 0, last = std::min(1 + skipped + count, v.size());
  const std::int64_t first = 1 + skipped, drawn = last - first;
  // Each word lies at its ranks along the two directions, so that they are spread evenly.
  const Tensor ranks = argsort(argsort(vectors.plane(first, last), 0), 0);
  const auto place = ((cast(ranks, float64) + 0.5) / drawn).to_vector<double>();
  Svg svg(width, height, "Word vectors along their first two principal components");
  svg.text(20, 32, "Words by their vectors", {.size = 22});
  svg.text(20, 56,
           "Across: their ranks along the first principal component; upwards: along the second. Large and dark: "
           "frequent words.",
           {.size = 13});
  std::vector<Box> taken;
  std::vector<std::pair<double, double>> dots;
  for (std::size_t i = 0; i < static_cast<std::size_t>(drawn); ++i) {
    const double x = margin + (width - 2 * margin) * place[2 * i];
    const double y = top + (height - top - margin) * (1 - place[2 * i + 1]);
    dots.emplace_back(x, y);
    taken.push_back({x - 3, y - 3, x + 3, y + 3});
  }
  for (std::size_t i = 0; i < dots.size(); ++i) {  // the most frequent words first
    const auto [x, y] = dots[i];
    const auto frequent = static_cast<std::int64_t>(5 * i) / drawn;  // which fifth of the words
    const double size = frequent == 0 ? 15 : 12;
    const char* const color = frequent == 0 ? "#1a1a1a" : frequent < 3 ? "#33558b" : "#5f7596";
    svg.disc(x, y, 2, color);
    const std::string& word = v.word(first + static_cast<std::int64_t>(i));
    for (const WordLabel& name : places_of(x, y, width_of(word, size), size)) {
      const bool inside = name.box.left > 0 && name.box.right < width;
      if (!inside || std::any_of(taken.begin(), taken.end(), [&](const Box& b) { return b.overlaps(name.box); }))
        continue;
      taken.push_back(name.box);
      svg.text(name.x, name.y, word, {.size = size, .anchor = name.anchor, .color = color});
      break;
    }
  }
  svg.save(path);
}
