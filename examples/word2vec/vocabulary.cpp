#include "vocabulary.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <tandem/data.hpp>
#include <tandem/io.hpp>

namespace {
constexpr const char* unknown = "<unk>";
}

Vocabulary::Vocabulary(std::vector<std::string> words, std::vector<std::int64_t> counts)
    : words_(std::move(words)), counts_(std::move(counts)) {
  for (std::size_t i = 1; i < words_.size(); ++i) ids_.emplace(words_[i], static_cast<std::int32_t>(i));
  total_ = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

Vocabulary Vocabulary::of(const Corpus& corpus, const VocabularyOptions& o) {
  constexpr std::size_t most = 20'000'000;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> counted;
  std::int64_t total = 0, forgotten_below = 1;
  corpus.each_block([&](const std::string& block) {
    const std::string text = well_formed(block);
    WordReader reader(text);
    for (std::string_view w = reader.next(); !w.empty(); w = reader.next()) {
      ++total;
      if (const auto at = counted.find(w); at != counted.end()) ++at->second;
      else counted.emplace(w, 1);
      if (counted.size() > most) {
        ++forgotten_below;
        std::erase_if(counted, [&](const auto& item) { return item.second < forgotten_below; });
      }
    }
  });
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (auto& [word, count] : counted)
    if (count >= o.min_count) all.emplace_back(word, count);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (o.max_words > 0) all.resize(std::min(all.size(), static_cast<std::size_t>(o.max_words - 1)));
  if (all.size() < 2)
    throw std::runtime_error(
        fmt::format("corpus: of {} words, {} different ones occur {} times or more; a longer text or a lower "
                    "--min-count is needed",
                    total, all.size(), o.min_count));
  std::vector<std::string> words{unknown};
  std::vector<std::int64_t> counts{total};
  for (auto& [word, count] : all) {
    words.push_back(std::move(word));
    counts.push_back(count);
    counts[0] -= count;
  }
  return {std::move(words), std::move(counts)};
}

Vocabulary Vocabulary::load(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read the vocabulary " + path);
  return parse({std::istreambuf_iterator<char>(in), {}}, path);
}
Vocabulary Vocabulary::parse(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  std::vector<std::string> words;
  std::vector<std::int64_t> counts;
  std::string word;
  for (std::int64_t count = 0; in >> word >> count;) {
    words.push_back(word);
    counts.push_back(count);
  }
  if (!in.eof() || words.size() < 2 || words[0] != unknown)
    throw std::runtime_error(name + " is not a vocabulary of word2vec, which has '<unk> COUNT' in its first line and " +
                             "'WORD COUNT' in all others");
  return {std::move(words), std::move(counts)};
}

std::string Vocabulary::text() const {
  std::string r;
  for (std::int64_t i = 0; i < size(); ++i) r += fmt::format("{} {}\n", word(i), count(i));
  return r;
}
void Vocabulary::save(const std::string& path) const { tandem::io::write_file(path, text()); }

std::int32_t Vocabulary::find(std::string_view word) const {
  const auto at = ids_.find(word);
  return at == ids_.end() ? 0 : at->second;
}

std::uint64_t Vocabulary::checksum() const {
  std::uint64_t hash = tandem::data::fingerprint("");
  for (const std::string& w : words_) hash = tandem::data::fingerprint(w + "\n", hash);
  return hash;
}

Subsampling::Subsampling(const Vocabulary& v, double t) : kept_(static_cast<std::size_t>(v.size()), 1.0) {
  if (t <= 0) return;
  for (std::int64_t i = 1; i < v.size(); ++i) {
    const double f = static_cast<double>(v.count(i)) / static_cast<double>(v.total());
    kept_[static_cast<std::size_t>(i)] = std::min(1.0, std::sqrt(t / f) + t / f);
  }
}

NoiseWords::NoiseWords(const Vocabulary& v) {
  const auto n = static_cast<std::size_t>(v.size() - 1);  // column k is for word k + 1
  std::vector<double> share(n);
  for (std::size_t k = 0; k < n; ++k)
    share[k] = std::pow(static_cast<double>(v.count(static_cast<std::int64_t>(k) + 1)), 0.75);
  const double mean = std::accumulate(share.begin(), share.end(), 0.0) / static_cast<double>(n);
  for (double& s : share) s /= mean;
  // Fills up columns that are not full with words that have an excess.
  std::vector<std::size_t> small, large;
  for (std::size_t k = 0; k < n; ++k) (share[k] < 1 ? small : large).push_back(k);
  columns_.assign(n, {1, 0});
  while (!small.empty() && !large.empty()) {
    const std::size_t k = small.back(), from = large.back();
    small.pop_back();
    columns_[k] = {share[k], static_cast<std::int32_t>(from + 1)};
    share[from] -= 1 - share[k];
    if (share[from] < 1) {
      large.pop_back();
      small.push_back(from);
    }
  }
}

std::int32_t NoiseWords::operator()(Random& random) const {
  const std::uint64_t bits = random();
  const auto k = static_cast<std::size_t>((bits >> 32) * columns_.size() >> 32);
  const double u = static_cast<double>(bits & 0xffffffffu) * 0x1p-32;
  return u < columns_[k].own ? static_cast<std::int32_t>(k + 1) : columns_[k].other;
}
