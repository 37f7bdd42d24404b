// Definitions of io/file.hpp.
#pragma once
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "tandem/io/file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"

extern "C" char** environ;

namespace TANDEM_NS::io {

namespace detail {

// The compression function of SHA-256: 64 bytes into the state.
TANDEM_INLINE void sha256_block(std::array<std::uint32_t, 8>& state, const unsigned char* p) {
  // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  static constexpr std::uint32_t k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  std::uint32_t w[64];
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{p[4 * i]} << 24 | std::uint32_t{p[4 * i + 1]} << 16 | std::uint32_t{p[4 * i + 2]} << 8 |
           p[4 * i + 3];
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
    const std::uint32_t u = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
  }
  const std::uint32_t add[] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += add[i];
}

// Runs a program, found in PATH; returns its exit status, or -1 if it cannot be started.
TANDEM_INLINE int run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  if (uninterrupted([&] { return ::waitpid(child, &status, 0); }) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TANDEM_INLINE bool read_cached(const std::string& path, std::string& content) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return false;
  content = read_regular_file("disk_cache", path);
  return true;
}

}  // namespace detail

TANDEM_INLINE std::string read_file(const std::string& path) { return detail::read_regular_file("read_file", path); }
TANDEM_INLINE void ensure_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (std::error_code other; error || !std::filesystem::is_directory(path, other))
    errors::raise<errors::UnavailableError>(
        "ensure_directory", "cannot make the folder " + path + ": " + (error ? error.message() : "it is not a folder"));
}
TANDEM_INLINE void write_file(const std::string& path, std::string_view contents) {
  if (const std::string folder = std::filesystem::path(path).parent_path().string(); !folder.empty())
    ensure_directory(folder);
  replace_file(path, {{contents.data(), contents.size()}});
}

TANDEM_INLINE std::string sha256(std::string_view bytes) {
  std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string all(bytes);
  all += '\x80';
  all.append((120 - all.size() % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) all += static_cast<char>(std::uint64_t{bytes.size()} * 8 >> shift & 255);
  for (std::size_t at = 0; at < all.size(); at += 64)
    detail::sha256_block(state, reinterpret_cast<const unsigned char*>(all.data()) + at);
  std::string r;
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) r += "0123456789abcdef"[word >> shift & 15];
  return r;
}
TANDEM_INLINE std::string cache_path(const std::string& dir, const std::string& name, std::string_view arguments) {
  std::string file;
  for (const char c : name.substr(0, 100))
    file +=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ? c : '_';
  // The length divides name and arguments, so that no two pairs are the same bytes.
  return dir + "/" + file + "-" + sha256(std::to_string(name.size()) + ":" + name + std::string(arguments));
}

TANDEM_INLINE std::string download(const std::string& url, const std::string& dir) {
  constexpr std::string_view local = "file://";
  const std::string path = url.substr(0, url.find_first_of("?#"));
  const std::string name = path.substr(path.rfind('/') + 1);
  if (url.find("://") == url.npos || name.empty() || name == "." || name == "..")
    errors::raise<errors::InvalidArgumentError>("download", "'" + url + "' is not a URL that ends with a file's name");
  const std::string target = dir + "/" + name;
  if (std::error_code error; std::filesystem::is_regular_file(target, error)) return target;
  ensure_directory(dir);
  if (url.starts_with(local)) {
    write_file(target, detail::read_regular_file("download", path.substr(local.size())));
    return target;
  }
  static std::atomic<unsigned> count{0};
  const std::string partial =
      target + ".partial." + std::to_string(::getpid()) + "." + std::to_string(count.fetch_add(1));
  const int status = detail::run_program({"curl", "--fail", "--silent", "--show-error", "--location", "--proto",
                                          "=http,https,ftp", "--output", partial, "--", url});
  if (status == 0 && ::rename(partial.c_str(), target.c_str()) == 0) return target;
  ::unlink(partial.c_str());
  errors::raise<errors::UnavailableError>(
      "download", "cannot fetch " + url +
                      (status < 0 || status == 127 ? std::string(": there is no program curl")
                                                   : ": curl ended with status " + std::to_string(status)));
}

}  // namespace TANDEM_NS::io
