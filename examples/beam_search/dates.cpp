#include "dates.hpp"

#include <fmt/core.h>
#include <array>
#include <chrono>
#include <stdexcept>
#include <tandem/data.hpp>

namespace {

constexpr std::array month_names{"january", "february", "march",     "april",   "may",      "june",
                                 "july",    "august",   "september", "october", "november", "december"};
constexpr std::array weekday_names{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

std::string ordinal(int day) {
  const int last = day % 10;
  const bool teen = day / 10 == 1;
  const char* const suffix = !teen && last == 1 ? "st" : !teen && last == 2 ? "nd" : !teen && last == 3 ? "rd" : "th";
  return fmt::format("{}{}", day, suffix);
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
  const std::string_view month = month_names[static_cast<std::size_t>(m - 1)], brief = month.substr(0, 3);
  const std::string_view weekday = weekday_names[std::chrono::weekday(when).c_encoding()];
  const int short_year = y % 100;  // 30 to 99: 19.., 00 to 29: 20..
  const std::string iso = fmt::format("{}-{:02}-{:02}", y, m, d);
  switch (random() % 12) {
    case 0: return {fmt::format("{} {} {}", d, month, y), iso};
    case 1: return {fmt::format("{} {}, {}", month, d, y), iso};
    case 2: return {fmt::format("{}, {} {} {}", weekday, d, month, y), iso};
    case 3: return {fmt::format("{:.3} {} {} {}", weekday, brief, d, y), iso};
    case 4: return {fmt::format("{}.{}.{}", d, m, y), iso};
    case 5: return {fmt::format("{:02}.{:02}.{:02}", d, m, short_year), iso};
    case 6: return {fmt::format("{}/{:02}/{:02}", y, m, d), iso};
    case 7: return {fmt::format("{}/{}/{}", m, d, y), iso};  // slashes: the month first
    case 8: return {fmt::format("{} of {} {}", ordinal(d), month, y), iso};
    case 9: return {fmt::format("{}. {}, '{:02}", brief, ordinal(d), short_year), iso};
    case 10: return {fmt::format("{:02}-{}-{:02}", d, brief, short_year), iso};
    default: return {fmt::format("{}{:02}{:02}", y, m, d), iso};
  }
}

bool is_held_out(const Date& date) { return (tandem::data::fingerprint(date.text) >> 32) % 10 == 0; }

std::vector<std::int32_t> dates::encode_input(const std::string& text) {
  if (text.empty() || static_cast<std::int64_t>(text.size()) > input_length)
    throw std::runtime_error(fmt::format("'{}' is not a date of 1 to {} characters", text, input_length));
  std::vector<std::int32_t> r(static_cast<std::size_t>(input_length));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    const std::size_t at = input_characters.find(c);
    if (at == input_characters.npos)
      throw std::runtime_error(fmt::format("'{}' has the character '{}', which dates are not written with", text, c));
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
