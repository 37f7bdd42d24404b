// Stages that put elements together: batch, padded_batch, bucket_by_sequence_length, and unbatch, which takes them
// apart. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <exception>

#include "tandem/data/dataset/buffered.hpp"
#include "tandem/data/dataset/marks.hpp"
#include "tandem/data/dataset/order.hpp"
#include "tandem/data/dataset/sources.hpp"

namespace TANDEM_NS::data {

struct BatchOptions {
  bool drop_remainder = false;  ///< leaves out the last batch if it is smaller
};
struct PaddedBatchOptions {
  /// One shape for each tensor of an element, in order; a negative size is that of the largest element of the batch.
  /// Default: all sizes are.
  std::vector<std::vector<i64>> padded_shapes = {};
  /// One for each tensor of an element, a value of its dtype; 0 for texts. Default: 0, empty texts, false.
  std::vector<double> padding_values = {};
  bool drop_remainder = false;
};
struct BucketOptions {
  std::vector<std::vector<i64>> padded_shapes = {};  ///< as those of padded_batch
  std::vector<double> padding_values = {};
  /// Pads to the largest length of the bucket, which is one below its boundary: the negative sizes of padded_shapes, or
  /// without these axis 0 of the tensors whose size there is the element's length. No element may be in the last
  /// bucket, and there must be a boundary.
  bool pad_to_bucket_boundary = false;
  bool drop_remainder = false;
};

namespace detail {

/// padded_batch's way to put tensors together. Counts the tensors of an element.
struct Padding : Stacking {
  Padding(const char* name, const std::vector<std::vector<i64>>& to, const std::vector<double>& with, i64 unknown_to,
          const std::vector<i64>& lengths_of_elements)
      : Stacking{name, &stack}, shapes(to), values(with), unknown(unknown_to), lengths(lengths_of_elements) {}
  const std::vector<std::vector<i64>>& shapes;
  const std::vector<double>& values;
  i64 unknown;  // in place of negative sizes, or without shapes of axis 0 where its size is the element's length
  const std::vector<i64>& lengths;
  mutable std::size_t tensor = 0;

  TANDEM_API static Tensor stack(const Stacking& self, Span<const Tensor* const> rows);
};
/// Raises if all elements are a remainder.
TANDEM_API void check_batches(const char* op, i64 batch_size, i64 cardinality);
TANDEM_API void check_padding(const char* op, std::size_t tensors, const std::vector<std::vector<i64>>& shapes,
                              const std::vector<double>& values);

template <class T>
Batched<T> padded(const char* op, const Elements<T>& elements, const std::vector<std::vector<i64>>& shapes,
                  const std::vector<double>& values, i64 to = -1, const std::vector<i64>& lengths = {}) {
  std::size_t tensors = 0;
  each_tensor(elements.front(), [&](const Tensor&) { ++tensors; });
  check_padding(op, tensors, shapes, values);
  return stack_elements<T>(Padding(op, shapes, values, to, lengths), static_cast<i64>(elements.size()),
                           [&](i64 i) -> const T& { return elements[static_cast<std::size_t>(i)]; });
}

/// How batch() makes a batch of elements.
template <class T>
struct Stack {
  Batched<T> operator()(const Elements<T>& elements) const { return stacked(elements); }
};

/// Batches of consecutive elements. `make` puts the elements of one together. Where one of them raises, the batch does,
/// and the next one begins where it would have begun otherwise.
template <class T, class B, class Make>
class BatchCursor final : public Cursor<B> {
 public:
  BatchCursor(const StageInfo& stage, std::unique_ptr<Cursor<T>> input, i64 size, bool drop_remainder, Make make)
      : stage_(stage), input_(std::move(input)), size_(size), drop_(drop_remainder), make_(std::move(make)) {}
  bool next(B& out) override {
    Elements<T> elements;
    std::exception_ptr error;
    i64 read = 0;
    if constexpr (std::is_same_v<Make, Stack<T>>)
      if (input_->next_rows(size_, out)) return true;
    for (bool more = true; more && read < size_; read += more) try {
        T element;
        more = input_->next(element);
        if (more && !error) elements.push_back(std::move(element));
      } catch (const MemoryLimitError&) {
        throw;
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    if (read == 0 || (drop_ && read < size_)) return false;
    if (error) std::rethrow_exception(error);
    const Timing timing(stage_.counts());
    out = make_(elements);
    return true;
  }
  i64 skip(i64 n) override {
    const i64 rows = input_->skip(saturating_multiply(n, size_));
    return rows / size_ + (!drop_ && rows % size_ != 0);
  }

 private:
  const StageInfo& stage_;
  std::unique_ptr<Cursor<T>> input_;
  i64 size_;
  bool drop_;
  Make make_;
};

template <class T>
class Batch final : public Stage<Batched<T>> {
 public:
  Batch(StageRef<T> input, i64 size, const BatchOptions& options)
      : Stage<Batched<T>>("batch", {input}), input_(std::move(input)), size_(size), options_(options) {
    check_at_least("batch", "batch_size", size, 1);
    if (options.drop_remainder) check_batches("batch", size, input_->cardinality());
  }
  i64 cardinality() const override {
    const i64 n = input_->cardinality();
    return is_finite(n) ? n / size_ + (!options_.drop_remainder && n % size_ != 0) : n;
  }
  bool indexed() const override { return input_->indexed(); }
  Batched<T> at(const Key& key, i64 index) const override {
    const Timing timing(this->counts());
    const i64 begin = checked_index("batch", index, saturating_multiply(index, size_));
    return input_->gather(key, {begin, std::min(size_, end_of(*input_) - begin), nullptr});
  }
  std::unique_ptr<Cursor<Batched<T>>> open(const Run& run, i64 first) const override {
    const i64 begin = saturating_multiply(first, size_);
    if (indexed() && this->workers().threads == 0 && begin < end_index)
      return std::make_unique<IndexedCursor<Batched<T>>>(*this, run.key, first);
    return std::make_unique<BatchCursor<T, Batched<T>, Stack<T>>>(*this, open_at(*input_, run, begin), size_,
                                                                  options_.drop_remainder, Stack<T>());
  }

 private:
  StageRef<T> input_;
  i64 size_;
  BatchOptions options_;
};

/// Batches that `make` puts together of their elements, one by one.
template <class T, class B, class Make>
class BatchBy final : public Stage<B> {
 public:
  BatchBy(const char* name, StageRef<T> input, i64 size, bool drop_remainder, Make make)
      : Stage<B>(name, {input}), input_(std::move(input)), size_(size), drop_(drop_remainder), make_(std::move(make)) {
    check_at_least(name, "batch_size", size, 1);
    if (drop_) check_batches(name, size, input_->cardinality());
  }
  i64 cardinality() const override {
    const i64 n = input_->cardinality();
    return is_finite(n) ? n / size_ + (!drop_ && n % size_ != 0) : n;
  }
  bool indexed() const override { return input_->indexed(); }
  B at(const Key& key, i64 index) const override {
    const i64 begin = checked_index(this->name(), index, saturating_multiply(index, size_));
    const i64 end = std::min(saturating_add(begin, size_), end_of(*input_));
    Elements<T> elements;
    for (i64 i = begin; i < end; ++i) elements.push_back(input_->at(key, i));
    return make_(elements);
  }
  std::unique_ptr<Cursor<B>> open(const Run& run, i64 first) const override {
    return std::make_unique<BatchCursor<T, B, Make>>(*this, open_at(*input_, run, saturating_multiply(first, size_)),
                                                     size_, drop_, make_);
  }

 private:
  StageRef<T> input_;
  i64 size_;
  bool drop_;
  Make make_;
};

[[noreturn]] TANDEM_API void raise_bucket(i64 length, i64 last_boundary);
TANDEM_API void check_buckets(const std::vector<i64>& boundaries, const std::vector<i64>& batch_sizes,
                              bool pads_to_boundary);

/// Padded batches of elements of similar length.
template <class T, class Length>
class Buckets final : public Stage<Batched<T>> {
 public:
  Buckets(StageRef<T> input, Length length, std::vector<i64> boundaries, std::vector<i64> sizes, BucketOptions options)
      : Stage<Batched<T>>("bucket_by_sequence_length", {input}),
        input_(std::move(input)),
        length_(std::move(length)),
        boundaries_(std::move(boundaries)),
        sizes_(std::move(sizes)),
        options_(std::move(options)) {
    check_buckets(boundaries_, sizes_, options_.pad_to_bucket_boundary);
  }
  i64 cardinality() const override {
    return input_->cardinality() == infinite_cardinality ? infinite_cardinality : unknown_cardinality;
  }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<Batched<T>>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  class Run_ final : public MarkedCursor<Batched<T>, WaitingState, Run_> {
   public:
    Run_(const Buckets& stage, const Run& run, std::shared_ptr<Track<WaitingState>> track)
        : MarkedCursor<Batched<T>, WaitingState, Run_>(std::move(track), 1, 1), stage_(stage), run_(run) {}
    bool read(Batched<T>& out) {
      for (T element; !ended_;) {
        const i64 place = this->read_++;  // also of an element that raises
        if (!input_->next(element)) {
          --this->read_, ended_ = true;
          break;
        }
        const i64 length = stage_.length(element);
        const std::size_t i = stage_.bucket(length);
        add(i, std::move(element), place, length);
        if (std::ssize(buckets_[i].places) == stage_.sizes_[i]) return make(i, out);
      }
      for (std::size_t i = 0; i < buckets_.size(); ++i)
        if (!buckets_[i].places.empty() && !stage_.options_.drop_remainder) return make(i, out);
      return false;
    }
    bool can_note() const {
      std::size_t n = 0;
      for (const auto& bucket : buckets_) n += bucket.places.size();
      return n <= WaitingState::most;
    }
    WaitingState state() const {
      WaitingState r{.read = this->read_};
      for (std::size_t i = 0; i < buckets_.size(); ++i)
        if (!buckets_[i].places.empty()) r.add(static_cast<i64>(i), buckets_[i]);
      return r;
    }
    void move_to(const WaitingState& state) {
      buckets_.assign(stage_.sizes_.size(), {}), lengths_.assign(buckets_.size(), {});
      for (const auto& group : state.groups)
        if (group.first < 0 || group.first >= std::ssize(buckets_)) PlaceWords::fail();  // of another pipeline
      input_ = read_waiting(*stage_.input_, run_, state, [&](std::size_t g, T element, i64 place) {
        const i64 length = stage_.length(element);
        add(static_cast<std::size_t>(state.groups[g].first), std::move(element), place, length);
      });
      this->read_ = state.read, ended_ = false;
    }

   private:
    void add(std::size_t i, T element, i64 place, i64 length) {
      buckets_[i].add(std::move(element), place);
      lengths_[i].push_back(length);
    }
    bool make(std::size_t i, Batched<T>& out) {
      const std::vector<T> elements = std::exchange(buckets_[i], {}).elements;
      const std::vector<i64> lengths = std::exchange(lengths_[i], {});
      const BucketOptions& o = stage_.options_;
      out = padded(stage_.name(), Elements<T>(elements.begin(), elements.end()), o.padded_shapes, o.padding_values,
                   o.pad_to_bucket_boundary ? stage_.boundaries_[i] - 1 : -1, lengths);
      return true;
    }
    const Buckets& stage_;
    const Run run_;
    std::unique_ptr<Cursor<T>> input_;
    std::vector<Waiting<T>> buckets_;
    std::vector<std::vector<i64>> lengths_;  // of their elements
    bool ended_ = false;
  };

  i64 length(const T& element) const { return static_cast<i64>(call(length_, element)); }
  std::size_t bucket(i64 length) const {
    const auto at = std::upper_bound(boundaries_.begin(), boundaries_.end(), length) - boundaries_.begin();
    if (options_.pad_to_bucket_boundary && at == std::ssize(boundaries_)) raise_bucket(length, boundaries_.back());
    return static_cast<std::size_t>(at);
  }

  StageRef<T> input_;
  Length length_;
  std::vector<i64> boundaries_, sizes_;
  BucketOptions options_;
  mutable MarksOf<WaitingState> marks_;
};

/// The rows of each element, which is a tree of tensors.
template <class T>
class Unbatch final : public Stage<T> {
 public:
  explicit Unbatch(StageRef<T> input) : Stage<T>("unbatch", {input}), input_(std::move(input)) {}
  i64 cardinality() const override {
    return input_->cardinality() == infinite_cardinality ? infinite_cardinality : unknown_cardinality;
  }
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  // How many batches were read, and how many rows of the last one; 0: all.
  struct State {
    i64 read = 0, row = 0;
    void add_to(std::string& text) const { add_word(text, read), add_word(text, row); }
    void read_from(PlaceWords& words) { read = words.number(), row = words.number(); }
  };
  class Run_ final : public MarkedCursor<T, State, Run_> {
   public:
    Run_(const Unbatch& stage, const Run& run, std::shared_ptr<Track<State>> track)
        : MarkedCursor<T, State, Run_>(std::move(track), 8, 32), stage_(stage), run_(run) {}
    bool read(T& out) {
      while (row_ == rows_)
        if (!read_batch()) return false;
      out = batch_;
      each_tensor(out, [&](Tensor& t) { t = t[row_]; });
      ++row_;
      return true;
    }
    State state() const { return {this->read_, row_ == rows_ ? 0 : row_}; }
    void move_to(const State& state) {
      row_ = rows_ = 0;
      this->read_ = state.row > 0 ? std::max<i64>(state.read - 1, 0) : state.read;
      input_ = open_at(*stage_.input_, run_, this->read_);
      if (state.row == 0) return;
      if (!read_batch() || state.row > rows_) PlaceWords::fail();  // of another pipeline
      row_ = state.row;
    }

   private:
    bool read_batch() {
      ++this->read_;  // also of a batch that raises
      if (!input_->next(batch_)) {
        --this->read_;
        return false;
      }
      std::vector<Tensor> tensors;
      each_tensor(batch_, [&](const Tensor& t) { tensors.push_back(t); });
      row_ = rows_ = 0;
      rows_ = common_rows("unbatch", tensors);
      return true;
    }

    const Unbatch& stage_;
    const Run run_;
    std::unique_ptr<Cursor<T>> input_;
    T batch_;
    i64 row_ = 0, rows_ = 0;
  };

  StageRef<T> input_;
  mutable MarksOf<State> marks_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
