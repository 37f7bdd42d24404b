// A run of training with a checkpoint file, from which the same command goes on after an interruption.
#pragma once
#include <fmt/core.h>
#include <tandem/train.hpp>

#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "examples/support/save_path.hpp"

/// The name of a file beside `path`, for one of several models: model_one_way.safetensors for model.safetensors.
inline std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::filesystem::path p = path;
  return (p.parent_path() / fmt::format("{}_{}{}", p.stem().string(), suffix, p.extension().string())).string();
}
/// A number as a setting: the shortest digits that stand for it.
inline std::string number_setting(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

class SavedRun {
 public:
  /// Restores the checkpoint if there is such a file.
  ///   settings  what a file must agree with to be continued: {"program", "mnist_mlp"}, {"batch", "100"}, and the data
  ///             as data_setting has them
  ///   advice    the end of the message if it does not
  ///   throws    std::runtime_error if the file is from a run with other settings, or if it could not be saved later;
  ///             otherwise as Checkpoint::restore
  SavedRun(std::string path, tandem::train::Metadata settings, tandem::train::Checkpoint checkpoint,
           std::string advice = "name another file with --checkpoint")
      : path_(std::move(path)),
        advice_(std::move(advice)),
        settings_(std::move(settings)),
        checkpoint_(std::move(checkpoint)) {
    save_path::check_file(path_);
    if (!std::filesystem::exists(path_)) return;
    check(tandem::train::read_metadata(path_));
    checkpoint_.restore(path_);
    resumed_ = true;
    fmt::print("going on from {}\n", path_);
  }
  bool resumed() const { return resumed_; }
  void save() const { checkpoint_.save(path_, settings_); }
  /// Saves after Ctrl-C; returns the exit status for it.
  int interrupted() const {
    save();
    fmt::print("interrupted; the same command goes on from {}\n", path_);
    return 130;
  }

 private:
  // What a setting is called, and what is compared of it: name and hash of data, otherwise the whole text.
  static std::string name_of(const std::string& value) { return value.substr(0, value.rfind(" #")); }
  static std::string identity_of(const std::string& value) {
    const std::size_t hash = value.rfind(" #");
    return hash == value.npos ? value : value.substr(hash);
  }
  void check(const tandem::train::Metadata& saved) const {
    check(saved, "program", settings_.at("program"));  // other programs have other settings
    for (const auto& [key, value] : settings_) check(saved, key, value);
  }
  void check(const tandem::train::Metadata& saved, const std::string& key, const std::string& value) const {
    const auto at = saved.find(key);
    if (at != saved.end() && identity_of(at->second) == identity_of(value)) return;
    const std::string was = at == saved.end() ? "unknown" : name_of(at->second), is = name_of(value);
    const std::string why = was == is ? is + " has changed since" : fmt::format("{} is {}, not {}", key, was, is);
    throw std::runtime_error(fmt::format("{} is from another run: {}; {}", path_, why, advice_));
  }
  std::string path_, advice_;
  tandem::train::Metadata settings_;
  tandem::train::Checkpoint checkpoint_;
  bool resumed_ = false;
};
