// Reading JSON as events, without a tree: for the definitions of json_tensor.hpp, json_predict.hpp, json_infer.hpp.
// Part of the component tandem::serving.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving {

inline constexpr int most_json_levels = 64;  ///< of lists and objects in each other
/// Bytes of one string, which may be the base64 of most_string_bytes.
inline constexpr std::size_t most_json_text = (most_string_bytes + 2) / 3 * 4;

namespace impl {

/// A text, and how far it has been read.
struct JsonCursor {
  const char *begin, *at, *end;
};

struct JsonEvent {
  enum Kind { null, boolean, number, text, key, begin_object, end_object, begin_list, end_list };
  Kind kind;
  std::string_view content = {};  ///< of a text or key, without escapes; of a number, as it was written
  bool value = false;             ///< of a boolean
  /// Where the reader is. At a begin and an end: its bracket. Behind a number, whose receiver may read on and move it:
  /// over commas and the numbers after them.
  JsonCursor* cursor = nullptr;
};

/// What gets the events of a JSON text, in their order; may throw.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  /// Returns false if it needs no more.
  virtual bool on(const JsonEvent& e) = 0;
};

/// Reads a JSON text (RFC 8259; also the numbers NaN, Infinity and -Infinity), up to its end or until the events need
/// no more.
///   throws  errors::InvalidArgumentError, "JSON Parse error: ... at offset: 17", for what is not JSON, is nested
///   deeper
///           than most_json_levels or has a string beyond most_json_text; what the events throw
TANDEM_API void read_json(std::string_view json, JsonEvents& events);

/// Where in a JSON text an event is: the keys and lists around it.
class JsonPath {
 public:
  /// Stands for "an element of a list" in is().
  static constexpr const char* element = nullptr;
  /// Follows an event, after it has been used: the path is then that of the next value.
  TANDEM_API void on(const JsonEvent& e);
  /// Whether the next value is the one with these keys: {"inputs", element, "name"}.
  TANDEM_API bool is(std::initializer_list<const char*> keys) const;
  std::size_t size() const { return parts_.size(); }
  /// The key at a level, empty for a list.
  const std::string& key(std::size_t level) const { return parts_[level].key; }
  bool is_list(std::size_t level) const { return parts_[level].is_list; }

 private:
  struct Part {
    bool is_list;
    std::string key;
  };
  std::vector<Part> parts_;
};

}  // namespace impl

}  // namespace TANDEM_NS::serving
