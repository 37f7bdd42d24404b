// Definitions of train/replicas.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/core/elastic_replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/replicas.hpp"

namespace TANDEM_NS::train::detail {

TANDEM_INLINE void Replicas::largest(std::vector<i64>& numbers) const {
  if (are_several()) TANDEM_VIRTUAL(*replication_, Replication::largest)(numbers);
}
TANDEM_INLINE bool Replicas::any(bool condition) const {
  std::vector<i64> n{condition};
  largest(n);
  return n[0] != 0;
}
TANDEM_INLINE bool Replicas::others_raised(const std::exception_ptr& error, std::vector<i64>& numbers) const {
  numbers.push_back(error != nullptr);
  try {
    largest(numbers);
  } catch (...) {  // this process's own error says more than that of the exchange
    if (error) std::rethrow_exception(error);
    throw;
  }
  if (error) std::rethrow_exception(error);
  const bool is_raised = numbers.back() != 0;
  numbers.pop_back();
  return is_raised;
}
TANDEM_INLINE void Replicas::share_generator() const {
  if (!are_several()) return;
  const Variable& state = random::global_generator().state();
  state.set_untracked(TANDEM_VIRTUAL(*replication_, Replication::initial)(state.value_untracked()));
}
TANDEM_INLINE void Replicas::begin_step(i64 step) const {
  if (replication_) TANDEM_VIRTUAL(*replication_, Replication::begin_step)(step);
}
TANDEM_INLINE bool Replicas::see_newcomers() const {
  ElasticReplication* const elastic = dynamic_cast<ElasticReplication*>(replication_);
  return elastic && TANDEM_VIRTUAL(*elastic, ElasticReplication::sees_newcomers)();
}
TANDEM_INLINE void Replicas::end_for_newcomers(i64 step) const {
  if (ElasticReplication* const elastic = dynamic_cast<ElasticReplication*>(replication_))
    TANDEM_VIRTUAL(*elastic, ElasticReplication::end_for_newcomers)(step);
}
// The length travels first.
TANDEM_INLINE std::string Replicas::shared(const std::string& text) const {
  if (!are_several()) return text;
  const DeviceScope host(Device{});
  const auto initial = [&](const Tensor& x) { return TANDEM_VIRTUAL(*replication_, Replication::initial)(x); };
  const i64 n = initial(constant(static_cast<i64>(text.size()))).item<i64>();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
  if (is_first()) std::copy(text.begin(), text.end(), bytes.begin());
  bytes = initial(constant(bytes)).to_vector<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}
TANDEM_INLINE Values Replicas::shared(const Values& values) const {
  History one;
  one.add(values);
  return History::parse(shared(one.to_text())).epochs().at(0);
}
TANDEM_INLINE bool Replicas::share(bool restored, RunPlace& place, History& history,
                                   const std::vector<CheckpointItem>& items) const {
  if (!are_several()) return restored;
  const DeviceScope host(Device{});
  const std::vector<i64> own{restored,      place.epoch,      place.step,      place.step_in_epoch,
                             place.stopped, place.data.epoch, place.data.index};
  const std::vector<i64> n = TANDEM_VIRTUAL(*replication_, Replication::initial)(constant(own)).to_vector<i64>();
  if (n[0] == 0) return false;
  const Values validation = shared(place.validation), part = shared(place.part);
  const std::string checkpoint = shared(place.checkpoint), shards = shared(place.shards.text());
  // Where rows are read depends on the process's own part of the data: the others read what lies before.
  const std::string seek_points = is_first() ? place.seek_points : std::string();
  place = {n[1],        n[2],       n[3], n[4] != 0,  {n[5], n[6]},
           seek_points, validation, part, checkpoint, ShardSet::parse(shards)};
  const std::string reason = shared(history.stop_reason);
  history = History::parse(shared(history.to_text()));
  history.stop_reason = reason;
  for (const CheckpointItem& item : items)
    for (const Module::Named& v : item.variables())
      if (v.variable.whole_rows() == 0)
        v.variable.set_untracked(TANDEM_VIRTUAL(*replication_, Replication::initial)(v.variable.value_untracked()));
  return true;
}
TANDEM_INLINE void Replicas::add_up(const std::vector<CheckpointItem>& items) const {
  if (!are_several()) return;
  for (const CheckpointItem& item : items)
    for (const Module::Named& v : item.variables())
      v.variable.set_untracked(TANDEM_VIRTUAL(*replication_, Replication::sum)(v.variable.value_untracked()));
}

}  // namespace TANDEM_NS::train::detail
