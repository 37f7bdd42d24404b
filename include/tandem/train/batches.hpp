// Batches: a data set as a training loop sees it, whatever the type of its elements.
#pragma once
#include <array>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/data/dataset.hpp"

namespace TANDEM_NS::train {

/// The tensors of a batch: the inputs of the model, the labels, and sample weights if there are some.
using Batch = std::vector<Tensor>;

namespace detail {

/// Whether an element consists of tensors alone.
template <class T>
inline constexpr bool is_batch = std::is_same_v<T, Tensor> || std::is_same_v<T, Batch>;
template <class... T>
inline constexpr bool is_batch<std::tuple<T...>> = (is_batch<T> && ...);
template <class A, class B>
inline constexpr bool is_batch<std::pair<A, B>> = is_batch<A>&& is_batch<B>;
template <class T, std::size_t N>
inline constexpr bool is_batch<std::array<T, N>> = is_batch<T>;

/// Moves the tensors of an element to the end of a batch, in their order.
template <class T>
void append(T&& element, Batch& batch) {
  using Element = std::decay_t<T>;
  if constexpr (std::is_same_v<Element, Tensor>) {
    batch.push_back(std::forward<T>(element));
  } else if constexpr (requires { std::tuple_size<Element>::value; }) {
    std::apply([&](auto&... parts) { (append(std::move(parts), batch), ...); }, element);
  } else {
    for (auto& part : element) append(std::move(part), batch);
  }
}

/// In the scope of another device than the CPU: what was computed on the host, as it is by a data set's threads,
/// follows the model there.
inline void follow_device(Batch& batch) {
  const Device device = current_device();
  if (device.kind == Device::cpu) return;
  for (Tensor& t : batch)
    if (t.device().kind == Device::cpu && t.dtype() != DType::string) t = t.to(device);
}

/// A pass through a data set.
class BatchCursor {
 public:
  BatchCursor() = default;
  BatchCursor(const BatchCursor&) = delete;
  BatchCursor& operator=(const BatchCursor&) = delete;
  virtual ~BatchCursor() = default;
  /// Reads the next batch; false at the end.
  virtual bool next(Batch& batch) = 0;
  /// Of the batch that next() gives.
  virtual data::Position position() const = 0;
};
class BatchSource {
 public:
  BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  virtual ~BatchSource() = default;
  virtual std::unique_ptr<BatchCursor> open(data::Position from) const = 0;
  virtual i64 cardinality() const = 0;
  /// Dataset::seek_points.
  virtual std::string seek_points() const = 0;
  virtual void set_seek_points(const std::string& text) const = 0;
};

/// Whether a type is a data set that Batches takes.
template <class T>
inline constexpr bool is_dataset = false;
template <class T>
inline constexpr bool is_dataset<data::Dataset<T>> = true;

template <class T>
class DatasetSource final : public BatchSource {
 public:
  explicit DatasetSource(data::Dataset<T> dataset) : dataset_(std::move(dataset)) {}
  std::unique_ptr<BatchCursor> open(data::Position from) const override {
    return std::make_unique<Cursor>(dataset_.iterator(from));
  }
  i64 cardinality() const override { return dataset_.cardinality(); }
  std::string seek_points() const override { return dataset_.seek_points(); }
  void set_seek_points(const std::string& text) const override { dataset_.set_seek_points(text); }

 private:
  struct Cursor final : BatchCursor {
    explicit Cursor(data::Iterator<T> iterator) : it(std::move(iterator)) {}
    bool next(Batch& batch) override {
      std::optional<T> element = it.next();
      if (!element) return false;
      batch.clear();
      append(std::move(*element), batch);
      follow_device(batch);
      return true;
    }
    data::Position position() const override { return it.position(); }
    data::Iterator<T> it;
  };
  data::Dataset<T> dataset_;
};

}  // namespace detail

/// A data set of batches, for Trainer: any data::Dataset whose elements are tensors, or pairs, tuples, arrays and
/// vectors of tensors. Other elements become such by map(). In a DeviceScope batches on the CPU are copied to its
/// device. Copies refer to the same data set.
class Batches {
 public:
  /// None.
  Batches() = default;
  template <class T>
  Batches(const data::Dataset<T>& dataset) : source_(std::make_shared<detail::DatasetSource<T>>(dataset)) {
    static_assert(
        detail::is_batch<T>,
        "Trainer: the elements of the data set must be tensors, or pairs, tuples, arrays or vectors of tensors; "
        "map() makes them such");
  }
  /// The data set that a function returns, TensorFlow's input_fn. It is called once, here.
  template <std::invocable F>
    requires(detail::is_dataset<std::invoke_result_t<const F&>>)
  Batches(const F& input_fn) : Batches(input_fn()) {}
  explicit operator bool() const { return source_ != nullptr; }
  /// The number of batches of an epoch, data::infinite_cardinality or data::unknown_cardinality.
  i64 cardinality() const { return source_->cardinality(); }
  std::unique_ptr<detail::BatchCursor> open(data::Position from) const { return source_->open(from); }
  /// Dataset::seek_points.
  std::string seek_points() const { return source_->seek_points(); }
  void set_seek_points(const std::string& text) const { source_->set_seek_points(text); }

 private:
  std::shared_ptr<const detail::BatchSource> source_;
};

}  // namespace TANDEM_NS::train
