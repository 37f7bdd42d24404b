// synthetic_reviews and synthetic_titanic of data/synthetic.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/data/draws.hpp"
#include "tandem/data/permutation.hpp"
#include "tandem/data/synthetic.hpp"
#include "tandem/data/synthetic_words.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

namespace detail {

template <class List>
const auto& one_of(const List& list, Draws& draws) {
  return list[static_cast<std::size_t>(draws.below(static_cast<i64>(list.size())))];
}

// A text with a few words of `sentiment` at different places.
TANDEM_INLINE std::string review_text(const std::vector<std::string_view>& neutral,
                                      const std::vector<std::string_view>& sentiment, Draws& draws) {
  std::vector<std::string_view> words(static_cast<std::size_t>(5 + draws.below(56)));
  for (std::string_view& w : words) w = one_of(neutral, draws);
  const Permutation places(static_cast<i64>(words.size()), draws.below(i64{1} << 62));
  for (i64 i = 0, count = 1 + draws.below(3); i < count; ++i)
    words[static_cast<std::size_t>(places(i))] = one_of(sentiment, draws);
  std::string text;
  for (const std::string_view w : words) (text += text.empty() ? "" : " ") += w;
  return text;
}

// A passenger of the list.
struct Passenger {
  bool survived, female;
  int ticket_class;
};
// The numbers of passengers and survivors of the real list, by sex and class.
inline std::vector<Passenger> passengers() {
  constexpr int count[2][3] = {{122, 108, 347}, {94, 76, 144}}, survivors[2][3] = {{45, 17, 47}, {91, 70, 72}};
  std::vector<Passenger> r;
  for (int female = 0; female < 2; ++female)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < count[female][c]; ++i) r.push_back({i < survivors[female][c], female == 1, c + 1});
  return r;
}
// A field in quotes: "Ford, Miss. Edith ""Ada""".
TANDEM_INLINE std::string passenger_name(const Passenger& p, double age, Draws& draws) {
  static constexpr double adult = 15, nicknames = 0.1;
  const std::vector<std::string_view> first = words_in(p.female ? female_names : male_names);
  const bool married = draws.with_probability(0.4);
  std::string r = "\"" + std::string(one_of(words_in(surnames), draws));
  r += p.female ? (married && age >= adult ? ", Mrs. " : ", Miss. ") : (age < adult ? ", Master. " : ", Mr. ");
  r += one_of(first, draws);
  if (draws.with_probability(nicknames)) r += " \"\"" + std::string(one_of(first, draws)) + "\"\"";
  return r + '"';
}

}  // namespace detail

TANDEM_INLINE Reviews synthetic_reviews(i64 n, i64 seed) {
  const tandem::detail::OutsideTrace outside;
  detail::check_count("synthetic_reviews", n);
  const auto positive = detail::words_in(detail::positive_words), negative = detail::words_in(detail::negative_words),
             neutral = detail::words_in(detail::neutral_words);
  Reviews r{{}, Tensor::allocate({{n}, DType::int32, {}})};
  auto* const labels = static_cast<std::int32_t*>(r.labels.raw());
  detail::Draws draws(detail::Draws::reviews, seed);
  for (i64 i = 0; i < n; ++i) {
    labels[i] = static_cast<std::int32_t>(draws.below(2));
    r.texts.push_back(detail::review_text(neutral, labels[i] ? positive : negative, draws));
  }
  return r;
}

TANDEM_INLINE std::string synthetic_titanic(i64 seed) {
  constexpr i64 without_age = 177;
  const std::vector<detail::Passenger> list = detail::passengers();
  const i64 n = static_cast<i64>(list.size());
  const Permutation order(n, seed), ages(n, seed, 1);
  detail::Draws draws(detail::Draws::titanic, seed);
  std::string r = "PassengerId,Survived,Pclass,Name,Sex,Age\n";
  for (i64 i = 0; i < n; ++i) {
    const detail::Passenger& p = list[static_cast<std::size_t>(order(i))];
    const double age = std::clamp(draws.normal(30, 14), 0.5, 80.);
    const long tenths = std::lround(10 * age);
    r += std::to_string(i + 1) + (p.survived ? ",1," : ",0,") + std::to_string(p.ticket_class) + ',' +
         detail::passenger_name(p, age, draws) + (p.female ? ",female," : ",male,");
    if (ages(i) >= without_age) r += std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
    r += '\n';
  }
  return r;
}

}  // namespace TANDEM_NS::data
