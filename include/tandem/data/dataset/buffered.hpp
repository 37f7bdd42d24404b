// What a stage keeps of its input in groups, and marks of it: the numbers of the elements that wait. Behind the stages
// group_by_window and bucket_by_sequence_length. Part of the component tandem::data.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/data/dataset/marks.hpp"

namespace TANDEM_NS::data::detail {

/// Elements of an input that wait for others of their group, and where they are in it.
template <class T>
struct Waiting {
  std::vector<T> elements = {};
  std::vector<i64> places = {};

  void add(T element, i64 place) {
    elements.push_back(std::move(element));
    places.push_back(place);
  }
};

/// A mark: how many elements of the input were read, and which of them wait, by group. Of group_by_window also the
/// group whose elements are being given, which is the last one, and how many were.
struct WaitingState {
  static constexpr std::size_t kept_marks = 4;  // of each level: they are long
  static constexpr std::size_t most = 4096;     // elements; where more wait there are no marks
  i64 read = 0, windows = 0, passed = 0;
  bool is_giving = false;
  std::vector<std::pair<i64, std::vector<i64>>> groups = {};

  template <class T>
  void add(i64 key, const Waiting<T>& group) {
    groups.emplace_back(key, group.places);
  }
  void add_to(std::string& text) const {
    for (const i64 n : {read, windows, passed, i64{is_giving}, static_cast<i64>(groups.size())}) add_word(text, n);
    for (const auto& [key, places] : groups) {
      add_word(text, key), add_word(text, std::ssize(places));
      i64 before = 0;
      for (const i64 place : places) add_word(text, place - std::exchange(before, place));
    }
  }
  void read_from(PlaceWords& words) {
    using Limits = std::numeric_limits<i64>;
    read = words.number(), windows = words.number(), passed = words.number(), is_giving = words.number(0, 1) == 1;
    i64 left = static_cast<i64>(most);
    for (i64 n = words.number(is_giving, left); n > 0; --n) {
      const i64 key = words.number(Limits::min(), Limits::max()), count = words.number(1, left);
      left -= count;
      std::vector<i64> places;
      for (i64 i = 0; i < count; ++i) {
        const i64 before = i > 0 ? places.back() : 0;
        places.push_back(before + words.number(i > 0, read - 1 - before));
      }
      groups.emplace_back(key, std::move(places));
    }
  }
};

/// Reads the elements that wait, each once and in order, and passes over those between them: put(number of the group,
/// element, place). Returns the input behind all that was read.
template <class T, class Put>
std::unique_ptr<Cursor<T>> read_waiting(const Stage<T>& input, const Run& run, const WaitingState& state,
                                        const Put& put) {
  std::vector<std::pair<i64, std::size_t>> places;
  for (std::size_t g = 0; g < state.groups.size(); ++g)
    for (const i64 place : state.groups[g].second) places.emplace_back(place, g);
  std::sort(places.begin(), places.end());
  i64 at = places.empty() ? state.read : places.front().first;
  auto cursor = open_at(input, run, at);
  for (const auto& [place, group] : places) {
    T element;
    if (place < at || cursor->skip(place - at) < place - at || !cursor->next(element)) PlaceWords::fail();
    put(group, std::move(element), place);
    at = place + 1;
  }
  cursor->skip(state.read - at);
  return cursor;
}

}  // namespace TANDEM_NS::data::detail
