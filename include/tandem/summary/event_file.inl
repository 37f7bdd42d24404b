// Definitions of summary/event_file.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tandem/io/file.hpp"
#include "tandem/io/tfrecord_format.hpp"
#include "tandem/summary/event_file.hpp"

namespace TANDEM_NS::summary::detail {

TANDEM_INLINE std::string event_file_name() {
  static std::atomic<unsigned> count{0};
  char host[256] = "localhost", seconds[32], number[16];
  if (::gethostname(host, sizeof host - 1) != 0 || !host[0]) std::strcpy(host, "localhost");
  // Ten digits and five at least, so that the order of the names is that in which the files were made.
  std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(std::time(nullptr)));
  std::snprintf(number, sizeof number, "%05u", count++);
  return std::string("events.out.tfevents.") + seconds + "." + host + "." + std::to_string(::getpid()) + "." + number;
}

TANDEM_INLINE EventFile::EventFile(const std::string& folder, const std::string& suffix) {
  io::ensure_directory(folder);
  do {
    path_ = folder + "/" + event_file_name() + suffix;
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
