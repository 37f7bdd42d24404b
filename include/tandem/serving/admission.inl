// Definitions of serving/admission.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/serving/admission.hpp"

namespace TANDEM_NS::serving::impl {

// Whether a request may be added to what there is. One that is larger than the limit alone runs if there is nothing.
TANDEM_INLINE bool fits(const Admission::Amount& request, const Admission::Amount& there,
                        const Admission::Amount& most) {
  return there.rows == 0 || (request.rows <= most.rows - there.rows && request.bytes <= most.bytes - there.bytes);
}
TANDEM_INLINE Admission::Sum& Admission::sum_of(const std::string& model) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = sums_.try_emplace(model);
  if (!at->second.gauges.bytes) at->second.gauges = metrics_.queue(model);
  return at->second;
}
TANDEM_INLINE void Admission::add(Sum& sum, Amount by) noexcept {
  sum.amount.rows += by.rows, sum.amount.bytes += by.bytes;
  all_.rows += by.rows, all_.bytes += by.bytes;
  Metrics::set(sum.gauges, sum.amount.rows, sum.amount.bytes);
}
TANDEM_INLINE void Admission::enter(const std::string& model, Sum& sum, Amount request) {
  std::unique_lock lock(mutex_);
  const bool fits_model = fits(request, sum.amount, of_model_);
  if (fits_model && fits(request, all_, of_all_)) return add(sum, request);
  const Amount there = fits_model ? all_ : sum.amount;
  lock.unlock();
  metrics_.rejected("queue");
  errors::raise<errors::ResourceExhaustedError>(
      "serving",
      (fits_model ? "the queues of all models together are full: " : "the queue of the model " + model + " is full: ") +
          std::to_string(there.rows) + " rows and " + std::to_string(there.bytes) + " bytes wait; try again later");
}
TANDEM_INLINE void Admission::change(Sum& sum, Amount by) noexcept {
  const std::lock_guard lock(mutex_);
  add(sum, by);
}

}  // namespace TANDEM_NS::serving::impl
