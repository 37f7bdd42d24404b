// Definitions of serving/log.hpp.
#pragma once
#include <chrono>
#include <ctime>
#include <exception>
#include <string_view>

#include "tandem/serving/json_write.hpp"
#include "tandem/serving/log.hpp"
#include "tandem/serving/status.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving {

TANDEM_INLINE std::string json_line(const LogEntry& e, i64 milliseconds) {
  const std::time_t seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char day[40], time[64];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(time, sizeof time, "%s.%03dZ", day, static_cast<int>(milliseconds % 1000));
  std::string r = "{";
  const auto text = [&](const char* key, std::string_view value) {
    if (value.empty()) return;
    ((r += r.size() > 1 ? ",\"" : "\"") += key) += "\":";
    impl::append_json_text(r, value);
  };
  text("time", time), text("level", e.level), text("event", e.event), text("protocol", e.protocol);
  text("model", e.model);
  if (e.version) r += ",\"version\":" + std::to_string(e.version);
  text("signature", e.signature), text("method", e.method), text("code", code_name(e.code));
  const auto milli = [&](const char* key, double value) {
    (((r += ",\"") += key) += "\":") += tandem::detail::fixed_text(value * 1e3, 3);
  };
  milli("latency_ms", e.seconds);
  if (e.queue_seconds > 0) milli("queue_ms", e.queue_seconds);
  if (e.run_seconds > 0) milli("run_ms", e.run_seconds);
  if (e.rows) r += ",\"rows\":" + std::to_string(e.rows);
  text("id", e.id), text("text", e.text);
  return r + '}';
}
TANDEM_INLINE void JsonLog::write(const LogEntry& entry) noexcept try {
  using std::chrono::duration_cast, std::chrono::milliseconds;
  if (every_ > 1 && entry.code == 0 && std::string_view(entry.event) == "request" && requests_++ % every_ != 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string line = json_line(entry, duration_cast<milliseconds>(now).count()) + '\n';
  std::fwrite(line.data(), 1, line.size(), to_);  // of one piece: lines of several threads do not mix
  std::fflush(to_);
} catch (const std::exception&) {  // no memory
}

}  // namespace TANDEM_NS::serving
