// The stage shuffle: a permutation of an indexed data set, or a buffer of which a stream's elements are drawn. Behind
// data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <exception>
#include <numeric>

#include "tandem/data/dataset/order.hpp"
#include "tandem/data/permutation.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::data {

struct ShuffleOptions {
  i64 seed = 0;                          ///< selects the orders
  bool reshuffle_each_iteration = true;  ///< another order in each epoch
};

namespace detail {

[[noreturn]] TANDEM_API void raise_stream_shuffle();

/// A permutation of all elements, each computed by itself.
template <class T>
class ShuffleAll final : public Stage<T> {
 public:
  ShuffleAll(StageRef<T> input, const ShuffleOptions& options)
      : Stage<T>("shuffle", {input}), input_(std::move(input)), options_(options) {
    options_.seed = this->own_seed(options.seed);
  }
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return true; }
  T at(const Key& key, i64 index) const override { return input_->at(key, order(key)(index)); }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override {
    const Permutation permutation = order(key);
    InlinedVector<i64, 256, memory::Blocks> list;
    for (i64 i = 0; i < rows.count; ++i) list.push_back(permutation(rows[i]));
    return input_->gather(key, {0, rows.count, list.data()});
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (this->workers().threads > 0) return open_indexed<T>(*this, run, first);
    class Run_ final : public IndexedCursor<T> {
     public:
      Run_(const ShuffleAll& stage, const Key& key, i64 first)
          : IndexedCursor<T>(stage, key, first), input_(*stage.input_), order_(stage.order(key)) {}
      bool next(T& out) override {
        if (this->next_ == this->end_) return false;
        out = input_.at(this->key_, order_(this->next_++));
        return true;
      }

     private:
      const Stage<T>& input_;
      Permutation order_;
    };
    return std::make_unique<Run_>(*this, run.key, first);
  }

 private:
  Permutation order(const Key& key) const {
    return Permutation(input_->cardinality(), options_.seed, options_.reshuffle_each_iteration ? key.epoch : 0);
  }
  StageRef<T> input_;
  ShuffleOptions options_;
};

/// Random elements of a buffer, whose places the next elements take. An element that raises is in the buffer, too: its
/// error comes when it is drawn.
template <class T>
class ShuffleBuffer final : public Stage<T> {
 public:
  ShuffleBuffer(StageRef<T> input, i64 size, const ShuffleOptions& options)
      : Stage<T>("shuffle", {input}), input_(std::move(input)), size_(size), options_(options) {
    options_.seed = this->own_seed(options.seed);
    if (size == 0) raise_stream_shuffle();
    check_at_least("shuffle", "buffer_size", size, 1);
  }
  i64 cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return std::make_unique<Run_>(*this, run, first);
  }

 private:
  class Run_ final : public Cursor<T> {
   public:
    Run_(const ShuffleBuffer& stage, const Run& run, i64 first) : stage_(stage), run_(run), draw_(stage, run) {
      const i64 n = stage.input_->cardinality();
      if (!begin(first, is_finite(n) ? n : infinite_cardinality)) begin(first, read_);  // the end was found: read_
    }
    bool next(T& out) override {
      while (!ended_ && static_cast<i64>(buffer_.size()) < stage_.size_) ended_ = !fill();
      if (buffer_.empty()) return false;
      Kept<T>& drawn = buffer_[draw_(buffer_.size())];
      Kept<T> element = std::move(drawn);
      drawn = std::move(buffer_.back());
      buffer_.pop_back();
      element.move_to(out);
      return true;
    }

   private:
    // The state after `first` elements of an input with so many in all. Which elements the buffer has then follows from
    // the draws; only those are computed, the others are passed over. False if the input has ended before. The buffer
    // is full in the first `full` draws.
    bool begin(i64 first, i64 all) {
      draw_ = ShuffleDraw(stage_, run_);
      buffer_.clear();
      read_ = 0, ended_ = false;
      const i64 full = all == infinite_cardinality ? first : std::clamp<i64>(all - stage_.size_ + 1, 0, first);
      const std::vector<Moved> moved = moved_by(full);
      draw_.seek(full);
      if (full > 0 && full == first) return fill_full(moved, full);
      std::vector<i64> numbers = numbers_of(moved, full);
      i64 next = full == 0 ? 0 : stage_.size_ + full - 1;
      for (i64 i = full; i < first; ++i) {
        while (static_cast<i64>(numbers.size()) < stage_.size_ && next != all) numbers.push_back(next++);
        if (numbers.empty()) break;
        std::swap(numbers[draw_(numbers.size())], numbers.back());
        numbers.pop_back();
      }
      input_ = stage_.input_->open(run_, 0);
      std::vector<std::size_t> order(numbers.size());  // places in the buffer, by the numbers of their elements
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
      buffer_.resize(numbers.size());
      for (const std::size_t place : order) {
        if (!pass(numbers[place])) return false;
        Kept<T> kept;
        if (!read(kept)) return false;
        buffer_[place] = std::move(kept);
      }
      return pass(next);
    }
    // An element behind the first size - 1 that is in a full buffer, and where.
    struct Moved {
      std::size_t place;
      i64 number;
    };
    // Those after so many draws from a full buffer, by place; at the other places is the element of that number. At
    // draw i number size - 1 + i is the last in the buffer, and goes to the place of the one that is drawn. So the last
    // draw of a place says what is there: they are looked for from behind, until all places are known. Takes memory for
    // the draws or for the places, which may be more than the input ever fills.
    std::vector<Moved> moved_by(i64 draws) const {
      std::vector<Moved> r;
      const i64 last = stage_.size_ - 1;
      if (draws < last) {
        for (i64 i = draws; i-- > 0;)
          if (const std::size_t place = draw_.at(i, stage_.size_); place != static_cast<std::size_t>(last))
            r.push_back({place, last + i});
        const auto before = [](const Moved& a, const Moved& b) { return a.place < b.place; };
        const auto same = [](const Moved& a, const Moved& b) { return a.place == b.place; };
        std::stable_sort(r.begin(), r.end(), before);
        r.erase(std::unique(r.begin(), r.end(), same), r.end());
        return r;
      }
      std::vector<i64> numbers(static_cast<std::size_t>(last), -1);
      for (i64 i = draws, unknown = last; i-- > 0 && unknown > 0;) {
        const std::size_t place = draw_.at(i, stage_.size_);
        if (place == numbers.size() || numbers[place] >= 0) continue;
        numbers[place] = last + i;
        --unknown;
      }
      for (std::size_t place = 0; place < numbers.size(); ++place)
        if (numbers[place] >= 0) r.push_back({place, numbers[place]});
      return r;
    }
    // The numbers of all elements of the buffer, in its order.
    std::vector<i64> numbers_of(const std::vector<Moved>& moved, i64 draws) const {
      if (draws == 0) return {};
      std::vector<i64> numbers(static_cast<std::size_t>(stage_.size_ - 1));
      std::iota(numbers.begin(), numbers.end(), i64{0});
      for (const Moved& m : moved) numbers[m.place] = m.number;
      return numbers;
    }
    // Reads the elements of a buffer that was full in all draws. It grows with what is read: an input whose size is not
    // known may end before. Then false.
    bool fill_full(std::vector<Moved> moved, i64 draws) {
      input_ = stage_.input_->open(run_, 0);
      const std::size_t last = static_cast<std::size_t>(stage_.size_ - 1);
      auto next_moved = moved.begin();
      for (std::size_t place = 0; place < last; ++place) {
        Kept<T>& kept = buffer_.emplace_back();
        if (next_moved != moved.end() && next_moved->place == place) ++next_moved;  // its element comes later
        else if (!pass(static_cast<i64>(place)) || !read(kept)) return false;
      }
      std::sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.number < b.number; });
      for (const Moved& m : moved)
        if (!pass(m.number) || !read(buffer_[m.place])) return false;
      return pass(stage_.size_ - 1 + draws);
    }
    // Goes to element number n; false if the input ends before.
    bool pass(i64 n) {
      read_ += input_->skip(n - read_);
      return read_ == n;
    }
    bool read(Kept<T>& kept) {
      try {
        T element;
        if (!input_->next(element)) return false;
        kept.set(std::move(element), stage_, run_);
      } catch (const MemoryLimitError&) {
        throw;
      } catch (...) {
        kept = Kept<T>(std::current_exception());
      }
      ++read_;
      return true;
    }
    bool fill() {
      Kept<T> kept;
      if (!read(kept)) return false;
      buffer_.push_back(std::move(kept));
      return true;
    }

    // Random places in a buffer.
    class ShuffleDraw {
     public:
      ShuffleDraw(const ShuffleBuffer& stage, const Run& run)
          : numbers_{static_cast<u64>(stage.options_.seed),
                     static_cast<u64>(stage.options_.reshuffle_each_iteration ? run.key.epoch : 0)} {}
      std::size_t operator()(std::size_t n) {
        if (draws_ % 2 == 0) words_ = words(draws_);
        return place(words_, draws_++, n);
      }
      /// Draw number i, of n places.
      std::size_t at(i64 i, i64 n) const {
        return place(words(static_cast<u64>(i)), static_cast<u64>(i), static_cast<std::size_t>(n));
      }
      void seek(i64 draws) {
        draws_ = static_cast<u64>(draws);
        if (draws_ % 2 == 1) words_ = words(draws_);
      }

     private:
      random::Words words(u64 i) const { return numbers_.block(i / 2, 0xd6); }  // a counter of its own
      static std::size_t place(const random::Words& words, u64 i, std::size_t n) {
        const u64 bits = random::join(words.w[i % 2 * 2], words.w[i % 2 * 2 + 1]);
        return static_cast<std::size_t>(static_cast<unsigned __int128>(bits) * n >> 64);
      }
      random::Stream numbers_;
      random::Words words_{};
      u64 draws_ = 0;
    };

    const ShuffleBuffer& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    ShuffleDraw draw_;
    std::vector<Kept<T>> buffer_;
    i64 read_ = 0;  // elements of the input
    bool ended_ = false;
  };

  StageRef<T> input_;
  i64 size_;
  ShuffleOptions options_;
};

template <class T>
StageRef<T> shuffled(StageRef<T> input, i64 buffer_size, const ShuffleOptions& options) {
  const i64 n = input->cardinality();
  if (input->indexed() && is_finite(n) && (buffer_size == 0 || buffer_size >= n))
    return std::make_shared<ShuffleAll<T>>(std::move(input), options);
  return std::make_shared<ShuffleBuffer<T>>(std::move(input), buffer_size, options);
}

}  // namespace detail
}  // namespace TANDEM_NS::data
