// Where data sets begin: tensors, numbers, functions, several data sets; files of elements; parts of a data set. Part
// of the component tandem::data. Not here: files of other formats (dataset_files.hpp).
#pragma once
#include <array>
#include <concepts>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tandem/data/dataset.hpp"
#include "tandem/data/dataset/first_epoch.hpp"
#include "tandem/data/split.hpp"

namespace TANDEM_NS::data {

namespace detail {
TANDEM_API i64 range_count(i64 start, i64 stop, i64 step);
}  // namespace detail

/// The rows (slices along axis 0) of tensors: of one, of several side by side (elements are arrays), or of a tuple, map
/// or struct of tensors.
///   throws  errors::InvalidArgumentError for scalars and for different numbers of rows
inline Dataset<Tensor> from_tensor_slices(const Tensor& tensor) {
  return Dataset<Tensor>(std::make_shared<detail::Slices<Tensor>>(tensor));
}
template <std::size_t N>
Dataset<std::array<Tensor, N>> from_tensor_slices(const Tensor (&tensors)[N]) {
  return Dataset<std::array<Tensor, N>>(
      std::make_shared<detail::Slices<std::array<Tensor, N>>>(std::to_array(tensors)));
}
template <Batchable T>
  requires(std::same_as<Batched<T>, T> && !std::same_as<T, Tensor>)
Dataset<T> from_tensor_slices(T tensors) { return Dataset<T>(std::make_shared<detail::Slices<T>>(std::move(tensors))); }
/// One element.
template <class T>
Dataset<T> from_tensors(T element) {
  return Dataset<T>(std::make_shared<detail::Items<T>>("from_tensors", std::vector<T>{std::move(element)}));
}
/// The elements of a vector.
template <class T>
Dataset<T> from_items(std::vector<T> items) {
  return Dataset<T>(std::make_shared<detail::Items<T>>("from_items", std::move(items)));
}
/// `size` elements by number: f(i) is element i. Indexed; f is called by several threads at once where map has some.
template <class F>
auto from_function(i64 size, F f) {
  using T = std::decay_t<std::invoke_result_t<const F&, i64>>;
  detail::check_at_least("from_function", "size", size, 0);
  return Dataset<T>(std::make_shared<detail::Computed<T, F>>(size, std::move(f)));
}
/// A stream: make() is called at the beginning of each iteration and returns a function that returns the next element
/// as std::optional<T>, or none at the end.
template <class F>
auto from_generator(F make) {
  using T = typename std::invoke_result_t<std::invoke_result_t<const F&>>::value_type;
  return Dataset<T>(std::make_shared<detail::Generated<T, F>>("from_generator", std::move(make)));
}
/// The numbers start, start + step ... before stop.
///   throws  errors::InvalidArgumentError for a step of 0
inline Dataset<i64> range(i64 start, i64 stop, i64 step = 1) {
  return Dataset<i64>(std::make_shared<detail::Numbers>(start, step, detail::range_count(start, stop, step)));
}
inline Dataset<i64> range(i64 stop) { return range(0, stop); }

/// Tuples of the elements of several data sets, up to the end of the shortest.
template <class... Ts>
Dataset<std::tuple<Ts...>> zip(const Dataset<Ts>&... datasets) {
  i64 limit = 0;
  ((limit = detail::least_limit(limit, datasets.limit())), ...);
  return Dataset<std::tuple<Ts...>>(std::make_shared<detail::Zip<Ts...>>(datasets.stage()...), limit);
}
/// Elements of several data sets, each drawn from one of them at random, with these probabilities or equal ones.
///   throws  errors::InvalidArgumentError for no data sets, another number of weights, and weights that are negative,
///           not finite or all 0
template <class T>
Dataset<T> sample_from_datasets(const std::vector<Dataset<T>>& datasets, std::vector<double> weights = {},
                                SampleOptions options = {}) {
  std::vector<detail::StageRef<T>> stages;
  i64 limit = 0;
  for (const Dataset<T>& dataset : datasets) {
    stages.push_back(dataset.stage());
    limit = detail::least_limit(limit, dataset.limit());
  }
  return Dataset<T>(std::make_shared<detail::Sample<T>>(std::move(stages), std::move(weights), options), limit);
}
/// The next element of the data set whose number `choice` gives, for each of these numbers.
///   stop_on_empty_dataset  ends where a data set is chosen that has ended; otherwise such a choice is passed over, and
///                          the end is that of `choice`, or where all have ended
///   throws  errors::InvalidArgumentError for no data sets; iterations also for a number that no data set has
template <class T>
Dataset<T> choose_from_datasets(const std::vector<Dataset<T>>& datasets, const Dataset<i64>& choice,
                                bool stop_on_empty_dataset = true) {
  std::vector<detail::StageRef<T>> stages;
  i64 limit = choice.limit();
  for (const Dataset<T>& dataset : datasets) {
    stages.push_back(dataset.stage());
    limit = detail::least_limit(limit, dataset.limit());
  }
  return Dataset<T>(std::make_shared<detail::Choose<T>>(std::move(stages), choice.stage(), stop_on_empty_dataset),
                    limit);
}

/// Writes the elements of epoch 0 to a file, whole or not at all.
///   throws  errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other system errors
template <class T>
void save(const Dataset<T>& dataset, const std::string& path) {
  detail::ElementWriter writer(path, detail::type_text<T>());
  std::string bytes;
  for (const T& element : dataset.epoch(0)) {
    bytes.clear();
    detail::append_element("save", element, bytes);
    writer.write(bytes);
  }
  writer.publish();
}
/// The elements of a file that save or cache(path) has written. Indexed.
///   T       the type that they had
///   throws  errors::NotFoundError, errors::InvalidArgumentError for elements of another type, errors::DataLossError
template <class T>
Dataset<T> load(const std::string& path) {
  auto file = detail::open_elements("load", path, detail::type_text<T>());
  if (!file) errors::raise<errors::NotFoundError>("load", "there is no file " + path);
  return Dataset<T>(std::make_shared<detail::Saved<T>>("load", std::move(file)));
}
/// The elements of a complete snapshot: those of Dataset::snapshot with the same folder, fingerprint and type. Indexed.
///   T       the type that they had
///   throws  errors::NotFoundError if there is no complete snapshot; errors::DataLossError
template <class T>
Dataset<T> load_snapshot(const std::string& dir, const SnapshotOptions& options = {}) {
  const std::string folder = detail::snapshot_folder(dir, options, detail::type_text<T>());
  auto files = detail::open_snapshot("load_snapshot", folder, detail::type_text<T>());
  if (!files)
    errors::raise<errors::NotFoundError>(
        "load_snapshot",
        dir + " has no complete snapshot of this type with the fingerprint '" + options.fingerprint + "'");
  return Dataset<T>(
      std::make_shared<detail::Saved<T>>("load_snapshot", std::move(files), detail::snapshot_readers(options)));
}

/// Divides an indexed data set at random: auto [train, test] = data::split(ds, {0.8, 0.2}). The parts have the same
/// elements in each epoch, those that `dataset` has in epoch 0, also where it is shuffled. What is to differ between
/// epochs, as the order and random augmentation, comes behind the split: train.shuffle().
///   fractions  of the elements for each part, above 0, their sum at most 1
///   throws     errors::InvalidArgumentError for other fractions; as size()
template <class T, std::size_t P>
std::array<Dataset<T>, P> split(const Dataset<T>& dataset, const double (&fractions)[P], SplitOptions options = {}) {
  const std::vector<i64> bounds = detail::split_bounds(dataset.size(), fractions);
  const Dataset<T> all =
      options.shuffle ? dataset.shuffle({.seed = options.seed, .reshuffle_each_iteration = false}) : dataset;
  const auto fixed = std::make_shared<detail::FirstEpoch<T>>("split", all.stage());
  std::array<Dataset<T>, P> parts;
  for (std::size_t i = 0; i < P; ++i)
    parts[i] = Dataset<T>(std::make_shared<detail::Range<T>>("part", fixed, bounds[i], bounds[i + 1], 1), all.limit());
  return parts;
}

}  // namespace TANDEM_NS::data
