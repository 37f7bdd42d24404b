// Definitions of serving/engine.hpp.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "tandem/serving/admission.hpp"
#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/engine.hpp"
#include "tandem/serving/load_version.hpp"
#include "tandem/serving/log.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/run_slots.hpp"
#include "tandem/serving/status.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// The queues of the versions in memory, by version and key.
class Queues {
 public:
  std::shared_ptr<BatchQueue> of(const Servable& servable, const std::string& signature, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = queues_.find({servable.id, key});
    if (at != queues_.end()) return at->second;
    // Those of versions that are gone, and of shapes that come no more, do not stay.
    std::erase_if(queues_, [](const auto& q) { return q.second.use_count() == 1; });
    return queues_.emplace(std::pair(servable.id, key), std::make_shared<BatchQueue>(signature)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<u64, std::string>, std::shared_ptr<BatchQueue>> queues_;
};

TANDEM_INLINE i64 bytes_of(const NamedTensors& tensors) {
  i64 sum = 0;
  for (const auto& [name, t] : tensors) {
    sum += static_cast<i64>(t.spec().bytes());
    if (t.dtype() == DType::string)
      for (i64 i = 0; i < t.size(); ++i) sum += static_cast<i64>(static_cast<const Bytes*>(t.raw())[i].view().size());
  }
  return sum;
}
TANDEM_INLINE i64 row_count(const NamedTensors& tensors) {
  return tensors.empty() || tensors.begin()->second.rank() == 0
             ? 1
             : std::max<i64>(1, tensors.begin()->second.shape().dim(0));
}
TANDEM_INLINE Options checked(Options o) {
  std::error_code error;
  check_batching(o.batching, "");
  if (o.max_total_queue_rows < 0 || o.max_total_queue_bytes < 0)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "max_total_queue_rows is " + std::to_string(o.max_total_queue_rows) + " and max_total_queue_bytes " +
                       std::to_string(o.max_total_queue_bytes) + ", but must not be negative; 0 is the usual limit");
  if (!(o.grpc_message_seconds > 0))
    errors::raise<errors::InvalidArgumentError>(
        "serving", "grpc_message_seconds is " + tandem::detail::rounded_text(o.grpc_message_seconds, 6) +
                       ", but must be more than 0; infinity, or a large number, is no limit");
  if (!o.failure_folder.empty() && !std::filesystem::is_directory(o.failure_folder, error))
    errors::raise<errors::InvalidArgumentError>("serving", "the failure_folder " + o.failure_folder + " is no folder");
  if (o.threads <= 0) o.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return o;
}

}  // namespace impl

struct Engine::Parts {
  explicit Parts(Options o)
      : options(impl::checked(std::move(o))),
        admission(options, metrics),
        slots(options.threads, 1),
        manager(options, metrics) {
    if (const i64 most = options.batching.num_batch_threads; most > 0 && most < options.threads)
      batch_slots.emplace(static_cast<int>(most));
  }

  Response run(const Request& request, const impl::Servable& servable, impl::RequestTimes& times);
  // A request has raised: leaves a failure file if it is the model that raises. Must not raise.
  void keep_failure(const Request& request, const impl::Servable& servable, int code) noexcept;
  // Where the next failure file goes, if there may be one. Each attempt counts, and each file of an earlier run.
  std::optional<std::string> next_failure_path(const impl::Servable& servable);
  // A request has an answer: for the metrics and the log.
  void answered(const Request& request, const impl::Lease& servable, int code, double seconds,
                const impl::RequestTimes& times);

  const Options options;
  impl::Metrics metrics;
  impl::Admission admission;
  impl::RunSlots slots;
  std::optional<impl::RunSlots> batch_slots;  // those that batches need besides
  impl::Queues queues;
  impl::Manager manager;
  std::atomic<bool> is_stopping{false}, is_drained{false};
  std::atomic<i64> in_flight{0};
  std::mutex failures_mutex;
  std::atomic<int> failure_files{0};  // changed with the mutex; attempts count, too
  CancelToken grace_is_over;
};

TANDEM_INLINE Engine::Engine(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {}
TANDEM_INLINE Engine::~Engine() {
  drain(0);
  while (parts_->in_flight > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

namespace impl {

// Checks what is asked for, and returns the name of the signature.
TANDEM_INLINE std::string check_request(const saved_model::Loaded& model, const Request& r) {
  const std::string name = r.model.signature.empty() ? "serving_default" : r.model.signature;
  const auto refuse = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("serving", what); };
  const auto at = model.signatures().find(name);
  if (at == model.signatures().end()) refuse("Serving signature name: \"" + name + "\" not found in signature def");
  const saved_model::Signature& s = at->second;
  if (!r.method.empty() && s.method != r.method)
    refuse("Expected " + std::string(r.method) + " for the signature '" + name + "', which is " + s.method);
  for (const std::string& output : r.outputs)
    if (std::none_of(s.outputs.begin(), s.outputs.end(), [&](const TensorInfo& t) { return t.name == output; }))
      refuse("output tensor alias not found in signature: " + output);
  std::vector<std::string_view> wanted(r.outputs.begin(), r.outputs.end());
  std::sort(wanted.begin(), wanted.end());
  const auto twice = std::adjacent_find(wanted.begin(), wanted.end());
  if (twice != wanted.end()) refuse("the output " + std::string(*twice) + " is requested twice");
  return name;
}
TANDEM_INLINE void keep_only(NamedTensors& outputs, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::erase_if(outputs,
                [&](const auto& o) { return std::find(wanted.begin(), wanted.end(), o.first) == wanted.end(); });
}
// Calls f. A model reads no files: data that it finds damaged are those of the request, such as tf.Examples.
template <class F>
Response with_data_of_request(const F& f) {
  try {
    return f();
  } catch (const errors::DataLossError& e) {
    errors::raise<errors::InvalidArgumentError>("serving", e.message());
  }
}
// The gRPC status of the exception that is handled; what it says is for who answers the client (status.hpp).
TANDEM_INLINE int current_code() {
  try {
    throw;
  } catch (const errors::OpError& e) {
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(errors::Code::resource_exhausted);
  } catch (...) {
    return static_cast<int>(errors::Code::internal);
  }
}

}  // namespace impl

TANDEM_INLINE Response Engine::Parts::run(const Request& r, const impl::Servable& servable, impl::RequestTimes& times) {
  const std::string name = impl::check_request(servable.loaded, r);
  const auto batched = servable.batched.find(name);
  const impl::Padding* padding = nullptr;
  std::string key;
  if (batched != servable.batched.end()) {
    const std::optional<impl::Padding>& known = batched->second.padding;
    if (known && servable.batching.pad_variable_length_inputs && known->fits(r.inputs)) padding = &*known;
    key = impl::batch_key(name, r.inputs, padding);
  }
  const i64 rows = times.rows = impl::row_count(r.inputs);
  const impl::Admission::Entry entry(admission, r.model.name, rows, impl::bytes_of(r.inputs));
  Response response{servable.version, {}};
  if (!key.empty()) {
    response.outputs = queues.of(servable, name, key)
                           ->run(r.inputs, r.call,
                                 {servable, servable.batching, batched->second, padding, grace_is_over, slots, metrics,
                                  batch_slots ? &*batch_slots : nullptr},
                                 times);
  } else {
    const CallScope scope(r.call);
    std::optional<impl::RunSlots::Slot> slot;
    impl::timed(times.queued, [&] { slot.emplace(slots, r.model.name, scope); });
    metrics.queued(r.model.name, times.queued);
    impl::timed(times.ran, [&] { response.outputs = servable.loaded(name, r.inputs, r.call); });
    metrics.ran(r.model.name, times.ran, rows, 0);
  }
  impl::keep_only(response.outputs, r.outputs);
  return response;
}

TANDEM_INLINE void Engine::Parts::keep_failure(const Request& r, const impl::Servable& servable, int code) noexcept {
  constexpr errors::Code others[] = {errors::Code::cancelled, errors::Code::deadline_exceeded, errors::Code::not_found,
                                     errors::Code::resource_exhausted, errors::Code::unavailable};
  if (options.failure_folder.empty() || failure_files >= options.most_failure_files) return;
  if (std::find(std::begin(others), std::end(others), static_cast<errors::Code>(code)) != std::end(others)) return;
  try {
    const std::string name = impl::check_request(servable.loaded, r);
    if (!servable.loaded.signatures().at(name).features.empty()) return;  // of tf.Examples: call_or_save leaves none
    const CallScope until_grace_ends({.cancel = grace_is_over});
    const CallScope scope(r.call);
    // The model runs with the lock: others that raise meanwhile leave no file, but do not wait either.
    const std::unique_lock lock(failures_mutex, std::try_to_lock);
    if (!lock) return;
    const std::optional<std::string> path = next_failure_path(servable);
    if (!path) return;
    try {
      servable.loaded.call_or_save(name, r.inputs,
                                   {.path = *path, .ops = options.ops, .with_values = options.failure_values});
    } catch (const errors::OpError& e) {
      if (e.op() == "saved_model::Loaded") --failure_files;  // refused before the model ran
    }
  } catch (...) {
    // The error that the client gets, again: of the model, or of a request that does not fit it, which leaves no file.
  }
}
TANDEM_INLINE std::optional<std::string> Engine::Parts::next_failure_path(const impl::Servable& servable) {
  std::string stem = servable.model + "_" + std::to_string(servable.version) + "_";
  std::replace(stem.begin(), stem.end(), '/', '_');
  while (failure_files < options.most_failure_files) {
    std::string path = options.failure_folder + "/" + stem + std::to_string(failure_files++) + ".failure";
    if (::access(path.c_str(), F_OK) != 0) return path;
  }
  return std::nullopt;
}
TANDEM_INLINE void Engine::Parts::answered(const Request& r, const impl::Lease& servable, int code, double seconds,
                                           const impl::RequestTimes& times) {
  const i64 version = servable ? servable->version : 0;
  metrics.answered(r, version, servable != nullptr, code, seconds);
  if (!options.log || !options.log->takes_requests()) return;
  const u64 id = impl::new_request_id();
  if (code && impl::http_of(code) == 500) impl::failed_request_id = id;  // the answer will tell it
  LogEntry e;
  if (code) e.level = "warning";
  e.model = servable ? r.model.name : "other", e.version = version;
  if (servable && servable->loaded.signatures().contains(r.model.signature)) e.signature = r.model.signature;
  e.protocol = r.protocol, e.code = code, e.seconds = seconds, e.id = impl::text_of_request_id(id);
  e.rows = times.rows, e.queue_seconds = times.queued, e.run_seconds = times.ran;
  e.method = r.method.empty() ? "predict" : r.method.substr(r.method.rfind('/') + 1);
  options.log->write(e);
}

TANDEM_INLINE Response Engine::predict(const Request& request) {
  Parts& p = *parts_;
  const auto begin = std::chrono::steady_clock::now();
  struct InFlight {
    Parts& p;
    explicit InFlight(Parts& parts) : p(parts) { p.metrics.in_flight(1), ++p.in_flight; }
    ~InFlight() { p.metrics.in_flight(-1), --p.in_flight; }
  } const in_flight(p);
  impl::failed_request_id = 0;
  impl::Lease servable;
  impl::RequestTimes times;
  try {
    if (p.is_drained) {
      p.metrics.rejected("draining");
      errors::raise<errors::UnavailableError>("serving", "the server shuts down");
    }
    servable = p.manager.acquire(request.model);
    const CallScope until_grace_ends({.cancel = p.grace_is_over});
    Response r = impl::with_data_of_request([&] { return p.run(request, *servable, times); });
    p.answered(request, servable, 0, impl::seconds_since(begin), times);
    return r;
  } catch (...) {
    const int code = impl::current_code();
    if (code == static_cast<int>(errors::Code::cancelled)) p.metrics.rejected("cancelled");
    if (code == static_cast<int>(errors::Code::deadline_exceeded)) p.metrics.rejected("deadline");
    p.answered(request, servable, code, impl::seconds_since(begin), times);
    if (servable) p.keep_failure(request, *servable, code);
    throw;
  }
}

TANDEM_INLINE std::shared_ptr<const Signatures> Engine::signatures(const ModelSpec& model, i64& version) {
  const impl::Lease servable = parts_->manager.acquire(model);
  version = servable->version;
  return {servable, &servable->loaded.signatures()};
}
TANDEM_INLINE std::vector<VersionStatus> Engine::states(const ModelSpec& model) {
  return parts_->manager.states(model);
}
TANDEM_INLINE std::vector<std::string> Engine::models() { return parts_->manager.models(); }
TANDEM_INLINE bool Engine::is_ready() { return !parts_->is_stopping && parts_->manager.is_ready(); }
TANDEM_INLINE bool Engine::is_ready(const ModelSpec& model) {
  if (parts_->is_stopping) return false;
  try {
    return parts_->manager.acquire(model) != nullptr;
  } catch (const errors::OpError&) {  // not known, or no version of it is available
    return false;
  }
}
TANDEM_INLINE std::string Engine::metrics() {
  std::vector<std::pair<std::string, std::vector<VersionStatus>>> all;
  for (const std::string& name : models()) {
    try {
      all.emplace_back(name, states({name}));
    } catch (const errors::NotFoundError&) {
      continue;  // configured away meanwhile
    }
  }
  parts_->metrics.states(all);
  return parts_->metrics.text();
}
TANDEM_INLINE void Engine::reload(std::vector<ModelConfig> models) {
  if (parts_->is_drained) errors::raise<errors::UnavailableError>("serving", "the server shuts down");
  parts_->manager.configure(std::move(models));
}
TANDEM_INLINE void Engine::set_batching(const Batching& batching) {
  if (parts_->is_drained) errors::raise<errors::UnavailableError>("serving", "the server shuts down");
  parts_->manager.set_batching(batching);
}
TANDEM_INLINE i64 Engine::assign_variables(const ModelSpec& model, const NamedTensors& values) {
  const impl::Lease servable = parts_->manager.acquire(model);
  servable->loaded.assign(values);
  return servable->version;
}
TANDEM_INLINE void Engine::settle(const CallOptions& call) {
  struct InFlight {
    std::atomic<i64>& count;
    explicit InFlight(std::atomic<i64>& c) : count(c) { ++count; }
    ~InFlight() { --count; }
  } const in_flight(parts_->in_flight);  // drain() waits for it
  if (parts_->is_drained) errors::raise<errors::UnavailableError>("serving", "the server shuts down");
  const CallScope until_grace_ends({.cancel = parts_->grace_is_over});
  parts_->manager.settle(call);
}
TANDEM_INLINE void Engine::stop_being_ready() {
  if (parts_->is_stopping.exchange(true) || !parts_->options.log) return;
  LogEntry e;
  e.event = "shutdown";
  parts_->options.log->write(e);
}
TANDEM_INLINE void Engine::drain(double seconds) {
  parts_->is_stopping = parts_->is_drained = true;
  const Deadline grace = Deadline::after(seconds);
  while (parts_->in_flight > 0 && !grace.has_passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  parts_->grace_is_over.cancel();
}
TANDEM_INLINE void Engine::count_rejected(const char* reason) {
  parts_->metrics.rejected(reason);
  if (!parts_->options.log || !parts_->options.log->takes_requests()) return;
  LogEntry e;
  e.level = "warning", e.event = "refused", e.method = reason;
  constexpr int unauthenticated = 16;
  const std::string_view why = reason;
  e.code = why == "auth" ? unauthenticated
                         : static_cast<int>(why == "deadline" ? errors::Code::deadline_exceeded
                                                              : errors::Code::resource_exhausted);
  parts_->options.log->write(e);
}

}  // namespace TANDEM_NS::serving
