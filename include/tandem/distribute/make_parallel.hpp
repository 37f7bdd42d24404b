// distribute::make_parallel and make_parallel_mean: a function applied to slices of a batch, on one device or several.
// Part of the component tandem::distribute.
// Not here: which ops run where (core/apply), threads (cpu/parallel.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/graph/trace/tree.hpp"

namespace TANDEM_NS::distribute {

/// How a batch is divided: into n slices, or into one for each device.
class Slices {
 public:
  /// n slices, each on the device of its tensors.
  ///   throws  errors::InvalidArgumentError if n is not positive
  template <std::integral I>
  Slices(I n) : count_(checked(static_cast<i64>(n))) {}
  /// A slice for each device: {"GPU:0", "GPU:1"}, or {"CPU:0", "CPU:1"} after config::set_logical_cpu_devices(2). A
  /// device may be named more than once.
  ///   throws  errors::InvalidArgumentError for an empty list, a name that is not a device's, or a CPU that does not
  ///           exist
  TANDEM_API Slices(std::initializer_list<std::string_view> devices);
  TANDEM_API Slices(std::vector<Device> devices);

  i64 count() const { return count_; }
  /// One for each slice; empty if the tensors stay where they are.
  const std::vector<Device>& devices() const { return devices_; }

 private:
  TANDEM_API static i64 checked(i64 n);
  std::vector<Device> devices_;
  i64 count_;
};

namespace detail {

/// Tensors divided along axis 0, and results of their slices put together.
class TANDEM_API Partition {
 public:
  using Parts = std::vector<std::vector<Tensor>>;  // [slice][tensor]
  ///   throws  errors::InvalidArgumentError if there are no tensors, for scalars and for different sizes of axis 0
  Partition(const char* op, const Slices& slices, const std::vector<Tensor>& tensors);
  /// The number of slices: no more than there are rows, but at least one.
  i64 size() const { return count_; }
  /// Where a slice runs.
  Device device(i64 i) const { return devices_.empty() ? current_device() : devices_[static_cast<std::size_t>(i)]; }
  /// The rows of slice i of each tensor, on its device.
  const std::vector<Tensor>& slice(i64 i) const { return parts_[static_cast<std::size_t>(i)]; }
  /// The results of all slices along axis 0.
  std::vector<Tensor> concat(const Parts& results) const;
  /// Their means, weighted by the numbers of rows.
  std::vector<Tensor> mean(const Parts& results) const;

 private:
  void divide(const Tensor& x);
  void divide_unknown(const Tensor& x);
  void add(i64 i, const Tensor& rows);
  void check_equal(const Parts& results) const;
  Tensor mean_of(const Parts& results, std::size_t which) const;

  const char* op_;
  std::vector<Device> devices_;
  Device home_;  // of the first tensor, and of the results
  i64 count_;
  i64 rows_ = 0;  // of all slices, and of each, if they are known
  std::vector<i64> sizes_;
  Tensor total_;  // otherwise as int64 scalars
  std::vector<Tensor> counts_;
  Parts parts_;
};

template <class... A>
std::vector<Tensor> tensors_of(const A&... x) {
  tree::Flat flat;
  (tree::flatten(x, flat), ...);
  std::vector<Tensor> r;
  for (const Tensor* t : flat.tensors) r.push_back(*t);
  return r;
}

// What f returns for each slice, which is called on the slice's device while enter(i) lives.
template <class F, class Enter, class... A>
auto call_slices(const Partition& partition, F& f, const Enter& enter, const A&... arguments) {
  using R = std::decay_t<std::invoke_result_t<F&, const std::decay_t<const A&>&...>>;
  constexpr bool is_void = std::is_void_v<R>;
  std::vector<std::conditional_t<is_void, char, R>> results;
  for (i64 i = 0; i < partition.size(); ++i) {
    const DeviceScope scope(partition.device(i));
    [[maybe_unused]] const auto entered = enter(i);
    std::tuple<std::decay_t<const A&>...> copies(arguments...);
    const Tensor* next = partition.slice(i).data();
    tree::refill(copies, next);
    if constexpr (is_void) {
      std::apply(f, std::as_const(copies));
    } else {
      results.push_back(std::apply(f, std::as_const(copies)));
      tree::make_dense(results.back());
    }
  }
  return results;
}

template <class F, class... A>
auto run_slices(const char* op, std::vector<Tensor> (Partition::*together)(const Partition::Parts&) const, F& f,
                const Slices& slices, const A&... arguments) {
  using R = std::decay_t<std::invoke_result_t<F&, const std::decay_t<const A&>&...>>;
  static_assert(!std::is_void_v<R>, "make_parallel() takes a function that returns tensors");
  const Partition partition(op, slices, tensors_of(arguments...));
  std::vector<R> results = call_slices(
      partition, f, [](i64) { return 0; }, arguments...);
  Partition::Parts parts;
  for (const R& r : results) parts.push_back(tensors_of(r));
  const std::vector<Tensor> joined = (partition.*together)(parts);
  const Tensor* next = joined.data();
  tree::refill(results.front(), next);
  return std::move(results.front());
}

}  // namespace detail

/// Data parallelism: applies f to slices of a batch and concatenates the results along axis 0.
///
///   Tensor error = per_example(x, y);                                         // the whole batch at once
///   Tensor error = distribute::make_parallel(per_example, {"GPU:0", "GPU:1"}, x, y);  // half of it on each GPU
///
/// Works eagerly, in traced functions and under tapes. f captures what the slices share: Variables and other tensors
/// are used, not copied for each slice, and their gradients are the sums over the slices.
///   f          called once for each slice with the arguments; where it works on each row alone, the result is that of
///              f(arguments...)
///   slices     a number, or a list of devices. N rows become slices of N / n rows, the first N % n have one more; with
///              fewer rows than slices, one slice for each row. Each slice is copied to its device, which is also the
///              device of a device scope around f; the rest follows: an op runs where its first tensor is, and so does
///              its gradient. If the number of rows is not known in a trace, slices may be empty
///   arguments  as those of a traced function; every tensor in them is divided along axis 0, everything else is passed
///              to each call as it is
///   returns    what f returns, each of its tensors concatenated, on the device of the first tensor argument
///   throws     errors::InvalidArgumentError for scalars among arguments or results (capture the former, average the
///              latter with make_parallel_mean), for tensors that differ in axis 0, and for slices that differ in the
///              number of their results; errors::UnimplementedError for a device that is not usable
///   gradient   that of the slices
/// The calls follow one another on the calling thread, to which tapes and traces belong. Devices to which kernels are
/// only launched can work at the same time. On the CPU an op has all of the library's threads already, so that eager
/// slices save no time. In a traced function the slices are independent branches: with
/// config::set_inter_op_parallelism_threads(n) they run at the same time where the plan estimates that this pays, which
/// is the case where single ops are too small for all threads. That includes gradients, all of them if f returns them,
/// as for make_parallel_mean. A tape around the call adds up the gradients of a Variable as they come, so that
/// branches meet there.
template <class F, class... A>
auto make_parallel(F&& f, const Slices& slices, const A&... arguments) {
  return detail::run_slices("make_parallel", &detail::Partition::concat, f, slices, arguments...);
}

/// make_parallel for an f that returns means over its rows, such as a loss or the gradients of one: the mean of the
/// slices' results, weighted by their numbers of rows, so that it is the mean over the batch.
///
///   const Tensor loss = distribute::make_parallel_mean(
///       [&](const Tensor& x, const Tensor& y) { return reduce_mean(square(net(x) - y)); }, 4, x, y);
///
///   f        returns tensors of a floating dtype, of equal shapes in all slices
///   returns  what f returns, each of its tensors averaged. A slice without rows does not count, even if its mean is
///            NaN. Otherwise as make_parallel
template <class F, class... A>
auto make_parallel_mean(F&& f, const Slices& slices, const A&... arguments) {
  return detail::run_slices("make_parallel_mean", &detail::Partition::mean, f, slices, arguments...);
}

}  // namespace TANDEM_NS::distribute
