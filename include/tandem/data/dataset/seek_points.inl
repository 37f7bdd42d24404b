// Definitions of data/dataset/seek_points.hpp.
#pragma once
#include <algorithm>
#include <charconv>

#include "tandem/base/error.hpp"
#include "tandem/data/dataset/seek_points.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE SeekPoints::SeekPoints(std::vector<std::string> paths)
    : paths_(std::move(paths)), versions_(paths_.size()) {}
TANDEM_INLINE u64 SeekPoints::open(std::size_t file) {
  const io::detail::FileVersion now = io::detail::version_of(paths_[file]);
  const std::lock_guard lock(mutex_);
  if (versions_[file] == now) return generation_;
  drop_from(file);
  versions_[file] = now;
  return generation_;
}
TANDEM_INLINE void SeekPoints::drop_from(std::size_t file) {
  std::erase_if(points_, [&](const Point& p) { return p.file >= file; });
  std::fill(versions_.begin() + static_cast<std::ptrdiff_t>(file), versions_.end(), io::detail::FileVersion());
  end_ = -1;
  ++generation_;
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
  const std::size_t files = end_ >= 0 ? paths_.size() : points_.empty() ? 0 : points_.back().file + 1;
  for (std::size_t i = 0; i < files; ++i) put(versions_[i].size), put(versions_[i].time);
  Point last;
  for (const Point& p : points_) {
    const bool same = p.file == last.file;
    put(p.element - last.element), put(p.file - last.file), put(p.position - (same ? last.position : 0));
    last = p;
  }
  return r;
}

namespace impl {
// Numbers of a text, which are not negative but for -1 as a word of its own.
class NumberReader {
 public:
  explicit NumberReader(const std::string& text) : at_(text.data()), end_(at_ + text.size()) {}
  i64 next(i64 least = 0) {
    i64 number = 0;
    const auto [rest, error] = std::from_chars(at_, end_, number);
    if (error != std::errc() || number < least || (rest != end_ && *rest != ' ')) fail();
    at_ = rest == end_ ? rest : rest + 1;
    return number;
  }
  bool ended() const { return at_ == end_; }
  [[noreturn]] static void fail() {
    errors::raise<errors::InvalidArgumentError>("set_seek_points", "the text was not made by seek_points");
  }

 private:
  const char *at_, *end_;
};
inline i64 sum(i64 a, i64 b) {
  i64 r;
  if (__builtin_add_overflow(a, b, &r)) NumberReader::fail();
  return r;
}
}  // namespace impl

TANDEM_INLINE void SeekPoints::read(const std::string& text) {
  impl::NumberReader numbers(text);
  const i64 paths = numbers.next();
  if (paths != static_cast<i64>(paths_.size())) return;  // of other files
  const i64 spacing = numbers.next(1), end = numbers.next(-1), count = numbers.next();
  std::vector<i64> rest;
  while (!numbers.ended()) rest.push_back(numbers.next());
  const auto points = static_cast<std::size_t>(count);
  if (points > rest.size() / 3) impl::NumberReader::fail();
  const std::size_t files = (rest.size() - 3 * points) / 2;
  if (rest.size() != 3 * points + 2 * files || files > paths_.size() || (end >= 0 && files != paths_.size()))
    impl::NumberReader::fail();
  std::vector<io::detail::FileVersion> versions(paths_.size());
  for (std::size_t i = 0; i < files; ++i)
    versions[i] = {static_cast<u64>(rest[2 * i]), static_cast<u64>(rest[2 * i + 1])};
  std::vector<Point> read;
  Point last;
  for (std::size_t i = 2 * files; i < rest.size(); i += 3) {
    const auto file = static_cast<std::size_t>(impl::sum(static_cast<i64>(last.file), rest[i + 1]));
    const i64 position = impl::sum(file == last.file ? last.position : 0, rest[i + 2]);
    if (file >= files || (!read.empty() && rest[i] == 0)) impl::NumberReader::fail();
    last = {impl::sum(last.element, rest[i]), file, position};
    if (last.element % spacing != 0 || (end >= 0 && last.element > end)) impl::NumberReader::fail();
    read.push_back(last);
  }
  const std::lock_guard lock(mutex_);
  spacing_.store(spacing, std::memory_order_relaxed);
  versions_ = std::move(versions), points_ = std::move(read), end_ = end;
  ++generation_;
}

namespace impl {
inline void collect(const StageInfo& stage, std::vector<const StageInfo*>& seen) {
  if (std::find(seen.begin(), seen.end(), &stage) != seen.end()) return;
  for (const StageInfo::Ref& input : stage.inputs()) collect(*input, seen);
  seen.push_back(&stage);
}
inline std::vector<SeekPoints*> sources_of(const StageInfo& last) {
  std::vector<const StageInfo*> stages;
  collect(last, stages);
  std::vector<SeekPoints*> r;
  for (const StageInfo* stage : stages)
    if (SeekPoints* const points = stage->seek_points()) r.push_back(points);
  return r;
}
}  // namespace impl

TANDEM_INLINE std::string seek_points(const StageInfo& last) {
  std::string r;
  for (const SeekPoints* points : impl::sources_of(last)) r += (r.empty() ? "" : "\n") + points->text();
  return r;
}
TANDEM_INLINE void set_seek_points(const StageInfo& last, const std::string& text) {
  std::size_t begin = 0;
  for (SeekPoints* points : impl::sources_of(last)) {
    if (begin >= text.size()) return;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    points->read(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace TANDEM_NS::data::detail
