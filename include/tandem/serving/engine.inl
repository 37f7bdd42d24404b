// Definitions of serving/engine.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <thread>

#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/engine.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/run_slots.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// What waits to run for a model, and how much may.
class Waiting {
 public:
  Waiting(const Options& options, Metrics& metrics)
      : rows_(options.max_queue_rows), bytes_(options.max_queue_bytes), metrics_(metrics) {}
  /// A request waits or runs while it exists.
  class Entry {
   public:
    Entry(Waiting& waiting, const std::string& model, i64 rows, i64 bytes)
        : waiting_(waiting), model_(model), rows_(rows), bytes_(bytes) {
      waiting_.enter(model_, rows_, bytes_);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { waiting_.leave(model_, rows_, bytes_); }

   private:
    Waiting& waiting_;
    const std::string& model_;
    const i64 rows_, bytes_;
  };

 private:
  void enter(const std::string& model, i64 rows, i64 bytes) {
    const std::lock_guard lock(mutex_);
    Sum& s = sums_[model];
    // A request that is larger than the limit alone runs if nothing waits.
    if (s.rows > 0 && (s.rows + rows > rows_ || s.bytes + bytes > bytes_))
      errors::raise<errors::ResourceExhaustedError>(
          "serving", "the queue of the model " + model + " is full: " + std::to_string(s.rows) + " rows and " +
                         std::to_string(s.bytes) + " bytes wait; try again later");
    s.rows += rows, s.bytes += bytes;
    metrics_.waiting(model, s.rows, s.bytes);
  }
  void leave(const std::string& model, i64 rows, i64 bytes) {
    const std::lock_guard lock(mutex_);
    Sum& s = sums_[model];
    s.rows -= rows, s.bytes -= bytes;
    metrics_.waiting(model, s.rows, s.bytes);
  }

  struct Sum {
    i64 rows = 0, bytes = 0;
  };
  const i64 rows_, bytes_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::map<std::string, Sum> sums_;
};

// The queues of the versions in memory, by version and key.
class Queues {
 public:
  std::shared_ptr<BatchQueue> of(const Servable& servable, const std::string& signature, const std::string& key) {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_[{servable.id, key}];
    if (!queue) {
      // Those of versions that are gone, and of shapes that come no more, do not stay.
      std::erase_if(queues_, [](const auto& q) { return q.second && q.second.use_count() == 1; });
      queue = std::make_shared<BatchQueue>(signature);
    }
    return queue;
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
  const std::vector<i64>& sizes = o.batching.allowed_batch_sizes;
  if (o.batching.max_batch_size < 1 ||
      (!sizes.empty() &&
       (sizes[0] < 1 || !std::is_sorted(sizes.begin(), sizes.end()) || sizes.back() != o.batching.max_batch_size)))
    errors::raise<errors::InvalidArgumentError>(
        "serving", "max_batch_size must be positive, and allowed_batch_sizes ascending numbers that end with it");
  if (o.threads <= 0) o.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return o;
}

}  // namespace impl

struct Engine::Parts {
  explicit Parts(Options o)
      : options(impl::checked(std::move(o))),
        waiting(options, metrics),
        slots(options.threads),
        manager(options, metrics) {}

  Response run(const Request& request, const impl::Lease& servable);

  const Options options;
  impl::Metrics metrics;
  impl::Waiting waiting;
  impl::RunSlots slots;
  impl::Queues queues;
  impl::Manager manager;
  std::atomic<bool> is_stopping{false}, is_drained{false};
  std::atomic<i64> in_flight{0};
  CancelToken grace_is_over;
};

TANDEM_INLINE Engine::Engine(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {}
TANDEM_INLINE Engine::~Engine() = default;

namespace impl {

// The signature that is asked for, and its name.
TANDEM_INLINE const saved_model::Signature& wanted_signature(const saved_model::Loaded& model, const Request& r,
                                                             std::string& name) {
  name = r.model.signature.empty() ? "serving_default" : r.model.signature;
  const auto& all = model.signatures();
  const auto at = all.find(name);
  if (at == all.end())
    errors::raise<errors::InvalidArgumentError>("serving",
                                                "Serving signature name: \"" + name + "\" not found in signature def");
  if (r.method && at->second.method != r.method)
    errors::raise<errors::InvalidArgumentError>(
        "serving",
        "Expected " + std::string(r.method) + " for the signature '" + name + "', which is " + at->second.method);
  for (const std::string& output : r.outputs)
    if (std::none_of(at->second.outputs.begin(), at->second.outputs.end(),
                     [&](const TensorInfo& t) { return t.name == output; }))
      errors::raise<errors::InvalidArgumentError>("serving", "output tensor alias not found in signature: " + output);
  return at->second;
}
TANDEM_INLINE void keep_only(NamedTensors& outputs, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::erase_if(outputs,
                [&](const auto& o) { return std::find(wanted.begin(), wanted.end(), o.first) == wanted.end(); });
}
// Why a request that raised is counted as rejected; null: it is not, as the model raised.
inline const char* rejection(const Status& s) {
  switch (s.grpc) {
    case 1: return "cancelled";
    case 4: return "deadline";
    case 8: return "queue";
    case 14: return "draining";
    default: return nullptr;
  }
}

}  // namespace impl

TANDEM_INLINE Response Engine::Parts::run(const Request& r, const impl::Lease& servable) {
  std::string name;
  (void)impl::wanted_signature(servable->loaded, r, name);
  const bool may_batch = std::find(servable->batched.begin(), servable->batched.end(), name) != servable->batched.end();
  const std::string key = may_batch ? impl::batch_key(name, r.inputs) : std::string();
  const i64 rows = impl::row_count(r.inputs), bytes = impl::bytes_of(r.inputs);
  const impl::Waiting::Entry entry(waiting, r.model.name, rows, bytes);
  Response response{servable->version, {}};
  const auto begin = std::chrono::steady_clock::now();
  if (!key.empty()) {
    response.outputs =
        queues.of(*servable, name, key)->run(r.inputs, r.call, {*servable, options.batching, slots, metrics});
  } else {
    const CallScope scope(r.call);
    slots.acquire(r.model.name, scope);
    const impl::RunSlots::Slot slot(slots);
    const double queued = impl::seconds_since(begin);
    const auto start = std::chrono::steady_clock::now();
    response.outputs = servable->loaded(name, r.inputs, r.call);
    metrics.ran(r.model.name, queued, impl::seconds_since(start), rows, 0);
  }
  impl::keep_only(response.outputs, r.outputs);
  return response;
}

TANDEM_INLINE Response Engine::predict(const Request& request) {
  Parts& p = *parts_;
  const auto begin = std::chrono::steady_clock::now();
  struct InFlight {
    Parts& p;
    explicit InFlight(Parts& parts) : p(parts) { ++p.in_flight, p.metrics.in_flight(1); }
    ~InFlight() { p.metrics.in_flight(-1), --p.in_flight; }
  } const in_flight(p);
  impl::Lease servable;
  try {
    if (p.is_drained) errors::raise<errors::UnavailableError>("serving", "the server shuts down");
    servable = p.manager.acquire(request.model);
    const CallScope until_grace_ends({.cancel = p.grace_is_over});
    Response r = p.run(request, servable);
    p.metrics.answered(request, r.version, true, {}, impl::seconds_since(begin));
    return r;
  } catch (...) {
    const Status status = status_of(std::current_exception());
    if (const char* const reason = impl::rejection(status)) p.metrics.rejected(reason);
    p.metrics.answered(request, servable ? servable->version : 0, servable != nullptr, status,
                       impl::seconds_since(begin));
    throw;
  }
}

TANDEM_INLINE std::map<std::string, saved_model::Signature> Engine::signatures(const ModelSpec& model, i64& version) {
  const impl::Lease servable = parts_->manager.acquire(model);
  version = servable->version;
  return servable->loaded.signatures();
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
  for (const std::string& name : models()) {
    try {
      parts_->metrics.states(name, states({name}));
    } catch (const errors::NotFoundError&) {
      continue;  // configured away meanwhile
    }
  }
  return parts_->metrics.text();
}
TANDEM_INLINE void Engine::reload(std::vector<ModelConfig> models) { parts_->manager.configure(std::move(models)); }
TANDEM_INLINE void Engine::settle() { parts_->manager.settle(); }
TANDEM_INLINE void Engine::stop_being_ready() { parts_->is_stopping = true; }
TANDEM_INLINE void Engine::drain(double seconds) {
  parts_->is_stopping = parts_->is_drained = true;
  const Deadline grace = Deadline::after(seconds);
  while (parts_->in_flight > 0 && !grace.has_passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  parts_->grace_is_over.cancel();
}
TANDEM_INLINE void Engine::count_rejected(const char* reason) { parts_->metrics.rejected(reason); }

}  // namespace TANDEM_NS::serving
