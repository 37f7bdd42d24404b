#include "examples/tandem_run/lines.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace launcher {

namespace {
constexpr std::size_t longest_line = 1 << 16;  // what is longer is divided: a progress bar never ends its line
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // whoever started us has made it so
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Lines::write_line(std::string_view line) {
  std::string text = prefix_;
  text += line, text += '\n';
  return write_all(to_, text);
}

bool Lines::add(std::string_view bytes) {
  bool is_written = true;
  rest_ += bytes;
  std::size_t from = 0;
  for (std::size_t end; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1)
    is_written = write_line(std::string_view(rest_).substr(from, end - from)) && is_written;
  rest_.erase(0, from);
  return rest_.size() > longest_line ? finish() && is_written : is_written;
}

bool Lines::finish() {
  if (rest_.empty()) return true;
  const bool is_written = write_line(rest_);
  rest_.clear();
  return is_written;
}

}  // namespace launcher
