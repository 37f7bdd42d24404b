// Generated data sets: the numbers that their documentation states, and that they depend on nothing but their
// arguments.
#include "tandem/data/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "tandem/data/csv.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_synthetic_test {
using namespace tandem;

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.spec().bytes()) == 0;
}

TEST_CASE("generated data are functions of their arguments") {
  CHECK(same_bytes(data::synthetic_digits(20, 1).images, data::synthetic_digits(20, 1).images));
  CHECK_FALSE(same_bytes(data::synthetic_digits(20, 1).images, data::synthetic_digits(20, 2).images));
  CHECK(same_bytes(data::synthetic_letters(20, 1).images, data::synthetic_letters(20, 1).images));
  CHECK_FALSE(same_bytes(data::synthetic_letters(20, 1).images, data::synthetic_letters(20, 2).images));
  CHECK(data::synthetic_reviews(20, 1).texts == data::synthetic_reviews(20, 1).texts);
  CHECK(data::synthetic_reviews(20, 1).texts != data::synthetic_reviews(20, 2).texts);
  CHECK(data::synthetic_titanic(1) == data::synthetic_titanic(1));
  CHECK(data::synthetic_titanic(1) != data::synthetic_titanic(2));
  CHECK(data::synthetic_digits(0).images.shape() == Shape{0, 28, 28});
  CHECK(data::synthetic_letters(0).labels.shape() == Shape{0, 14});
  CHECK(data::synthetic_reviews(0).texts.empty());
  CHECK_THROWS_AS(data::synthetic_digits(-1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::synthetic_letters(-1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::synthetic_reviews(-1), errors::InvalidArgumentError);
}

using Image = std::vector<double>;

double distance(const std::uint8_t* image, const Image& mean) {
  double sum = 0;
  for (std::size_t p = 0; p < mean.size(); ++p) sum += (image[p] - mean[p]) * (image[p] - mean[p]);
  return sum;
}
// The share of the images whose nearest class mean, of the images before them, is that of their class.
double nearest_mean_accuracy(const data::Digits& digits, i64 train) {
  constexpr i64 pixels = 28 * 28;
  const auto images = digits.images.data<std::uint8_t>();
  const auto labels = digits.labels.data<std::uint8_t>();
  std::vector<Image> mean(10, Image(pixels));
  std::vector<double> count(10);
  for (i64 i = 0; i < train; ++i) {
    const std::size_t label = labels[static_cast<std::size_t>(i)];
    ++count[label];
    for (i64 p = 0; p < pixels; ++p)
      mean[label][static_cast<std::size_t>(p)] += images[static_cast<std::size_t>(i * pixels + p)];
  }
  for (std::size_t c = 0; c < 10; ++c)
    for (double& m : mean[c]) m /= count[c];
  i64 right = 0;
  const i64 n = digits.labels.size();
  for (i64 i = train; i < n; ++i) {
    std::vector<double> d;
    for (const Image& m : mean) d.push_back(distance(&images[static_cast<std::size_t>(i * pixels)], m));
    right += std::min_element(d.begin(), d.end()) - d.begin() == labels[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(n - train);
}

TEST_CASE("synthetic_digits: pictures of the kind of MNIST's, neither trivial nor hopeless") {
  const data::Digits digits = data::synthetic_digits(2000, 3);
  CHECK(digits.images.spec() == Spec{{2000, 28, 28}, uint8, {}});
  CHECK(digits.labels.spec() == Spec{{2000}, uint8, {}});
  std::vector<int> count(10);
  for (const std::uint8_t label : digits.labels.data<std::uint8_t>()) ++count.at(label);
  for (const int c : count) CHECK(std::abs(c - 200) < 5 * 13.4);  // binomial: deviation sqrt(2000 * .1 * .9)
  const double accuracy = nearest_mean_accuracy(digits, 1500);
  CAPTURE(accuracy);
  CHECK(accuracy > 0.6);
  CHECK(accuracy < 0.97);
}

TEST_CASE("synthetic_letters: lengths, grammar and glyphs are as stated") {
  constexpr i64 n = 3000, pixels = 16 * 8;
  const data::Letters words = data::synthetic_letters(n, 5);
  CHECK(words.images.spec() == Spec{{n, 14, 16, 8}, uint8, {}});
  CHECK(words.labels.spec() == Spec{{n, 14}, int32, {}});
  const auto images = words.images.data<std::uint8_t>();
  const auto labels = words.labels.data<std::int32_t>(), lengths = words.lengths.data<std::int32_t>();
  double letters = 0, ambiguous = 0, wrong_grammar = 0, not_binary = 0, padding = 0;
  std::map<std::int32_t, Image> mean;
  std::map<std::int32_t, double> count;
  std::map<int, int> of_length;
  for (std::size_t i = 0; i < n; ++i) {
    ++of_length[lengths[i]];
    for (std::size_t t = 0; t < 14; ++t) {
      const std::int32_t label = labels[14 * i + t];
      const std::uint8_t* const image = &images[(14 * i + t) * pixels];
      if (t >= static_cast<std::size_t>(lengths[i])) {
        padding += label != 0 || std::count(image, image + pixels, 0) != pixels;
        continue;
      }
      ++letters;
      ambiguous += label < 4;
      wrong_grammar += label < 0 || label > 25;
      if (label < 4) {
        const std::int32_t next = t + 1 < static_cast<std::size_t>(lengths[i]) ? labels[14 * i + t + 1] : -1;
        wrong_grammar += label % 2 == 0 ? next < 20 || next > 22 : next < 23;
      }
      mean[label].resize(pixels);
      ++count[label];
      for (std::size_t p = 0; p < pixels; ++p) mean[label][p] += image[p], not_binary += image[p] > 1;
    }
  }
  CHECK(of_length.size() == 12);
  CHECK((of_length.begin()->first == 3 && of_length.rbegin()->first == 14));
  CHECK((wrong_grammar == 0 && not_binary == 0 && padding == 0));
  CHECK(ambiguous / letters == Approx(0.123).margin(0.01));
  CHECK(mean.size() == 26);
  // Each pixel of a glyph is on in .95 or .05 of its pictures: which gives the glyph, and the rate of flips.
  std::map<std::int32_t, std::vector<bool>> glyphs;
  double flips = 0;
  for (const auto& [label, sum] : mean)
    for (const double s : sum) {
      const bool on = s / count[label] > 0.5;
      glyphs[label].push_back(on);
      flips += on ? count[label] - s : s;
    }
  CHECK(flips / (letters * pixels) == Approx(0.05).margin(0.002));
  CHECK(glyphs[0] == glyphs[1]);
  CHECK(glyphs[2] == glyphs[3]);
  std::set<std::vector<bool>> different;
  for (const auto& [label, glyph] : glyphs) different.insert(glyph);
  CHECK(different.size() == 24);
}

TEST_CASE("synthetic_reviews: words of one sign, 1 to 3 of them, among neutral ones") {
  const data::Reviews reviews = data::synthetic_reviews(4000, 2);
  REQUIRE(reviews.texts.size() == 4000);
  std::map<std::string, int> in[2];
  std::set<std::string> all;
  std::size_t shortest = 1000, longest = 0;
  double positive = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    const int label = reviews.labels.data<std::int32_t>()[i];
    positive += label;
    std::istringstream words(reviews.texts[i]);
    std::size_t n = 0;
    for (std::string w; words >> w; ++n) ++in[label][w], all.insert(w);
    shortest = std::min(shortest, n), longest = std::max(longest, n);
  }
  CHECK((shortest == 5 && longest == 60));
  CHECK(std::abs(positive - 2000) < 5 * 31.6);
  CHECK(all.size() == 200);
  std::set<std::string> signed_words[2];
  for (const std::string& w : all)
    for (const int label : {0, 1})
      if (!in[1 - label].contains(w)) signed_words[label].insert(w);
  CHECK(signed_words[0].size() == 20);
  CHECK(signed_words[1].size() == 20);
  for (std::size_t i = 0; i < 4000; ++i) {
    const int label = reviews.labels.data<std::int32_t>()[i];
    std::istringstream words(reviews.texts[i]);
    int sentiment = 0;
    for (std::string w; words >> w;) sentiment += signed_words[label].contains(w);
    if (sentiment < 1 || sentiment > 3) FAIL("review " << i << " has " << sentiment << " words of its sign");
  }
}

TEST_CASE("synthetic_titanic: the numbers of the real list, in a file with quotes and missing ages") {
  const data::Table t = data::parse_csv(data::synthetic_titanic(4));
  REQUIRE(t.rows() == 891);
  CHECK(t.columns() == std::vector<std::string>{"PassengerId", "Survived", "Pclass", "Name", "Sex", "Age"});
  std::map<std::string, std::pair<int, int>> groups;  // all, survivors
  int missing = 0, quoted = 0;
  for (i64 i = 0; i < 891; ++i) {
    auto& [all, survivors] = groups[std::string(t.text(i, "Sex")) + std::string(t.text(i, "Pclass"))];
    ++all, survivors += t.text(i, "Survived") == "1";
    missing += t.text(i, "Age").empty();
    CHECK(t.text(i, "Name").find(", ") != std::string_view::npos);
    quoted += t.text(i, "Name").find('"') != std::string_view::npos;
  }
  const std::map<std::string, std::pair<int, int>> expected{{"female1", {94, 91}},  {"female2", {76, 70}},
                                                            {"female3", {144, 72}}, {"male1", {122, 45}},
                                                            {"male2", {108, 17}},   {"male3", {347, 47}}};
  CHECK(groups == expected);
  CHECK(missing == 177);
  CHECK(quoted > 40);
  double sum = 0, lowest = 100, highest = 0, known = 0;
  for (const float age : t.numbers("Age", {.missing = -1}).to_vector<float>())
    if (age >= 0) ++known, sum += age, lowest = std::min<double>(lowest, age), highest = std::max<double>(highest, age);
  CHECK(known == 714);
  CHECK(sum / known == Approx(30.2).margin(5 * 0.52));  // 14 / sqrt(714); clipping raises the mean by .2
  CHECK((lowest >= 0.5 && highest <= 80));
}

}  // namespace data_synthetic_test
