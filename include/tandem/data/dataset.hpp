// Dataset: elements that are read, transformed, put into batches and handed to a loop, in the terms of tf.data. Part of
// the component tandem::data. Not here: where data sets begin (dataset_sources.hpp, dataset_files.hpp), the stages
// themselves (dataset/).
#pragma once
#include <atomic>
#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tandem/data/dataset/batch.hpp"
#include "tandem/data/dataset/cache.hpp"
#include "tandem/data/dataset/choose.hpp"
#include "tandem/data/dataset/interleave.hpp"
#include "tandem/data/dataset/iterator.hpp"
#include "tandem/data/dataset/map.hpp"
#include "tandem/data/dataset/map_batched.hpp"
#include "tandem/data/dataset/order.hpp"
#include "tandem/data/dataset/ragged_batch.hpp"
#include "tandem/data/dataset/sample.hpp"
#include "tandem/data/dataset/saved.hpp"
#include "tandem/data/dataset/seek_points.hpp"
#include "tandem/data/dataset/shuffle.hpp"
#include "tandem/data/dataset/snapshot.hpp"
#include "tandem/data/dataset/sources.hpp"
#include "tandem/data/dataset/stream.hpp"

namespace TANDEM_NS::data {

template <class T>
class Dataset;

namespace detail {

template <class T>
void take_dataset(const Dataset<T>&);
/// Dataset and what is derived from it: TextLineDataset and its like.
template <class D>
concept is_dataset = requires(const D& d) {
  take_dataset(d);
};

TANDEM_API void check_at(bool indexed, i64 epoch, i64 index, i64 cardinality);
TANDEM_API i64 check_size(i64 cardinality);
TANDEM_API void check_shard(i64 num_shards, i64 index);

}  // namespace detail

/// A sequence of elements, and how they are made, as tf.data.Dataset. It is a value: a transformation returns another
/// data set, and all can be used by several threads. Nothing is computed before an iteration asks for it.
///
///   const auto ds = data::from_tensor_slices({images, labels})
///                       .shuffle()
///                       .map([](Tensor image, Tensor label) { return std::pair(augment(image), label); },
///                            {.num_parallel_calls = 4})
///                       .batch(128)
///                       .prefetch(2);
///   for (i64 epoch = 0; epoch < 20; ++epoch)
///     for (auto& [x, y] : ds.epoch(epoch)) step(x, y);
///
/// T is the type of the elements: a Tensor, a number, a std::string, arrays, pairs, tuples and maps of these, a struct
/// of tensors, or any default-constructible type, as long as it is not put into a batch. A function gets an element,
/// or its parts if it is an array, pair or tuple.
///
/// There are two families. An *indexed* data set (tensors, ranges, files with an index) has its elements by number:
/// shuffle() is then a permutation of all of them that takes no memory, and iterations begin at any element at no
/// cost. Transformations that do not look at elements keep it so, and so do map, batch, padded_batch, cache and
/// prefetch. All others are *streams*: an iteration that begins in the middle passes over what lies before, without
/// calling the functions of map behind the source. Files are read from the last of their seek_points() before that
/// place; stages that decide what comes, as filter and group_by_window do, go on at theirs.
///
/// Everything random is a function of the seeds, the epoch and the number of the element: epoch(3) has the same
/// elements in each process, with any number of threads. So a position (epoch, index) is all that a checkpoint has to
/// keep.
///
/// Errors of functions reach the loop, the library's own with the number of the element. An error counts as an element:
/// the iteration can go on behind it, and a batch with such an element is one error. Leaving a loop ends the
/// threads of its iteration. Iterating raises errors::TraceError in a traced function, which would keep the elements.
template <class T>
class Dataset {
  static_assert(std::is_default_constructible_v<T>, "elements of data sets must be default-constructible");

 public:
  using value_type = T;

  /// An empty data set.
  Dataset() : Dataset(std::make_shared<detail::Items<T>>("empty", std::vector<T>())) {}
  explicit Dataset(detail::StageRef<T> stage, i64 memory_limit = 0)
      : stage_(std::move(stage)), memory_limit_(memory_limit), epochs_(std::make_shared<std::atomic<i64>>(0)) {}

  // Iteration.

  /// The elements of an epoch, from number `first` on. An epoch is what the data set has once; what is random differs
  /// between epochs.
  ///   throws  errors::OutOfRangeError for a negative epoch, or a first that the epoch does not have
  Epoch<T> epoch(i64 epoch, i64 first = 0) const { return {stage_, {epoch, first}, memory_limit_}; }
  /// for (auto& element : ds): the next epoch, 0 in the first loop over this data set or a copy of it. So shuffle() has
  /// another order in each loop, as in TensorFlow. Where training may be interrupted, say which one: epoch(i).
  Iterator<T> begin() const { return epoch(epochs_->fetch_add(1, std::memory_order_relaxed)).begin(); }
  std::default_sentinel_t end() const { return {}; }
  /// An iteration that is asked for elements: while (auto element = it.next()).
  Iterator<T> iterator(Position from = {}) const { return {stage_, from, memory_limit_}; }

  /// The number of elements of an epoch, data::infinite_cardinality or data::unknown_cardinality.
  i64 cardinality() const { return stage_->cardinality(); }
  /// The number of elements of an epoch.
  ///   throws  errors::FailedPreconditionError if it is infinite or unknown
  i64 size() const { return detail::check_size(cardinality()); }
  /// Whether elements can be asked for by number.
  bool is_indexed() const { return stage_->indexed(); }
  /// Element `index` of an epoch, of an indexed data set.
  ///   throws  errors::FailedPreconditionError for a stream, errors::OutOfRangeError for an index that is not there
  T at(i64 epoch, i64 index) const {
    detail::check_at(is_indexed(), epoch, index, cardinality());
    return stage_->at({epoch}, index);
  }
  /// The position of the element of a step that is counted over all epochs, from 0.
  ///   throws  errors::OutOfRangeError for a negative step or an empty data set, and as size()
  Position position(i64 step) const {
    const i64 n = size();
    detail::check_position(step, 0, n);
    if (n == 0) detail::check_at(true, 0, 0, n);
    return {step / n, step % n};
  }
  /// The element of a step that is counted over all epochs, of an indexed data set.
  T at_step(i64 step) const {
    const Position p = position(step);
    return at(p.epoch, p.index);
  }
  /// All elements of epoch 0.
  std::vector<T> to_vector() const {
    std::vector<T> r;
    for (T& element : epoch(0)) r.push_back(std::move(element));
    return r;
  }
  /// What the iterations so far have counted, a line for each stage: elements, the time of its function, how many of
  /// its threads were busy, how long the consumer has waited, the bytes in its buffer.
  std::string report() const { return detail::report(*stage_); }
  /// Where iterations have been, as a text for a checkpoint. Of sources that read files: where the records lie, one in
  /// 64 or fewer; at most some 20 KB, and 30 bytes a file. Of stages that decide what comes (filter, scan, flat_map,
  /// unbatch, group_by_window and their like): how far they were in their inputs, in the epoch that was begun last;
  /// some 5 KB each, more with the states of a scan (those of up to 4 KB that batch() would accept), a long cycle of
  /// interleave, and many elements that wait in groups. "" without such stages. In another process set_seek_points() of
  /// the same pipeline takes it: an iteration that begins in the middle then seeks, and does not read the records
  /// before, nor call the functions for them.
  std::string seek_points() const { return detail::seek_points(*stage_); }
  /// Points of files that have changed since, or of another number of files, are not used, nor those of stages behind
  /// them.
  ///   throws  errors::InvalidArgumentError for a text that seek_points() has not made
  void set_seek_points(const std::string& text) const { detail::set_seek_points(*stage_, text); }
  /// Limits the bytes that the buffers of an iteration keep: those of shuffle, of map with threads and of prefetch. The
  /// latter two wait for room; a shuffle that has none raises. Counted are tensors, texts, and vectors, containers and
  /// structs of them.
  ///   throws  errors::InvalidArgumentError for a limit below 1. Iterations raise errors::ResourceExhaustedError, which
  ///           names the stage
  Dataset memory_limit(i64 bytes) const {
    detail::check_at_least("memory_limit", "bytes", bytes, 1);
    return Dataset(stage_, bytes);
  }

  // Transformations of elements.

  /// f(element) of each element. Draws of random numbers in f without a generator of their own depend on set_seed, the
  /// option's seed, the epoch, the place of the map in the pipeline and the number of the element alone. With threads,
  /// f is called by several at once, each of which runs its ops on itself alone.
  template <class F>
  auto map(F f, MapOptions options = {}) const {
    using R = detail::Result<const F, T>;
    return with(std::make_shared<detail::Map<T, R>>(stage_, std::move(f), options));
  }
  /// The same as map, but f is applied to many elements at once, by vectorized_map: for functions of a few cheap ops.
  /// f gets the tensors of one element, a number or a text as a scalar tensor, and returns tensors; what it cannot do
  /// is vectorized_map's to say. It is traced for each shape of elements. Elements have the same bits wherever an
  /// iteration begins. A stream is read up to .batch_size elements ahead.
  ///   throws  errors::InvalidArgumentError for options out of range. Iterations raise what f throws in its trace,
  ///           errors::UnimplementedError for an op without a rule, and the errors of elements, as those of map
  template <class F>
  auto map_batched(F f, MapBatchedOptions options = {}) const {
    static_assert(Batchable<T>, "map_batched: see batch");
    using R = detail::Result<const F, Batched<T>>;
    static_assert(std::is_same_v<Batched<R>, R>, "map_batched: the function must return tensors, or a tree of them");
    return with(std::make_shared<detail::MapBatched<T, R>>(stage_, std::move(f), options));
  }
  /// The elements for which f(element), a bool or a tensor of one, is true.
  template <class F>
  Dataset filter(F f) const {
    return with(std::make_shared<detail::Filter<T>>("filter", stage_, detail::predicate<T>(std::move(f)), false));
  }
  /// The elements before the first for which f(element) is false.
  template <class F>
  Dataset take_while(F f) const {
    return with(std::make_shared<detail::Filter<T>>("take_while", stage_, detail::predicate<T>(std::move(f)), true));
  }
  /// f(state, element) returns a pair: the next state, and the element of the new data set.
  template <class S, class F>
  auto scan(S initial, F f) const {
    using R = typename std::invoke_result_t<const F&, const S&, T>::second_type;
    return with(std::make_shared<detail::Scan<T, S, R, F>>(stage_, std::move(initial), std::move(f)));
  }
  /// The elements of the data sets f(element), one after another.
  template <class F>
  auto flat_map(F f) const {
    return interleaved("flat_map", std::move(f), {.cycle_length = 1});
  }
  /// The elements of the data sets f(element), in turns: `block_length` of each of `cycle_length` ones.
  template <class F>
  auto interleave(F f, InterleaveOptions options = {}) const {
    return interleaved("interleave", std::move(f), options);
  }
  /// Pairs of the number of an element, from `start` on, and the element.
  Dataset<std::tuple<i64, T>> enumerate(i64 start = 0) const {
    return with(std::make_shared<detail::Zip<i64, T>>(std::make_shared<detail::Numbers>(start, 1, infinite_cardinality),
                                                      stage_));
  }
  /// Leaves out the elements that raise. They are counted (report()); the first ones are told to the warning handler.
  ///   max_consecutive  so many errors without an element between them are passed on
  Dataset ignore_errors(i64 max_consecutive = 1000) const {
    return with(std::make_shared<detail::IgnoreErrors<T>>(stage_, max_consecutive));
  }

  // Order and choice.

  /// A random order of all elements, another one in each epoch, of an indexed data set with an end. Behind another
  /// shuffle it is a new one; side by side, data sets of equal size that are shuffled with equal seeds stay together.
  Dataset shuffle(ShuffleOptions options = {}) const { return with(detail::shuffled(stage_, 0, options)); }
  /// Random elements of a buffer that the following elements fill. The same as shuffle() where the buffer is not
  /// smaller than an indexed data set: it then takes no memory.
  Dataset shuffle(i64 buffer_size, ShuffleOptions options = {}) const {
    detail::check_at_least("shuffle", "buffer_size", buffer_size, 1);
    return with(detail::shuffled(stage_, buffer_size, options));
  }
  /// The epoch `count` times, or without end (but to one without elements); each with its own order and random numbers.
  Dataset repeat(i64 count = -1) const { return with(std::make_shared<detail::Repeat<T>>(stage_, count)); }
  /// The first n elements.
  Dataset take(i64 n) const {
    detail::check_at_least("take", "n", n, 0);
    return with(std::make_shared<detail::Range<T>>("take", stage_, 0, n, 1));
  }
  /// All but the first n elements.
  Dataset skip(i64 n) const {
    detail::check_at_least("skip", "n", n, 0);
    return with(std::make_shared<detail::Range<T>>("skip", stage_, n, infinite_cardinality, 1));
  }
  /// Elements index, index + num_shards ...: what one of several workers reads. Before shuffle(), a worker always has
  /// the same elements; behind it, other ones in each epoch.
  Dataset shard(i64 num_shards, i64 index) const {
    detail::check_shard(num_shards, index);
    return with(std::make_shared<detail::Range<T>>("shard", stage_, index, infinite_cardinality, num_shards));
  }
  /// These elements, then those of another data set.
  Dataset concatenate(const Dataset& other) const {
    return Dataset(std::make_shared<detail::Concatenate<T>>(stage_, other.stage_),
                   detail::least_limit(memory_limit_, other.memory_limit_));
  }

  // Batches and windows.

  /// Stacks consecutive elements along a new leading axis; numbers and texts become tensors of rank 1. Rows of tensors
  /// are gathered at once; consecutive ones are views.
  ///   throws  errors::InvalidArgumentError for a batch_size below 1, and where drop_remainder leaves no batch.
  ///           Iterations raise it where the tensors of a batch differ in dtype or shape
  auto batch(i64 batch_size, BatchOptions options = {}) const {
    static_assert(Batchable<T>,
                  "batch: elements must be tensors, numbers, texts, or arrays, pairs, tuples and maps of "
                  "them, or structs of tensors");
    return with(std::make_shared<detail::Batch<T>>(stage_, batch_size, options));
  }
  /// Stacks consecutive elements whose tensors differ in size, padded at their ends.
  auto padded_batch(i64 batch_size, PaddedBatchOptions options = {}) const {
    static_assert(Batchable<T>, "padded_batch: see batch");
    const bool drop = options.drop_remainder;
    return batch_by<Batched<T>>("padded_batch", batch_size, drop,
                                [o = std::move(options)](const detail::Elements<T>& elements) {
                                  return detail::padded("padded_batch", elements, o.padded_shapes, o.padding_values);
                                });
  }
  /// Puts consecutive elements together whose tensors differ in axis 0, without padding: a data::Ragged of each tensor,
  /// a tensor of rank 1 of numbers and texts. Scalar tensors are rows of one value: their `values` are the batch.
  ///   throws  as batch; iterations also where tensors differ in another axis
  auto ragged_batch(i64 batch_size, BatchOptions options = {}) const {
    static_assert(detail::RaggedOf<T>::ok,
                  "ragged_batch: elements must be tensors, numbers, texts, or arrays, pairs and tuples of them");
    return batch_by<typename detail::RaggedOf<T>::type>("ragged_batch", batch_size, options.drop_remainder,
                                                        &detail::ragged_elements<T>);
  }
  /// Padded batches of elements of similar length. A bucket has the lengths from one boundary to below the next.
  ///   length       called with an element, returns its length
  ///   boundaries   ascending
  ///   batch_sizes  one for each bucket: one more than boundaries
  template <class F>
  auto bucket_by_sequence_length(F length, std::vector<i64> boundaries, std::vector<i64> batch_sizes,
                                 BucketOptions options = {}) const {
    static_assert(Batchable<T>, "bucket_by_sequence_length: see batch");
    return with(std::make_shared<detail::Buckets<T, F>>(stage_, std::move(length), std::move(boundaries),
                                                        std::move(batch_sizes), std::move(options)));
  }
  /// The rows of elements that are trees of tensors, one by one.
  Dataset unbatch() const {
    static_assert(Batchable<T> && !detail::is_number<T> && !detail::is_text<T>, "unbatch: elements must have tensors");
    return with(std::make_shared<detail::Unbatch<T>>(stage_));
  }
  /// Data sets of `size` elements each.
  Dataset<Dataset> window(i64 size, WindowOptions options = {}) const {
    const auto windows = std::make_shared<detail::Window<T>>(stage_, size, options);
    return Dataset<detail::StageRef<T>>(windows, memory_limit_).map([](const detail::StageRef<T>& stage) {
      return Dataset(stage);
    });
  }
  /// Groups elements by key(element), an integer: reduce(key, data set of `window_size` elements) returns a data set,
  /// whose elements these are.
  template <class Key, class Reduce>
  auto group_by_window(Key key, Reduce reduce, i64 window_size) const {
    using U = typename std::invoke_result_t<const Reduce&, i64, Dataset>::value_type;
    const auto reduced = [reduce = std::move(reduce)](i64 k, const detail::StageRef<T>& group) {
      return reduce(k, Dataset(group)).stage();
    };
    return with(std::make_shared<detail::GroupByWindow<T, U, Key, decltype(reduced)>>(stage_, std::move(key), reduced,
                                                                                      window_size));
  }
  /// Pairs of class and element in which the classes have the distribution `target`, of elements whose classes have
  /// the distribution `initial`: some are left out at random.
  ///   class_of  called with an element, returns its class, from 0
  template <class F>
  Dataset<std::pair<i64, T>> rejection_resample(F class_of, const std::vector<double>& target,
                                                const std::vector<double>& initial, i64 seed = 0) const {
    return with(std::make_shared<detail::Resample<T, F>>(stage_, std::move(class_of), target, initial, seed));
  }

  // Buffers.

  /// Computes up to `buffer_size` elements (data::autotune: as many as the consumer turns out to need) on a thread of
  /// its own, ahead of the consumer.
  Dataset prefetch(i64 buffer_size) const { return with(std::make_shared<detail::Prefetch<T>>(stage_, buffer_size)); }
  /// Keeps the elements of the first epoch in memory; later iterations get these.
  Dataset cache() const { return with(std::make_shared<detail::Cache<T>>(stage_)); }
  /// The same in a file, which later processes read, too. It is written under a temporary name by the first iteration
  /// that reaches the end; one that ends before, or a full disk, leaves no file. Remove it when what lies before has
  /// changed: only the type of the elements is checked. The result is a stream; data::load(path) is indexed.
  ///   throws  errors::InvalidArgumentError if the file has elements of another type; errors::DataLossError if it is
  ///           damaged. Iterations raise what writing it raises, once, and go on without
  Dataset cache(const std::string& path) const {
    static_assert(Batchable<T>, "cache(path): elements must be such that batch() accepts");
    return with(std::make_shared<detail::Stored<T>>("cache", stage_, detail::file_store(path, detail::type_text<T>())));
  }

  /// The same in a folder, for processes and programs that share it, as tf.data's: several files, read by threads where
  /// that is wanted, and one folder within `dir` for each fingerprint. The first iteration that begins while there is
  /// no complete snapshot and no other process writes one, writes it; others meanwhile compute their elements. A
  /// snapshot is read once all of it is there; a process that is killed leaves files that the next one removes.
  ///
  /// All epochs have the elements of epoch 0, in their order: shuffle behind it. An iteration begins anywhere in a
  /// complete snapshot at no cost. Before that it begins where it is asked to, but computes what lies before, and
  /// writes it, too. The result is a stream; data::load_snapshot is indexed.
  ///   throws  errors::InvalidArgumentError for a data set without an end; errors::DataLossError if files are missing
  ///           or damaged; errors::UnavailableError, from an iteration, where the folder cannot be written or locked.
  ///           Iterations raise what writing raises, once, and go on without
  Dataset snapshot(const std::string& dir, const SnapshotOptions& options = {}) const {
    static_assert(Batchable<T>, "snapshot: elements must be such that batch() accepts");
    return with(std::make_shared<detail::Stored<T>>("snapshot", stage_,
                                                    detail::snapshot_store(dir, options, detail::type_text<T>()),
                                                    detail::snapshot_readers(options)));
  }

  /// Another data set that keeps this one's limits, of a stage that reads its elements.
  template <class S>
  auto with(std::shared_ptr<S> stage) const {
    return wrap(std::move(stage), static_cast<const S*>(nullptr));
  }
  const detail::StageRef<T>& stage() const { return stage_; }
  /// The memory_limit, 0 for none.
  i64 limit() const { return memory_limit_; }

 private:
  template <class S, class U>
  Dataset<U> wrap(std::shared_ptr<S> stage, const detail::Stage<U>*) const {
    return Dataset<U>(std::move(stage), memory_limit_);
  }
  template <class B, class Make>
  Dataset<B> batch_by(const char* name, i64 size, bool drop_remainder, Make make) const {
    return with(std::make_shared<detail::BatchBy<T, B, Make>>(name, stage_, size, drop_remainder, std::move(make)));
  }
  template <class F>
  auto interleaved(const char* name, F f, const InterleaveOptions& options) const {
    using D = detail::Result<const F, T>;
    static_assert(detail::is_dataset<D>, "flat_map and interleave: the function must return a data set");
    const auto stages = [f = std::move(f)](T element) { return detail::call(f, std::move(element)).stage(); };
    return with(std::make_shared<detail::Interleave<T, typename D::value_type, decltype(stages)>>(name, stage_, stages,
                                                                                                  options));
  }

  detail::StageRef<T> stage_;
  i64 memory_limit_;
  std::shared_ptr<std::atomic<i64>> epochs_;  // that loops have begun
};

}  // namespace TANDEM_NS::data
