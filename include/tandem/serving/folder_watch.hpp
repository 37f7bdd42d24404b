// FolderWatch: tells that something in folders has changed, by inotify. Part of the component tandem::serving.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// Watches folders for what is renamed into them, as saved_model::save() publishes a version, and for what leaves them.
/// What is made in them does not count, because it is not complete at that moment; nor do names that begin with a
/// point. It misses what happens to a folder elsewhere (a network file system), and everything where the system has no
/// inotify, or no more of it for this user: folders must be looked at from time to time as well. For one thread.
class TANDEM_API FolderWatch {
 public:
  /// is_on: false: it watches nothing.
  explicit FolderWatch(bool is_on);
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch();

  /// Whether it is on, and the system has inotify.
  bool works() const { return queue_ >= 0; }
  /// Watches these folders, and no others. One that is not there, or not the same any more, is found by a later call.
  void follow(const std::vector<std::string>& folders);
  /// Whether there was a change since the last call. Does not wait.
  bool changed();

 private:
  int queue_;
  std::map<std::string, int> watches_;
};

}  // namespace TANDEM_NS::serving::impl
