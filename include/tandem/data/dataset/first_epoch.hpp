// The stage of data::split that makes every epoch the same, so that parts keep their elements. Behind
// data/dataset_sources.hpp. Part of the component tandem::data.
#pragma once
#include <memory>
#include <utility>

#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// The elements that the input has in epoch 0, in every epoch.
template <class T>
class FirstEpoch final : public Stage<T> {
 public:
  FirstEpoch(const char* name, StageRef<T> input) : Stage<T>(name, {input}), input_(std::move(input)) {}
  i64 cardinality() const override { return input_->cardinality(); }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key& key, i64 index) const override { return input_->at(first(key), index); }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override { return input_->gather(first(key), rows); }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 begin) const override {
    return input_->open({first(run.key), run.budget}, begin);
  }

 private:
  static Key first(Key key) {
    key.epoch = 0;
    return key;
  }
  StageRef<T> input_;
};

}  // namespace TANDEM_NS::data::detail
