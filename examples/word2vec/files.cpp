#include "files.hpp"

#include <charconv>

#include <tandem/io.hpp>

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
// A word may contain any non-ASCII byte; markup characters are not letters.
std::string place_of(float x, float y) {
  std::string s = "x=\"";
  append(s, x);
  s += "\" y=\"";
  append(s, y);
  return s + "\"";
}

}  // namespace

void write_vectors(const std::string& folder, const Vocabulary& v, const Tensor& table) {
  const std::int64_t size = table.shape()[1];
  const auto numbers = table.to_vector<float>();
  const auto row = [&](std::int64_t i) { return numbers.data() + i * size; };
  io::save_npy(folder + "/embeddings.npy", table);

  std::string text = std::to_string(v.size() - 1) + " " + std::to_string(size) + "\n", columns, words = "word\tcount\n";
  for (std::int64_t i = 1; i < v.size(); ++i) {
    text += v.word(i) + " ";
    append_row(text, row(i), size, ' ');
    append_row(columns, row(i), size, '\t');
    words += v.word(i) + "\t" + std::to_string(v.count(i)) + "\n";
  }
  write_text(folder + "/vectors.txt", text);
  write_text(folder + "/vectors.tsv", columns);
  write_text(folder + "/metadata.tsv", words);
}

void write_picture(const std::string& path, const Vocabulary& v, const Tensor& places) {
  constexpr float width = 1400, height = 1000, margin = 60;
  const auto at = places.to_vector<float>();
  const Tensor low = reduce_min(places, 0), extent = maximum(reduce_max(places, 0) - low, 1e-12);
  const auto least = low.to_vector<float>(), range = extent.to_vector<float>();
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1400 1000\" font-family=\"sans-serif\">\n"
      "<rect width=\"1400\" height=\"1000\" fill=\"#ffffff\"/>\n";
  const std::int64_t count = places.shape()[0];
  for (std::int64_t i = count - 1; i >= 0; --i) {  // the most frequent words last, on top
    const auto k = static_cast<std::size_t>(i);
    const float x = margin + (width - 2 * margin) * (at[2 * k] - least[0]) / range[0];
    const float y = margin + (height - 2 * margin) * (1 - (at[2 * k + 1] - least[1]) / range[1]);
    const char* const color = i < count / 5 ? "#1a1a1a" : i < count / 2 ? "#33558b" : "#7a8fae";
    svg += "<text " + place_of(x, y) + " font-size=\"" + (i < count / 5 ? "15" : "11") + "\" fill=\"" + color +
           "\" text-anchor=\"middle\">" + v.word(i + 1) + "</text>\n";
  }
  write_text(path, svg + "</svg>\n");
}
