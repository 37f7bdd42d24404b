// The program behind `./dev bench`: finds the workers in its own folder, runs the cases whose names contain a filter,
// and prints the table. --help lists its options.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "measure.hpp"
#include "table.hpp"
#include "targets.hpp"

namespace fs = std::filesystem;
using namespace bench::driver;

namespace {

struct Options {
  std::vector<int> threads = {1, 2};
  int rounds = 11, command_rounds = 3;
  double sample_ms = 20;
  bool traced_only = false, python = false, skip_compiled = false;
  std::vector<std::string> filters;

  bool wants(const std::string& scenario) const {
    const auto contained = [&](const std::string& f) { return scenario.find(f) != std::string::npos; };
    return filters.empty() || std::any_of(filters.begin(), filters.end(), contained);
  }
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--threads", o.threads, "numbers of threads; each case runs with each of them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str(fmt::format("{}", fmt::join(o.threads, ",")));
  const auto set_rounds = [&](int n) { o.rounds = o.command_rounds = n; };
  app.add_option_function<int>("--rounds", set_rounds,
                               "samples of each side; default 11, of compilations and memory 3");
  app.add_option("--sample-ms", o.sample_ms, "how long a sample takes")->capture_default_str();
  app.add_flag("--traced", o.traced_only, "only Tandem's traced functions");
  app.add_flag("--python", o.python, "also the Python frameworks");
  app.add_flag("--skip-compiled", o.skip_compiled, "with --python: without torch.compile");
  app.add_option("filter", o.filters, "parts of the names of the cases to run; default: all cases");
}

/// The worker processes of a run, started on demand: one per competitor, variant and number of threads.
class Workers {
 public:
  Workers(const fs::path& folder, const Options& options) {
    find(folder);
    if (options.python) find(folder / "python");
    for (const auto& [competitor, path] : paths_) list(competitor, options);
  }

  /// All cases of Tandem or a peer, in the order in which the workers list them.
  std::vector<std::string> scenarios() const {
    std::set<std::string> names;
    for (const auto& [competitor, cases] : cases_) {
      for (const auto& name : cases) {
        if (competitor != "limit") names.insert(scenario_of(name));
      }
    }
    return {names.begin(), names.end()};
  }

  /// The names `competitor` or `competitor@variant` that implement the scenario, Tandem's first.
  std::vector<std::string> competitors(const std::string& scenario) const {
    std::vector<std::string> found;
    for (const auto& [competitor, cases] : cases_) {
      for (const auto& name : cases) {
        if (scenario_of(name) == scenario) found.push_back(competitor + name.substr(scenario.size()));
      }
    }
    std::stable_partition(found.begin(), found.end(), [](const std::string& n) { return n.rfind("tandem", 0) == 0; });
    return found;
  }

  Worker& get(const std::string& competitor, int threads) {
    auto& worker = running_[{competitor, threads}];
    if (!worker || !worker->alive())
      worker = std::make_unique<Worker>(paths_.at(competitor.substr(0, competitor.find('@'))), threads);
    return *worker;
  }

  bool have_trace(const std::string& scenario) const {
    const auto ours = competitors(scenario);
    return std::any_of(ours.begin(), ours.end(), is_our_trace);
  }

 private:
  static std::string scenario_of(const std::string& name) { return name.substr(0, name.find('@')); }

  void find(const fs::path& folder) {
    if (!fs::exists(folder)) return;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().filename();
      if (file.rfind("worker_", 0) == 0 && file.find('.') == std::string::npos) paths_[file.substr(7)] = entry.path();
    }
  }

  void list(const std::string& competitor, const Options& options) {
    try {
      std::istringstream in(get(competitor, 1).ask("list"));
      for (std::string name; in >> name;) {
        if (!options.skip_compiled || name.find("@compile") == std::string::npos) cases_[competitor].push_back(name);
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "{} is left out: {}\n", competitor, error.what());
    }
  }

  std::map<std::string, std::string> paths_;
  std::map<std::string, std::vector<std::string>> cases_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Worker>> running_;
};

/// Opens the case in the side's worker; returns what the worker computed.
Result open(Side& side, Worker& worker, const std::string& scenario, const Options& options) {
  const auto variant = side.name.find('@');
  const std::string name = scenario + (variant == std::string::npos ? "" : side.name.substr(variant));
  const bool starts_threads = scenario.rfind("data", 0) == 0;  // anew in each run
  if (starts_threads) worker.keep_to_processors();
  const Result result = parse_result(worker.ask("open " + name));
  worker.ask(fmt::format("calibrate {}", options.sample_ms / 1e3));
  if (!starts_threads) worker.spread_threads();
  side.sample = [&worker] { return Cost{std::stod(worker.ask("sample")), 0}; };
  return result;
}

std::vector<Side> measure(Workers& workers, const std::string& scenario, int threads, const Options& options) {
  std::vector<Side> sides;
  Result reference;
  for (const auto& name : workers.competitors(scenario)) {
    Side& side = sides.emplace_back(Side{name, {}, {}, {}});
    try {
      const Result result = open(side, workers.get(name, threads), scenario, options);
      if (result.count == 0) continue;
      if (reference.count == 0) reference = result;
      side.error = difference(reference, result, tolerance_of(scenario));
    } catch (const std::exception& error) {
      side.error = error.what();
    }
  }
  take_rounds(sides, options.rounds);
  for (Side& side : sides) {
    if (workers.get(side.name, threads).alive()) workers.get(side.name, threads).ask("close");
  }
  return sides;
}

/// Scenarios that are commands (startup, compile_cost, memory): lines of `scenario|competitor|word|word...` written by
/// CMake.
int run_commands(const fs::path& file, const Options& options) {
  std::map<std::string, std::vector<Side>> scenarios;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream parts(line);
    std::string scenario, competitor;
    std::getline(parts, scenario, '|');
    std::getline(parts, competitor, '|');
    std::vector<std::string> words;
    for (std::string word; std::getline(parts, word, '|');) words.push_back(word);
    if (!words.empty() && options.wants(scenario))
      scenarios[scenario].push_back({competitor, [words] { return run_command(words); }, {}, {}});
  }
  int missed = 0;
  for (auto& [scenario, sides] : scenarios) {
    std::stable_partition(sides.begin(), sides.end(), [](const Side& s) { return s.name.rfind("tandem", 0) == 0; });
    if (options.traced_only &&
        std::none_of(sides.begin(), sides.end(), [](auto& side) { return is_our_trace(side.name); }))
      continue;
    const bool quick = scenario.rfind("startup", 0) == 0;
    take_rounds(sides, quick ? options.rounds : options.command_rounds);
    missed += print_case(scenario, 1, sides, options.traced_only);
  }
  return missed;
}

void print_machine(Workers& workers, const Options& options) {
  fmt::print("machine limits:");
  for (const int threads : options.threads) {
    for (const auto& [name, amount, unit] : {std::tuple{"machine/fma", 1.0, "GFLOP/s"},
                                             {"machine/copy@plain", 8e-9 * (1 << 26), "GB/s"},
                                             {"machine/copy@nt", 8e-9 * (1 << 26), "GB/s"},
                                             {"machine/add@plain", 12e-9 * (1 << 26), "GB/s"},
                                             {"machine/add@nt", 12e-9 * (1 << 26), "GB/s"},
                                             {"machine/read@plain", 4e-9 * (1 << 26), "GB/s"}}) {
      Worker& worker = workers.get("limit", threads);
      worker.ask(fmt::format("open {}", name));
      worker.ask(fmt::format("calibrate {}", options.sample_ms / 1e3));
      worker.spread_threads();
      std::vector<Side> side{{name, [&] { return Cost{std::stod(worker.ask("sample")), 0}; }, {}, {}}};
      take_rounds(side, options.rounds);
      fmt::print(" {} {:.1f} {} ({}T);", name + 8, amount / figure(side[0]).median, unit, threads);
    }
  }
  fmt::print("\n\n");
}

int run(const Options& options) {
  const fs::path folder = fs::canonical("/proc/self/exe").parent_path();
  Workers workers(folder, options);
  if (options.filters.empty() || options.wants("machine")) print_machine(workers, options);
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5) {
    fmt::print("load average {:.1f}: other programs are running, ratios will scatter\n\n", load);
  }
  print_header();
  int missed = 0;
  for (const auto& scenario : workers.scenarios()) {
    if (!options.wants(scenario) || (options.traced_only && !workers.have_trace(scenario))) continue;
    for (const int threads : options.threads)
      missed += print_case(scenario, threads, measure(workers, scenario, threads, options), options.traced_only);
  }
  missed += run_commands(folder / "commands.txt", options);
  fmt::print("\n{} target{} missed; ratios are medians of {} interleaved rounds (compilations and memory: {})\n",
             missed, missed == 1 ? "" : "s", options.rounds, options.command_rounds);
  return missed > 0;
}
}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares Tandem with its peers, case by case. The exit status is 1 if a target is missed.");
  add_options(app, options);
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 2;
  }
}
