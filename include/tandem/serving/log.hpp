// LogSink: who is told what a model server does. Part of the component tandem::serving.
#pragma once
#include <atomic>
#include <cstdio>
#include <string>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::serving {

/// Something that a server has done. Nothing of what clients send is in it but names of what there is.
struct LogEntry {
  const char* level = "info";  ///< "info", "warning"
  const char* event =
      "request";           ///< "request", "refused", "loaded", "batch_speed", "load_failed", "unloaded", "shutdown"
  std::string model = {};  ///< "other" for one that is not served
  i64 version = 0;         ///< 0: none
  std::string signature = {};
  const char* protocol = "";  ///< of a request: "rest", "grpc"
  std::string_view method{};  ///< of a request: "predict", "classify", "regress"; of what is refused: why
  int code = 0;               ///< gRPC's status code
  double seconds = 0;         ///< how long it took
  double queue_seconds = 0;   ///< of a request that reached a model: how long it waited for its turn; 0: it did not
  double run_seconds = 0;     ///< and how long it, or the batch that it was in, ran; 0: it did not
  i64 rows = 0;               ///< of a request that reached a model
  std::string id = {};        ///< of a request: an answer that says "internal error ID" has the same
  std::string text = {};      ///< of an event that is not a request: what else is to say
};

/// Gets the entries of all threads.
class TANDEM_API LogSink {
 public:
  virtual ~LogSink() = default;
  /// Called by several threads at once, and while a client waits. It must not call the server: entries of versions are
  /// written under its lock.
  virtual void write(const LogEntry& entry) noexcept = 0;
  /// Whether it is told of requests and of what is refused, too. With false, no entries are made for them, which saves
  /// time: write() gets what happens to versions and to the server alone, and an answer that says "internal error ID"
  /// has an id that no entry has.
  virtual bool takes_requests() const noexcept { return true; }
};

/// Writes each entry as a line of JSON:
/// {"time":"2026-11-27T03:14:15.926Z","level":"info","event":"request","protocol":"grpc","model":"half","version":3,
///  "signature":"serving_default","method":"predict","code":"OK","latency_ms":0.214,"queue_ms":0.004,"run_ms":0.110,
///  "rows":3,"id":"5f0c3b9a5d1e7764"}. Empty fields are left out. A line that cannot be written is lost.
class TANDEM_API JsonLog final : public LogSink {
 public:
  ///   every   N writes one of every N requests that succeed; other entries are all written
  explicit JsonLog(std::FILE* to, int every = 1) : to_(to), every_(every < 1 ? 1 : static_cast<u64>(every)) {}
  void write(const LogEntry& entry) noexcept override;

 private:
  std::FILE* const to_;
  const u64 every_;
  std::atomic<u64> requests_{0};
};
/// The line, without its end; of a time in milliseconds since 1970.
TANDEM_API std::string json_line(const LogEntry& entry, i64 milliseconds);

}  // namespace TANDEM_NS::serving
