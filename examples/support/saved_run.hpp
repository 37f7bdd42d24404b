// A run of training with a checkpoint file, from which the same command goes on after an interruption.
#pragma once
#include <tandem/train.hpp>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

#include "examples/support/save_path.hpp"

/// The name of a file beside `path`, for one of several models: model_one_way.safetensors for model.safetensors.
inline std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::filesystem::path p = path;
  return (p.parent_path() / (p.stem().string() + "_" + suffix + p.extension().string())).string();
}

class SavedRun {
 public:
  /// Restores the items if there is such a file.
  ///   settings  what a checkpoint must agree with to be continued: {"program", "mnist_mlp"}, {"batch", "100"}
  ///   throws    std::runtime_error if the file is from a run with other settings, or if it could not be saved later;
  ///             otherwise as Checkpoint::restore
  SavedRun(std::string path, tandem::train::Metadata settings,
           std::initializer_list<tandem::train::CheckpointItem> items)
      : path_(std::move(path)), settings_(std::move(settings)), checkpoint_(items) {
    save_path::check_file(path_);
    if (!std::filesystem::exists(path_)) return;
    check(tandem::train::read_metadata(path_));
    checkpoint_.restore(path_);
    std::printf("going on from %s\n", path_.c_str());
  }
  void save() const { checkpoint_.save(path_, settings_); }
  /// Saves after Ctrl-C; returns the exit status for it.
  int interrupted() const {
    save();
    std::printf("interrupted; the same command goes on from %s\n", path_.c_str());
    return 130;
  }

 private:
  void check(const tandem::train::Metadata& saved) const {
    for (const auto& [key, value] : settings_) {
      const auto at = saved.find(key);
      if (at != saved.end() && at->second == value) continue;
      throw std::runtime_error(path_ + " is from another run: its " + key + " is " +
                               (at == saved.end() ? "unknown" : "'" + at->second + "'") + ", not '" + value +
                               "'; name another file with --checkpoint");
    }
  }
  std::string path_;
  tandem::train::Metadata settings_;
  tandem::train::Checkpoint checkpoint_;
};
