#include "description.hpp"

#include <fmt/core.h>
#include <stdexcept>

namespace {

// Metadata is UTF-8 but the model's characters are bytes: each byte is stored as the code point of that number
// (ISO 8859-1).
std::string utf8_of(const std::string& bytes) {
  std::string r;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    if (b >= 0x80) r += static_cast<char>(0xc0 | b >> 6);
    r += static_cast<char>(b >= 0x80 ? 0x80 | (b & 0x3f) : b);
  }
  return r;
}
std::string bytes_of(const std::string& utf8) {
  std::string r;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto b = static_cast<unsigned char>(utf8[i]);
    const bool two = b >= 0x80 && i + 1 < utf8.size();
    r += two ? static_cast<char>((b & 3) << 6 | (utf8[++i] & 0x3f)) : utf8[i];
  }
  return r;
}

}  // namespace

tandem::train::Metadata describe(const ModelOptions& o, const Vocabulary& v) {
  return {{"vocabulary", utf8_of(v.characters())},
          {"cell", o.cell},
          {"layers", std::to_string(o.layers)},
          {"hidden", std::to_string(o.hidden)}};
}
tandem::train::Metadata description_of(const std::string& checkpoint) {
  tandem::train::Metadata m = tandem::train::read_metadata(checkpoint);
  for (const char* key : {"vocabulary", "cell", "layers", "hidden"})
    if (!m.contains(key))
      throw std::runtime_error(fmt::format("{} is not a checkpoint of char_rnn: it has no '{}'", checkpoint, key));
  m["vocabulary"] = bytes_of(m["vocabulary"]);
  return m;
}
ModelOptions model_of(const tandem::train::Metadata& m) {
  return {.vocabulary = static_cast<std::int64_t>(m.at("vocabulary").size()),
          .cell = m.at("cell"),
          .layers = std::stoi(m.at("layers")),
          .hidden = std::stoll(m.at("hidden"))};
}
