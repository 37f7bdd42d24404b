// Values: named numbers of an epoch. History: those of all epochs.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::train {

/// Named numbers in the order in which they were computed: "loss", "accuracy", "val_loss".
class TANDEM_API Values {
 public:
  Values() = default;
  using Named = std::pair<std::string, double>;

  /// The value of a name.
  ///   throws  errors::NotFoundError, which lists the names that there are
  double operator[](std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Sets the value of a name, at the end if it is new.
  ///   throws  errors::InvalidArgumentError for a name that is empty or has control characters
  void set(const std::string& name, double value);
  std::vector<Named>::const_iterator begin() const { return values_.begin(); }
  std::vector<Named>::const_iterator end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  /// "loss 0.25, accuracy 0.91", with four digits.
  std::string text() const;

 private:
  const Named* find(std::string_view name) const;
  std::vector<Named> values_;
};

/// What Trainer::fit has measured: the values of each epoch, in their order.
class TANDEM_API History {
 public:
  /// The values of one epoch; those of the last one by epochs().back().
  const std::vector<Values>& epochs() const { return epochs_; }
  /// The values of a name in all epochs, NaN where an epoch has none.
  ///   throws  errors::NotFoundError, which lists the names that there are
  std::vector<double> operator[](std::string_view name) const;
  /// The names in all epochs.
  std::vector<std::string> names() const;
  void add(Values values) { epochs_.push_back(std::move(values)); }
  /// Why training ended before its last epoch; empty if it did not.
  std::string stop_reason = {};
  /// What main() should return: 0; after Ctrl-C 130, after SIGTERM 143.
  int exit_status = 0;

  /// Text from which parse() makes the same history: a line for each epoch, "name value" pairs separated by tabs.
  std::string to_text() const;
  ///   throws  errors::DataLossError for a text that to_text() has not made
  static History parse(const std::string& text);

 private:
  std::vector<Values> epochs_;
};

}  // namespace TANDEM_NS::train
