// Definitions of serving/json_reader.hpp: RapidJSON's events, and what they must not do.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/serving/json_reader.hpp"
#include "tandem/serving/rapidjson.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving::impl {

[[noreturn]] TANDEM_INLINE void raise_json(const std::string& what, const JsonCursor& c) {
  errors::raise<errors::InvalidArgumentError>(
      "serving", "JSON Parse error: " + what + " at offset: " + std::to_string(c.at - c.begin));
}

// A JsonCursor as RapidJSON's stream. It is not copied while a number is read, so that handlers can move it.
class JsonStream {
 public:
  using Ch = char;
  explicit JsonStream(JsonCursor& c) : c_(c) {}
  char Peek() const { return c_.at == c_.end ? '\0' : *c_.at; }
  char Take() { return c_.at == c_.end ? '\0' : *c_.at++; }
  std::size_t Tell() const { return static_cast<std::size_t>(c_.at - c_.begin); }
  // Never called: they would write a text in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  JsonCursor& c_;
};

// RapidJSON's handler. The values that it has made of numbers are not used, because they are not exact: the texts are.
class JsonHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonHandler> {
 public:
  JsonHandler(JsonEvents& events, JsonCursor& c) : events_(events), c_(c) {}
  bool Null() { return tell({JsonEvent::null}); }
  bool Bool(bool b) { return tell({JsonEvent::boolean, {}, b}); }
  bool Int(int) { return number(); }
  bool Uint(unsigned) { return number(); }
  bool Int64(std::int64_t) { return number(); }
  bool Uint64(std::uint64_t) { return number(); }
  bool Double(double) { return number(); }
  bool String(const char* s, rapidjson::SizeType n, bool) { return text(JsonEvent::text, {s, n}); }
  bool Key(const char* s, rapidjson::SizeType n, bool) { return text(JsonEvent::key, {s, n}); }
  bool StartObject() { return begin(JsonEvent::begin_object); }
  bool StartArray() { return begin(JsonEvent::begin_list); }
  bool EndObject(rapidjson::SizeType) { return end(JsonEvent::end_object); }
  bool EndArray(rapidjson::SizeType) { return end(JsonEvent::end_list); }

 private:
  bool tell(JsonEvent e) {
    e.cursor = &c_;
    return TANDEM_VIRTUAL(events_, JsonEvents::on)(e);
  }
  bool number() {
    constexpr std::string_view others = "+-.eEInfityNa";  // than digits
    const char* from = c_.at;
    while (from != c_.begin && ((from[-1] >= '0' && from[-1] <= '9') || others.find(from[-1]) != others.npos)) --from;
    return tell({JsonEvent::number, {from, static_cast<std::size_t>(c_.at - from)}});
  }
  bool text(JsonEvent::Kind kind, std::string_view s) {
    if (!tandem::detail::is_utf8(s)) raise_json("a string is not UTF-8 (bytes are sent as {\"b64\": ...})", c_);
    const bool goes_on = tell({kind, s});
    // Last: who has got it may know which input it belongs to.
    if (s.size() > most_json_text)
      raise_json("a string has " + std::to_string(s.size()) + " bytes, more than " + std::to_string(most_json_text),
                 c_);
    return goes_on;
  }
  bool begin(JsonEvent::Kind kind) {
    if (++levels_ > most_json_levels)
      raise_json("lists and objects are nested deeper than " + std::to_string(most_json_levels), c_);
    return tell({kind});
  }
  bool end(JsonEvent::Kind kind) {
    --levels_;
    return tell({kind});
  }

  JsonEvents& events_;
  JsonCursor& c_;
  int levels_ = 0;
};

TANDEM_INLINE void read_json(std::string_view json, JsonEvents& events) {
  JsonCursor cursor{json.data(), json.data(), json.data() + json.size()};
  JsonStream stream(cursor);
  JsonHandler handler(events, cursor);
  rapidjson::Reader reader;
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag;
  const rapidjson::ParseResult result = reader.Parse<flags>(stream, handler);
  if (result.Code() == rapidjson::kParseErrorTermination) return;
  if (!result)
    errors::raise<errors::InvalidArgumentError>("serving", std::string("JSON Parse error: ") +
                                                               rapidjson::GetParseError_En(result.Code()) +
                                                               " at offset: " + std::to_string(result.Offset()));
  if (cursor.at != cursor.end) raise_json("there is a zero byte", cursor);
}

TANDEM_INLINE void JsonPath::on(const JsonEvent& e) {
  if (e.kind == JsonEvent::key) parts_.back().key = e.content;
  else if (e.kind == JsonEvent::begin_object) parts_.push_back({false, {}});
  else if (e.kind == JsonEvent::begin_list) parts_.push_back({true, {}});
  else if (e.kind == JsonEvent::end_object || e.kind == JsonEvent::end_list) parts_.pop_back();
}
TANDEM_INLINE bool JsonPath::is(std::initializer_list<const char*> keys) const {
  if (keys.size() != parts_.size()) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const char* const key = keys.begin()[i];
    if (key == element ? !parts_[i].is_list : parts_[i].is_list || parts_[i].key != key) return false;
  }
  return true;
}

}  // namespace TANDEM_NS::serving::impl
