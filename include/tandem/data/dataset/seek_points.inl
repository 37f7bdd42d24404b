// Definitions of data/dataset/marks.hpp and seek_points.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <limits>

#include "tandem/base/error.hpp"
#include "tandem/data/dataset/seek_points.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE SeekPoints::SeekPoints(std::vector<std::string> paths)
    : paths_(std::move(paths)), versions_(paths_.size()) {}
TANDEM_INLINE u64 SeekPoints::open(std::size_t file) {
  const io::detail::FileVersion now = io::detail::version_of(paths_[file]);
  const std::lock_guard lock(mutex_);
  if (versions_[file] == now) return generation_;
  if (versions_[file] != io::detail::FileVersion()) drop_from(file);
  versions_[file] = now;
  return generation_;
}
TANDEM_INLINE void SeekPoints::drop_from(std::size_t file) {
  std::erase_if(points_, [&](const Point& p) { return p.file >= file; });
  std::fill(versions_.begin() + static_cast<std::ptrdiff_t>(file), versions_.end(), io::detail::FileVersion());
  end_ = -1;
  ++generation_;
}
TANDEM_INLINE u64 SeekPoints::generation(bool look) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; look && i < versions_.size(); ++i)
    if (versions_[i] != io::detail::FileVersion() && io::detail::version_of(paths_[i]) != versions_[i]) drop_from(i);
  return generation_;
}
TANDEM_INLINE void SeekPoints::add(const Point& point, u64 generation) {
  constexpr std::size_t most = 2048;
  const std::lock_guard lock(mutex_);
  const i64 spacing = spacing_.load(std::memory_order_relaxed);
  if (generation != generation_ || point.element % spacing != 0) return;
  if (!points_.empty() && point.element <= points_.back().element) return;
  points_.push_back(point);
  if (points_.size() <= most) return;
  std::erase_if(points_, [&](const Point& p) { return p.element % (2 * spacing) != 0; });
  spacing_.store(2 * spacing, std::memory_order_relaxed);
}
TANDEM_INLINE void SeekPoints::set_end(i64 elements, u64 generation) {
  const std::lock_guard lock(mutex_);
  if (generation == generation_) end_ = elements;
}
TANDEM_INLINE std::optional<SeekPoints::Point> SeekPoints::before(i64 element) {
  const std::lock_guard lock(mutex_);
  std::size_t checked = 0;  // files that have not changed
  for (;;) {
    const auto behind =
        std::upper_bound(points_.begin(), points_.end(), element, [](i64 n, const Point& p) { return n < p.element; });
    std::optional<Point> found;
    if (end_ >= 0 && end_ <= element) found = {end_, paths_.size(), 0};
    else if (behind != points_.begin()) found = behind[-1];
    if (!found) return found;
    const std::size_t needed = std::min(found->file + 1, paths_.size());
    while (checked < needed && io::detail::version_of(paths_[checked]) == versions_[checked]) ++checked;
    if (checked == needed) return found;
    drop_from(checked);
  }
}

TANDEM_INLINE std::string SeekPoints::text() const {
  const std::lock_guard lock(mutex_);
  std::string r;
  const auto put = [&](auto number) { r += (r.empty() ? "" : " ") + std::to_string(number); };
  put(paths_.size()), put(spacing()), put(end_), put(points_.size());
  const auto unread = std::find(versions_.begin(), versions_.end(), io::detail::FileVersion());
  const std::size_t needed = end_ >= 0 ? paths_.size() : points_.empty() ? 0 : points_.back().file + 1;
  const std::size_t files = std::max(needed, static_cast<std::size_t>(unread - versions_.begin()));
  for (std::size_t i = 0; i < files; ++i) put(versions_[i].size), put(static_cast<i64>(versions_[i].time));
  Point last;
  for (const Point& p : points_) {
    const bool same = p.file == last.file;
    put(p.element - last.element), put(p.file - last.file), put(p.position - (same ? last.position : 0));
    last = p;
  }
  return r;
}

namespace impl {
inline i64 sum(i64 a, i64 b) {
  i64 r;
  if (__builtin_add_overflow(a, b, &r)) PlaceWords::fail();
  return r;
}
}  // namespace impl

TANDEM_INLINE bool SeekPoints::read(std::string_view text) {
  PlaceWords numbers(text);
  const i64 paths = numbers.number();
  if (paths != static_cast<i64>(paths_.size())) return false;  // of other files
  const i64 spacing = numbers.number(1), end = numbers.number(-1), count = numbers.number();
  using Limits = std::numeric_limits<i64>;
  std::vector<i64> rest;
  while (!numbers.ended()) rest.push_back(numbers.number(Limits::min(), Limits::max()));
  const auto points = static_cast<std::size_t>(count);
  if (points > rest.size() / 3) PlaceWords::fail();
  const std::size_t files = (rest.size() - 3 * points) / 2;
  if (rest.size() != 3 * points + 2 * files || files > paths_.size() || (end >= 0 && files != paths_.size()))
    PlaceWords::fail();
  std::vector<io::detail::FileVersion> versions(paths_.size());
  for (std::size_t i = 0; i < rest.size(); ++i)  // times may lie before 1970
    if (rest[i] < 0 && (i >= 2 * files || i % 2 == 0)) PlaceWords::fail();
  for (std::size_t i = 0; i < files; ++i)
    versions[i] = {static_cast<u64>(rest[2 * i]), static_cast<u64>(rest[2 * i + 1])};
  std::vector<Point> read;
  Point last;
  for (std::size_t i = 2 * files; i < rest.size(); i += 3) {
    const auto file = static_cast<std::size_t>(impl::sum(static_cast<i64>(last.file), rest[i + 1]));
    const i64 position = impl::sum(file == last.file ? last.position : 0, rest[i + 2]);
    if (file >= files || (!read.empty() && rest[i] == 0)) PlaceWords::fail();
    last = {impl::sum(last.element, rest[i]), file, position};
    if (last.element % spacing != 0 || (end >= 0 && last.element > end)) PlaceWords::fail();
    read.push_back(last);
  }
  const std::lock_guard lock(mutex_);
  spacing_.store(spacing, std::memory_order_relaxed);
  versions_ = std::move(versions), points_ = std::move(read), end_ = end;
  ++generation_;
  return true;
}

namespace impl {
inline void collect(const StageInfo& stage, std::vector<const StageInfo*>& seen) {
  if (std::find(seen.begin(), seen.end(), &stage) != seen.end()) return;
  for (const StageInfo::Ref& input : stage.inputs()) collect(*input, seen);
  seen.push_back(&stage);
}
inline std::vector<const StageInfo*> stages_of(const StageInfo& last) {
  std::vector<const StageInfo*> r;
  collect(last, r);
  return r;
}
}  // namespace impl

TANDEM_INLINE u64 generation_of_files(const StageInfo& stage, bool look) {
  u64 r = 0;
  for (const StageInfo* input : impl::stages_of(stage))
    if (SeekPoints* const points = input->seek_points()) r += points->generation(look);
  return r;
}
// From the last stage to the first: while other threads run through them, marks are of files that points know.
TANDEM_INLINE std::string seek_points(const StageInfo& last) {
  std::string r;
  const auto add = [&r](std::string line) { r = std::move(line) + (r.empty() ? "" : "\n") + r; };
  const std::vector<const StageInfo*> stages = impl::stages_of(last);
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    if (const Marks* const marks = (*stage)->marks()) add(marks->text(generation_of_files(**stage, false)));
    if (const SeekPoints* const points = (*stage)->seek_points()) add(points->text());
  }
  return r;
}
TANDEM_INLINE void set_seek_points(const StageInfo& last, const std::string& text) {
  std::size_t begin = 0;
  bool same_files = true;
  for (const StageInfo* stage : impl::stages_of(last)) {
    SeekPoints* const points = stage->seek_points();
    Marks* const marks = stage->marks();
    if ((!points && !marks) || begin >= text.size()) continue;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (points) same_files = points->read(line) && same_files;
    else if (same_files) marks->read(line, generation_of_files(*stage, false));
    begin = end + 1;
  }
}

TANDEM_INLINE Marks::~Marks() = default;

TANDEM_INLINE std::string_view PlaceWords::word() {
  const std::size_t end = std::min(left_.find(' '), left_.size());
  const std::string_view r = left_.substr(0, end);
  if (r.empty()) fail();
  left_.remove_prefix(std::min(end + 1, left_.size()));
  return r;
}
TANDEM_INLINE i64 PlaceWords::number(i64 least, i64 most) {
  const std::string_view text = word();
  i64 r = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), r);
  if (error != std::errc() || rest != text.data() + text.size() || r < least || r > most) fail();
  return r;
}
TANDEM_INLINE std::string PlaceWords::bytes() {
  const std::string_view text = word();
  std::string r;
  if (text.size() % 2 != 1) fail();  // the first letter is not a digit: there may be no bytes
  for (std::size_t i = 1; i < text.size(); i += 2) {
    unsigned byte = 0;
    const auto [rest, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || rest != text.data() + i + 2) fail();
    r += static_cast<char>(byte);
  }
  return r;
}
TANDEM_INLINE void PlaceWords::fail() {
  errors::raise<errors::InvalidArgumentError>("set_seek_points", "the text was not made by seek_points");
}
TANDEM_INLINE void add_word(std::string& text, i64 number) {
  text += (text.empty() ? "" : " ") + std::to_string(number);
}
TANDEM_INLINE void add_bytes(std::string& text, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  text += " x";
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
}

}  // namespace TANDEM_NS::data::detail
