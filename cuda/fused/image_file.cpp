#include "cuda/fused/image_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tandem/util/fnv1a.hpp"
#include "tandem/util/stable_hash.hpp"
#include "tandem/util/text_file.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::string hex(u64 n) {
  std::string s(16, '0');
  for (std::size_t i = 16; i-- > 0; n >>= 4) s[i] = "0123456789abcdef"[n & 15];
  return s;
}
std::string name_of(const std::string& key) { return hex(detail::farm_hash64(key)) + hex(detail::fnv1a(key)); }
// The first line of a file, which its key and its image determine.
std::string head_of(const std::string& key, const std::string& image) {
  return "tandem kernel 1 " + name_of(key) + " " + std::to_string(image.size()) + " " +
         hex(detail::farm_hash64(image)) + "\n";
}

// Makes the folder, and those that it is in, for this user alone.
void make_folder(const std::string& folder) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = folder.find('/', end + 1);
    (void)::mkdir(folder.substr(0, end).c_str(), 0700);  // where it fails, so does what follows
  }
}

struct Descriptor {
  const int fd;
  explicit Descriptor(int to_close) : fd(to_close) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};
// Whether only this user can have written the file, and it ends.
bool is_own(int fd) {
  struct stat s {};
  return ::fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid() &&
         (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
// The file's content; empty where there is no file or it is not ours: its code will run in this process, and the hashes
// in it prove nothing about who wrote it.
std::string read_own_file(const std::string& path) {
  // Not following links, and not waiting for a pipe's writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.fd < 0 || !is_own(file.fd)) return {};
  std::string text;
  for (char part[16384];;) {
    const ssize_t n = ::read(file.fd, part, sizeof(part));
    if (n > 0) text.append(part, static_cast<std::size_t>(n));
    else if (n == 0) return text;
    else if (errno != EINTR) return {};
  }
}

}  // namespace

std::string image_path(const std::string& folder, const std::string& key) {
  return folder + "/" + name_of(key) + ".kernel";
}

std::string read_image(const std::string& folder, const std::string& key) {
  const std::string text = read_own_file(image_path(folder, key));
  const std::size_t head = text.find('\n') + 1;
  std::string image = text.substr(head);
  if (head == 0 || text.compare(0, head, head_of(key, image)) != 0) return {};
  return image;
}

void write_image(const std::string& folder, const std::string& key, const std::string& image) {
  make_folder(folder);
  const std::string path = image_path(folder, key);
  std::string beside = path + ".partial.XXXXXX";
  const int fd = ::mkostemp(beside.data(), O_CLOEXEC);  // a new name, whatever ended processes have left
  if (fd < 0) return;
  const int error = detail::write_and_close(fd, head_of(key, image) + image);
  if (error || ::rename(beside.c_str(), path.c_str()) != 0) ::unlink(beside.c_str());
}

}  // namespace TANDEM_NS::cuda
