// The stage of copy_to_device and prefetch_to_device. Behind data/dataset_devices.hpp. Part of the component
// tandem::data.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "tandem/core/uploads.hpp"
#include "tandem/data/dataset/map.hpp"

namespace TANDEM_NS::data::detail {

/// An element on a device, its number in the iteration, and the copies that kernels have to wait for before they read
/// it.
template <class T>
class Uploaded {
 public:
  Uploaded() = default;
  Uploaded(T element, i64 index, std::vector<Ref<Upload>> copies)
      : element_(std::move(element)), index_(index), copies_(std::move(copies)) {}
  const T& element() const { return element_; }
  i64 index() const { return index_; }
  T joined() && {
    for (const Ref<Upload>& copy : copies_) copy->join();
    return std::move(element_);
  }

 private:
  T element_{};
  i64 index_ = 0;
  std::vector<Ref<Upload>> copies_;
};
template <class T>
i64 bytes_of(const Uploaded<T>& x) {
  return bytes_of(x.element());
}

/// Begins to copy the elements of an iteration to a device, where it has Uploads; otherwise they are copied at once.
class TANDEM_API Uploader {
 public:
  /// elements  that are on the device at once
  Uploader(Device device, i64 elements) : device_(device), elements_(elements) {}
  template <class T>
  Uploaded<T> upload(T element, i64 index) {
    std::vector<Tensor*> tensors;
    each_tensor(element, [&](Tensor& t) { tensors.push_back(&t); });
    std::vector<Ref<Upload>> copies = start(tensors);
    return {std::move(element), index, std::move(copies)};
  }

 private:
  std::vector<Ref<Upload>> start(const std::vector<Tensor*>& tensors);

  Device device_;
  i64 elements_;
  bool is_open_ = false;
  Ref<Uploads> uploads_;
};

/// Where tensors of an element go, one by one: texts stay.
TANDEM_API Tensor on_device(const Tensor& t, Device device);

template <class T>
class ToDevice final : public Stage<T> {
 public:
  /// ahead  the elements that a thread copies before they are asked for; 0: no thread
  ToDevice(const char* name, StageRef<T> input, Device device, i64 ahead)
      : Stage<T>(name, {input}), input_(std::move(input)), device_(device), ahead_(ahead) {}
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key& key, i64 index) const override {
    const auto copy = [this](T element) {
      each_tensor(element, [this](Tensor& t) { t = on_device(t, device_); });
      return element;
    };
    return ElementCall<T, decltype(copy)>(*this, copy, 0)(input_->at(key, index), key, index);
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    std::unique_ptr<Cursor<Uploaded<T>>> copies;
    if (ahead_ != 0) copies = std::make_unique<Thread>(*this, run, first);
    else copies = std::make_unique<Serial>(*this, run, first);
    return std::make_unique<Joined>(*this, run.key, std::move(copies));
  }

 private:
  i64 slots() const { return ahead_ == 0 ? 0 : (ahead_ == autotune ? most_tuned_ahead : ahead_) + 1; }

  class Serial final : public Cursor<Uploaded<T>> {
   public:
    Serial(const ToDevice& stage, const Run& run, i64 first)
        : stage_(stage),
          input_(stage.input_->open(run, first)),
          key_(run.key),
          index_(first),
          uploader_(stage.device_, saturating_add(stage.slots(), 2)) {}
    bool next(Uploaded<T>& out) override {
      T element;
      const i64 index = index_++;  // also of an element that raises
      if (!input_->next(element)) return false;
      const auto copy = [&](T x) { return uploader_.upload(std::move(x), index); };
      out = ElementCall<Uploaded<T>, decltype(copy)>(stage_, copy, 0)(std::move(element), key_, index);
      return true;
    }
    i64 skip(i64 n) override {
      n = input_->skip(n);
      index_ += n;
      return n;
    }

   private:
    const ToDevice& stage_;
    std::unique_ptr<Cursor<T>> input_;
    Key key_;
    i64 index_;
    Uploader uploader_;
  };

  class Thread final : public AheadCursor<Uploaded<T>> {
   public:
    Thread(const ToDevice& stage, const Run& run, i64 first)
        : AheadCursor<Uploaded<T>>(stage, run, {.threads = 1, .adapt = stage.ahead_ == autotune}, {stage.slots()}),
          input_(stage, run, first) {
      this->hand_over_singly();  // the input may wait for the consumer
    }
    ~Thread() override { this->finish(); }

   private:
    bool read(i64 slot) override {
      Uploaded<T> element;
      if (!input_.next(element)) return false;
      this->keep(slot, std::move(element));
      return true;
    }
    void compute(i64) override {}

    Serial input_;
  };

  // Joins on the consumer's thread, and as late as can be: kernels that are launched before do not wait for this copy.
  class Joined final : public Cursor<T> {
   public:
    Joined(const ToDevice& stage, const Key& key, std::unique_ptr<Cursor<Uploaded<T>>> input)
        : stage_(stage), key_(key), input_(std::move(input)) {}
    bool next(T& out) override {
      Uploaded<T> element;
      if (!input_->next(element)) return false;
      try {
        out = std::move(element).joined();
      } catch (errors::OpError& e) {
        name_element(e, stage_, key_, element.index());
        throw;
      }
      return true;
    }
    i64 skip(i64 n) override { return input_->skip(n); }

   private:
    const ToDevice& stage_;
    Key key_;
    std::unique_ptr<Cursor<Uploaded<T>>> input_;
  };

  StageRef<T> input_;
  Device device_;
  i64 ahead_;
};

}  // namespace TANDEM_NS::data::detail
