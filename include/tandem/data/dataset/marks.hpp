// Marks: where runs of stages that decide themselves what comes (filter, scan, flat_map, unbatch) were in their inputs
// at some of their elements, so that another run begins there. Behind data/dataset.hpp. Part of the component
// tandem::data. Not here: where records lie in files (seek_points.hpp).
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// The words of a text that seek_points() has made.
///   throws  errors::InvalidArgumentError for other texts
class TANDEM_API PlaceWords {
 public:
  explicit PlaceWords(std::string_view text) : left_(text) {}
  bool ended() const { return left_.empty(); }
  std::string_view word();
  i64 number(i64 least = 0, i64 most = i64{1} << 62);
  /// The bytes that a word has as hexadecimal digits.
  std::string bytes();
  [[noreturn]] static void fail();

 private:
  std::string_view left_;
};
TANDEM_API void add_word(std::string& text, i64 number);
TANDEM_API void add_bytes(std::string& text, std::string_view bytes);

/// A number that changes when a file has changed that a stage's runs have read, also those of its inputs. With `look`
/// the files are looked at; otherwise it is what runs so far have met.
TANDEM_API u64 generation_of_files(const StageInfo& stage, bool look);

/// The marks of a stage, without their type.
class TANDEM_API Marks {
 public:
  virtual ~Marks();
  /// Those of the epoch that was begun last, as a text, and back. `files` is generation_of_files.
  virtual std::string text(u64 files) const = 0;
  virtual void read(std::string_view text, u64 files) = 0;
};

/// The marks of the runs of one key. The newest are dense; the older, the fewer there are: of those n elements back,
/// one in n / 16, or as many as State::kept_marks says in place of 32. Threads may use it at the same time.
template <class State>
class Track {
 public:
  struct Mark {
    i64 element = 0;  // of how many elements this is the state behind; 0: none
    State state{};
  };
  void note(i64 element, const State& state) {
    const auto levels = static_cast<std::size_t>(std::countr_zero(static_cast<u64>(element))) + 1;
    const std::lock_guard lock(mutex_);
    const std::size_t needed = kept * static_cast<std::size_t>(std::bit_width(static_cast<u64>(element)));
    if (marks_.size() < needed) marks_.resize(needed);
    for (std::size_t level = 0; level < levels; ++level)
      marks_[level * kept + (static_cast<u64>(element) >> level) % kept] = {element, state};
  }
  /// The last one at or before an element, but behind another.
  std::optional<Mark> before(i64 element, i64 behind) const {
    const std::lock_guard lock(mutex_);
    const Mark* best = nullptr;
    for (const Mark& m : marks_)
      if (m.element > behind && m.element <= element) best = &m, behind = m.element;
    return best ? std::optional(*best) : std::nullopt;
  }
  /// In ascending order.
  std::vector<Mark> all() const {
    std::vector<Mark> r;
    {
      const std::lock_guard lock(mutex_);
      r = marks_;
    }
    const auto element = [](const Mark& m) { return m.element; };
    std::sort(r.begin(), r.end(), [&](const Mark& a, const Mark& b) { return element(a) < element(b); });
    r.erase(std::unique(r.begin(), r.end(), [&](const Mark& a, const Mark& b) { return element(a) == element(b); }),
            r.end());
    if (!r.empty() && r.front().element == 0) r.erase(r.begin());
    return r;
  }

 private:
  // Of each level: level k has those at multiples of 2^k.
  static constexpr std::size_t kept = [] {
    if constexpr (requires { State::kept_marks; }) return State::kept_marks;
    else return std::size_t{32};
  }();
  mutable std::mutex mutex_;
  std::vector<Mark> marks_;
};

/// A State has add_to(text), read_from(words), and a default: the beginning.
template <class State>
class MarksOf final : public Marks {
 public:
  using TrackRef = std::shared_ptr<Track<State>>;

  /// The track of a key. Those of the last four keys are kept; files that have changed begin another one.
  TrackRef of(const Key& key, u64 files) {
    const std::lock_guard lock(mutex_);
    Kept kept{key, files, nullptr};
    for (auto i = tracks_.begin(); i != tracks_.end(); ++i) {
      if (i->key != key) continue;
      kept.track = i->files == files ? std::move(i->track) : nullptr;
      tracks_.erase(i);
      break;
    }
    if (!kept.track) kept.track = std::make_shared<Track<State>>();
    tracks_.push_back(kept);
    if (tracks_.size() > most) tracks_.erase(tracks_.begin());
    return kept.track;
  }
  std::string text(u64 files) const override {
    const std::lock_guard lock(mutex_);
    std::string r;
    add_word(r, 0);  // so that there is a text
    for (const Kept& kept : tracks_) {
      if (kept.key.nested || kept.key.epoch != tracks_.back().key.epoch || kept.files != files) continue;
      const auto marks = kept.track->all();
      add_word(r, kept.key.epoch), add_word(r, std::bit_cast<i64>(kept.key.place)), add_word(r, std::ssize(marks));
      for (const auto& mark : marks) {
        add_word(r, mark.element);
        mark.state.add_to(r);
      }
    }
    return r;
  }
  void read(std::string_view text, u64 files) override {
    PlaceWords words(text);
    std::vector<Kept> tracks;
    if (words.number() != 0) PlaceWords::fail();
    while (!words.ended()) {
      if (tracks.size() == most) PlaceWords::fail();
      using Limits = std::numeric_limits<i64>;
      Kept kept{{}, files, std::make_shared<Track<State>>()};
      kept.key.epoch = words.number(Limits::min(), Limits::max());
      kept.key.place = std::bit_cast<u64>(words.number(Limits::min(), Limits::max()));
      for (i64 left = words.number(); left > 0; --left) {
        const i64 element = words.number(1);
        State state;
        state.read_from(words);
        kept.track->note(element, state);
      }
      tracks.push_back(std::move(kept));
    }
    const std::lock_guard lock(mutex_);
    tracks_ = std::move(tracks);
  }

 private:
  static constexpr std::size_t most = 4;
  struct Kept {
    Key key;
    u64 files;
    TrackRef track;
  };
  mutable std::mutex mutex_;
  std::vector<Kept> tracks_;  // that of the run that began last is at the end
};

/// A run that notes marks and begins at them. Self, the derived class, counts in `read_` how many elements of its input
/// it has asked for, and has
///   bool read(T& out)                as next()
///   State state() const
///   void move_to(const State&)       goes to a state, which sets `read_`
///   bool can_note() const            whether there are marks of this state
template <class T, class State, class Self>
class MarkedCursor : public Cursor<T> {
 public:
  bool next(T& out) final {
    try {
      if (!self().read(out)) return false;
    } catch (...) {
      passed();
      throw;
    }
    passed();
    return true;
  }
  i64 skip(i64 n) final {
    const i64 from = number_, to = saturating_add(from, n);
    if (const auto mark = track_->before(to, from)) go_to(mark->element, mark->state);
    T unused;
    while (number_ < to) try {
        if (!next(unused)) break;
      } catch (...) {  // an element that raises is passed over like others
      }
    return number_ - from;
  }
  /// Goes to an element, as the first call.
  void begin_at(i64 first) {
    const auto mark = track_->before(first, 0);
    if (mark) go_to(mark->element, mark->state);
    else go_to(0, State());
    if (first > number_) skip(first - number_);
  }
  bool can_note() const { return true; }

 protected:
  /// Between marks lie `spacing` elements, a power of 2, or `far` of the input where these are fewer.
  MarkedCursor(std::shared_ptr<Track<State>> track, i64 spacing, i64 far)
      : track_(std::move(track)), spacing_(spacing), far_(far) {}

  i64 read_ = 0;

 private:
  Self& self() { return static_cast<Self&>(*this); }
  void passed() {
    if ((++number_ & (spacing_ - 1)) == 0 || read_ - noted_ >= far_) note();
  }
  [[gnu::noinline]] void note() {
    noted_ = read_;
    if (self().can_note()) track_->note(number_, self().state());
  }
  void go_to(i64 element, const State& state) {
    self().move_to(state);
    number_ = element, noted_ = read_;
  }

  std::shared_ptr<Track<State>> track_;
  const i64 spacing_, far_;
  i64 number_ = 0, noted_ = 0;  // elements so far; read_ at the last mark
};

/// Begins a run of a stage at element `first`: make(track) makes its cursor.
template <class State, class Make>
auto begun(const StageInfo& stage, MarksOf<State>& marks, const Run& run, i64 first, const Make& make) {
  auto cursor = make(marks.of(run.key, generation_of_files(stage, true)));
  cursor->begin_at(first);
  return cursor;
}

/// The state of a stage that has to know only how many elements of its input were read.
struct ReadState {
  i64 read = 0;
  void add_to(std::string& text) const { add_word(text, read); }
  void read_from(PlaceWords& words) { read = words.number(); }
};

}  // namespace TANDEM_NS::data::detail
