// Definitions of train/progress.hpp.
#pragma once
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <ostream>

#include "tandem/train/progress.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::train {

namespace impl {

inline bool is_set_in_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value;
}
// "1:05" or "2:00:07".
TANDEM_INLINE std::string clock_text(double seconds) {
  const auto s = static_cast<long long>(std::min(seconds, 1e9) + 0.5);
  char text[32];
  if (s >= 3600) std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}
// "52134 steps/s", "52.1 steps/s", "1.25 s/step".
TANDEM_INLINE std::string rate_text(double rate, const std::string& unit) {
  const double x = rate >= 1 ? rate : 1 / rate;
  const std::string number =
      x < 1000 ? tandem::detail::rounded_text(x, 3) : std::to_string(static_cast<long long>(std::min(x, 1e18)));
  return number + (rate >= 1 ? " " + unit + "s/s" : " s/" + unit);
}
TANDEM_INLINE std::string time_stamp(double seconds) {
  const auto t = static_cast<std::time_t>(seconds);
  struct tm parts {};
  char text[32] = "";
  if (::localtime_r(&t, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S  ", &parts);
  return text;
}
// As much of a text as fits into so many columns, which it then sets to those that it takes. Characters beyond ASCII
// count as two, as the widest do; control characters are replaced.
TANDEM_INLINE std::string cut(const std::string& text, std::size_t& columns) {
  std::string r;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = tandem::detail::utf8_length(text, i), width = n > 1 ? 2 : 1;
    if (used + width > columns) break;
    if (n > 1) r.append(text, i, n);
    else r += n == 1 && text[i] >= ' ' && text[i] != '\x7f' ? text[i] : '?';
    used += width;
    i += std::max<std::size_t>(n, 1);
  }
  columns = used;
  return r;
}

// The columns that a text takes, at most.
TANDEM_INLINE std::size_t width_of(const std::string& text) {
  std::size_t columns = 2 * text.size();
  cut(text, columns);
  return columns;
}

}  // namespace impl

TANDEM_INLINE Progress::Progress(i64 steps, const ProgressOptions& options)
    : steps_(steps), options_([&] {
        ProgressOptions o = options;
        if (o.mode == ProgressMode::automatic)
          o.mode = !o.output && ::isatty(STDERR_FILENO) && !impl::is_set_in_environment("CI") ? ProgressMode::terminal
                                                                                              : ProgressMode::lines;
        return o;
      }()) {
  const char* const kind = std::getenv("TERM");
  colored_ = options_.mode == ProgressMode::terminal && !impl::is_set_in_environment("NO_COLOR") &&
             !(kind && std::string(kind) == "dumb");
  last_ = options_.mode == ProgressMode::terminal ? -1e9 : now();
}
TANDEM_INLINE Progress::Progress(Progress& outer, std::string name, i64 steps)
    : outer_(&outer), name_(std::move(name)), steps_(steps), options_(outer.options_) {}
TANDEM_INLINE Progress::~Progress() {
  try {
    end();
  } catch (...) {  // the program is out of memory, and has its own error
  }
}

TANDEM_INLINE double Progress::now() const {
  return options_.clock ? options_.clock() : static_cast<double>(tandem::detail::nanoseconds_now()) * 1e-9;
}
TANDEM_INLINE double Progress::wall_time(double now) const {
  return options_.clock ? now : static_cast<double>(std::time(nullptr));
}
TANDEM_INLINE bool Progress::is_due(i64 done) {
  Progress& line = outer_ ? *outer_ : *this;
  done_ = done;
  if (options_.mode == ProgressMode::none) return false;
  const double t = now();
  if (begun_ < 0) begun_ = measured_ = done, begin_ = measured_at_ = t;  // after the first step, which also traces
  line.last_ = std::min(line.last_, t);                                  // a clock that was set back
  return t - line.last_ >= (options_.mode == ProgressMode::terminal ? 0.1 : 30) || (!outer_ && done == steps_);
}
TANDEM_INLINE void Progress::show(i64 done, Figures figures) {
  done_ = done, figures_ = std::move(figures);
  const double t = now();
  measure(t);
  if (!outer_) return draw(t);
  outer_->nested_ = name_ + " " + line(std::string::npos / 2);
  outer_->draw(t);
}
// The rate is an average over about ten seconds.
TANDEM_INLINE void Progress::measure(double now) {
  const double span = now - measured_at_;
  if (span <= 0 || done_ <= measured_) return;
  const double rate = static_cast<double>(done_ - measured_) / span;
  rate_ = rate_ > 0 ? rate_ + (rate - rate_) * (1 - std::exp(-span / 10)) : rate;
  measured_ = done_, measured_at_ = now;
}
// The parts of the line that fit into so many columns. A figure that is cut would look like another number.
TANDEM_INLINE std::string Progress::line(std::size_t columns) const {
  std::vector<std::string> parts{std::to_string(done_) + (steps_ > 0 ? "/" + std::to_string(steps_) : ""), "", ""};
  if (rate_ > 0) {
    parts[1] = impl::rate_text(rate_, options_.unit);
    const double average = static_cast<double>(done_ - begun_) / std::max(measured_at_ - begin_, 1e-9);
    if (steps_ > done_)
      parts[2] = impl::clock_text(static_cast<double>(steps_ - done_) / std::min(rate_, average)) + " left";
  }
  parts.push_back(nested_.empty() ? "" : "| " + nested_);
  for (const auto& [name, value] : figures_) parts.push_back(name + " " + tandem::detail::rounded_text(value, 4));
  constexpr std::size_t nested = 3, figures = 4;
  std::vector<std::size_t> order{0, figures, 2, 1, nested};  // what matters most comes first
  for (std::size_t i = figures + 1; i < parts.size(); ++i) order.push_back(i);
  std::size_t used = 0;
  for (const std::size_t i : order) {
    if (i >= parts.size()) continue;
    const std::size_t width = impl::width_of(parts[i]) + 2;
    if (i > 0 && used + width > columns + 2) parts[i].clear();
    else if (!parts[i].empty()) used += width;
  }
  std::rotate(parts.begin() + nested, parts.begin() + figures, parts.end());
  std::string r = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!parts[i].empty()) r += "  " + parts[i];
  return r;
}
// A bar for the columns that are left, if it is worth it, and the share that is done.
TANDEM_INLINE std::string Progress::bar(std::size_t columns) const {
  if (steps_ <= 0) return "";
  const double share = std::clamp(static_cast<double>(done_) / static_cast<double>(steps_), 0.0, 1.0);
  std::string percent = std::to_string(static_cast<int>(100 * share));
  percent = std::string(3 - std::min<std::size_t>(percent.size(), 3), ' ') + percent + " %  ";
  constexpr std::size_t longest = 24, shortest = 4, brackets = 3;
  const std::size_t width =
      std::min(columns > percent.size() + brackets ? columns - percent.size() - brackets : 0, longest);
  if (width < shortest) return percent;
  std::string r(static_cast<std::size_t>(share * static_cast<double>(width)), '#');
  r.resize(width, ' ');
  return "[" + r + "] " + percent;
}
TANDEM_INLINE void Progress::draw(double now) {
  last_ = now, shown_ = done_;
  if (options_.mode == ProgressMode::lines) {
    const std::string text = line(std::string::npos / 2);
    std::size_t columns = text.size() * 2;
    return put(impl::time_stamp(wall_time(now)) + bar(0) + impl::cut(text, columns) + "\n");
  }
  winsize size{};
  int room = options_.columns;
  if (room <= 0) room = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
  std::size_t columns = static_cast<std::size_t>(room) - 1;  // a full line would wrap
  const std::size_t share = bar(0).size();
  std::string text = line(columns - std::min(columns, share));
  text = bar(columns - std::min(columns, impl::width_of(text))) + text;
  text = impl::cut(text, columns);
  const std::string rest(columns_ > columns ? columns_ - columns : 0, ' ');  // over the end of the line before
  columns_ = columns;
  if (const std::size_t end = text.find(']'); colored_ && text.starts_with('[') && end != std::string::npos)
    text.insert(end, "\x1b[0m").insert(1, "\x1b[32m");
  put("\r" + text + rest);
}
TANDEM_INLINE void Progress::put(const std::string& text) const {
  if (options_.output) {
    options_.output->write(text.data(), static_cast<std::streamsize>(text.size())).flush();
  } else {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
}
TANDEM_INLINE void Progress::print(const std::string& text) {
  if (outer_) return outer_->print(text);
  if (options_.mode == ProgressMode::none) return;
  put((columns_ ? "\r" + std::string(columns_, ' ') + "\r" : "") + text + "\n");
  columns_ = 0;
  if (options_.mode == ProgressMode::terminal) last_ = -1e9;
}
TANDEM_INLINE void Progress::log(const std::string& text, const Figures& figures) {
  if (outer_) return outer_->log(text, figures);
  if (options_.mode == ProgressMode::none) return;
  const double t = now();
  if (logged_ < 0) logged_ = begun_, logged_at_ = begin_;
  std::string line = options_.mode == ProgressMode::lines ? impl::time_stamp(wall_time(t)) : "";
  line += text;
  if (done_ > logged_ && t > logged_at_)
    line += "  " + impl::rate_text(static_cast<double>(done_ - logged_) / (t - logged_at_), options_.unit);
  for (const auto& [name, value] : figures) line += "  " + name + " " + tandem::detail::rounded_text(value, 4);
  logged_ = done_, logged_at_ = t;
  print(line);
}
TANDEM_INLINE void Progress::end() {
  if (outer_) return outer_->nested_.clear();
  if (options_.mode == ProgressMode::none) return;
  const double t = now();
  if (begun_ >= 0 && shown_ != done_) measure(t), draw(t);
  if (columns_) put("\n");
  columns_ = 0;
}

}  // namespace TANDEM_NS::train
