// Definitions of serving/metrics.hpp.
#pragma once
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "tandem/serving/metrics.hpp"
#include "tandem/serving/status.hpp"

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

// What requests of one kind, and runs of one model, add to. Found once: prometheus-cpp makes a new metric to look for
// one.
struct RequestMetrics {
  prometheus::Counter *count, *tf_count;
  prometheus::Histogram *seconds, *tf_latency;
};
struct ModelMetrics {
  prometheus::Histogram *queued, *seconds, *rows, *tf_runtime, *load_seconds;
  prometheus::Counter* padding;
};

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
  const RequestMetrics& of(const Request& request, i64 version, bool is_known, int code);
  const ModelMetrics& of(const std::string& model);
  void process();

  prometheus::Registry registry;
  Family<prometheus::Counter>& requests = counter("tandem_requests_total", "Requests that have an answer");
  Family<prometheus::Histogram>& request_seconds = histogram("tandem_request_seconds", "From a request to its answer");
  Family<prometheus::Histogram>& queue_seconds = histogram("tandem_queue_seconds", "From a request to its run");
  Family<prometheus::Histogram>& run_seconds = histogram("tandem_run_seconds", "Runs of models");
  Family<prometheus::Histogram>& batch_rows = histogram("tandem_batch_rows", "Rows of a run");
  Family<prometheus::Counter>& padding = counter("tandem_padding_rows_total", "Rows that fill batches up");
  Family<prometheus::Gauge>& queue_rows = gauge("tandem_queue_rows", "Rows that wait or run");
  Family<prometheus::Gauge>& queue_bytes = gauge("tandem_queue_bytes", "Bytes that wait or run");
  prometheus::Gauge& flight = gauge("tandem_in_flight", "Requests without an answer").Add({});
  Family<prometheus::Counter>& refused = counter("tandem_rejected_total", "Requests that were refused or given up");
  Family<prometheus::Gauge>& model_state = gauge("tandem_model_state", "1 for the state that a version has");
  Family<prometheus::Gauge>& model_bytes = gauge("tandem_model_bytes", "What a version takes of memory");
  Family<prometheus::Histogram>& load_seconds = histogram("tandem_load_seconds", "From a version's start to available");
  Family<prometheus::Counter>& tf_count = counter(":tensorflow:serving:request_count", "Requests by status");
  Family<prometheus::Histogram>& tf_latency =
      histogram(":tensorflow:serving:request_latency", "Microseconds of requests");
  Family<prometheus::Histogram>& tf_runtime = histogram(":tensorflow:serving:runtime_latency", "Microseconds of runs");
  prometheus::Gauge& memory = gauge("process_resident_memory_bytes", "Resident memory").Add({});
  prometheus::Gauge& addresses = gauge("process_virtual_memory_bytes", "Virtual memory").Add({});
  Family<prometheus::Gauge>& open_files = gauge("process_open_fds", "Open file descriptors");
  prometheus::Gauge& most_files = gauge("process_max_fds", "File descriptors that may be open").Add({});
  Family<prometheus::Gauge>& start_time = gauge("process_start_time_seconds", "When the process has begun");
  prometheus::Counter& cpu = counter("process_cpu_seconds_total", "User and system time").Add({});
  Family<prometheus::Gauge>& build = gauge("tandem_build_info", "1, with the version of the library");

  std::mutex mutex;  // of what follows
  std::map<std::string, RequestMetrics> by_request;
  std::map<std::string, ModelMetrics> by_model;
  std::vector<prometheus::Gauge*> states, bytes;
  prometheus::Gauge* files = nullptr;  // of open_files; null while their number is unknown
};

// In seconds since 1970: Linux tells it in ticks since the machine has begun. None: it cannot be read.
TANDEM_INLINE std::optional<double> start_of_process() {
  std::ifstream in("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::size_t at = text.rfind(')');
  constexpr int start = 20;  // fields behind the name
  for (int i = 0; i < start && at != text.npos; ++i) at = text.find(' ', at + 1);
  timespec since_boot{};
  if (at == text.npos || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return std::nullopt;
  const double ticks = std::strtod(text.c_str() + at, nullptr),
               per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double age =
      static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) * 1e-9 - ticks / per_second;
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - age;
}

TANDEM_INLINE Metrics::Metrics() : families_(std::make_unique<Families>()) {
  const std::string version = std::to_string(TANDEM_VERSION_MAJOR) + "." + std::to_string(TANDEM_VERSION_MINOR) + "." +
                              std::to_string(TANDEM_VERSION_PATCH);
  families_->build.Add({{"version", version}}).Set(1);
  if (const std::optional<double> start = start_of_process()) families_->start_time.Add({}).Set(*start);
}
TANDEM_INLINE Metrics::~Metrics() = default;

TANDEM_INLINE const char* api_of(const Request& r) {
  return r.method == saved_model::classify_method  ? "Classify"
         : r.method == saved_model::regress_method ? "Regress"
                                                   : "Predict";
}
TANDEM_INLINE const RequestMetrics& Metrics::Families::of(const Request& r, i64 version, bool is_known, int code) {
  const std::string model = is_known ? r.model.name : "other", status = code_name(code), protocol = r.protocol;
  // A signature that there is not must not become a label.
  const std::string signature = code != 0 ? "" : r.model.signature.empty() ? "serving_default" : r.model.signature;
  const std::string number = version ? std::to_string(version) : "";
  const char* const api = api_of(r);
  const std::lock_guard lock(mutex);
  const auto [at, is_new] =
      by_request.try_emplace(model + '\n' + number + '\n' + signature + '\n' + protocol + '\n' + status + '\n' + api);
  if (!is_new && at->second.tf_latency) return at->second;
  at->second = {
      &requests.Add(
          {{"model", model}, {"version", number}, {"signature", signature}, {"protocol", protocol}, {"code", status}}),
      &tf_count.Add({{"model_name", model}, {"status", status}}),
      &request_seconds.Add({{"model", model}, {"protocol", protocol}}, second_buckets()),
      &tf_latency.Add({{"model_name", model}, {"API", api}, {"entrypoint", protocol == "grpc" ? "GRPC" : "REST"}},
                      microsecond_buckets())};
  return at->second;
}
TANDEM_INLINE const ModelMetrics& Metrics::Families::of(const std::string& model) {
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = by_model.try_emplace(model);
  if (!is_new && at->second.padding) return at->second;
  at->second = {
      &queue_seconds.Add({{"model", model}}, second_buckets()),
      &run_seconds.Add({{"model", model}}, second_buckets()),
      &batch_rows.Add({{"model", model}}, row_buckets()),
      &tf_runtime.Add({{"model_name", model}, {"API", "Predict"}, {"runtime", "Tandem"}}, microsecond_buckets()),
      &load_seconds.Add({{"model", model}}, second_buckets()),
      &padding.Add({{"model", model}})};
  return at->second;
}

TANDEM_INLINE void Metrics::answered(const Request& r, i64 version, bool is_known, int code, double seconds) {
  const RequestMetrics& m = families_->of(r, version, is_known, code);
  m.count->Increment();
  m.seconds->Observe(seconds);
  m.tf_count->Increment();
  m.tf_latency->Observe(seconds * 1e6);
}
TANDEM_INLINE void Metrics::queued(const std::string& model, double seconds) {
  families_->of(model).queued->Observe(seconds);
}
TANDEM_INLINE void Metrics::ran(const std::string& model, double seconds, i64 rows, i64 padding) {
  const ModelMetrics& m = families_->of(model);
  m.seconds->Observe(seconds);
  m.tf_runtime->Observe(seconds * 1e6);
  m.rows->Observe(static_cast<double>(rows));
  if (padding) m.padding->Increment(static_cast<double>(padding));
}
TANDEM_INLINE void Metrics::loaded(const std::string& model, double seconds) {
  families_->of(model).load_seconds->Observe(seconds);
}
TANDEM_INLINE void Metrics::rejected(const char* reason) { families_->refused.Add({{"reason", reason}}).Increment(); }
TANDEM_INLINE Metrics::Queue Metrics::queue(const std::string& model) {
  return {&families_->queue_rows.Add({{"model", model}}), &families_->queue_bytes.Add({{"model", model}})};
}
TANDEM_INLINE void Metrics::set(const Queue& q, i64 rows, i64 bytes) noexcept {
  q.rows->Set(static_cast<double>(rows));
  q.bytes->Set(static_cast<double>(bytes));
}
TANDEM_INLINE void Metrics::in_flight(int change) noexcept { families_->flight.Increment(change); }
TANDEM_INLINE void Metrics::states(const std::vector<std::pair<std::string, std::vector<VersionStatus>>>& models) {
  Families& f = *families_;
  const std::lock_guard lock(f.mutex);
  for (prometheus::Gauge* gauge : f.states) f.model_state.Remove(gauge);
  for (prometheus::Gauge* gauge : f.bytes) f.model_bytes.Remove(gauge);
  f.states.clear(), f.bytes.clear();
  for (const auto& [model, versions] : models)
    for (const VersionStatus& v : versions) {
      const std::string number = std::to_string(v.version);
      for (const State state : all_states) {
        f.states.push_back(&f.model_state.Add({{"model", model}, {"version", number}, {"state", name_of(state)}}));
        f.states.back()->Set(state == v.state);
      }
      f.bytes.push_back(&f.model_bytes.Add({{"model", model}, {"version", number}}));
      f.bytes.back()->Set(static_cast<double>(v.bytes));
    }
}

// Without the folder itself. None: it cannot be read, as where no more files may be open.
TANDEM_INLINE std::optional<std::ptrdiff_t> count_open_files() {
  std::error_code error;
  std::ptrdiff_t files = -1;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error))
    ++files;
  if (error) return std::nullopt;
  return files;
}
// What Linux says of the process.
TANDEM_INLINE void Metrics::Families::process() {
  std::ifstream statm("/proc/self/statm");
  long all = 0, resident = 0;
  if (statm >> all >> resident) {
    addresses.Set(static_cast<double>(all) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    memory.Set(static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  const std::optional<std::ptrdiff_t> count = count_open_files();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) most_files.Set(static_cast<double>(limit.rlim_cur));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  const std::lock_guard lock(mutex);
  if (count && !files) files = &open_files.Add({});
  if (count) files->Set(static_cast<double>(*count));
  else if (files) open_files.Remove(std::exchange(files, nullptr));
  cpu.Increment(seconds(used.ru_utime) + seconds(used.ru_stime) - cpu.Value());
}
TANDEM_INLINE std::string Metrics::text() {
  families_->process();
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace TANDEM_NS::serving::impl
