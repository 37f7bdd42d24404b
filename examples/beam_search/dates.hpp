// The data of the second task: dates in many formats, and the same dates in ISO 8601.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

struct Date {
  std::string text;  // "thursday, 3 april 1997", lower case
  std::string iso;   // "1997-04-03"
};

/// A date from 1930 to 2029 in one of twelve formats.
Date random_date(std::mt19937_64& random);
/// Whether a date is held out for testing: one text in ten, the same ones for every seed.
bool is_held_out(const Date& date);

namespace dates {
inline constexpr std::string_view input_characters = "abcdefghijklmnopqrstuvwxyz0123456789 ,./-'";
inline constexpr std::string_view output_characters = "0123456789-";
inline constexpr int begin = 11, end = 12, outputs = 13;              // tokens in addition to the output characters
inline constexpr std::int64_t input_length = 32, output_length = 11;  // the longest text; ten characters + end

/// Encodes the characters of a text as 1, 2, ...; pads with 0 to input_length. throws std::runtime_error for unknown
/// characters or a text that is too long
std::vector<std::int32_t> encode_input(const std::string& text);
std::vector<std::int32_t> encode_output(const std::string& iso);
/// The characters up to the end token.
std::string decode_output(const std::int32_t* tokens, std::int64_t count);
}  // namespace dates
