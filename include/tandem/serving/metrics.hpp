// What a model server counts and measures, for Prometheus. For the definitions of serving.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/serving/request.hpp"

namespace prometheus {
class Gauge;
}

namespace TANDEM_NS::serving::impl {

/// The metrics of a server: tandem_*, and under TensorFlow Serving's names what its dashboards show. Models that are
/// not served are one label, "other".
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  /// A request has an answer, after so many seconds; `code` is its gRPC status.
  void answered(const Request& request, i64 version, bool is_known, int code, double seconds);
  /// A request waited so many seconds before it ran.
  void queued(const std::string& model, double seconds);
  /// A call or a batch ran for a model: for how long, with how many rows, besides those that are there to fill it up.
  void ran(const std::string& model, double seconds, i64 rows, i64 padding);
  /// A request was refused or given up: "queue", "deadline", "size", "auth", "cancelled", "draining".
  void rejected(const char* reason);
  void loaded(const std::string& model, double seconds);
  /// The states of all versions that there are, instead of those that were told before.
  void states(const std::vector<std::pair<std::string, std::vector<VersionStatus>>>& models);
  /// All as Prometheus' text format 0.0.4.
  std::string text();

  /// Gauges, which change without taking memory.
  struct Queue {
    prometheus::Gauge *rows, *bytes;
  };
  Queue queue(const std::string& model);
  static void set(const Queue& queue, i64 rows, i64 bytes) noexcept;
  void in_flight(int change) noexcept;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace TANDEM_NS::serving::impl
