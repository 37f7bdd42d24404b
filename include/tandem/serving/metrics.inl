// Definitions of serving/metrics.hpp.
#pragma once
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tandem/serving/metrics.hpp"

namespace TANDEM_NS::serving::impl {

// Seconds from 50 us to 100 s; TensorFlow Serving's buckets in microseconds; sizes of batches.
TANDEM_INLINE std::vector<double> second_buckets() {
  std::vector<double> r;
  for (double s = 50e-6; s < 100; s *= 2) r.push_back(s);
  return r;
}
TANDEM_INLINE std::vector<double> microsecond_buckets() {
  std::vector<double> r{10};
  while (r.size() < 33) r.push_back(r.back() * 1.8);
  return r;
}
inline constexpr State all_states[] = {State::start, State::loading, State::available, State::unloading, State::end};
TANDEM_INLINE std::vector<double> row_buckets() { return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; }

struct Metrics::Families {
  template <class M>
  using Family = prometheus::Family<M>;

  Family<prometheus::Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<prometheus::Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Family<prometheus::Histogram>& histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  void process();

  prometheus::Registry registry;
  Family<prometheus::Counter>& requests = counter("tandem_requests_total", "Requests that have an answer");
  Family<prometheus::Histogram>& request_seconds = histogram("tandem_request_seconds", "From a request to its answer");
  Family<prometheus::Histogram>& queue_seconds = histogram("tandem_queue_seconds", "From a request to its run");
  Family<prometheus::Histogram>& run_seconds = histogram("tandem_run_seconds", "Runs of models");
  Family<prometheus::Histogram>& batch_rows = histogram("tandem_batch_rows", "Rows of a run");
  Family<prometheus::Counter>& padding = counter("tandem_padding_rows_total", "Rows that fill batches up");
  Family<prometheus::Gauge>& queue_rows = gauge("tandem_queue_rows", "Rows that wait");
  Family<prometheus::Gauge>& queue_bytes = gauge("tandem_queue_bytes", "Bytes that wait");
  Family<prometheus::Gauge>& flight = gauge("tandem_in_flight", "Requests without an answer");
  Family<prometheus::Counter>& refused =
      counter("tandem_rejected_total", "Requests that were not answered with a result");
  Family<prometheus::Gauge>& model_state = gauge("tandem_model_state", "1 for the state that a version has");
  Family<prometheus::Gauge>& model_bytes = gauge("tandem_model_bytes", "What a version takes of memory");
  Family<prometheus::Histogram>& load_seconds = histogram("tandem_load_seconds", "From a version's start to available");
  Family<prometheus::Counter>& tf_count = counter(":tensorflow:serving:request_count", "Requests by status");
  Family<prometheus::Histogram>& tf_latency =
      histogram(":tensorflow:serving:request_latency", "Microseconds of requests");
  Family<prometheus::Histogram>& tf_runtime = histogram(":tensorflow:serving:runtime_latency", "Microseconds of runs");
  Family<prometheus::Gauge>& memory = gauge("process_resident_memory_bytes", "Resident memory");
  Family<prometheus::Gauge>& cpu = gauge("process_cpu_seconds_total", "User and system time");
  Family<prometheus::Gauge>& build = gauge("tandem_build_info", "1, with the version of the library");
};

TANDEM_INLINE Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->build
      .Add({{"version", std::to_string(TANDEM_VERSION_MAJOR) + "." + std::to_string(TANDEM_VERSION_MINOR) + "." +
                            std::to_string(TANDEM_VERSION_PATCH)}})
      .Set(1);
}
TANDEM_INLINE Metrics::~Metrics() = default;

TANDEM_INLINE void Metrics::answered(const Request& r, i64 version, bool is_known, const Status& status,
                                     double seconds) {
  Families& s = *families_;
  const std::string model = is_known ? r.model.name : "other", code = code_name(status.grpc), protocol = r.protocol;
  const std::string signature = !is_known ? "" : r.model.signature.empty() ? "serving_default" : r.model.signature;
  s.requests
      .Add({{"model", model},
            {"version", version ? std::to_string(version) : ""},
            {"signature", status.grpc == 0 ? signature : ""},
            {"protocol", protocol},
            {"code", code}})
      .Increment();
  s.request_seconds.Add({{"model", model}, {"protocol", protocol}}, second_buckets()).Observe(seconds);
  s.tf_count.Add({{"model_name", model}, {"status", code}}).Increment();
  s.tf_latency
      .Add({{"model_name", model}, {"API", "Predict"}, {"entrypoint", protocol == "grpc" ? "GRPC" : "REST"}},
           microsecond_buckets())
      .Observe(seconds * 1e6);
}
TANDEM_INLINE void Metrics::ran(const std::string& model, double queued, double run, i64 rows, i64 padding) {
  Families& s = *families_;
  s.queue_seconds.Add({{"model", model}}, second_buckets()).Observe(queued);
  s.run_seconds.Add({{"model", model}}, second_buckets()).Observe(run);
  s.batch_rows.Add({{"model", model}}, row_buckets()).Observe(static_cast<double>(rows));
  s.tf_runtime.Add({{"model_name", model}, {"API", "Predict"}, {"runtime", "Tandem"}}, microsecond_buckets())
      .Observe(run * 1e6);
  if (padding) s.padding.Add({{"model", model}}).Increment(static_cast<double>(padding));
}
TANDEM_INLINE void Metrics::rejected(const char* reason) { families_->refused.Add({{"reason", reason}}).Increment(); }
TANDEM_INLINE void Metrics::waiting(const std::string& model, i64 rows, i64 bytes) {
  families_->queue_rows.Add({{"model", model}}).Set(static_cast<double>(rows));
  families_->queue_bytes.Add({{"model", model}}).Set(static_cast<double>(bytes));
}
TANDEM_INLINE void Metrics::in_flight(int change) { families_->flight.Add({}).Increment(change); }
TANDEM_INLINE void Metrics::states(const std::string& model, const std::vector<VersionStatus>& versions) {
  for (const VersionStatus& v : versions) {
    const std::string number = std::to_string(v.version);
    for (const State state : all_states)
      families_->model_state.Add({{"model", model}, {"version", number}, {"state", name_of(state)}})
          .Set(state == v.state);
    families_->model_bytes.Add({{"model", model}, {"version", number}}).Set(static_cast<double>(v.bytes));
  }
}
TANDEM_INLINE void Metrics::loaded(const std::string& model, double seconds) {
  families_->load_seconds.Add({{"model", model}}, second_buckets()).Observe(seconds);
}

// What Linux says of the process.
TANDEM_INLINE void Metrics::Families::process() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0;
  if (statm >> pages >> pages) memory.Add({}).Set(static_cast<double>(pages * sysconf(_SC_PAGESIZE)));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  cpu.Add({}).Set(seconds(used.ru_utime) + seconds(used.ru_stime));
}
TANDEM_INLINE std::string Metrics::text() {
  families_->process();
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace TANDEM_NS::serving::impl
