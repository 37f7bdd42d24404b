// Formatting for table.hpp: a Markdown table with columns of fixed width, so that it is readable in a terminal too.
#include "table.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cstdio>

#include "targets.hpp"

namespace bench::driver {
namespace {

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }
bool is_ours(const Side& side) { return starts_with(side.name, "tandem"); }
bool is_limit(const Side& side) { return starts_with(side.name, "limit"); }
bool is_peer(const Side& side) { return !is_ours(side) && !is_limit(side); }
bool measured(const Side& side) { return side.error.empty() && !side.samples.empty(); }

std::string in_units(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

double megabytes(const Side& side) {
  double most = 0;
  for (const Cost& cost : side.samples) most = std::max(most, cost.megabytes);
  return most;
}

std::string variant_of(const Side& side) {
  const std::size_t at = side.name.find('@');
  return at == std::string::npos ? "" : side.name.substr(at + 1);
}

std::string cost_of(const Side& side) {
  const double memory = megabytes(side);
  return in_units(figure(side).median) + (memory > 0 ? fmt::format(", {:.0f} MB", memory) : "");
}

struct Line {
  std::string scenario, threads, ours, peer, cost, ratio, target, met, limit, share;

  void print() const {
    fmt::print("| {:44} | {:1} | {:16} | {:20} | {:16} | {:19} | {:11} | {:3} | {:9} | {:5} |\n", scenario, threads,
               ours, peer, cost, ratio, target, met, limit, share);
    std::fflush(stdout);
  }
};

/// The fastest of the sides that pass the filter, or null.
const Side* fastest(const std::vector<Side>& sides, bool (*filter)(const Side&)) {
  const Side* best = nullptr;
  for (const Side& side : sides) {
    if (filter(side) && measured(side) && (!best || figure(side).median < figure(*best).median)) best = &side;
  }
  return best;
}

/// One Tandem variant compared with all other sides.
struct Comparison {
  const std::string& scenario;
  int threads;
  const std::vector<Side>& sides;
  const Side* ours;  // null if Tandem has no such case
  const Side* best_peer = fastest(sides, is_peer);
  const Side* limit = fastest(sides, is_limit);
  const Figure compared = starts_with(scenario, "memory/") ? &Cost::megabytes : &Cost::seconds;
  const std::vector<Target> targets = targets_of(scenario, ours ? variant_of(*ours) : "");
  int missed = 0;

  std::string title() const {
    const std::string variant = ours ? ours->name.substr(6) : "";
    return variant.empty() ? scenario : fmt::format("{} ({})", scenario, variant.substr(1));
  }

  /// Header-only mode at plain -O2 is only reported; targets apply to all other sides.
  bool counts() const {
    return ours && measured(*ours) && ours->name.substr(0, ours->name.find('@')) != "tandem_header_only";
  }

  bool is_compared(const Side& side) const {
    const bool our_plain_case = ours && side.name == "tandem" && starts_with(ours->name, "tandem@");
    return is_peer(side) || our_plain_case || (&side == limit && limit_is_a_target());
  }

  /// The strictest ratio that any target requires against this side; 0 if there is none.
  double wanted(const Side& peer) const {
    double most = 0;
    for (const Target& target : targets) {
      const bool applies = target.names(peer.name) || (target.against == "best" && &peer == best_peer) ||
                           (target.against == "limit" && &peer == limit);
      if (applies) most = std::max(most, target.at(threads));
    }
    return most;
  }

  Line line() const {
    Line l;
    l.scenario = title();
    l.threads = std::to_string(threads);
    l.ours = !ours ? "-" : measured(*ours) ? cost_of(*ours) : ours->error;
    if (limit) l.limit = in_units(figure(*limit).median);
    if (limit && ours && measured(*ours)) l.share = fmt::format("{:.2f}", ratio(*limit, *ours).median);
    return l;
  }

  void judge(Line& l, const std::string& text, bool met) {
    l.target = text;
    if (!counts()) return;
    l.met = met ? "yes" : "NO";
    missed += !met;
  }

  void against(const Side& peer) {
    Line l = line();
    l.peer = peer.name;
    if (!measured(peer)) {
      l.cost = peer.error;
      return l.print();
    }
    l.cost = cost_of(peer);
    if (!ours || !measured(*ours)) return l.print();
    const Quartiles q = ratio(peer, *ours, compared);
    l.ratio = fmt::format("{:.2f} [{:.2f}, {:.2f}]", q.median, q.low, q.high);
    if (const double least = wanted(peer); least > 0) judge(l, fmt::format(">= {:.4g}", least), q.median >= least);
    l.print();
  }

  void absolute(const Target& target) {
    const bool time = target.against == "seconds";
    Line l = line();
    l.peer = time ? "(time)" : "(memory)";
    const double value = !ours || !measured(*ours) ? 0 : time ? figure(*ours).median : megabytes(*ours);
    judge(l, time ? "<= " + in_units(target.at(threads)) : fmt::format("<= {:.0f} MB", target.at(threads)),
          value <= target.at(threads));
    l.print();
  }

  int print() {
    bool any = false;
    for (const Side& side : sides) {
      if (is_compared(side)) against(side), any = true;
    }
    for (const Target& target : targets) {
      if (target.against == "seconds" || target.against == "megabytes") absolute(target), any = true;
    }
    if (!any) line().print();
    return missed;
  }

  bool limit_is_a_target() const {
    return std::any_of(targets.begin(), targets.end(), [](const Target& t) { return t.against == "limit"; });
  }
};
}  // namespace

void print_header() {
  Line{"scenario", "t", "ours", "peer", "its time", "ratio [quartiles]", "target", "met", "limit", "share"}.print();
  const std::string dashes(44, '-');
  const auto rule = [&](std::size_t n) { return dashes.substr(0, n); };
  Line{rule(44), "-", rule(16), rule(20), rule(16), rule(19), rule(11), rule(3), rule(9), rule(5)}.print();
}

bool is_our_trace(const std::string& competitor) {
  return starts_with(competitor, "tandem") && competitor.find("trace", competitor.find('@')) != std::string::npos;
}

int print_case(const std::string& scenario, int threads, const std::vector<Side>& sides, bool traced_only) {
  int missed = 0;
  bool any = traced_only;
  for (const Side& side : sides) {
    if (!is_ours(side) || (traced_only && !is_our_trace(side.name))) continue;
    missed += Comparison{scenario, threads, sides, &side}.print();
    any = true;
  }
  return any ? missed : Comparison{scenario, threads, sides, nullptr}.print();
}
}  // namespace bench::driver
