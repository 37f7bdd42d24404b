// Definitions of summary/recorder.hpp.
//
// Events lie framed and ready in a string; the thread takes the whole string for its own empty one and writes it. What
// the system has not taken stays for the next attempt, so that a record that a full disk has cut is completed later.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/io/file.hpp"
#include "tandem/summary/event_file.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/live.hpp"
#include "tandem/summary/recorder.hpp"
#include "tandem/summary/wire.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary::detail {

struct TagHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

TANDEM_INLINE double seconds_since_1970() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Recorder::State {
  State(const std::string& f, const FileWriterOptions& o, Warned w)
      : folder(f),
        file(f, o.filename_suffix),
        queue_limit(static_cast<std::size_t>(o.max_queue_bytes)),
        wake_bytes(std::min(queue_limit, std::size_t{1} << 18)),
        flush_time(o.flush_seconds),
        simple_values(o.simple_values),
        warned(w ? std::move(w) : std::make_shared<std::atomic<bool>>(false)) {}

  std::size_t queued() const { return writing.size() - written + pending.size(); }
  bool has_work() const { return stop || (!failed && pending.size() >= wake_bytes); }
  bool make_room(std::unique_lock<std::mutex>& lock);
  std::string refusal(std::string_view tag, const Plugin& plugin, std::string_view description, bool& is_new) const;
  [[noreturn]] void raise_closed(const char* op) const;
  template <class F>
  void append_event(i64 step, double wall_time, const F& what);
  void drain(std::unique_lock<std::mutex>& lock);
  void begin_file(const std::optional<i64>& restart_step);
  void report(std::unique_lock<std::mutex>& lock);
  void run();

  const std::string folder;
  EventFile file;
  const std::size_t queue_limit, wake_bytes;  // the thread writes early from wake_bytes on
  const std::chrono::duration<double> flush_time;
  const bool simple_values;
  const Warned warned;
  const unsigned process = forks();

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable wake, room, drained;
  std::string pending;  // not yet taken by the thread
  std::string writing;  // being written; its first `written` bytes are
  std::size_t written = 0;
  std::unordered_map<std::string, std::string_view, TagHash, std::equal_to<>> plugins;  // by tag
  WriterStats stats;
  bool begun = false, draining = false, failed = false, closed = false, stop = false;

  std::mutex projector;                           // guards the projector's file and what follows
  std::map<std::string, std::string> embeddings;  // its entries, by name

  std::thread thread;
};

TANDEM_INLINE void Recorder::State::raise_closed(const char* op) const {
  errors::raise<errors::FailedPreconditionError>(op, "the writer of " + file.path() + " is closed");
}
// Waits until the queue is below its limit, without the lock. False if it is full and the file cannot be written, or
// the writer closed.
TANDEM_INLINE bool Recorder::State::make_room(std::unique_lock<std::mutex>& lock) {
  if (queued() < queue_limit && !closed) [[likely]]
    return true;
  if (!failed && !closed) ++stats.waits;
  while (queued() >= queue_limit && !failed && !closed) room.wait(lock);
  return queued() < queue_limit && !closed;
}
// Why a value cannot be written under this tag; empty if it can.
TANDEM_INLINE std::string Recorder::State::refusal(std::string_view tag, const Plugin& plugin,
                                                   std::string_view description, bool& is_new) const {
  const auto known = plugins.find(tag);
  is_new = known == plugins.end();
  if (!is_new && known->second == plugin.name) [[likely]]
    return {};
  if (!is_new)
    return "the tag '" + std::string(tag) + "' has values for " + std::string(known->second) +
           ", and TensorBoard shows a tag by one plugin alone: give these another tag";
  if (tag.empty()) return "the tag is empty";
  const auto damaged = [](const char* what, std::string_view s) {
    return what + tandem::detail::escaped_text(s) + " is not UTF-8, which TensorBoard could not read";
  };
  if (!tandem::detail::is_utf8(tag)) return damaged("the tag ", tag);
  if (!tandem::detail::is_utf8(description)) return damaged("the description ", description);
  return {};
}
// Adds a record with one event to the queue; `what` appends the event's other fields.
template <class F>
void Recorder::State::append_event(i64 step, double wall_time, const F& what) {
  const std::size_t before = pending.size();
  try {
    const std::size_t begin = begin_record(pending);
    append_fixed(pending, 1, wall_time != 0 ? wall_time : seconds_since_1970());
    if (step) append_integer(pending, 2, step);
    what();
    end_record(pending, begin);
  } catch (...) {  // memory is exhausted: no half of a record stays
    pending.resize(before);
    throw;
  }
  ++stats.events;
  if (before < wake_bytes && pending.size() >= wake_bytes) wake.notify_one();
}

// Writes what is in the queue. The lock is released meanwhile; one thread at a time does it. A failure before the file
// has its first records is an error of the constructor, and no warning.
TANDEM_INLINE void Recorder::State::drain(std::unique_lock<std::mutex>& lock) {
  while (draining) drained.wait(lock);
  if (!file.is_open()) return;
  draining = true;
  for (int round = 0; round < 2; ++round) {  // what an earlier failure has left, then what has come since
    if (written == writing.size()) {
      writing.clear(), written = 0;
      writing.swap(pending);
    }
    lock.unlock();
    const std::size_t count = file.append(std::string_view(writing).substr(written));
    lock.lock();
    written += count, stats.bytes += static_cast<i64>(count);
    failed = written < writing.size();
    if (failed) break;
  }
  draining = false;
  drained.notify_all(), room.notify_all();
  if (failed && begun && !warned->exchange(true)) report(lock);
}
// The program's handler is called without the lock, since it may use the writer. What it throws would end the program
// on the recorder's thread, and goes no further.
TANDEM_INLINE void Recorder::State::report(std::unique_lock<std::mutex>& lock) {
  const std::string text = file.error_text() + "; the program goes on without summaries until that is possible";
  lock.unlock();
  try {
    tandem::detail::warn(text.c_str());
  } catch (...) {
  }
  lock.lock();
}
TANDEM_INLINE void Recorder::State::run() {
  std::unique_lock lock(mutex);
  while (!stop) {
    wake.wait_for(lock, flush_time, [this] { return has_work(); });
    if (queued()) drain(lock);
  }
}

// The records that each file begins with. No file is left if they cannot be written.
TANDEM_INLINE void Recorder::State::begin_file(const std::optional<i64>& restart_step) {
  append_event(restart_step.value_or(0), 0, [&] { append_field(pending, 3, "brain.Event:2"); });
  // SessionLog.status: START. TensorBoard takes the first one that it sees as the start of the run, so there are two.
  for (int i = 0; i < 2 && restart_step; ++i)
    append_event(*restart_step, 0, [&] { append_message(pending, 7, [&] { append_integer(pending, 1, 1); }); });
  {
    std::unique_lock lock(mutex);
    drain(lock);
    begun = !failed;
  }
  if (!begun) {
    file.remove();
    file.raise_error("");
  }
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    file.remove();
    errors::raise<errors::ResourceExhaustedError>("FileWriter", "the system has no thread left to start");
  }
}

TANDEM_INLINE Recorder::Recorder(const std::string& folder, const FileWriterOptions& options, Warned warned)
    : state_(std::make_unique<State>(folder, options, std::move(warned))) {
  state_->begin_file(options.restart_step);
  add_live(*this);
}
TANDEM_INLINE Recorder::~Recorder() {
  if (!state_) return;
  remove_live(*this);
  try {
    close();
  } catch (const errors::OpError&) {  // it has been a warning
  }
}
TANDEM_INLINE bool Recorder::is_inherited() const { return state_->process != forks(); }
TANDEM_INLINE void Recorder::abandon() noexcept {
  remove_live(*this);
  (void)state_.release();
}

// Errors are raised without the lock: where nobody catches them, std::terminate flushes the recorder.
TANDEM_INLINE void Recorder::add(const char* op, std::string_view tag, const Plugin& plugin, std::string_view fields,
                                 i64 step, double wall_time, std::string_view description) {
  check_process(op, is_inherited());
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  const bool has_room = s.make_room(lock);  // first, since others may add tags while it waits
  bool is_new = false;
  const std::string refusal = s.refusal(tag, plugin, description, is_new);
  if (!refusal.empty() || !has_room) {
    const bool closed = s.closed;
    if (!closed && refusal.empty()) ++s.stats.lost;
    lock.unlock();
    if (closed) s.raise_closed(op);
    if (!refusal.empty()) errors::raise<errors::InvalidArgumentError>(op, refusal);
    return;
  }
  std::string& to = s.pending;
  s.append_event(step, wall_time, [&] {
    append_message(to, 5, [&] {
      append_message(to, 1, [&] {
        append_field(to, 1, tag);
        to += fields;
        // TensorBoard keeps the metadata of a tag's first value. Without them a scalar takes 15 bytes less.
        if (is_new && plugin.is_written) to += metadata_of(plugin, description);
      });
    });
  });
  if (is_new) s.plugins.emplace(tag, plugin.name);
}
TANDEM_INLINE void Recorder::add_event(const char* op, std::uint32_t field, std::string_view bytes, i64 step) {
  check_process(op, is_inherited());
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (s.make_room(lock)) return s.append_event(step, 0, [&] { append_field(s.pending, field, bytes); });
  const bool closed = s.closed;
  if (!closed) ++s.stats.lost;
  lock.unlock();
  if (closed) s.raise_closed(op);
}
TANDEM_INLINE void Recorder::add_embedding(const std::string& name, const std::string& entry) {
  check_open("embedding");
  const std::lock_guard lock(state_->projector);
  state_->embeddings[name] = entry;
  std::string config;
  for (const auto& e : state_->embeddings) config += e.second;
  io::write_file(state_->folder + "/projector_config.pbtxt", config);
}
TANDEM_INLINE void Recorder::check_open(const char* op) const {
  check_process(op, is_inherited());
  std::unique_lock lock(state_->mutex);
  const bool closed = state_->closed;
  lock.unlock();
  if (closed) state_->raise_closed(op);
}

TANDEM_INLINE void Recorder::flush() {
  if (is_inherited()) return;
  std::unique_lock lock(state_->mutex);
  if (!state_->closed) state_->drain(lock);
}
TANDEM_INLINE void Recorder::flush_at_end() {
  if (is_inherited()) return;
  std::unique_lock lock(state_->mutex, std::defer_lock);
  for (int i = 0; i < 100 && !lock.try_lock(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (lock.owns_lock() && !state_->closed) state_->drain(lock);
}
// The writer's thread may be writing: it goes on meanwhile, and what it has written is known when it has the lock.
TANDEM_INLINE void Recorder::write_at_abort() noexcept {
  if (is_inherited()) return;
  State& s = *state_;
  for (int i = 0; i < 100; ++i) {
    if (s.mutex.try_lock()) {
      if (!s.draining) {
        const std::string_view rest = std::string_view(s.writing).substr(s.written);
        if (s.file.is_open() && s.file.append(rest) == rest.size()) s.file.append(s.pending);
        return;
      }
      s.mutex.unlock();
    }
    const timespec wait{0, 10'000'000};
    ::nanosleep(&wait, nullptr);
  }
}
TANDEM_INLINE void Recorder::close() {
  State& s = *state_;
  if (is_inherited()) return;
  {
    const std::lock_guard lock(s.mutex);
    if (s.closed) return;
    s.closed = s.stop = true;
    s.wake.notify_one();
  }
  if (s.thread.joinable()) s.thread.join();
  std::unique_lock lock(s.mutex);
  s.drain(lock);
  while (s.draining) s.drained.wait(lock);  // a flush() that began before
  s.file.close();
  const i64 lost = s.stats.lost;
  if (s.failed) s.file.raise_error("; the last events are lost");
  if (lost)
    errors::raise<errors::ResourceExhaustedError>(
        "FileWriter", std::to_string(lost) + " events are missing in " + s.file.path() +
                          ": for some time it could not be written, and the queue was full");
}

TANDEM_INLINE WriterStats Recorder::stats() const {
  if (is_inherited()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->stats;
}
TANDEM_INLINE const std::string& Recorder::path() const { return state_->file.path(); }
TANDEM_INLINE const std::string& Recorder::folder() const { return state_->folder; }
TANDEM_INLINE bool Recorder::uses_simple_values() const { return state_->simple_values; }

}  // namespace TANDEM_NS::summary::detail
