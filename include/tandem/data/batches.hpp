// Batches: mini-batches of the rows of tensors, shuffled anew in each epoch. Part of the component tandem::data.
#pragma once
#include <array>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/data/permutation.hpp"

namespace TANDEM_NS::data {

struct BatchesOptions {
  i64 batch_size = 32;
  bool shuffle = true;          ///< in another order in each epoch; otherwise in the order of the rows
  i64 seed = 0;                 ///< selects the orders
  bool drop_remainder = false;  ///< leaves out the last batch of an epoch if it is smaller
};

namespace detail {
/// The numbers of the rows of each batch, without the tensors.
class TANDEM_API BatchPlan {
 public:
  ///   throws  as Batches
  BatchPlan(Span<const Tensor> tensors, BatchesOptions options);
  i64 rows() const { return rows_; }
  i64 batches() const { return batches_; }
  /// Writes the rows of a batch of each tensor to `out`.
  void read(Span<const Tensor> tensors, i64 epoch, i64 index, Span<Tensor> out) const;
  /// The epoch of a step, and its batch in it.
  struct Position {
    i64 epoch, index;
  };
  Position position(i64 step) const;
  void check_range(i64 epoch, i64 first) const;

 private:
  BatchesOptions options_;
  i64 rows_, batches_;
};
}  // namespace detail

/// The rows of one or several tensors in batches, as tf.data's from_tensor_slices, shuffle and batch give them.
///   data::Batches batches({x, y}, {.batch_size = 128});
///   for (i64 epoch = 0; epoch < 20; ++epoch)
///     for (auto [images, labels] : batches.epoch(epoch)) step(images, labels);
/// An epoch has every row once. Its order is a pure function of seed and epoch: training that was interrupted goes on
/// by epoch(epoch, index) or batch(step), at no cost. The object does not change and may be used by several threads.
///   N       the number of tensors, which have the same number of rows (sizes of axis 0). A batch of one tensor is a
///           Tensor, of several an array of them: [batch_size, ...], in the dtype and on the device of the tensor. Rows
///           in order are views
///   throws  errors::InvalidArgumentError for scalars, for tensors with different numbers of rows, for a batch_size
///           that is not positive, and where drop_remainder leaves no batch; errors::TraceError for traced tensors
template <std::size_t N>
class Batches {
 public:
  using Batch = std::conditional_t<N == 1, Tensor, std::array<Tensor, N>>;

  explicit Batches(const Tensor& tensor, BatchesOptions options = {}) requires(N == 1)
      : Batches(std::array<Tensor, 1>{tensor}, options) {}
  explicit Batches(const Tensor (&tensors)[N], BatchesOptions options = {})
      : Batches(std::to_array(tensors), options) {}
  explicit Batches(const std::array<Tensor, N>& tensors, BatchesOptions options = {})
      : tensors_(tensors), plan_(tensors_, options) {}

  /// The number of batches of an epoch.
  i64 size() const { return plan_.batches(); }
  /// The number of rows of the tensors.
  i64 rows() const { return plan_.rows(); }

  /// Batch number `index` of an epoch.
  ///   throws  errors::OutOfRangeError for an index that the epoch does not have; errors::TraceError in a traced
  ///           function, which would keep this batch for all calls: pass batches to the function as arguments
  Batch batch(i64 epoch, i64 index) const {
    std::array<Tensor, N> r;
    plan_.read(tensors_, epoch, index, r);
    if constexpr (N == 1) return r[0];
    else return r;
  }
  /// The batch of a step that is counted over all epochs.
  Batch batch(i64 step) const {
    const auto at = plan_.position(step);
    return batch(at.epoch, at.index);
  }

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    Batch operator*() const { return batches_->batch(epoch_, index_); }
    Iterator& operator++() { return ++index_, *this; }
    void operator++(int) { ++index_; }
    bool operator==(const Iterator& o) const { return index_ == o.index_; }
    /// The number of this batch in the epoch.
    i64 index() const { return index_; }

   private:
    friend Batches;
    Iterator(const Batches* batches, i64 epoch, i64 index) : batches_(batches), epoch_(epoch), index_(index) {}
    const Batches* batches_;
    i64 epoch_, index_;
  };
  /// The batches of an epoch, to iterate over. They refer to this object.
  struct Epoch {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  /// The batches of an epoch, from number `first` on.
  ///   throws  errors::OutOfRangeError for a negative epoch, or a first that is negative or above size()
  Epoch epoch(i64 epoch, i64 first = 0) const& {
    plan_.check_range(epoch, first);
    return {Iterator(this, epoch, first), Iterator(this, epoch, size())};
  }
  Epoch epoch(i64 epoch, i64 first = 0) && = delete;  // the loop would use a temporary that is gone

 private:
  std::array<Tensor, N> tensors_;
  detail::BatchPlan plan_;
};

Batches(const Tensor&, BatchesOptions = {})->Batches<1>;
template <std::size_t N>
Batches(const Tensor (&)[N], BatchesOptions = {}) -> Batches<N>;
template <std::size_t N>
Batches(const std::array<Tensor, N>&, BatchesOptions = {}) -> Batches<N>;

}  // namespace TANDEM_NS::data
