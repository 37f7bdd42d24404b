// The stage map_batched: a function of one element, applied to many elements at once. Behind data/dataset.hpp. Part of
// the component tandem::data.
#pragma once
#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tandem/data/dataset/map.hpp"
#include "tandem/data/dataset/order.hpp"
#include "tandem/graph/control/vectorized_map.hpp"
#include "tandem/graph/trace/function.hpp"

namespace TANDEM_NS::data {

struct MapBatchedOptions {
  i64 batch_size = 256;        ///< elements that are computed at once, and so many are read before the first is there
  i64 num_parallel_calls = 0;  ///< threads that compute such batches; 0: the consumer's; autotune: at most one a core
  bool deterministic = true;   ///< results in the order of the elements; otherwise batches as they come
  /// A warning where the function is traced for the sixth time: for elements of many shapes.
  bool warn_on_retracing = true;
};

namespace detail {

/// Whether two elements have tensors of equal dtypes and shapes, so that they can be stacked.
template <class T>
bool are_alike(const T& a, const T& b) {
  if constexpr (is_number<T> || is_text<T>) {
    return true;
  } else if constexpr (is_tensor<T>) {
    return a.spec() == b.spec();
  } else {
    InlinedVector<const Tensor*, 8, memory::Blocks> first;
    each_tensor(a, [&](const Tensor& t) { first.push_back(&t); });
    unsigned n = 0;
    bool alike = true;
    each_tensor(b, [&](const Tensor& t) { alike = alike && n < first.size() && first[n]->spec() == t.spec(), ++n; });
    return alike && n == first.size();
  }
}

/// In: what the elements are; R: what the function, which gets Batched<In> with the tensors of one element, returns.
template <class In, class R>
class MapBatched final : public Stage<R> {
 public:
  using F = ElementFunction<R, const Batched<In>&>;
  MapBatched(StageRef<In> input, F f, const MapBatchedOptions& options)
      : Stage<R>("map_batched", {input}),
        input_(std::move(input)),
        traced_(AllRows{std::move(f)},
                {.name = "map_batched", .max_traces = 256, .warn_on_retracing = options.warn_on_retracing}),
        size_(options.batch_size),
        threads_(threads_of("map_batched", options.num_parallel_calls)) {
    check_at_least("map_batched", "batch_size", size_, 1);
    if (threads_ > 0) this->set_workers({threads_, options.deterministic, options.num_parallel_calls == autotune});
  }
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return input_->indexed(); }
  R at(const Key& key, i64 index) const override { return compute_one(input_->at(key, index), key, index); }
  R gather(const Key& key, const Rows& rows) const override {
    try {
      return compute(input_->gather(key, rows));
    } catch (...) {  // one by one: the elements may differ in shape, or one of them raises with its number
      return Stage<R>::gather(key, rows);
    }
  }
  std::unique_ptr<Cursor<R>> open(const Run& run, i64 first) const override {
    return std::make_unique<Run_>(*this, run, first);
  }

 private:
  struct AllRows {
    F f;
    R operator()(const Batched<In>& rows) const {
      const auto row = [this](const Batched<In>& x) { return f(x); };
      return control::vectorized({"map_batched", "map"}, row, rows, no_options);
    }
  };
  // Consecutive elements. Elements are computed at once as parts, each of elements of one shape; those of a part that
  // has raised are computed one by one.
  struct Part {
    i64 end = 0;
    bool computed = false;
    R rows{};
  };
  struct Chunk {
    i64 first = 0, count = 0;
    bool by_number = false;                    // of an indexed input: `inputs` is empty
    Elements<In> inputs{};                     // until they are computed
    std::vector<std::exception_ptr> errors{};  // of the input, none or one for each
    std::vector<Part> parts{};

    bool is_computed() const {
      return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.computed; });
    }
    void each_part(const auto& f) const {  // for bytes_of(): inputs are there for the time of a computation
      for (const Part& part : parts) f(part.rows);
    }
  };

  R compute(const Batched<In>& rows) const {
    const Timing timing(this->counts());
    return traced_(rows);
  }
  R compute_one(In element, const Key& key, i64 index) const {
    const auto one = [this](const In& x) {
      R r = traced_(stacked(Elements<In>{x}));
      each_tensor(r, [](Tensor& t) { t = t[0]; });
      return r;
    };
    return ElementCall<R, const decltype(one)>(*this, one, 0)(std::move(element), key, index);
  }

  // Reads up to `count` elements; false if there are none.
  static bool read(Cursor<In>& input, i64 count, Chunk& chunk) {
    for (bool more = true; more && chunk.count < count; chunk.count += more) try {
        In element{};
        more = input.next(element);
        if (more) chunk.inputs.push_back(std::move(element));
      } catch (const MemoryLimitError&) {
        throw;
      } catch (...) {
        chunk.errors.resize(static_cast<std::size_t>(count));
        chunk.errors[static_cast<std::size_t>(chunk.count)] = std::current_exception();
        chunk.inputs.emplace_back();
      }
    return chunk.count > 0;
  }
  void add_part(Chunk& chunk, i64 end, const auto& batch) const {
    Part part{end};
    try {
      part.rows = compute(batch());
      part.computed = true;
    } catch (...) {  // compute_one() raises it again, for the elements whose error it is
    }
    chunk.parts.push_back(std::move(part));
  }
  void compute_chunk(Chunk& chunk, const Key& key) const {
    if (chunk.by_number)
      return add_part(chunk, chunk.count, [&] { return input_->gather(key, {chunk.first, chunk.count, nullptr}); });
    const auto has_error = [&](i64 i) { return !chunk.errors.empty() && chunk.errors[static_cast<std::size_t>(i)]; };
    const auto input = [&](i64 i) -> const In& { return chunk.inputs[static_cast<std::size_t>(i)]; };
    for (i64 begin = 0, end; begin < chunk.count; begin = end) {
      end = begin + 1;
      if (has_error(begin)) {
        chunk.parts.push_back(Part{end});
        continue;
      }
      while (end < chunk.count && !has_error(end) && are_alike(input(begin), input(end))) ++end;
      // Of many lengths, few traces: those of powers of 2 elements.
      if (end - begin < chunk.count)
        while (((end - begin) & (end - begin - 1)) != 0) end -= (end - begin) & (begin - end);
      add_part(chunk, end, [&] {
        return stack_elements<In>(plain_batch, end - begin, [&](i64 i) -> const In& { return input(begin + i); });
      });
    }
    if (chunk.is_computed()) chunk.inputs.clear();
  }
  // Whether chunks of an indexed input are gathered. Where the input has threads and this stage has none, they make the
  // elements.
  bool gathers() const { return input_->indexed() && (threads_ > 0 || input_->workers().threads == 0); }

  // Chunks on the consumer's thread, or computed by several ahead of it.
  class Reader {
   public:
    Reader(const MapBatched& stage, const Run& run, i64 first) : stage_(stage), next_(first), end_(end_of(stage)) {
      if (!stage.gathers()) input_ = stage.input_->open(run, first);
    }
    bool read(Chunk& chunk) {
      chunk = Chunk{.first = next_, .by_number = !input_};
      if (input_) {
        if (!MapBatched::read(*input_, stage_.size_, chunk)) return false;
      } else {
        chunk.count = std::min(stage_.size_, end_ - next_);
      }
      next_ += chunk.count;
      return chunk.count > 0;
    }
    i64 skip(i64 n) {  // whole chunks
      n = input_ ? input_->skip(n) : std::min(n, end_ - next_);
      next_ += n;
      return n;
    }

   private:
    const MapBatched& stage_;
    i64 next_, end_;
    std::unique_ptr<Cursor<In>> input_;
  };
  class Serial final : public Cursor<Chunk> {
   public:
    Serial(const MapBatched& stage, const Run& run, i64 first)
        : stage_(stage), key_(run.key), reader_(stage, run, first) {}
    bool next(Chunk& chunk) override {
      if (!reader_.read(chunk)) return false;
      stage_.compute_chunk(chunk, key_);
      return true;
    }
    i64 skip(i64 n) override { return reader_.skip(n); }

   private:
    const MapBatched& stage_;
    Key key_;
    Reader reader_;
  };
  class Parallel final : public AheadCursor<Chunk> {
    static constexpr i64 cheap_chunks = 32;  // of a thread; where they are cheap, threads hand over up to half at once

   public:
    Parallel(const MapBatched& stage, const Run& run, i64 first)
        : AheadCursor<Chunk>(stage, run, stage.workers(),
                             {.all = cheap_chunks * i64{stage.threads_} + 1, .usual = 2 * i64{stage.threads_} + 1}),
          stage_(stage),
          reader_(stage, run, first),
          chunks_(static_cast<std::size_t>(this->slots())) {}
    ~Parallel() override { this->finish(); }
    bool next(Chunk& chunk) override {
      begun_ = true;
      if (!AheadCursor<Chunk>::next(chunk)) return false;
      this->count(chunk.count - 1);  // it is one element of the ring
      return true;
    }
    i64 skip(i64 n) override { return begun_ ? 0 : reader_.skip(n); }  // those that are being computed come

   private:
    bool read(i64 slot) override { return reader_.read(chunks_[static_cast<std::size_t>(slot)]); }
    void compute(i64 slot) override {
      Chunk& chunk = chunks_[static_cast<std::size_t>(slot)];
      stage_.compute_chunk(chunk, this->run_.key);
      this->keep(slot, std::exchange(chunk, Chunk()));
    }
    void count(i64 elements) { stage_.counts().elements.fetch_add(elements, std::memory_order_relaxed); }

    const MapBatched& stage_;
    Reader reader_;
    std::vector<Chunk> chunks_;  // of the slots
    bool begun_ = false;
  };

  // The elements of the chunks, which begin at multiples of their size: what is computed together does not depend on
  // where a run begins.
  class Run_ final : public Cursor<R> {
   public:
    Run_(const MapBatched& stage, const Run& run, i64 first) : stage_(stage), run_(run) {
      const i64 begin = first - first % stage.size_;
      if (stage.threads_ > 0) chunks_ = std::make_unique<Parallel>(stage, run, begin);
      else chunks_ = std::make_unique<Serial>(stage, run, begin);
      begin_ = begin, before_ = first - begin;
    }
    bool next(R& out) override {
      while (at_ == count())
        if (!next_chunk()) return false;
      const i64 i = at_++;
      const Chunk& chunk = *kept_.front().element();
      if (!chunk.errors.empty() && chunk.errors[static_cast<std::size_t>(i)])
        std::rethrow_exception(chunk.errors[static_cast<std::size_t>(i)]);
      while (i >= chunk.parts[part_].end) ++part_;
      const Part& part = chunk.parts[part_];
      const i64 begin = part_ == 0 ? 0 : chunk.parts[part_ - 1].end;
      if (part.computed) {
        out = part.rows;
        each_tensor(out, [&](Tensor& t) { t = own_row(t, i - begin); });
      } else {
        const i64 number = chunk.first + i;
        out = chunk.by_number ? stage_.at(run_.key, number)
                              : stage_.compute_one(chunk.inputs[static_cast<std::size_t>(i)], run_.key, number);
      }
      return true;
    }
    bool next_rows(i64 n, R& out) override {
      while (at_ == count())
        if (!next_chunk()) return false;
      // All chunks that have the rows are read before the first one is passed.
      i64 rows = count() - at_;
      for (std::size_t i = 0;; ++i) {
        const Chunk& chunk = *kept_[i].element();
        if (!chunk.is_computed()) return false;
        if (i > 0) rows += chunk.count;
        if (rows >= n) break;
        if (i + 1 == kept_.size() && (run_.budget || !read_chunk())) return false;  // a limit has room for one chunk
      }
      std::vector<Piece> pieces;
      for (i64 left = n; left > 0;) {
        while (at_ == count()) next_chunk();
        const Chunk& chunk = *kept_.front().element();
        while (at_ >= chunk.parts[part_].end) ++part_;
        const i64 begin = part_ == 0 ? 0 : chunk.parts[part_ - 1].end;
        const i64 here = std::min(left, chunk.parts[part_].end - at_);
        pieces.push_back({chunk.parts[part_].rows, at_ - begin, here});
        at_ += here, left -= here;
      }
      out = joined(pieces);
      return true;
    }
    i64 skip(i64 n) override {
      i64 done = pass(n);
      if (before_ == 0 && done < n && kept_.size() < 2) done += chunks_->skip((n - done) / stage_.size_ * stage_.size_);
      while (done < n && next_chunk()) done += pass(n - done);
      return done;
    }

   private:
    i64 count() const { return kept_.empty() ? 0 : kept_.front().element()->count; }
    i64 pass(i64 n) {
      const i64 here = std::min(n, count() - at_);
      at_ += here;
      return here;
    }
    bool next_chunk() {
      if (!kept_.empty()) kept_.pop_front();
      at_ = 0, part_ = 0;
      if (kept_.empty() && !read_chunk()) return false;
      if (kept_.front().element()->first == begin_) at_ = std::min(std::exchange(before_, 0), count());
      return true;
    }
    bool read_chunk() {
      Chunk chunk;
      if (!chunks_->next(chunk)) return false;
      Kept<Chunk> kept;
      if (stage_.threads_ == 0) {
        kept.set(std::move(chunk), stage_, run_);
      } else {  // there was room for it
        const i64 bytes = bytes_of(chunk);
        if (run_.budget) run_.budget->force(bytes);
        kept.hold(std::move(chunk), bytes, stage_, run_);
      }
      kept_.push_back(std::move(kept));
      return true;
    }
    struct Piece {
      R rows;
      i64 first, count;
    };
    static R joined(std::vector<Piece>& pieces) {
      std::vector<std::vector<Tensor>> tensors;  // of each place in the tree, those of all pieces
      for (Piece& piece : pieces) {
        std::size_t place = 0;
        each_tensor(piece.rows, [&](Tensor& t) {
          t = own_rows(t, piece.first, piece.count);
          if (tensors.size() == place) tensors.emplace_back();
          tensors[place++].push_back(t);
        });
      }
      for (const std::vector<Tensor>& place : tensors)
        if (place.size() != pieces.size())
          errors::raise<errors::InvalidArgumentError>("batch", "elements of a batch have different numbers of tensors");
      R r = std::move(pieces[0].rows);
      std::size_t place = 0;
      if (pieces.size() > 1) each_tensor(r, [&](Tensor& t) { t = join_rows("batch", tensors[place++]); });
      return r;
    }

    const MapBatched& stage_;
    const Run run_;
    std::unique_ptr<Cursor<Chunk>> chunks_;
    std::deque<Kept<Chunk>> kept_;  // the current chunk, and behind it those that next_rows() has read
    i64 begin_ = 0;                 // of the chunk that has the run's first element
    i64 before_ = 0;                // how many of its elements lie before that one; 0 once it was read
    i64 at_ = 0;
    std::size_t part_ = 0;
  };

  StageRef<In> input_;
  Function<AllRows> traced_;
  i64 size_;
  int threads_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
