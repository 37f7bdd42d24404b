// Feed: the batches that a training takes from its data set. For the definitions of Trainer.
#pragma once
#include <memory>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/train/batches.hpp"

namespace TANDEM_NS::train::detail {

/// The batches of the epochs of a training: each an epoch of the data set, or so many steps, wherever these end in it.
class Feed {
 public:
  Feed(const Batches& data, i64 steps_per_epoch, i64 first_epoch)
      : data_(data), steps_(steps_per_epoch), next_{first_epoch, 0} {
    if (data.cardinality() == data::infinite_cardinality && steps_per_epoch == 0)
      errors::raise<errors::InvalidArgumentError>("fit",
                                                  "the data set has no end: say how long an epoch is with "
                                                  ".steps_per_epoch, or take() so many batches");
  }
  i64 steps_per_epoch() const { return steps_ > 0 ? steps_ : data_.cardinality() >= 0 ? data_.cardinality() : i64{-1}; }
  /// Reads a batch, of the next epoch of the data set if the present one is over and an epoch of training is not.
  bool next(Batch& batch, i64 step_in_epoch) {
    if (steps_ > 0 && step_in_epoch >= steps_) return false;
    if (!cursor_) cursor_ = data_.open(next_);
    if (cursor_->next(batch)) {
      next_ = cursor_->position();
      return true;
    }
    if (next_.index == 0) errors::raise<errors::InvalidArgumentError>("fit", "the data set is empty");
    next_ = {next_.epoch + 1, 0};
    cursor_.reset();
    return steps_ > 0 && next(batch, step_in_epoch);
  }
  /// The first batch, to make the Variables for.
  Batch peek() const {
    Batch batch;
    if (!data_.open({next_.epoch, 0})->next(batch))
      errors::raise<errors::InvalidArgumentError>("fit", "the data set is empty");
    return batch;
  }
  data::Position position() const { return next_; }
  std::string seek_points() const { return data_.seek_points(); }
  void move_to(data::Position next, const std::string& seek_points) {
    next_ = next;
    cursor_.reset();
    data_.set_seek_points(seek_points);
  }

 private:
  const Batches& data_;
  const i64 steps_;
  std::unique_ptr<BatchCursor> cursor_;
  data::Position next_;
};

}  // namespace TANDEM_NS::train::detail
