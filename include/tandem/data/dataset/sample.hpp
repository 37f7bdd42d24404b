// Stages that draw: sample_from_datasets, choose_from_datasets, rejection_resample. Behind data/dataset.hpp. Part of
// the component tandem::data.
#pragma once
#include "tandem/data/dataset/marks.hpp"
#include "tandem/data/dataset/order.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::data {

struct SampleOptions {
  i64 seed = 0;                            ///< selects the draws
  bool stop_on_empty_dataset = false;      ///< ends with the first data set that ends; otherwise it is left out then
  bool rerandomize_each_iteration = true;  ///< other draws in each epoch
};

namespace detail {

/// Which of the blocks of random numbers a stage has: no two have the same, so that equal seeds draw apart. Shuffles
/// have 0xd5 (permutation.inl) and 0xd6 (shuffle.hpp).
enum class DrawBlocks : std::uint32_t { sample = 0xd7, resample = 0xd8 };

/// Uniform numbers in [0, 1), of a stage's seed and an epoch.
class TANDEM_API Draw {
 public:
  Draw(DrawBlocks blocks, i64 seed, i64 epoch)
      : numbers_{static_cast<u64>(seed), static_cast<u64>(epoch)}, blocks_(blocks) {}
  double operator()();
  /// How many were drawn; goes on behind so many.
  i64 count() const { return static_cast<i64>(next_); }
  void move_to(i64 count) { next_ = static_cast<u64>(count); }

 private:
  random::Stream numbers_;
  DrawBlocks blocks_;
  u64 next_ = 0;
};
/// The index of the weight in whose part of the sum a uniform number lies.
TANDEM_API std::size_t chosen(const std::vector<double>& weights, double uniform);
TANDEM_API void check_datasets(const char* op, std::size_t datasets);
TANDEM_API void check_weights(const char* op, std::size_t datasets, const std::vector<double>& weights);
[[noreturn]] TANDEM_API void raise_choice(i64 choice, std::size_t datasets);

template <class T>
class Sample final : public Stage<T> {
 public:
  Sample(std::vector<StageRef<T>> inputs, std::vector<double> weights, const SampleOptions& options)
      : Stage<T>("sample_from_datasets", {inputs.begin(), inputs.end()}),
        inputs_(std::move(inputs)),
        weights_(std::move(weights)),
        options_(options) {
    options_.seed = this->own_seed(options.seed);
    if (weights_.empty()) weights_.assign(inputs_.size(), 1.0);
    check_weights(this->name(), inputs_.size(), weights_);
    Sample::cardinality();  // raises
  }
  i64 cardinality() const override {
    bool any_ends = false, all_end = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (weights_[i] == 0) continue;  // is never drawn from
      const i64 n = inputs_[i]->cardinality();
      if (n == unknown_cardinality) return n;
      (is_finite(n) ? any_ends : all_end) = is_finite(n);
    }
    if (options_.stop_on_empty_dataset) return any_ends ? unknown_cardinality : infinite_cardinality;
    if (!all_end) return infinite_cardinality;
    i64 sum = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (weights_[i] != 0) sum = added_count(this->name(), sum, inputs_[i]->cardinality());
    return sum;
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return skipped<T>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  class Run_ final : public Cursor<T> {
   public:
    Run_(const Sample& stage, const Run& run)
        : stage_(stage),
          weights_(stage.weights_),
          draw_(DrawBlocks::sample, stage.options_.seed,
                stage.options_.rerandomize_each_iteration ? run.key.epoch : 0) {
      for (const auto& input : stage.inputs_) inputs_.push_back(input->open(run.input(inputs_.size()), 0));
    }
    bool next(T& out) override {
      return visit([&](Cursor<T>& input) { return input.next(out); });
    }
    i64 skip(i64 n) override {  // no element is computed
      for (i64 i = 0; i < n; ++i)
        if (!visit([](Cursor<T>& input) { return input.skip(1) == 1; })) return i;
      return n;
    }

   private:
    template <class F>
    bool visit(const F& f) {
      while (!ended_) {
        const std::size_t i = chosen(weights_, draw_());
        if (i == weights_.size()) break;
        if (f(*inputs_[i])) return true;
        weights_[i] = 0;
        ended_ = stage_.options_.stop_on_empty_dataset;
      }
      return false;
    }
    const Sample& stage_;
    std::vector<double> weights_;
    std::vector<std::unique_ptr<Cursor<T>>> inputs_;
    Draw draw_;
    bool ended_ = false;
  };

  std::vector<StageRef<T>> inputs_;
  std::vector<double> weights_;
  SampleOptions options_;
};

/// The next element of the data set whose number `choice` gives, which is the last of the stage's inputs.
template <class T>
class Choose final : public Stage<T> {
 public:
  Choose(std::vector<StageRef<T>> inputs, StageRef<i64> choice, bool stop_on_empty)
      : Stage<T>("choose_from_datasets", inputs_of(inputs, choice)),
        inputs_(std::move(inputs)),
        choice_(std::move(choice)),
        stop_(stop_on_empty) {
    check_datasets(this->name(), inputs_.size());
  }
  i64 cardinality() const override { return unknown_cardinality; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return skipped<T>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  class Run_ final : public Cursor<T> {
   public:
    Run_(const Choose& stage, const Run& run)
        : stage_(stage), choice_(stage.choice_->open(run.input(stage.inputs_.size()), 0)) {
      for (const auto& input : stage.inputs_) inputs_.push_back(input->open(run.input(inputs_.size()), 0));
      left_ = inputs_.size();
    }
    bool next(T& out) override {
      return visit([&](Cursor<T>& input) { return input.next(out); });
    }
    i64 skip(i64 n) override {  // no element is computed, but for the choices
      for (i64 i = 0; i < n; ++i) try {
          if (!visit([](Cursor<T>& input) { return input.skip(1) == 1; })) return i;
        } catch (...) {  // a choice that raises is passed over like others
        }
      return n;
    }

   private:
    template <class F>
    bool visit(const F& f) {
      for (i64 i = 0; left_ > 0 && choice_->next(i);) {
        if (i < 0 || i >= std::ssize(inputs_)) raise_choice(i, inputs_.size());
        auto& input = inputs_[static_cast<std::size_t>(i)];
        if (!input) continue;
        if (f(*input)) return true;
        input.reset();
        left_ = stage_.stop_ ? 0 : left_ - 1;
      }
      return false;
    }
    const Choose& stage_;
    std::unique_ptr<Cursor<i64>> choice_;
    std::vector<std::unique_ptr<Cursor<T>>> inputs_;  // null: has ended
    std::size_t left_ = 0;                            // that have not
  };
  static std::vector<StageInfo::Ref> inputs_of(const std::vector<StageRef<T>>& inputs, const StageRef<i64>& choice) {
    std::vector<StageInfo::Ref> r(inputs.begin(), inputs.end());
    r.push_back(choice);
    return r;
  }

  std::vector<StageRef<T>> inputs_;
  StageRef<i64> choice_;
  bool stop_;
};

/// The probabilities with which elements of each class are kept, so that those that are have the target distribution
/// and as many as can be are kept: target / initial, divided by the largest.
TANDEM_API std::vector<double> acceptance(const std::vector<double>& target, const std::vector<double>& initial);
[[noreturn]] TANDEM_API void raise_class(i64 number, std::size_t classes);

/// Elements and their classes, in another distribution of classes.
template <class T, class F>
class Resample final : public Stage<std::pair<i64, T>> {
 public:
  Resample(StageRef<T> input, F class_of, const std::vector<double>& target, const std::vector<double>& initial,
           i64 seed)
      : Stage<std::pair<i64, T>>("rejection_resample", {input}),
        input_(std::move(input)),
        class_of_(std::move(class_of)),
        accept_(acceptance(target, initial)),
        seed_(this->own_seed(seed)) {}
  i64 cardinality() const override {
    return input_->cardinality() == infinite_cardinality ? infinite_cardinality : unknown_cardinality;
  }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<std::pair<i64, T>>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  // How many elements were read, and how many numbers drawn: none for elements that raise.
  struct State {
    i64 read = 0, drawn = 0;
    void add_to(std::string& text) const { add_word(text, read), add_word(text, drawn); }
    void read_from(PlaceWords& words) { read = words.number(), drawn = words.number(); }
  };
  class Run_ final : public MarkedCursor<std::pair<i64, T>, State, Run_> {
   public:
    Run_(const Resample& stage, const Run& run, std::shared_ptr<Track<State>> track)
        : MarkedCursor<std::pair<i64, T>, State, Run_>(std::move(track), 8, 32),
          stage_(stage),
          run_(run),
          draw_(DrawBlocks::resample, stage.seed_, run.key.epoch) {}
    bool read(std::pair<i64, T>& out) {
      for (;;) {
        ++this->read_;  // also of an element that raises
        if (!input_->next(out.second)) {
          --this->read_;
          return false;
        }
        out.first = static_cast<i64>(call(stage_.class_of_, std::as_const(out.second)));
        if (out.first < 0 || out.first >= std::ssize(stage_.accept_)) raise_class(out.first, stage_.accept_.size());
        if (draw_() < stage_.accept_[static_cast<std::size_t>(out.first)]) return true;
      }
    }
    State state() const { return {this->read_, draw_.count()}; }
    void move_to(const State& state) {
      input_ = open_at(*stage_.input_, run_, state.read);
      this->read_ = state.read;
      draw_.move_to(state.drawn);
    }

   private:
    const Resample& stage_;
    const Run run_;
    std::unique_ptr<Cursor<T>> input_;
    Draw draw_;
  };

  StageRef<T> input_;
  F class_of_;
  std::vector<double> accept_;
  i64 seed_;
  mutable MarksOf<State> marks_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
