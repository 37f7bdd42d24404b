// Samples of the component tandem::strings.
#include "tandem/ops/all.hpp"
#include "tandem/strings.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Tensor words() { return constant({{"one two", "Three"}, {"", "x,y"}}); }

void join_calls(Numbers&) { strings::join({words(), constant({"a", "b"})}, {.separator = "-"}); }
void reduce_join_calls(Numbers&) {
  strings::reduce_join(words(), 1, {.separator = "+"});
  strings::reduce_join(words(), {.keepdims = true});
}
void split_calls(Numbers&) {
  strings::split(words());
  strings::split(words(), ",", {.maxsplit = 1});
}
void strip_calls(Numbers&) { strings::strip(words()); }
void lower_calls(Numbers&) { strings::lower(words()); }
void upper_calls(Numbers&) { strings::upper(words()); }
void length_calls(Numbers&) { strings::length(words(), {.unit = strings::utf8_char}); }
void substr_calls(Numbers&) { strings::substr(constant({"abc", "defg"}), constant({1, -2}), constant(2)); }
void replace_calls(Numbers&) { strings::regex_replace(words(), "([a-z])o", "<\\1>"); }
void match_calls(Numbers&) { strings::regex_full_match(words(), "[A-Z].*"); }
void to_number_calls(Numbers&) { strings::to_number(constant({"1", " 2 "}), int32); }
void as_string_calls(Numbers& n) { strings::as_string(n.whole({2, 3}, -5, 6), {.width = 4}); }
void format_calls(Numbers& n) { strings::format("{} and {}", {n.whole({2, 3}, 0, 9), words()}); }
void bucket_calls(Numbers&) { strings::to_hash_bucket(words(), 10); }
void fast_bucket_calls(Numbers&) { strings::to_hash_bucket_fast(words(), 10); }
void strong_bucket_calls(Numbers&) { strings::to_hash_bucket_strong(words(), 10, {133, 137}); }
void cross_calls(Numbers& n) {
  strings::cross_hashed({words(), n.whole({2, 2}, -5, 6)}, 10);
  strings::cross_hashed({words()}, 7, {.hash_key = 1});
}
void decode_calls(Numbers&) { strings::unicode_decode(words(), strings::utf8); }
void encode_calls(Numbers&) {
  strings::unicode_encode(constant({i64{1}, i64{2}}), constant({65, 66, 0x20ac}), strings::utf8);
}
void transcode_calls(Numbers&) { strings::unicode_transcode(words(), strings::utf8, strings::utf16_be); }
void find_calls(Numbers&) {
  const lookup::StaticHashTable table(constant({"one", "x"}), constant({1, 2}), constant(-1));
  table(constant({"x", "y"}));
  lookup::StaticVocabularyTable(constant({"one", "x"}), {.num_oov_buckets = 3})(words());
}
void mutable_calls(Numbers&) {
  const lookup::MutableHashTable table(int64, constant("none"));
  table.insert(constant({i64{1}, i64{2}}), constant({"a", "b"}));
  table.lookup(constant({i64{2}, i64{3}}));
  table.remove(constant({i64{7}}));
}
void index_calls(Numbers&) { lookup::index_to_string(constant({1, 7, 2}), constant({"a", "b", "c"})); }
void csv_calls(Numbers&) {
  io::decode_csv(constant({"1,2.5,a", "3,,b"}), {constant({0}), constant(7.f), constant("")});
  io::decode_csv(constant({"1;\"q\"\"r\";NA"}), {constant(""), constant(4)},
                 {.field_delim = ";", .na_value = "NA", .select_cols = {1, 2}});
}
void raw_calls(Numbers&) { io::decode_raw(constant({"abcd", "efgh"}), int16, {.little_endian = false}); }
void to_base64_calls(Numbers&) { io::encode_base64(words(), {.pad = true}); }
void from_base64_calls(Numbers&) { io::decode_base64(constant({"YQ", "YWI="})); }
void serialize_calls(Numbers& n) { io::serialize_tensor(n.whole({2, 3}, 0, 9)); }

}  // namespace

tandem::Span<const Sample> string_samples() {
  static const Sample list[] = {
      {"string_join", join_calls},
      {"reduce_join", reduce_join_calls},
      {"string_split", split_calls},
      {"string_strip", strip_calls},
      {"string_lower", lower_calls},
      {"string_upper", upper_calls},
      {"string_length", length_calls},
      {"substr", substr_calls},
      {"regex_replace", replace_calls},
      {"regex_full_match", match_calls},
      {"string_to_number", to_number_calls},
      {"as_string", as_string_calls},
      {"string_format", format_calls},
      {"to_hash_bucket", bucket_calls},
      {"to_hash_bucket_fast", fast_bucket_calls},
      {"to_hash_bucket_strong", strong_bucket_calls},
      {"cross_hashed", cross_calls},
      {"unicode_decode", decode_calls},
      {"unicode_encode", encode_calls},
      {"unicode_transcode", transcode_calls},
      {"table_find", find_calls},
      {"mutable_table_find", mutable_calls},
      {"mutable_table_insert", mutable_calls},
      {"mutable_table_remove", mutable_calls},
      {"index_to_string", index_calls},
      {"decode_csv", csv_calls},
      {"decode_raw", raw_calls},
      {"encode_base64", to_base64_calls},
      {"decode_base64", from_base64_calls},
      {"serialize_tensor", serialize_calls},
  };
  return list;
}

}  // namespace samples::detail
