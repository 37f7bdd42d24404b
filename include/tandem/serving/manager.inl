// Definitions of serving/manager.hpp.
#pragma once
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tandem/base/warning.hpp"
#include "tandem/serving/load_version.hpp"
#include "tandem/serving/log.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/manager_shared.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving::impl {

// dropped: gets what is let go, whose memory is freed without the lock.
TANDEM_INLINE void Manager::Shared::want(Model& model, const std::vector<i64>& present, std::vector<Lease>& dropped) {
  const std::set<i64> wanted = wanted_of(model.config.policy, present);
  for (const i64 v : wanted) {
    Version& version = model.versions[v];
    // One that was let go, or that failed and whose folder was replaced, begins anew when it is wanted again.
    if (version.status.state == State::end && version.failures == 0) version.status = {};
    version.status.version = v;
    if (version.status.state == State::unloading) take_up(model, version, dropped);
  }
  for (auto& [number, v] : model.versions) {
    if (wanted.contains(number)) continue;
    if (v.status.state == State::start) v.status.state = State::end;
    if (v.status.state == State::end) v.failures = 0;  // removed: tried again if it comes back
    if (v.status.state != State::available) continue;
    // Without another one it stays, unless the memory is needed first.
    const bool others = std::any_of(wanted.begin(), wanted.end(), [&](i64 w) {
      const State s = model.versions[w].status.state;
      return s == State::available || (options.swap == Options::resource && s == State::start);
    });
    if (!others) continue;
    v.status.state = State::unloading;
    v.unloading = v.servable;
    dropped.push_back(std::exchange(v.servable, nullptr));
  }
  // What is over and gone is forgotten.
  std::erase_if(model.versions, [&](const auto& v) {
    return v.second.status.state == State::end && std::find(present.begin(), present.end(), v.first) == present.end();
  });
}
// Ends the versions that no request uses any more.
TANDEM_INLINE void Manager::Shared::retire(Model& model) {
  for (auto& [number, v] : model.versions)
    if (v.status.state == State::unloading && !v.is_in_use()) {
      v.status.state = State::end, v.status.bytes = 0, v.reserved = 0, v.replaced.clear();
      tell("unloaded", {model.config.name, number, v.id, {}, 0}, {}, 0);
      look_now = true;  // it may be wanted again
    }
}
TANDEM_INLINE i64 Manager::Shared::reserved() const {
  i64 sum = 0;
  for (const auto& [name, model] : models)
    for (const auto& [number, v] : model.versions) sum += v.reserved;
  return sum;
}
TANDEM_INLINE Version* Manager::Shared::find(const VersionPlace& place) {
  const auto model = models.find(place.model);
  if (model == models.end()) return nullptr;
  const auto v = model->second.versions.find(place.version);
  return v == model->second.versions.end() || v->second.id != place.id ? nullptr : &v->second;
}
TANDEM_INLINE void Manager::Shared::tell(const char* event, const VersionPlace& place, const Status& status,
                                         double seconds) const {
  if (!options.log) return;
  LogEntry e;
  e.level = status.grpc ? "warning" : "info", e.event = event, e.model = place.model, e.version = place.version;
  e.code = status.grpc, e.seconds = seconds, e.text = status.text;
  options.log->write(e);
}
// A version's part of Options::memory_limit.
class Manager::Shared::Budget final : public MemoryBudget {
 public:
  Budget(Shared& shared, const VersionPlace& place) : shared_(shared), place_(place) {}
  void reserve(i64 bytes, i64 values) override {
    const std::lock_guard lock(shared_.mutex);
    const i64 used = shared_.reserved();
    if (bytes > shared_.options.memory_limit - used)
      raise_no_room(place_,
                    "takes " + std::to_string(bytes) + " bytes, " + std::to_string(values) +
                        " of them for its values, the rest for a call",
                    used, shared_.options.memory_limit);
    if (Version* const v = shared_.find(place_)) v->reserved = bytes;
  }
  [[noreturn]] static void raise_no_room(const VersionPlace& p, const std::string& what, i64 used, i64 limit) {
    errors::raise<errors::ResourceExhaustedError>("serving", "version " + std::to_string(p.version) + " of " + p.model +
                                                                 " " + what + "; the models in memory take " +
                                                                 std::to_string(used) + " bytes, the limit is " +
                                                                 std::to_string(limit));
  }

 private:
  Shared& shared_;
  const VersionPlace& place_;
};

TANDEM_INLINE void Manager::Shared::follow(const std::vector<std::pair<std::string, std::string>>& paths,
                                           std::unique_lock<std::mutex>& lock) {
  std::vector<std::string> folders;
  for (const auto& [name, path] : paths) folders.push_back(path);
  lock.unlock();  // the disk may be slow
  watch.follow(folders);
  lock.lock();
}
TANDEM_INLINE void Manager::Shared::look(std::unique_lock<std::mutex>& lock) {
  std::vector<std::pair<std::string, std::string>> paths;
  for (const auto& [name, model] : models) paths.emplace_back(name, model.config.base_path);
  if (watch.works()) follow(paths, lock);  // before they are read: nothing is missed
  for (const auto& [name, path] : paths) {
    std::vector<Lease> dropped;
    lock.unlock();  // the disk may be slow
    std::vector<i64> present;
    std::vector<std::string> others;
    std::string error;
    try {
      present = saved_model::versions(path, &others);
    } catch (const std::exception& e) {
      error = e.what();
    }
    lock.lock();
    const auto at = models.find(name);
    if (at == models.end() || at->second.config.base_path != path) continue;
    if (!error.empty()) {  // what is served stays
      if (!at->second.is_seen) detail::warn(("serving: model " + name + ": " + error).c_str());
      at->second.is_seen = true;
      for (auto& [number, v] : at->second.versions)
        if (v.status.state == State::end) v.failures = 0;  // tried again if it comes back
      continue;
    }
    at->second.is_seen = true;
    warn_of_others(name, at->second, others);
    want(at->second, present, dropped);
    lock.unlock();
    dropped.clear();
    lock.lock();
  }
}

TANDEM_INLINE void Manager::Shared::load(std::unique_lock<std::mutex>& lock, const std::string& name, i64 number) {
  Version* v = &models.at(name).versions.at(number);
  v->id = next_id++;
  const i64 limit = options.memory_limit, used = reserved();
  const ModelConfig& config = models.at(name).config;
  const VersionPlace place{name,
                           number,
                           v->id,
                           config.base_path + "/" + std::to_string(number),
                           limit ? limit - used : 0,
                           config.batching,
                           batching};
  v->status.state = State::loading;
  lock.unlock();
  const Clock::time_point begin = Clock::now();
  Lease servable;
  Status status;
  try {
    const CallScope until_the_end({.cancel = is_over});
    if (limit && place.room <= 0) Budget::raise_no_room(place, "does not fit", used, limit);
    Budget budget(*this, place);
    servable = load_version(place, options, budget);
  } catch (const errors::OpError& e) {  // who asks for the state is told which file is damaged
    status = {static_cast<int>(e.code()), 0, e.message()};
  } catch (...) {
    status = status_without_memory(std::current_exception());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  lock.lock();
  v = find(place);
  if (!v) return;  // configured away meanwhile
  // Batched in another way meanwhile: once more.
  if (servable && is_batched_as_all(models.at(name)) && place.of_all != batching) {
    v->status.state = State::start, v->reserved = 0;
    return;
  }
  if (servable) {
    v->status.state = State::available;
    v->status.bytes = servable->loaded.bytes();
    v->status.error.clear(), v->status.code = 0, v->failures = 0;
    v->servable = std::move(servable);
    metrics.loaded(name, seconds);
    tell("loaded", place, {}, seconds);
    if (options.log) tell_speed(*options.log, *v->servable);
    return;
  }
  ++v->failures;
  v->status.state = v->failures > options.max_num_load_retries ? State::end : State::start;
  v->reserved = 0;  // before what may lack memory
  v->status.code = status.grpc;
  v->next_try = Clock::now() + std::chrono::microseconds(static_cast<i64>(options.load_retry_interval_seconds * 1e6));
  v->status.error = status.text;
  tell("load_failed", place, status, seconds);
  detail::warn(
      ("serving: version " + std::to_string(number) + " of " + name + " cannot be loaded: " + status.text).c_str());
}
// A model's versions one after the other; those of several models at the same time.
TANDEM_INLINE bool Manager::Shared::load_next(std::unique_lock<std::mutex>& lock) {
  const Clock::time_point now = Clock::now();
  for (auto& [name, model] : models) {
    if (model.has(State::loading)) continue;
    if (options.swap == Options::resource && model.has(State::unloading)) continue;  // until its memory is free
    for (auto v = model.versions.rbegin(); v != model.versions.rend(); ++v)
      if (v->second.status.state == State::start && v->second.next_try <= now) {
        const std::string of = name;
        load(lock, of, v->first);
        return true;
      }
  }
  return false;
}
// Whether there is something that was not tried yet.
TANDEM_INLINE bool Manager::Shared::has_work() const {
  if (look_now) return true;
  for (const auto& [name, model] : models)
    for (const auto& [number, v] : model.versions)
      if (v.status.state == State::loading || (v.status.state == State::start && v.failures == 0)) return true;
  return false;
}
// Of this thread alone, on Linux.
inline void lower_priority() { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10); }
TANDEM_INLINE void Manager::Shared::run_loader() {
  lower_priority();
  std::unique_lock lock(mutex);
  while (!stop) {
    try {
      if (load_next(lock)) {
        look_now = true;  // what the new version replaces
        wake.notify_all();
        continue;
      }
    } catch (const std::exception& e) {  // no memory: what is served stays, and it is tried again
      if (!lock.owns_lock()) lock.lock();
      detail::warn((std::string("serving: a version cannot be loaded: ") + e.what()).c_str());
    }
    if (!stop) wake.wait(lock);  // else nobody would wake it
  }
}
TANDEM_INLINE void Manager::Shared::run() {
  lower_priority();
  std::unique_lock lock(mutex);
  const double poll = options.file_system_poll_wait_seconds;
  Clock::time_point next_look = Clock::now();
  while (!stop) {
    try {
      if (watch.changed()) look_now = true;
      if (look_now || (poll > 0 && Clock::now() >= next_look)) {
        look_now = false;
        is_looking = true;
        ++looks;  // also one that fails
        look(lock);
        is_looking = false;
        next_look = Clock::now() + std::chrono::microseconds(static_cast<i64>(poll * 1e6));
      }
      bool is_pending = false;
      for (auto& [name, model] : models) {
        retire(model);
        is_pending = is_pending || model.has(State::start);
      }
      if (is_pending) wake.notify_all();  // those who load, perhaps again
    } catch (const std::exception& e) {   // no memory: what is served stays, and the folders are looked at again
      if (!lock.owns_lock()) lock.lock();
      is_looking = false;
      detail::warn((std::string("serving: the folders of the models cannot be read: ") + e.what()).c_str());
    }
    if (!has_work()) idle.notify_all();
    wake.wait_for(lock, std::chrono::milliseconds(50), [&] { return stop || look_now; });
  }
  idle.notify_all();
}

TANDEM_INLINE Manager::Manager(const Options& options, Metrics& metrics)
    : shared_(std::make_unique<Shared>(options, metrics)) {
  configure(options.models);
  try {
    shared_->threads.emplace_back([s = shared_.get()] { s->run(); });
    for (int i = 0; i < std::max(1, options.num_load_threads); ++i)
      shared_->threads.emplace_back([s = shared_.get()] { s->run_loader(); });
  } catch (...) {  // the system has no more threads
    shared_->end();
    throw;
  }
}
TANDEM_INLINE Manager::~Manager() { shared_->end(); }
TANDEM_INLINE void Manager::Shared::end() {
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  is_over.cancel();
  wake.notify_all();
  for (std::thread& t : threads) t.join();
}

TANDEM_INLINE void Manager::configure(std::vector<ModelConfig> given) {
  std::map<std::string, ModelConfig> by_name;
  for (ModelConfig& m : given) {
    if (m.name.empty() || m.base_path.empty())
      errors::raise<errors::InvalidArgumentError>("serving", "a model needs a name and a base_path; got name '" +
                                                                 m.name + "', base_path '" + m.base_path + "'");
    if (m.policy.kind == VersionPolicy::latest && m.policy.num_versions < 1)
      errors::raise<errors::InvalidArgumentError>("serving", "the policy of the model '" + m.name + "' wants " +
                                                                 std::to_string(m.policy.num_versions) + " versions");
    check_batching_of(m);
    const std::string name = m.name;
    if (!by_name.emplace(name, std::move(m)).second)
      errors::raise<errors::InvalidArgumentError>("serving", "two models have the name '" + name + "'");
  }
  std::map<std::string, Model> dropped;  // freed without the lock
  const std::lock_guard lock(shared_->mutex);
  std::map<std::string, Model>& models = shared_->models;
  for (auto m = models.begin(); m != models.end();) {
    const auto at = by_name.find(m->first);
    const bool stays = at != by_name.end() && at->second.base_path == m->second.config.base_path;
    const auto next = std::next(m);
    if (!stays) dropped.insert(models.extract(m));
    m = next;
  }
  for (auto& [name, config] : by_name) models[name].config = std::move(config);
  for (auto& [name, model] : models)
    for (auto& [number, v] : model.versions)
      if (v.status.state == State::end) v.failures = 0;
  shared_->look_now = true;
  shared_->wake.notify_all();
}
TANDEM_INLINE void Manager::settle(const CallOptions& call) {
  const CallScope scope(call);
  std::unique_lock lock(shared_->mutex);
  const i64 wanted = shared_->looks + 1;
  shared_->look_now = true;
  shared_->wake.notify_all();
  // A look that has begun already does not count.
  const auto is_settled = [&] {
    return shared_->stop || (shared_->looks >= wanted && !shared_->is_looking && !shared_->has_work());
  };
  constexpr std::chrono::milliseconds patience(20);
  while (!shared_->idle.wait_for(lock, patience, is_settled)) scope.check("serving", "while models were loaded");
}

TANDEM_INLINE const Model& Manager::Shared::model(const ModelSpec& spec) const {
  const auto at = models.find(spec.name);
  if (at == models.end()) raise_not_served(spec);
  return at->second;
}
TANDEM_INLINE Lease Manager::acquire(const ModelSpec& spec) const {
  const std::lock_guard lock(shared_->mutex);
  const Model& model = shared_->model(spec);
  const std::optional<i64> number = number_of(model, spec);
  if (!number) {
    const Version* const v = model.newest();
    if (!v) raise_not_served(spec);
    return v->servable;
  }
  const auto at = model.versions.find(*number);
  if (at == model.versions.end() || at->second.status.state != State::available) raise_not_served(spec);
  return at->second.servable;
}
TANDEM_INLINE std::vector<VersionStatus> Manager::states(const ModelSpec& spec) const {
  const std::lock_guard lock(shared_->mutex);
  const auto at = shared_->models.find(spec.name);
  if (at == shared_->models.end())
    errors::raise<errors::NotFoundError>("serving", "Could not find any versions of model " + spec.name);
  const std::optional<i64> number = number_of(at->second, spec);
  std::vector<VersionStatus> r;
  for (auto v = at->second.versions.rbegin(); v != at->second.versions.rend(); ++v)
    if (!number || v->first == *number) {
      r.push_back(v->second.status);
      for (const auto& [label, version] : at->second.config.version_labels)
        if (version == v->first) r.back().labels.push_back(label);
    }
  if (r.empty() && number)
    errors::raise<errors::NotFoundError>(
        "serving", "Could not find version " + std::to_string(*number) + " of model " + spec.name);
  return r;
}
TANDEM_INLINE std::vector<std::string> Manager::models() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<std::string> r;
  for (const auto& [name, model] : shared_->models) r.push_back(name);
  return r;
}
TANDEM_INLINE bool Manager::is_ready() const {
  const std::lock_guard lock(shared_->mutex);
  return std::all_of(shared_->models.begin(), shared_->models.end(),
                     [](const auto& m) { return m.second.newest() != nullptr; });
}

}  // namespace TANDEM_NS::serving::impl
