// Definitions of train/checkpoint_index.hpp.
#pragma once
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors_shards.hpp"
#include "tandem/train/checkpoint_index.hpp"

namespace TANDEM_NS::train::impl {

TANDEM_INLINE i64 step_of_file(const std::string& file, const std::string& name) {
  const std::string_view text = file, suffix = file.ends_with(io::shards_suffix) ? io::shards_suffix : ".safetensors";
  if (!text.starts_with(name + "-") || !text.ends_with(suffix)) return -1;
  const char* const begin = text.data() + name.size() + 1;
  const char* const end = text.data() + text.size() - suffix.size();
  i64 step = -1;
  const bool is_number = begin < end && *begin >= '0' && *begin <= '9' && (*begin != '0' || end - begin == 1);
  if (!is_number) return -1;
  const auto [at, error] = std::from_chars(begin, end, step);
  return error == std::errc() && at == end ? step : -1;
}

TANDEM_INLINE std::vector<std::string> CheckpointIndex::files() const {
  std::vector<std::string> r;
  for (const CheckpointRecord& c : active) r.push_back(c.file);
  for (const CheckpointRecord& c : preserved) r.push_back(c.file);
  if (best) r.push_back(best->file);
  return r;
}
TANDEM_INLINE void CheckpointIndex::add(CheckpointRecord record) {
  const auto is_same = [&](const CheckpointRecord& c) { return c.file == record.file; };
  std::erase_if(active, is_same);
  std::erase_if(preserved, is_same);
  if (best && is_same(*best)) best.reset();
  active.push_back(std::move(record));
}
TANDEM_INLINE void CheckpointIndex::rotate(int max_to_keep, std::optional<double> every, double now) {
  if (last_preserved > now) last_preserved = -1e300;
  while (max_to_keep > 0 && active.size() > static_cast<std::size_t>(max_to_keep)) {
    CheckpointRecord oldest = std::move(active.front());
    active.erase(active.begin());
    const double time = std::min(oldest.time, now);
    if (!every || time < last_preserved + *every) continue;
    last_preserved = time;
    preserved.push_back(std::move(oldest));
  }
}
TANDEM_INLINE void CheckpointIndex::choose_best(const std::string& metric, Better better) {
  const auto has = [&](const CheckpointRecord& c) { return c.metrics.contains(metric); };
  const bool any =
      std::any_of(active.begin(), active.end(), has) || std::any_of(preserved.begin(), preserved.end(), has);
  if (!any && !(best && has(*best))) return;
  std::vector<CheckpointRecord> all;
  if (best) all.push_back(*best);
  all.insert(all.end(), preserved.begin(), preserved.end());
  all.insert(all.end(), active.begin(), active.end());
  best.reset();
  for (const CheckpointRecord& c : all) {
    const auto at = c.metrics.find(metric);
    if (at == c.metrics.end() || at->second != at->second) continue;
    const double least = best ? best->metrics.at(metric) : 0;
    if (!best || (better == Better::lower ? at->second < least : at->second > least)) best = c;
  }
}

inline std::string index_path(const std::string& directory, const std::string& name) {
  return directory + "/" + name + "-index.json";
}
// JSON has neither infinities nor NaN: texts.
inline nlohmann::json to_json(double metric) {
  if (metric - metric == 0) return metric;
  return metric != metric ? "nan" : metric > 0 ? "inf" : "-inf";
}
TANDEM_INLINE nlohmann::json to_json(const CheckpointRecord& c) {
  nlohmann::json metrics = nlohmann::json::object();
  for (const auto& [key, value] : c.metrics) metrics[key] = to_json(value);
  return {{"file", c.file}, {"time", c.time}, {"metrics", std::move(metrics)}};
}
TANDEM_INLINE nlohmann::json to_json(const std::vector<CheckpointRecord>& list) {
  nlohmann::json r = nlohmann::json::array();
  for (const CheckpointRecord& c : list) r.push_back(to_json(c));
  return r;
}
TANDEM_INLINE std::string CheckpointIndex::text() const {
  nlohmann::json all{{"checkpoints", to_json(active)},
                     {"preserved", to_json(preserved)},
                     {"last_preserved", last_preserved},
                     {"removed", removed}};
  if (best) all["best"] = to_json(*best);
  return all.dump(1) + "\n";
}
TANDEM_INLINE void CheckpointIndex::write(const std::string& directory, const std::string& name) const {
  const std::string all = text();
  io::replace_file(index_path(directory, name), {{all.data(), all.size()}});
}

// Reads the JSON of an index. A name that is not that of a checkpoint would have another file removed.
class IndexReader {
 public:
  IndexReader(std::string path, const std::string& name) : path_(std::move(path)), name_(name) {}
  CheckpointIndex read(const std::string& text) const try {
    const nlohmann::json all = nlohmann::json::parse(text);
    CheckpointIndex r;
    for (const nlohmann::json& c : all.at("checkpoints")) r.active.push_back(record(c));
    for (const nlohmann::json& c : all.at("preserved")) r.preserved.push_back(record(c));
    if (all.contains("best")) r.best = record(all["best"]);
    r.last_preserved = all.at("last_preserved").get<double>();
    for (const nlohmann::json& file : all.at("removed")) r.removed.push_back(checked(file.get<std::string>()));
    return r;
  } catch (const nlohmann::json::exception&) {
    damaged("it does not have the fields of an index");
  }

 private:
  CheckpointRecord record(const nlohmann::json& from) const {
    CheckpointRecord r{checked(from.at("file").get<std::string>()), 0, from.at("time").get<double>()};
    r.step = step_of_file(r.file, name_);
    for (const auto& [key, value] : from.at("metrics").items()) r.metrics[key] = metric(value);
    return r;
  }
  static double metric(const nlohmann::json& value) {
    if (value.is_null() || value == "nan") return __builtin_nan("");  // former versions wrote it for all three
    if (value == "inf") return __builtin_inf();
    return value == "-inf" ? -__builtin_inf() : value.get<double>();
  }
  std::string checked(std::string file) const {
    if (step_of_file(file, name_) < 0) damaged("it lists " + file + ", which is not the name of a checkpoint");
    return file;
  }
  [[noreturn]] void damaged(const std::string& what) const {
    errors::raise<errors::DataLossError>(
        "CheckpointManager",
        path_ + " is damaged: " + what + " (remove it, and the checkpoints beside it are listed by their steps)");
  }
  const std::string path_;
  const std::string& name_;
};

// The checkpoints in a folder that a listing does not have and that are younger than step `after`, by their steps.
TANDEM_INLINE std::vector<CheckpointRecord> unlisted_checkpoints(const std::string& directory, const std::string& name,
                                                                 i64 after, const std::vector<std::string>& listed) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  std::vector<CheckpointRecord> r;
  const std::unique_ptr<DIR, Close> folder(::opendir(directory.c_str()));
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    CheckpointRecord c{entry->d_name, step_of_file(entry->d_name, name)};
    struct stat s {};
    if (c.step <= after || std::find(listed.begin(), listed.end(), c.file) != listed.end()) continue;
    if (::stat((directory + "/" + c.file).c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    c.time = static_cast<double>(s.st_mtime);
    r.push_back(std::move(c));
  }
  std::sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return r;
}
TANDEM_INLINE CheckpointIndex CheckpointIndex::parse(const std::string& text, const std::string& directory,
                                                     const std::string& name) {
  return IndexReader(index_path(directory, name), name).read(text);
}
TANDEM_INLINE CheckpointIndex CheckpointIndex::read(const std::string& directory, const std::string& name) {
  CheckpointIndex index;
  const std::string path = index_path(directory, name);
  if (struct stat s{}; ::stat(path.c_str(), &s) == 0)
    index = parse(io::detail::read_regular_file("CheckpointManager", path), directory, name);
  std::vector<std::string> known = index.files();
  known.insert(known.end(), index.removed.begin(), index.removed.end());
  const i64 latest = index.active.empty() ? -1 : index.active.back().step;
  for (CheckpointRecord& c : unlisted_checkpoints(directory, name, latest, known)) index.active.push_back(std::move(c));
  return index;
}

// Whether an index of shards lists a file, or cannot say so since it is damaged.
TANDEM_INLINE bool may_list(const std::string& index, const std::string& file) try {
  const std::vector<std::string> shards = io::list_safetensors_shards(index);
  return std::find(shards.begin(), shards.end(), file) != shards.end();
} catch (const errors::NotFoundError&) {
  return false;
} catch (const errors::OpError&) {
  return true;
}
TANDEM_INLINE void remove_unfinished(const std::string& directory, const std::string& name) {
  io::detail::remove_abandoned(directory, name + "-");
  std::vector<std::string> shards;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string file = entry.path().filename().string();
    const std::size_t end = file.rfind("-of-"), digits = std::string_view("-00001").size();
    if (end == file.npos || end < digits || !file.ends_with(".safetensors")) continue;
    const std::string index = file.substr(0, end - digits) + io::shards_suffix, path = directory + "/" + file;
    if (step_of_file(index, name) >= 0 && !may_list(directory + "/" + index, path)) shards.push_back(path);
  }
  for (const std::string& path : shards) ::unlink(path.c_str());
}

}  // namespace TANDEM_NS::train::impl
