// Admission: how much may wait for models at a time. For the definitions of serving.
#pragma once
#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "tandem/serving/metrics.hpp"
#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving::impl {

/// What waits or runs for each model and for all together, and how much may: what is more is refused at once.
class Admission {
 public:
  Admission(const Options& options, Metrics& metrics)
      : of_model_{options.max_queue_rows, options.max_queue_bytes},
        of_all_{total(options.max_total_queue_rows, options.max_queue_rows, 1 << 16),
                total(options.max_total_queue_bytes, options.max_queue_bytes, 1 << 30)},
        metrics_(metrics) {}

  struct Amount {
    i64 rows = 0, bytes = 0;
  };
  struct Sum {
    Amount amount;
    Metrics::Queue gauges = {};
  };
  /// A request waits or runs while it exists. One that is larger than a limit is let in if nothing else waits or runs
  /// there.
  class Entry {
   public:
    ///   throws  errors::ResourceExhaustedError if there is too much of the model, or of all
    Entry(Admission& admission, const std::string& model, i64 rows, i64 bytes)
        : admission_(admission), sum_(admission.sum_of(model)), rows_(rows), bytes_(bytes) {
      admission_.enter(model, sum_, {rows_, bytes_});
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { admission_.change(sum_, {-rows_, -bytes_}); }

   private:
    Admission& admission_;
    Sum& sum_;
    const i64 rows_, bytes_;
  };

 private:
  static i64 total(i64 given, i64 of_model, i64 usual) { return given ? given : std::max(of_model, usual); }
  Sum& sum_of(const std::string& model);
  void enter(const std::string& model, Sum& sum, Amount request);
  void change(Sum& sum, Amount by) noexcept;
  void add(Sum& sum, Amount request) noexcept;  // with the lock

  const Amount of_model_, of_all_;
  Metrics& metrics_;
  std::mutex mutex_;
  Amount all_;
  std::map<std::string, Sum> sums_;
};

}  // namespace TANDEM_NS::serving::impl
