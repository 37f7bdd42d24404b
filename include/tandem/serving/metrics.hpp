// What a model server counts and measures, for Prometheus. For the definitions of serving.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/serving/request.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving::impl {

/// The metrics of a server: tandem_*, and under TensorFlow Serving's names what its dashboards show. Models that are
/// not served are one label, "other".
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  /// A request has an answer, after so many seconds.
  void answered(const Request& request, i64 version, bool is_known, const Status& status, double seconds);
  /// A call or a batch ran for a model: how long its first request had waited, how long it ran, with how many rows, of
  /// which so many were there to fill it up.
  void ran(const std::string& model, double queued, double run, i64 rows, i64 padding);
  /// A request was refused or given up: "queue", "deadline", "size", "auth", "cancelled", "draining".
  void rejected(const char* reason);
  /// What waits for a model now.
  void waiting(const std::string& model, i64 rows, i64 bytes);
  void in_flight(int change);
  void states(const std::string& model, const std::vector<VersionStatus>& versions);
  void loaded(const std::string& model, double seconds);
  /// All as Prometheus' text format 0.0.4.
  std::string text();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace TANDEM_NS::serving::impl
