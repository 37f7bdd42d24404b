// Event: a record of an event file, decoded. Part of the component tandem::summary. Not here: files (reader.hpp).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::summary {

struct HistogramBucket {
  double left, right, count;
  bool operator==(const HistogramBucket&) const = default;
};
struct Histogram {
  std::vector<HistogramBucket> buckets;
};
/// The images of a step, as they are in the file: PNG, unless another program has written it.
struct Images {
  i64 width = 0, height = 0;
  std::vector<std::string> encoded;
};
struct Texts {
  std::vector<i64> shape;  ///< {}: one text
  std::vector<std::string> texts;
};
/// The clips of a step, as they are in the file: WAV, unless another program has written it.
struct Audio {
  std::vector<std::string> encoded;
};
/// A value of another kind: the bytes of its TensorProto, or of what stands in its place.
struct OtherValue {
  std::string bytes;
};

/// What was written for a tag.
struct Value {
  std::string tag;
  std::string plugin;          ///< that shows the tag: "scalars", "histograms", "images", "text", "audio", ...
  std::string plugin_content;  ///< what the plugin is told about the tag: bytes of a message of its own
  std::string description;
  /// Of scalars a number.
  std::variant<double, Histogram, Images, Texts, Audio, OtherValue> content;
};

struct Event {
  double wall_time = 0;  ///< seconds since 1970
  i64 step = 0;
  std::string file_version;  ///< of the first event of a file: "brain.Event:2"
  std::string graph;         ///< bytes of a GraphDef
  bool is_restart = false;   ///< what earlier files have from this step on does not count
  std::vector<Value> values;
};

namespace detail {
/// What is known of a tag since its first value.
struct TagInfo {
  std::string plugin, content, description;
};
using TagInfos = std::map<std::string, TagInfo, std::less<>>;
/// Decodes an event; false if it is damaged.
TANDEM_API bool parse_event(std::string_view bytes, TagInfos& tags, Event& event);
}  // namespace detail

}  // namespace TANDEM_NS::summary
