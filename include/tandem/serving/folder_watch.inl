// Definitions of serving/folder_watch.hpp.
#pragma once
#ifdef __linux__
#include <sys/inotify.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tandem/serving/folder_watch.hpp"

namespace TANDEM_NS::serving::impl {

#ifdef __linux__

TANDEM_INLINE FolderWatch::FolderWatch(bool is_on) : queue_(is_on ? ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1) {}
TANDEM_INLINE FolderWatch::~FolderWatch() {
  if (works()) ::close(queue_);
}
TANDEM_INLINE void FolderWatch::follow(const std::vector<std::string>& folders) {
  if (!works()) return;
  constexpr std::uint32_t changes =
      IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  std::map<std::string, int> now;
  for (const std::string& folder : folders) now[folder] = ::inotify_add_watch(queue_, folder.c_str(), changes);
  for (const auto& [folder, watch] : watches_)  // a folder under another name, or one that was there before, too
    if (std::none_of(now.begin(), now.end(), [w = watch](const auto& n) { return n.second == w; }))
      ::inotify_rm_watch(queue_, watch);  // fails for a folder that has gone, whose watch is over
  watches_ = std::move(now);
}
TANDEM_INLINE bool FolderWatch::changed() {
  if (!works()) return false;
  bool is_changed = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t n; (n = ::read(queue_, buffer, sizeof buffer)) > 0;)
    for (const char* at = buffer; at < buffer + n;) {
      inotify_event event;
      std::memcpy(&event, at, sizeof event);
      const char* const name = at + sizeof event;
      const bool is_hidden = event.len > 0 && name[0] == '.';
      if (!(event.mask & IN_IGNORED) && !is_hidden) is_changed = true;  // a queue that was full counts
      at = name + event.len;
    }
  return is_changed;
}

#else

TANDEM_INLINE FolderWatch::FolderWatch(bool) : queue_(-1) {}
TANDEM_INLINE FolderWatch::~FolderWatch() = default;
TANDEM_INLINE void FolderWatch::follow(const std::vector<std::string>&) {}
TANDEM_INLINE bool FolderWatch::changed() { return false; }

#endif

}  // namespace TANDEM_NS::serving::impl
