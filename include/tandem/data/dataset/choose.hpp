// Stages that look at elements, so that they are streams: filter, take_while, scan, ignore_errors. Their runs note
// marks (marks.hpp), at which other runs begin. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include "tandem/base/warning.hpp"
#include "tandem/data/dataset/element_bytes.hpp"
#include "tandem/data/dataset/marks.hpp"
#include "tandem/data/dataset/order.hpp"

namespace TANDEM_NS::data::detail {

/// The answer of a predicate: a bool, or a tensor that holds one.
template <class R>
bool truth(const R& r) {
  if constexpr (is_tensor<R>) return r.template item<bool>();
  else return static_cast<bool>(r);
}

/// A predicate of elements, by its answer.
template <class T, class F>
ElementFunction<bool, const T&> predicate(F f) {
  return ElementFunction<bool, const T&>([f = std::move(f)](const T& x) { return truth(call(f, x)); });
}

/// A run through a stage whose state is the place in its input.
template <class T, class Self>
class ReadingCursor : public MarkedCursor<T, ReadState, Self> {
 public:
  ReadState state() const { return {this->read_}; }
  void move_to(const ReadState& state) {
    input_ = open_at(source_, run_, state.read);
    this->read_ = state.read;
  }

 protected:
  ReadingCursor(const Stage<T>& input, const Run& run, std::shared_ptr<Track<ReadState>> track)
      : MarkedCursor<T, ReadState, Self>(std::move(track), 8, 32), source_(input), run_(run) {}
  bool read_input(T& out) {
    ++this->read_;  // also of an element that raises
    if (input_->next(out)) return true;
    --this->read_;
    return false;
  }

 private:
  const Stage<T>& source_;
  const Run run_;
  std::unique_ptr<Cursor<T>> input_;
};

/// The elements for which a function is true: all of them, or up to the first for which it is not.
template <class T>
class Filter final : public Stage<T> {
 public:
  using F = ElementFunction<bool, const T&>;
  Filter(const char* name, StageRef<T> input, F f, bool ends)
      : Stage<T>(name, {input}), input_(std::move(input)), f_(std::move(f)), ends_(ends) {}
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    class Run_ final : public ReadingCursor<T, Run_> {
     public:
      Run_(const Filter& stage, const Run& run, std::shared_ptr<Track<ReadState>> track)
          : ReadingCursor<T, Run_>(*stage.input_, run, std::move(track)), stage_(stage) {}
      bool read(T& out) {
        while (!ended_ && this->read_input(out)) {
          const Timing timing(stage_.counts());
          if (stage_.f_(out)) return true;
          ended_ = stage_.ends_;
        }
        return false;
      }

     private:
      const Filter& stage_;
      bool ended_ = false;
    };
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  StageRef<T> input_;
  F f_;
  bool ends_;
  mutable MarksOf<ReadState> marks_;
};

/// The state of a scan. There are marks of those that have bytes.
template <class S>
struct ScanState {
  i64 read = 0;
  std::optional<S> state = {};  // none: the initial one

  void add_to(std::string& text) const {
    add_word(text, read);
    std::string bytes;
    if constexpr (Batchable<S>) append_element("seek_points", *state, bytes);
    add_bytes(text, bytes);
  }
  void read_from(PlaceWords& words) {
    read = words.number();
    const std::string bytes = words.bytes();
    ElementBytes from("set_seek_points", bytes);
    try {
      if constexpr (Batchable<S>) read_element(from, state.emplace());
      from.check_end();
    } catch (const errors::DataLossError&) {
      PlaceWords::fail();
    }
  }
};

/// f(state, element) returns the next state and what the stage gives.
template <class T, class S, class R, class F>
class Scan final : public Stage<R> {
 public:
  Scan(StageRef<T> input, S initial, F f)
      : Stage<R>("scan", {input}), input_(std::move(input)), initial_(std::move(initial)), f_(std::move(f)) {}
  i64 cardinality() const override { return input_->cardinality(); }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<R>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  using State = ScanState<S>;
  static constexpr i64 most_bytes = 4096;  // of a state in a mark

  class Run_ final : public MarkedCursor<R, State, Run_> {
   public:
    Run_(const Scan& stage, const Run& run, std::shared_ptr<Track<State>> track)
        : MarkedCursor<R, State, Run_>(std::move(track), 8, 32), stage_(stage), run_(run), state_(stage.initial_) {}
    bool read(R& out) {
      T element;
      ++this->read_;  // also of an element that raises
      if (!input_->next(element)) {
        --this->read_;
        return false;
      }
      const Timing timing(stage_.counts());
      std::tie(state_, out) = stage_.f_(std::as_const(state_), std::move(element));
      return true;
    }
    bool can_note() const {
      if constexpr (Batchable<S>) {
        bool is_here = true;
        each_tensor(state_,
                    [&](const Tensor& t) { is_here = is_here && t.has_data() && t.device().kind == Device::cpu; });
        return is_here && bytes_of(state_) <= most_bytes;
      } else {
        return false;
      }
    }
    State state() const { return {this->read_, state_}; }
    void move_to(const State& state) {
      input_ = open_at(*stage_.input_, run_, state.read);
      this->read_ = state.read;
      state_ = state.state ? *state.state : stage_.initial_;
    }

   private:
    const Scan& stage_;
    const Run run_;
    std::unique_ptr<Cursor<T>> input_;
    S state_;
  };

  StageRef<T> input_;
  S initial_;
  F f_;
  mutable MarksOf<State> marks_;
};

/// The elements that can be computed. What cannot be is counted, and told to the warning handler the first times.
template <class T>
class IgnoreErrors final : public Stage<T> {
 public:
  IgnoreErrors(StageRef<T> input, i64 most)
      : Stage<T>("ignore_errors", {input}), input_(std::move(input)), most_(most) {
    check_at_least("ignore_errors", "max_consecutive", most, 1);
  }
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    class Run_ final : public ReadingCursor<T, Run_> {
     public:
      Run_(const IgnoreErrors& stage, const Run& run, std::shared_ptr<Track<ReadState>> track)
          : ReadingCursor<T, Run_>(*stage.input_, run, std::move(track)), stage_(stage) {}
      bool read(T& out) {
        for (i64 consecutive = 1;; ++consecutive) {
          try {
            return this->read_input(out);
          } catch (const MemoryLimitError&) {
            throw;  // of the pipeline, not of an element
          } catch (const std::exception& e) {
            if (consecutive == stage_.most_) throw;
            constexpr i64 reported = 10;
            const i64 count = ++stage_.counts().ignored;
            if (count <= reported)
              tandem::detail::warn(("ignore_errors: " + std::string(e.what()) +
                                    (count == reported ? "; further errors are counted only" : ""))
                                       .c_str());
          }
        }
      }

     private:
      const IgnoreErrors& stage_;
    };
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  StageRef<T> input_;
  i64 most_;
  mutable MarksOf<ReadState> marks_;
};

}  // namespace TANDEM_NS::data::detail
