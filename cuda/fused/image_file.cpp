#include "cuda/fused/image_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

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

}  // namespace

std::string image_path(const std::string& folder, const std::string& key) {
  return folder + "/" + name_of(key) + ".kernel";
}

std::string read_image(const std::string& folder, const std::string& key) {
  std::ifstream file(image_path(folder, key), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t head = text.find('\n') + 1;
  std::string image = text.substr(head);
  if (head == 0 || text.compare(0, head, head_of(key, image)) != 0) return {};
  return image;
}

void write_image(const std::string& folder, const std::string& key, const std::string& image) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  static std::atomic<unsigned> count{0};
  const std::string path = image_path(folder, key),
                    beside = path + ".partial." + std::to_string(::getpid()) + "." + std::to_string(count.fetch_add(1));
  const int fd = detail::open_to_write(beside, O_EXCL, 0644);
  if (fd < 0) return;
  const int error = detail::write_and_close(fd, head_of(key, image) + image);
  if (error || ::rename(beside.c_str(), path.c_str()) != 0) ::unlink(beside.c_str());
}

}  // namespace TANDEM_NS::cuda
