// Definitions of train/checkpoint_manager.hpp.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "tandem/base/warning.hpp"
#include "tandem/io/file.hpp"
#include "tandem/io/safetensors_shards.hpp"
#include "tandem/train/checkpoint_manager.hpp"
#include "tandem/train/save_together.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::train {

// The values of one moment, to be written.
struct CheckpointManager::Job {
  impl::CheckpointRecord record;
  std::vector<io::NamedTensor> values;
  Metadata metadata;
  detail::ShardSet shards;  // the files with rows beside it
};

struct CheckpointManager::State {
  State(Checkpoint c, std::string d, CheckpointManagerOptions o)
      : checkpoint(std::move(c)), directory(std::move(d)), options(std::move(o)) {}

  const Checkpoint checkpoint;
  const std::string directory;
  const CheckpointManagerOptions options;

  std::mutex mutex;  // guards what follows
  tandem::detail::Condition changed;
  impl::CheckpointIndex index;
  std::unique_ptr<Job> waiting;
  bool writing = false, closed = false;
  std::exception_ptr error;  // of the thread
  std::thread thread;        // of the caller alone
  bool cleaned = false;      // of the one who writes: what killed processes left is removed

  double now() const {
    if (options.clock) return options.clock();
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

TANDEM_INLINE CheckpointManager::CheckpointManager(Checkpoint checkpoint, std::string directory,
                                                   CheckpointManagerOptions options)
    : state_(std::make_unique<State>(std::move(checkpoint), std::move(directory), std::move(options))) {
  const CheckpointManagerOptions& o = state_->options;
  const auto refuse = [](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("CheckpointManager", what);
  };
  if (o.checkpoint_name.empty() || o.checkpoint_name.find('/') != std::string::npos)
    refuse("the name of checkpoints is '" + o.checkpoint_name +
           "'; it is the beginning of a file's name, such as ckpt");
  if (!tandem::detail::is_utf8(o.checkpoint_name))
    refuse("the name of checkpoints is not UTF-8: '" + tandem::detail::escaped_text(o.checkpoint_name) + "'");
  if (o.max_to_keep < 0) refuse("max_to_keep is " + std::to_string(o.max_to_keep) + "; 0 keeps all");
  if (o.max_shard_bytes < 0) refuse("max_shard_bytes is " + std::to_string(o.max_shard_bytes) + "; 0 makes one file");
  if (o.keep_checkpoint_every_n_hours && !(*o.keep_checkpoint_every_n_hours > 0))
    refuse("keep_checkpoint_every_n_hours is not above 0");
  const auto read = [&] {
    state_->index = impl::CheckpointIndex::read(state_->directory, o.checkpoint_name);
    if (state_->index.last_preserved == 0) state_->index.last_preserved = state_->now();
  };
  if (!detail::is_of_several(state_->checkpoint)) {
    read();
    return;
  }
  detail::together("restore", state_->directory, [&] {
    if (detail::Replicas().is_first()) read();
  });
  share_index();
}
TANDEM_INLINE CheckpointManager::~CheckpointManager() { finish(); }

TANDEM_INLINE std::string CheckpointManager::path_of(const std::string& file) const {
  return state_->directory + "/" + file;
}
TANDEM_INLINE const std::string& CheckpointManager::directory() const { return state_->directory; }
TANDEM_INLINE std::vector<std::string> CheckpointManager::checkpoints() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> r;
  for (const impl::CheckpointRecord& c : state_->index.active) r.push_back(path_of(c.file));
  return r;
}
TANDEM_INLINE std::string CheckpointManager::latest_checkpoint() const {
  const std::lock_guard lock(state_->mutex);
  return state_->index.active.empty() ? "" : path_of(state_->index.active.back().file);
}
TANDEM_INLINE std::string CheckpointManager::best_checkpoint() const {
  const std::lock_guard lock(state_->mutex);
  return state_->index.best ? path_of(state_->index.best->file) : "";
}

TANDEM_INLINE std::string CheckpointManager::save(i64 step, const SaveOptions& options) {
  State& s = *state_;
  if (detail::is_of_several(s.checkpoint)) return save_of_several(step, options);
  throw_error();
  check_save(step, options);
  std::unique_ptr<Job> job = make_job(step, options, s.options.max_shard_bytes > 0);
  const std::string path = path_of(job->record.file);
  job->values = s.checkpoint.values();
  save_now(std::move(job));
  return path;
}
TANDEM_INLINE void CheckpointManager::check_save(i64 step, const SaveOptions& options) const {
  const std::string& metric = state_->options.best_metric;
  if (state_->closed)
    errors::raise<errors::FailedPreconditionError>("CheckpointManager", "it is closed: nothing is saved");
  if (step < 0) errors::raise<errors::InvalidArgumentError>("CheckpointManager", "the step is " + std::to_string(step));
  for (const auto& [key, value] : options.metrics)
    if (!tandem::detail::is_utf8(key))
      errors::raise<errors::InvalidArgumentError>(
          "CheckpointManager", "the name of a metric is not UTF-8: '" + tandem::detail::escaped_text(key) + "'");
  if (!metric.empty() && !options.metrics.contains(metric))
    errors::raise<errors::InvalidArgumentError>(
        "CheckpointManager", "the best checkpoint is kept by '" + metric + "', which save() was not given in .metrics");
}
TANDEM_INLINE std::unique_ptr<CheckpointManager::Job> CheckpointManager::make_job(i64 step, const SaveOptions& options,
                                                                                  bool has_shards) const {
  const char* const suffix = has_shards ? io::shards_suffix : ".safetensors";
  const std::string file = state_->options.checkpoint_name + "-" + std::to_string(step) + suffix;
  return std::make_unique<Job>(Job{{file, step, state_->now(), options.metrics}, {}, options.metadata, {}});
}
// All processes go on to each part of it together.
TANDEM_INLINE std::string CheckpointManager::save_of_several(i64 step, const SaveOptions& options) {
  State& s = *state_;
  const detail::Replicas replicas;
  std::unique_ptr<Job> job;
  detail::together("save", s.directory, [&] {
    wait_here();  // what is written removes files of rows
    check_save(step, options);
    job = make_job(step, options, s.options.max_shard_bytes > 0 && !s.checkpoint.without_sharded().values().empty());
  });
  std::vector<i64> steps{step, -step};
  replicas.largest(steps);
  if (steps[0] != -steps[1])
    errors::raise<errors::InvalidArgumentError>(
        "CheckpointManager",
        "the processes save different steps: " + std::to_string(-steps[1]) + " and " + std::to_string(steps[0]));
  const std::string path = path_of(job->record.file);
  job->shards = detail::write_rows(s.checkpoint, path);
  job->metadata["shards"] = job->shards.text();
  detail::together("save", path, [&] {
    if (!replicas.is_first()) return;
    job->values = s.checkpoint.without_sharded().values();
    save_now(std::move(job));
  });
  share_index();
  return path;
}
TANDEM_INLINE void CheckpointManager::save_now(std::unique_ptr<Job> job) {
  if (state_->options.async) enqueue(std::move(job));
  else write(*job);
}
// What the first process has written becomes known to all.
TANDEM_INLINE void CheckpointManager::share_index() {
  State& s = *state_;
  const detail::Replicas replicas;
  std::string text;
  {
    const std::lock_guard lock(s.mutex);
    if (replicas.is_first()) text = s.index.text();
  }
  text = replicas.shared(text);
  if (replicas.is_first()) return;
  impl::CheckpointIndex index = impl::CheckpointIndex::parse(text, s.directory, s.options.checkpoint_name);
  const std::lock_guard lock(s.mutex);
  s.index = std::move(index);
}

// Writes a checkpoint, then the index, and then removes files: an error or the end of the process at any moment leaves
// an index whose files exist.
TANDEM_INLINE void CheckpointManager::write(const Job& job) {
  State& s = *state_;
  const CheckpointManagerOptions& o = s.options;
  const std::string path = path_of(job.record.file);
  if (!std::exchange(s.cleaned, true)) impl::remove_unfinished(s.directory, o.checkpoint_name);
  io::ensure_directory(s.directory);
  if (path.ends_with(io::shards_suffix)) io::save_safetensors_shards(path, job.values, job.metadata, o.max_shard_bytes);
  else io::save_safetensors(path, job.values, job.metadata);

  impl::CheckpointIndex next;
  {
    const std::lock_guard lock(s.mutex);
    next = s.index;
  }
  const std::vector<std::string> before = next.files();
  next.add(job.record);
  next.choose_best(o.best_metric, o.better);
  std::optional<double> every = o.keep_checkpoint_every_n_hours;
  if (every) *every *= 3600;
  next.rotate(o.max_to_keep, every, job.record.time);
  next.removed.insert(next.removed.end(), before.begin(), before.end());
  const std::vector<std::string> kept = next.files();
  std::erase_if(next.removed,
                [&](const std::string& file) { return std::find(kept.begin(), kept.end(), file) != kept.end(); });
  try {
    next.write(s.directory, o.checkpoint_name);
  } catch (...) {
    if (std::find(before.begin(), before.end(), job.record.file) == before.end()) remove(job.record.file);
    throw;
  }
  // What cannot be removed stays listed for the next time.
  std::erase_if(next.removed, [&](const std::string& file) { return remove(file); });
  if (job.shards.files > 0) {  // what this step's former save has left, and processes that were killed
    detail::ShardFiles::remove_others(path, job.shards);
    detail::ShardFiles::remove_before(s.directory, job.record.step, o.checkpoint_name, kept);
  }
  const std::lock_guard lock(s.mutex);
  s.index = std::move(next);
}

// Removes a checkpoint; false if there still is one. The index of shards goes last: it says which they are.
TANDEM_INLINE bool CheckpointManager::remove(const std::string& file) const {
  const std::string path = path_of(file);
  if (file.ends_with(io::shards_suffix)) try {
      for (const std::string& shard : io::list_safetensors_shards(path)) ::unlink(shard.c_str());
    } catch (const errors::OpError&) {  // it is gone, or does not say
    }
  detail::ShardFiles::remove_others(path, {});
  return ::unlink(path.c_str()) == 0 || errno == ENOENT;
}

TANDEM_INLINE void CheckpointManager::enqueue(std::unique_ptr<Job> job) {
  State& s = *state_;
  if (!s.thread.joinable()) try {
      s.thread = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      errors::raise<errors::ResourceExhaustedError>("CheckpointManager", "the system has no thread left to start");
    }
  std::unique_lock lock(s.mutex);
  while (s.waiting) s.changed.wait(lock);
  s.waiting = std::move(job);
  s.changed.notify_all();
}
// The thread of .async.
TANDEM_INLINE void CheckpointManager::run() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  for (;;) {
    while (!s.waiting && !s.closed) s.changed.wait(lock);
    if (!s.waiting) return;
    std::unique_ptr<Job> job = std::move(s.waiting);
    s.writing = true;
    s.changed.notify_all();
    lock.unlock();
    std::exception_ptr error;
    try {
      write(*job);
    } catch (...) {
      error = std::current_exception();
    }
    job.reset();
    lock.lock();
    s.writing = false;
    if (error && !s.error) s.error = error;
    s.changed.notify_all();
  }
}
TANDEM_INLINE void CheckpointManager::throw_error() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(state_->mutex);
    error = std::exchange(state_->error, nullptr);
  }
  if (error) std::rethrow_exception(error);
}
TANDEM_INLINE void CheckpointManager::wait_here() {
  {
    std::unique_lock lock(state_->mutex);
    while (state_->waiting || state_->writing) state_->changed.wait(lock);
  }
  throw_error();
}
TANDEM_INLINE void CheckpointManager::wait() {
  if (!detail::is_of_several(state_->checkpoint)) return wait_here();
  detail::together("save", state_->directory, [&] { wait_here(); });
  share_index();
}
TANDEM_INLINE void CheckpointManager::finish() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
}
TANDEM_INLINE void CheckpointManager::close() {
  if (!detail::is_of_several(state_->checkpoint)) return finish(), throw_error();
  detail::together("save", state_->directory, [&] { finish(), throw_error(); });
  share_index();
}

TANDEM_INLINE RestoredCheckpoint CheckpointManager::restore_or_initialize(const RestoreLatestOptions& options) {
  wait();
  RestoredCheckpoint r;
  std::vector<impl::CheckpointRecord> active = state_->index.active;  // nothing is being written
  for (; !active.empty(); active.pop_back()) {
    const impl::CheckpointRecord& latest = active.back();
    const std::string path = path_of(latest.file);
    if (const std::string lost = try_restore(path, options, active.size() == 1); !lost.empty()) {
      r.errors.push_back(lost);
      tandem::detail::warn((lost + "; going on from the checkpoint before it").c_str());
      continue;
    }
    r.path = path, r.step = latest.step;
    break;
  }
  return r;
}
// Restores a checkpoint, in all processes that have rows of it. Returns why it is damaged or missing, where .fall_back
// goes on to another; the processes return and raise together.
TANDEM_INLINE std::string CheckpointManager::try_restore(const std::string& path, const RestoreLatestOptions& options,
                                                         bool is_last) {
  enum Outcome : i64 { restored, lost, failed };
  std::vector<i64> outcome{restored};  // of this process, then the worst of all
  std::exception_ptr error;
  std::string message = "restore: another process could not restore its part of " + path;
  try {
    state_->checkpoint.restore(path, {.partial = options.partial});
  } catch (const errors::OpError& e) {
    const bool is_lost = e.code() == errors::Code::data_loss || e.code() == errors::Code::not_found;
    outcome[0] = is_lost && options.fall_back && !is_last ? lost : failed;
    error = std::current_exception(), message = e.message();
  } catch (...) {  // raised again below, when the others know
    outcome[0] = failed, error = std::current_exception();
  }
  if (detail::is_of_several(state_->checkpoint)) detail::Replicas().largest(outcome);
  if (outcome[0] == restored) return {};
  if (outcome[0] == lost) return message;
  if (error) std::rethrow_exception(error);
  errors::raise<errors::AbortedError>("restore", "another process could not restore its part of " + path);
}
TANDEM_INLINE std::string latest_checkpoint(const std::string& directory, const std::string& checkpoint_name) {
  const impl::CheckpointIndex index = impl::CheckpointIndex::read(directory, checkpoint_name);
  return index.active.empty() ? "" : directory + "/" + index.active.back().file;
}

}  // namespace TANDEM_NS::train
