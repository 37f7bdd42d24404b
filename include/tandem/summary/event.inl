// Definitions of summary/event.hpp.
#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>

#include "tandem/io/wire.hpp"
#include "tandem/summary/event.hpp"
#include "tandem/summary/tensor_view.hpp"

namespace TANDEM_NS::summary {

namespace impl {

using io::detail::WireReader;
using io::detail::WireType;

// SummaryMetadata {plugin_data 1 {plugin_name 1, content 2}, summary_description 3}.
TANDEM_INLINE bool parse_metadata(std::string_view bytes, detail::TagInfo& to) {
  WireReader r(bytes);
  while (r.next()) {
    if (r.is(3, WireType::bytes)) to.description = r.bytes();
    if (!r.is(1, WireType::bytes)) continue;
    WireReader data(r.bytes());
    while (data.next()) {
      if (data.is(1, WireType::bytes)) to.plugin = data.bytes();
      if (data.is(2, WireType::bytes)) to.content = data.bytes();
    }
    if (!data.ok()) return false;
  }
  return r.ok();
}

// HistogramProto {min 1, max 2, bucket_limit 6, bucket 7}: a bucket begins where the one before it ends. The first one
// of PyTorch and TensorFlow 1 is empty and may end below min; without values min is above max.
TANDEM_INLINE bool parse_histo(std::string_view bytes, Histogram& to) {
  double range[2] = {0, 0};
  std::vector<double> lists[2];
  WireReader r(bytes);
  while (r.next()) {
    if ((r.field() == 1 || r.field() == 2) && r.type() == WireType::fixed64)
      range[r.field() - 1] = std::bit_cast<double>(r.number());
    if (r.field() != 6 && r.field() != 7) continue;
    if (!detail::append_doubles(r, lists[r.field() - 6])) return false;
  }
  if (!r.ok() || lists[0].size() != lists[1].size()) return false;
  const std::vector<double>& limits = lists[0];
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const double left = i ? limits[i - 1] : std::min(range[0], limits[0]);
    to.buckets.push_back({left, i + 1 < limits.size() ? limits[i] : std::max(range[1], left), lists[1][i]});
  }
  return true;
}
// Image {height 1, width 2, encoded_image_string 4} of TensorFlow 1.
TANDEM_INLINE bool parse_image(std::string_view bytes, Images& to) {
  WireReader r(bytes);
  to.encoded.emplace_back();
  while (r.next()) {
    if (r.is(1, WireType::varint)) to.height = static_cast<i64>(r.number());
    if (r.is(2, WireType::varint)) to.width = static_cast<i64>(r.number());
    if (r.is(4, WireType::bytes)) to.encoded[0] = r.bytes();
  }
  return r.ok();
}
// Audio {encoded_audio_string 4} of TensorFlow 1.
TANDEM_INLINE bool parse_audio(std::string_view bytes, Audio& to) {
  WireReader r(bytes);
  to.encoded.emplace_back();
  while (r.next())
    if (r.is(4, WireType::bytes)) to.encoded[0] = r.bytes();
  return r.ok();
}

TANDEM_INLINE bool is_whole_number(const std::string& s, i64& to) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), to);
  return error == std::errc() && end == s.data() + s.size() && to >= 0;
}
// The content of a value that is a tensor, by the plugin that shows it; false if the tensor is not what that writes.
TANDEM_INLINE bool interpret(const std::string& plugin, detail::TensorView& t, Value& to) {
  std::vector<double> x;
  if (plugin == "scalars" && detail::numbers_of(t, 1, x) && x.size() == 1) {
    to.content = x[0];
  } else if (plugin == "histograms" && t.shape.size() == 2 && t.shape[1] == 3 && detail::numbers_of(t, 3 << 20, x)) {
    Histogram& h = to.content.emplace<Histogram>();
    for (std::size_t i = 0; i < x.size(); i += 3) h.buckets.push_back({x[i], x[i + 1], x[i + 2]});
  } else if (plugin == "images" && t.texts.size() >= 2) {
    Images images;
    if (!is_whole_number(t.texts[0], images.width) || !is_whole_number(t.texts[1], images.height)) return false;
    images.encoded.assign(std::make_move_iterator(t.texts.begin() + 2), std::make_move_iterator(t.texts.end()));
    to.content = std::move(images);
  } else if (plugin == "text" && t.size() == static_cast<i64>(t.texts.size())) {
    to.content = Texts{t.shape, std::move(t.texts)};
  } else if (plugin == "audio" && t.size() == static_cast<i64>(t.texts.size())) {
    const std::size_t stride = t.shape.size() == 2 ? static_cast<std::size_t>(t.shape[1]) : 1;
    Audio& audio = to.content.emplace<Audio>();
    for (std::size_t i = 0; i < t.texts.size(); i += stride) audio.encoded.push_back(std::move(t.texts[i]));
  } else {
    return false;
  }
  return true;
}

// The field of a Value that holds what was written.
struct ContentField {
  std::uint32_t number = 0;
  u64 bits = 0;  // of simple_value
  std::string_view bytes;
};
TANDEM_INLINE bool parse_content(const ContentField& f, Value& to) {
  switch (f.number) {
    case 2: to.content = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(f.bits))); return true;
    case 4: return parse_image(f.bytes, to.content.emplace<Images>());
    case 5: return parse_histo(f.bytes, to.content.emplace<Histogram>());
    case 6: return parse_audio(f.bytes, to.content.emplace<Audio>());
    default: break;
  }
  detail::TensorView tensor;
  if (!detail::parse_tensor(f.bytes, tensor)) return false;
  if (!interpret(to.plugin, tensor, to)) to.content = OtherValue{std::string(f.bytes)};
  return true;
}
// The plugin that shows a value of TensorFlow 1, by the number of its field.
TANDEM_INLINE const char* plugin_of(std::uint32_t field) {
  switch (field) {
    case 2: return "scalars";
    case 4: return "images";
    case 5: return "histograms";
    case 6: return "audio";
    default: return "";
  }
}
// Value {tag 1, simple_value 2, image 4, histo 5, audio 6, tensor 8, metadata 9}.
TANDEM_INLINE bool parse_value(std::string_view bytes, detail::TagInfos& tags, Value& to) {
  detail::TagInfo info;
  ContentField content;
  WireReader r(bytes);
  while (r.next()) {
    if (r.is(1, WireType::bytes)) to.tag = r.bytes();
    if (r.is(9, WireType::bytes) && !parse_metadata(r.bytes(), info)) return false;
    if (r.is(2, WireType::fixed32)) content = {2, r.number(), {}};
    const bool is_message = r.field() == 4 || r.field() == 5 || r.field() == 6 || r.field() == 8;
    if (is_message && r.type() == WireType::bytes) content = {r.field(), 0, r.bytes()};
  }
  if (!r.ok()) return false;
  if (info.plugin.empty()) info.plugin = plugin_of(content.number);
  const detail::TagInfo& known = tags.try_emplace(to.tag, std::move(info)).first->second;
  to.plugin = known.plugin, to.plugin_content = known.content, to.description = known.description;
  return parse_content(content, to);
}
TANDEM_INLINE bool parse_summary(std::string_view bytes, detail::TagInfos& tags, Event& to) {
  WireReader r(bytes);
  while (r.next())
    if (r.is(1, WireType::bytes) && !parse_value(r.bytes(), tags, to.values.emplace_back())) return false;
  return r.ok();
}
// SessionLog {status 1}: 1 is START.
TANDEM_INLINE bool parse_session_log(std::string_view bytes, Event& to) {
  WireReader r(bytes);
  while (r.next())
    if (r.is(1, WireType::varint)) to.is_restart = r.number() == 1;
  return r.ok();
}

}  // namespace impl

// Event {wall_time 1, step 2, file_version 3, graph_def 4, summary 5, session_log 7}.
TANDEM_INLINE bool detail::parse_event(std::string_view bytes, TagInfos& tags, Event& event) {
  event = {};
  impl::WireReader r(bytes);
  while (r.next()) {
    if (r.is(1, impl::WireType::fixed64)) event.wall_time = std::bit_cast<double>(r.number());
    if (r.is(2, impl::WireType::varint)) event.step = static_cast<i64>(r.number());
    if (r.type() != impl::WireType::bytes) continue;
    if (r.field() == 3) event.file_version = r.bytes();
    if (r.field() == 4) event.graph = r.bytes();
    if (r.field() == 5 && !impl::parse_summary(r.bytes(), tags, event)) return false;
    if (r.field() == 7 && !impl::parse_session_log(r.bytes(), event)) return false;
  }
  return r.ok();
}

}  // namespace TANDEM_NS::summary
