// Definitions of summary/event_file.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "tandem/io/file.hpp"
#include "tandem/io/tfrecord_format.hpp"
#include "tandem/summary/event_file.hpp"
#include "tandem/util/host_name.hpp"

namespace TANDEM_NS::summary::detail {

inline constexpr std::string_view event_file_prefix = "events.out.tfevents.";
// Ten digits and five at least, so that the order of the names is that in which the files were made.
TANDEM_INLINE std::string event_file_name(i64 seconds, unsigned number) {
  char digits[32], last[16];
  std::snprintf(digits, sizeof digits, "%010lld", static_cast<long long>(seconds));
  std::snprintf(last, sizeof last, "%05u", number);
  return std::string(event_file_prefix) + digits + "." + tandem::detail::host_name() + "." +
         std::to_string(::getpid()) + "." + last;
}
/// The seconds in the name of an event file; -1 if it is another file.
TANDEM_INLINE i64 seconds_of(const std::string& name) {
  constexpr std::size_t begin = event_file_prefix.size(), digits = 10;
  i64 seconds = -1;
  if (!name.starts_with(event_file_prefix) || name.find('.', begin) != begin + digits) return -1;
  const char* const end = name.data() + begin + digits;
  return std::from_chars(name.data() + begin, end, seconds).ptr == end ? seconds : -1;
}
/// A name that follows those of the folder's event files, also where the clock was set back since they were made:
/// TensorBoard reads files in the order of their names, and what is to be dropped must come before the restart.
TANDEM_INLINE std::string next_event_file_name(const std::string& folder) {
  static std::atomic<unsigned> count{0};
  const unsigned number = count++;
  std::string name = event_file_name(std::time(nullptr), number);
  std::error_code error;  // of a folder that cannot be listed, the files are not known
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string other = at->path().filename().string();
    constexpr i64 most = 9'999'999'999;
    if (const i64 seconds = seconds_of(other); seconds >= 0 && seconds < most && other > name)
      name = event_file_name(seconds + 1, number);
  }
  return name;
}

TANDEM_INLINE EventFile::EventFile(const std::string& folder, const std::string& suffix) {
  io::ensure_directory(folder);
  do {
    path_ = folder + "/" + next_event_file_name(folder) + suffix;
    file_ = io::detail::Descriptor(io::detail::uninterrupted(
        [&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666); }));
  } while (file_.get() < 0 && errno == EEXIST);  // of a machine with this one's name
  error_ = file_.get() < 0 ? errno : 0;
  if (error_) raise_error("");
}
TANDEM_INLINE std::size_t EventFile::append(std::string_view bytes) {
  std::size_t done = 0;
  error_ = 0;
  while (done < bytes.size()) {
    const std::size_t part = std::min(bytes.size() - done, std::size_t{1} << 30);
    const ssize_t n = io::detail::uninterrupted([&] { return ::write(file_.get(), bytes.data() + done, part); });
    if (n < 0) {
      error_ = errno;
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  return done;
}
TANDEM_INLINE void EventFile::remove() {
  close();
  ::unlink(path_.c_str());
}
TANDEM_INLINE std::string EventFile::error_text() const {
  return "cannot write " + path_ + ": " + std::strerror(error_);
}
TANDEM_INLINE void EventFile::raise_error(const std::string& more) const {
  if (io::detail::is_full(error_)) errors::raise<errors::ResourceExhaustedError>("FileWriter", error_text() + more);
  errors::raise<errors::UnavailableError>("FileWriter", error_text() + more);
}

TANDEM_INLINE std::size_t begin_record(std::string& to) {
  to.append(io::detail::record_head_bytes, '\0');
  return to.size() - io::detail::record_head_bytes;
}
TANDEM_INLINE void end_record(std::string& to, std::size_t begin) {
  const std::size_t event = begin + io::detail::record_head_bytes;
  const u64 length = to.size() - event;
  std::memcpy(to.data() + begin, &length, 8);
  const auto head = io::masked_crc32c(io::crc32c({to.data() + begin, 8}));
  std::memcpy(to.data() + begin + 8, &head, 4);
  io::detail::append_bytes_of(to, io::masked_crc32c(io::crc32c({to.data() + event, static_cast<std::size_t>(length)})));
}

}  // namespace TANDEM_NS::summary::detail
