// The stages flat_map and interleave: the elements of the data sets that a function makes. Behind data/dataset.hpp.
// Part of the component tandem::data.
#pragma once
#include "tandem/data/dataset/marks.hpp"
#include "tandem/data/dataset/order.hpp"

namespace TANDEM_NS::data {

struct InterleaveOptions {
  i64 cycle_length = 16;  ///< data sets that are read in turns
  i64 block_length = 1;   ///< consecutive elements of each
};

namespace detail {

/// Where a run of Interleave is: how many data sets it has begun, whose turn it is, and how far it is in each of them.
struct InterleaveState {
  struct Turn {
    i64 place = -1, number = 0, passed = 0;  // of the element of the input, of the data set, of elements; -1: none
  };
  i64 read = 0, begun = 0, at = 0, block = 0;
  std::vector<Turn> turns = {};

  void add_to(std::string& text) const {
    for (const i64 n : {read, begun, at, block, static_cast<i64>(turns.size())}) add_word(text, n);
    for (const Turn& t : turns) add_word(text, t.place), add_word(text, t.number), add_word(text, t.passed);
  }
  void read_from(PlaceWords& words) {
    for (i64* n : {&read, &begun, &at, &block}) *n = words.number();
    for (i64 left = words.number(); left > 0; --left) {
      const i64 place = words.number(-1), number = words.number();
      turns.push_back({place, number, words.number()});
    }
  }
};

/// The elements of the data sets that a function makes of the input's, `block` of each of `cycle` ones in turns.
/// f(element) returns the stage of a data set.
template <class T, class U, class F>
class Interleave final : public Stage<U> {
 public:
  Interleave(const char* name, StageRef<T> input, F f, const InterleaveOptions& options)
      : Stage<U>(name, {input}), input_(std::move(input)), f_(std::move(f)), options_(options) {
    check_at_least(name, "cycle_length", options.cycle_length, 1);
    check_at_least(name, "block_length", options.block_length, 1);
  }
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<U>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  using State = InterleaveState;
  // Elements between marks: a mark is as large as a cycle.
  i64 spacing() const {
    return i64{32} << std::min(static_cast<int>(std::bit_width(static_cast<u64>(options_.cycle_length))), 40);
  }

  class Run_ final : public MarkedCursor<U, State, Run_> {
   public:
    Run_(const Interleave& stage, const Run& run, std::shared_ptr<Track<State>> track)
        : MarkedCursor<U, State, Run_>(std::move(track), stage.spacing(),
                                       8 + 2 * std::min<i64>(stage.options_.cycle_length, 1024)),
          stage_(stage),
          run_(run) {}

    bool read(U& out) {
      for (std::size_t empty = 0; !ended_ || empty < cycle_.size();) {
        if (at_ == cycle_.size() && !ended_) cycle_.emplace_back();
        else if (at_ == cycle_.size()) at_ = 0;
        Turn& turn = cycle_[at_];
        if (!turn.cursor && !begin(turn)) {
          advance(), ++empty;
          continue;
        }
        empty = 0;
        if (block_ < stage_.options_.block_length && read_of(turn, out)) {
          if (++block_ == stage_.options_.block_length) advance();
          return true;
        }
        turn = {};
        advance();
      }
      return false;
    }
    bool can_note() const { return cycle_.size() <= 1024; }
    State state() const {
      State r{this->read_, begun_, static_cast<i64>(at_), block_};
      for (const Turn& turn : cycle_) r.turns.push_back(turn.cursor ? turn.place : State::Turn());
      return r;
    }
    void move_to(const State& state) {
      if (state.at >= stage_.options_.cycle_length || std::ssize(state.turns) > stage_.options_.cycle_length ||
          state.at > std::ssize(state.turns))
        PlaceWords::fail();  // of another pipeline
      cycle_.clear();
      cycle_.resize(state.turns.size());
      for (std::size_t i = 0; i < cycle_.size(); ++i) {
        if (state.turns[i].place < 0) continue;
        T element;
        const auto input = open_at(*stage_.input_, run_, state.turns[i].place);
        if (!input->next(element)) PlaceWords::fail();
        open(cycle_[i], state.turns[i], std::move(element));
      }
      input_ = open_at(*stage_.input_, run_, state.read);
      this->read_ = state.read, begun_ = state.begun, block_ = state.block, ended_ = false;
      at_ = static_cast<std::size_t>(state.at);
    }

   private:
    struct Turn {
      State::Turn place = {};
      StageRef<U> stage;  // destroyed after the cursor
      std::unique_ptr<Cursor<U>> cursor;
      Turn() = default;
      Turn(Turn&&) noexcept = default;
      Turn& operator=(Turn&& o) noexcept {
        cursor = std::move(o.cursor);
        stage = std::move(o.stage);
        place = o.place;
        return *this;
      }
    };

    static bool read_of(Turn& turn, U& out) {
      ++turn.place.passed;  // also of an element that raises
      if (turn.cursor->next(out)) return true;
      --turn.place.passed;
      return false;
    }
    bool begin(Turn& turn) {
      T element;
      if (ended_) return false;
      const i64 place = this->read_++;  // also of an element that raises
      if (!input_->next(element)) {
        --this->read_, ended_ = true;
        return false;
      }
      open(turn, {place, begun_++, 0}, std::move(element));
      return true;
    }
    void open(Turn& turn, const State::Turn& place, T element) {
      turn.stage = stage_.f_(std::move(element));
      turn.cursor = open_at(*turn.stage, run_.inner(place.number), place.passed);
      turn.place = place;
    }
    void advance() {
      if (static_cast<i64>(++at_) == stage_.options_.cycle_length) at_ = 0;
      block_ = 0;
    }

    const Interleave& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    std::vector<Turn> cycle_;  // grows to cycle_length as data sets are begun
    std::size_t at_ = 0;
    i64 block_ = 0, begun_ = 0;
    bool ended_ = false;
  };

  StageRef<T> input_;
  F f_;
  InterleaveOptions options_;
  mutable MarksOf<State> marks_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
