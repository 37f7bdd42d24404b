// What the threads of a Manager share. For the definitions of serving/manager.hpp.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/serving/folder_watch.hpp"
#include "tandem/serving/load_version.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/model_versions.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving::impl {

struct Manager::Shared {
  class Budget;
  Shared(const Options& o, Metrics& m) : options(o), metrics(m), batching(o.batching) {}

  void run();
  void run_loader();
  void end();
  void look(std::unique_lock<std::mutex>& lock);
  void follow(const std::vector<std::pair<std::string, std::string>>& paths, std::unique_lock<std::mutex>& lock);
  void want(Model& model, const std::vector<i64>& present, std::vector<Lease>& dropped);
  void take_up(const Model& model, Version& version, std::vector<Lease>& dropped);
  bool load_next(std::unique_lock<std::mutex>& lock);
  void load(std::unique_lock<std::mutex>& lock, const std::string& name, i64 version);
  void retire(Model& model);
  void tell(const char* event, const VersionPlace& place, const Status& status, double seconds) const;
  i64 reserved() const;
  Version* find(const VersionPlace& place);
  bool is_batched_as_all(const Model& model) const;
  bool has_work() const;
  const Model& model(const ModelSpec& spec) const;

  const Options options;
  Metrics& metrics;
  mutable std::mutex mutex;
  std::condition_variable wake, idle;
  std::map<std::string, Model> models;
  Batching batching;  // of all models that have none of their own
  bool stop = false, look_now = true;
  i64 looks = 0;            // how often the folders were looked at, this time included
  bool is_looking = false;  // and the lock may be free meanwhile
  CancelToken is_over;      // ends warm-up
  u64 next_id = 1;
  FolderWatch watch{options.file_system_poll_wait_seconds > 0};  // of the one that looks
  std::vector<std::thread> threads;                              // one that looks, others that load
};

}  // namespace TANDEM_NS::serving::impl
