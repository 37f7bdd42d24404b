#include "dates.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "examples/support/text_file.hpp"

namespace {

constexpr std::array month_names{"january", "february", "march",     "april",   "may",      "june",
                                 "july",    "august",   "september", "october", "november", "december"};
constexpr std::array weekday_names{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

std::string two(int x) {
  char s[16];
  std::snprintf(s, sizeof s, "%02d", x);
  return s;
}
std::string ordinal(int day) {
  const int last = day % 10;
  const bool teen = day / 10 == 1;
  const char* const suffix = !teen && last == 1 ? "st" : !teen && last == 2 ? "nd" : !teen && last == 3 ? "rd" : "th";
  return std::to_string(day) + suffix;
}

}  // namespace

Date random_date(std::mt19937_64& random) {
  using namespace std::chrono;
  const sys_days first = 1930y / January / 1, last = 2029y / December / 31;
  const auto span = static_cast<std::uint64_t>((last - first).count() + 1);
  const sys_days when = first + days(static_cast<int>(random() % span));
  const year_month_day ymd(when);
  const int y = static_cast<int>(ymd.year()), m = static_cast<int>(static_cast<unsigned>(ymd.month())),
            d = static_cast<int>(static_cast<unsigned>(ymd.day()));
  const std::string year = std::to_string(y), day = std::to_string(d);
  const std::string month = month_names[static_cast<std::size_t>(m - 1)], brief = month.substr(0, 3);
  const std::string weekday = weekday_names[std::chrono::weekday(when).c_encoding()];
  const std::string short_year = two(y % 100);  // 30 to 99: 19.., 00 to 29: 20..
  const std::string iso = year + "-" + two(m) + "-" + two(d);
  switch (random() % 12) {
    case 0: return {day + " " + month + " " + year, iso};
    case 1: return {month + " " + day + ", " + year, iso};
    case 2: return {weekday + ", " + day + " " + month + " " + year, iso};
    case 3: return {weekday.substr(0, 3) + " " + brief + " " + day + " " + year, iso};
    case 4: return {day + "." + std::to_string(m) + "." + year, iso};
    case 5: return {two(d) + "." + two(m) + "." + short_year, iso};
    case 6: return {year + "/" + two(m) + "/" + two(d), iso};
    case 7: return {std::to_string(m) + "/" + day + "/" + year, iso};  // slashes: the month first
    case 8: return {ordinal(d) + " of " + month + " " + year, iso};
    case 9: return {brief + ". " + ordinal(d) + ", '" + short_year, iso};
    case 10: return {two(d) + "-" + brief + "-" + short_year, iso};
    default: return {year + two(m) + two(d), iso};
  }
}

bool is_held_out(const Date& date) { return (stable_hash(date.text) >> 32) % 10 == 0; }

std::vector<std::int32_t> dates::encode_input(const std::string& text) {
  if (text.empty() || static_cast<std::int64_t>(text.size()) > input_length)
    throw std::runtime_error("'" + text + "' is not a date of 1 to " + std::to_string(input_length) + " characters");
  std::vector<std::int32_t> r(static_cast<std::size_t>(input_length));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    const std::size_t at = input_characters.find(c);
    if (at == input_characters.npos)
      throw std::runtime_error("'" + text + "' has the character '" + c + "', which dates are not written with");
    r[i] = static_cast<std::int32_t>(at) + 1;
  }
  return r;
}
std::vector<std::int32_t> dates::encode_output(const std::string& iso) {
  std::vector<std::int32_t> r;
  for (const char c : iso) r.push_back(static_cast<std::int32_t>(output_characters.find(c)));
  r.push_back(end);
  return r;
}
std::string dates::decode_output(const std::int32_t* tokens, std::int64_t count) {
  std::string r;
  for (std::int64_t i = 0; i < count && tokens[i] != end; ++i)
    r += tokens[i] < begin ? output_characters[static_cast<std::size_t>(tokens[i])] : '?';
  return r;
}
