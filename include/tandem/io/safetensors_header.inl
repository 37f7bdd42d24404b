// The JSON header of a safetensors file, parsed in one pass. No tree is built, so time and memory are proportional
// to its length.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tandem/io/safetensors_format.hpp"
#include "tandem/io/safetensors_header.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io::detail {

using tandem::detail::escaped_text;

[[noreturn]] TANDEM_INLINE void raise_damaged(const std::string& path, const std::string& what) {
  errors::raise<errors::DataLossError>("load", path + " is damaged or not a safetensors file: " + what);
}

// Receives the events of the SAX parser. Depths: 1 names and metadata, 2 the fields of an entry, 3 the elements of a
// list.
class HeaderEvents {
 public:
  using json = nlohmann::json;

  HeaderEvents(std::size_t data_size, const std::string& path) : path_(path), size_(data_size) {}
  std::vector<Entry> entries;
  Metadata metadata;

  bool start_object(std::size_t) { return open(true); }
  bool start_array(std::size_t) { return open(false); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (depth_ == 1) begin_entry(name);
    else if (depth_ == 2) begin_field(name);
    return true;
  }
  bool string(std::string& text) {
    if (depth_ == 2 && in_metadata_) metadata[field_] = std::move(text);
    else if (depth_ == 2 && field_ == "dtype") set_dtype(text);
    else no_value();
    return true;
  }
  bool number_unsigned(u64 x) {
    if (depth_ == 3 && field_ == "shape") add_dim(x);
    else if (depth_ == 3 && field_ == "data_offsets") add_offset(x);
    else no_value();
    return true;
  }
  bool number_integer(i64) { return no_value(); }
  bool number_float(double, const std::string&) { return no_value(); }
  bool boolean(bool) { return no_value(); }
  bool null() { return no_value(); }
  bool binary(json::binary_t&) { return no_value(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }

 private:
  static constexpr u64 max_size = INT64_MAX;

  bool open(bool object) {
    if (++depth_ > 3) raise_damaged(path_, "its header is nested too deeply");
    if (depth_ == 1 && !object) raise_damaged(path_, "its header is not a JSON object");
    if (depth_ == 2 && !object) no_object();
    if (depth_ == 3) {
      if (in_metadata_) bad_metadata();
      if ((is_list_field() && object) || field_ == "dtype") bad(field_ == "data_offsets" ? "range" : field_.c_str());
    }
    return true;
  }
  bool close() {
    if (depth_-- == 2 && !in_metadata_) end_entry();
    return true;
  }
  bool is_list_field() const { return field_ == "shape" || field_ == "data_offsets"; }
  // A value of a type that is invalid at its position; unknown fields may hold anything.
  bool no_value() {
    if (depth_ == 0) raise_damaged(path_, "its header is not a JSON object");
    if (depth_ == 1) no_object();
    if (in_metadata_) bad_metadata();
    if (field_ == "dtype") bad("dtype");
    if (field_ == "shape") bad("shape");
    if (field_ == "data_offsets") bad("range");
    return true;
  }
  [[noreturn]] void no_object() const {
    if (in_metadata_) raise_damaged(path_, "its metadata is not a JSON object");
    bad("description");
  }
  [[noreturn]] void bad_metadata() const {
    raise_damaged(path_, "metadata " + escaped_text(field_) + " is not a string");
  }
  [[noreturn]] void bad(const char* what) const {
    raise_damaged(path_, "entry " + escaped_text(entry_.name) + " has a bad " + what);
  }

  void begin_entry(std::string& name) {
    in_metadata_ = name == metadata_key;
    if (!names_.insert(name).second) raise_damaged(path_, "its header names " + escaped_text(name) + " twice");
    entry_ = {std::move(name), {}, 0, 0};
    offsets_ = 0;
    has_shape_ = has_dtype_ = has_offsets_ = false;
  }
  void begin_field(std::string& name) {
    field_ = std::move(name);
    if (in_metadata_) {
      if (metadata.contains(field_)) raise_damaged(path_, "its metadata names " + escaped_text(field_) + " twice");
      return;
    }
    bool* const seen = field_ == "dtype"          ? &has_dtype_
                       : field_ == "shape"        ? &has_shape_
                       : field_ == "data_offsets" ? &has_offsets_
                                                  : nullptr;
    if (seen && std::exchange(*seen, true)) bad("description: a field occurs twice");
  }
  void set_dtype(const std::string& text) {
    const FormatName* const format = find_format(text);
    if (!format) bad("dtype");
    entry_.spec.dtype = format->dtype;
  }
  void add_dim(u64 x) {
    if (x > max_size || entry_.spec.shape.rank() == max_rank) bad("shape");
    entry_.spec.shape.push_back(static_cast<i64>(x));
  }
  void add_offset(u64 x) {
    if (x > max_size || offsets_ == 2) bad("range");
    (offsets_++ ? entry_.end : entry_.begin) = static_cast<std::size_t>(x);
  }
  void end_entry() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) bad("description");
    if (offsets_ != 2 || entry_.begin > entry_.end || entry_.end > size_) bad("range");
    i64 bytes = static_cast<i64>(size_of(entry_.spec.dtype));
    for (i64 d : entry_.spec.shape)
      if (__builtin_mul_overflow(bytes, d, &bytes)) bad("shape");
    if (static_cast<u64>(bytes) != entry_.end - entry_.begin) bad("size");
    entries.push_back(std::move(entry_));
  }

  const std::string& path_;
  const std::size_t size_;
  std::set<std::string> names_;  // not a hash table: an attacker could choose names that collide
  Entry entry_{};                // the current entry at depth 2, or its name at depth 1
  std::string field_;            // the last key at depth 2
  int depth_ = 0, offsets_ = 0;
  bool in_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

TANDEM_INLINE SafetensorsHeader::SafetensorsHeader(std::string_view text, std::size_t data_size,
                                                   const std::string& path) {
  HeaderEvents events(data_size, path);
  // The parser would take a zero for the end of the text.
  if (text.find('\0') != text.npos || !nlohmann::json::sax_parse(text.begin(), text.end(), &events))
    raise_damaged(path, "its header is not a JSON object");
  entries = std::move(events.entries);
  metadata = std::move(events.metadata);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.begin < b.begin || (a.begin == b.begin && a.end < b.end); });
  std::size_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at) raise_damaged(path, "the data of " + escaped_text(e.name) + " overlaps or leaves a gap");
    at = e.end;
  }
  if (at != data_size)
    raise_damaged(path, "its header describes " + std::to_string(at) + " bytes of data, the file has " +
                            std::to_string(data_size));
}

}  // namespace TANDEM_NS::io::detail
