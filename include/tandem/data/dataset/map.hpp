// The stages map, on the consumer's thread or on threads of its own, and prefetch. Behind data/dataset.hpp. Part of the
// component tandem::data.
#pragma once
#include "tandem/data/dataset/indexed.hpp"
#include "tandem/ops/random/element_keys.hpp"

namespace TANDEM_NS::data {

/// As many threads, or elements ahead, as the pipeline turns out to need.
inline constexpr i64 autotune = -1;

struct MapOptions {
  i64 num_parallel_calls = 0;  ///< threads that call the function; 0: the consumer's; autotune: at most one a core
  bool deterministic = true;   ///< results in the order of the elements; otherwise as they come
  i64 seed = 0;                ///< selects the random numbers that the function draws
};

namespace detail {

/// The number of threads that an option asks for.
///   throws  errors::InvalidArgumentError for other negative numbers, and for more than 1024
TANDEM_API int threads_of(const char* op, i64 option);
/// Checks a number of elements ahead, or autotune.
///   throws  errors::InvalidArgumentError for other ones below 1, and for more than 2^20
TANDEM_API void check_ahead(const char* op, i64 size);
/// The most elements that autotune is ahead by.
inline constexpr i64 most_tuned_ahead = 64;

/// Adds to an error of the library which element it is of, and of which stage.
inline void name_element(errors::OpError& e, const StageInfo& stage, const Key& key, i64 index) {
  e.set_context("element " + std::to_string(index) +
                (key.nested ? std::string() : " of epoch " + std::to_string(key.epoch)) + ", in " + stage.name());
}

/// Calls a function with an element: its draws of random numbers are those of the element, its errors name it.
template <class T, class F>
class ElementCall {
 public:
  ElementCall(const StageInfo& stage, const F& f, i64 seed) : stage_(stage), f_(f), seed_(seed) {}
  template <class In>
  T operator()(In&& element, const Key& key, i64 index) const {
    const Timing timing(stage_.counts());
    const u64 place = mix(key.place, static_cast<u64>(stage_.depth()));
    const random::detail::ElementKeys keys(mix(static_cast<u64>(seed_), place),
                                           mix(static_cast<u64>(key.epoch), static_cast<u64>(index)));
    try {
      return call(f_, std::forward<In>(element));
    } catch (errors::OpError& e) {
      name_element(e, stage_, key, index);
      throw;
    }
  }

 private:
  const StageInfo& stage_;
  const F& f_;
  i64 seed_;
};

template <class In, class T>
class Map final : public Stage<T> {
 public:
  using F = ElementFunction<T, In&&>;
  Map(StageRef<In> input, F f, const MapOptions& options)
      : Stage<T>("map", {input}),
        input_(std::move(input)),
        f_(std::move(f)),
        seed_(options.seed),
        threads_(threads_of("map", options.num_parallel_calls)) {
    if (threads_ > 0) this->set_workers({threads_, options.deterministic, options.num_parallel_calls == autotune});
  }
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key& key, i64 index) const override { return apply()(input_->at(key, index), key, index); }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (threads_ > 0 && indexed()) return std::make_unique<IndexedAhead<T>>(*this, run, first);
    if (threads_ > 0) return std::make_unique<Parallel>(*this, run, first);
    return std::make_unique<Serial>(*this, run, first);
  }

 private:
  using Call = ElementCall<T, const F>;
  Call apply() const { return Call(*this, f_, seed_); }

  class Serial final : public Cursor<T> {
   public:
    Serial(const Map& stage, const Run& run, i64 first)
        : apply_(stage.apply()), input_(stage.input_->open(run, first)), key_(run.key), index_(first) {}
    bool next(T& out) override {
      In element;
      const i64 index = index_++;  // also of an element that raises
      if (!input_->next(element)) return false;
      out = apply_(std::move(element), key_, index);
      return true;
    }
    i64 skip(i64 n) override {
      n = input_->skip(n);
      index_ += n;
      return n;
    }

   private:
    Call apply_;
    std::unique_ptr<Cursor<In>> input_;
    Key key_;
    i64 index_;
  };

  // Of a stream: elements are read in order, by one thread at a time, and computed by several.
  class Parallel final : public AheadCursor<T> {
   public:
    Parallel(const Map& stage, const Run& run, i64 first)
        : AheadCursor<T>(stage, run, stage.workers()),
          apply_(stage.apply()),
          input_(stage.input_->open(run, first)),
          next_(first),
          inputs_(static_cast<std::size_t>(this->slots())) {}
    ~Parallel() override { this->finish(); }

   private:
    struct Input {
      In element{};
      i64 index = 0;
    };
    bool read(i64 slot) override {
      Input& input = inputs_[static_cast<std::size_t>(slot)];
      input.index = next_++;  // also of an element that raises
      return input_->next(input.element);
    }
    void compute(i64 slot) override {
      Input& input = inputs_[static_cast<std::size_t>(slot)];
      this->keep(slot, apply_(std::exchange(input.element, In{}), this->run_.key, input.index));
    }

    Call apply_;
    std::unique_ptr<Cursor<In>> input_;
    i64 next_;
    std::vector<Input> inputs_;  // of the slots
  };

  StageRef<In> input_;
  F f_;
  i64 seed_;
  int threads_;
};

template <class T>
class Prefetch final : public Stage<T> {
 public:
  Prefetch(StageRef<T> input, i64 size) : Stage<T>("prefetch", {input}), input_(std::move(input)), size_(size) {
    check_ahead("prefetch", size);
  }
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key& key, i64 index) const override { return input_->at(key, index); }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override { return input_->gather(key, rows); }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return std::make_unique<Thread>(*this, run, first);
  }

 private:
  class Thread final : public AheadCursor<T> {
   public:
    Thread(const Prefetch& stage, const Run& run, i64 first)
        : AheadCursor<T>(stage, run, {.threads = 1, .adapt = stage.size_ == autotune},
                         {(stage.size_ == autotune ? most_tuned_ahead : stage.size_) + 1}),  // one is being consumed
          input_(stage.input_->open(run, first)) {
      this->hand_over_singly();  // the input may wait for the consumer
    }
    ~Thread() override { this->finish(); }

   private:
    bool read(i64 slot) override {
      T element;
      if (!input_->next(element)) return false;
      this->keep(slot, std::move(element));
      return true;
    }
    void compute(i64) override {}

    std::unique_ptr<Cursor<T>> input_;
  };

  StageRef<T> input_;
  i64 size_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
