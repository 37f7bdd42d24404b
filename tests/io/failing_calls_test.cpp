// Saving and loading where system calls are interrupted or fail: retried, or an error that names the path and leaves
// the old file; never with more permissions than before.
#include <filesystem>
#include <random>
#include <set>

#include "tandem/io/graph_file.hpp"
#include "tandem/io/npy.hpp"
#include "tandem/io/npz.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/ops/all.hpp"
#include "tests/io/failing_calls.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("tandem_failing_" + std::to_string(std::random_device()()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};
void save(const std::string& path, float value) { io::save_safetensors(path, {{"a", full_like(ones({3}), value)}}); }
float load(const std::string& path) { return io::load_safetensors(path).at("a").to_vector<float>()[0]; }
mode_t mode_of(const std::string& path) {
  struct stat s {};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}
// Each of the calls is interrupted this often.
void interrupt(int times) {
  for (failing_calls::Plan* p :
       {&failing_calls::open, &failing_calls::fsync, &failing_calls::fstat, &failing_calls::fchmod})
    *p = {EINTR, times, 0};
}
int interrupted() {
  int n = 0;
  for (failing_calls::Plan* p :
       {&failing_calls::open, &failing_calls::fsync, &failing_calls::fstat, &failing_calls::fchmod})
    n += p->failed, *p = {};
  return n;
}

}  // namespace

TEST_CASE("failing calls: what a signal interrupts is called again") {
  const Folder folder;
  const std::string path = folder.file("a");
  save(path, 1);
  interrupt(3);
  save(path, 2);  // open, fsync, fchmod
  const int while_saved = interrupted();
  CHECK(while_saved >= 9);
  interrupt(3);
  const float value = load(path);  // open, fstat
  const int while_loaded = interrupted();
  CHECK(value == 2);
  CHECK(while_loaded == 6);
  CHECK(folder.files() == 1);
}

TEST_CASE("failing calls: where permissions cannot be set, the file has no more of them than the old one") {
  const Folder folder;
  const std::string path = folder.file("a");
  for (const mode_t mode : {0600u, 0640u, 0400u, 0666u, 0755u}) {
    save(path, 1);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    failing_calls::fchmod = {EPERM, 1, 0};
    save(path, 2);
    const int failed = interrupted();
    CHECK(failed == 1);
    CHECK((mode_of(path) & ~mode) == 0);
    CHECK(load(path) == 2);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    save(path, 3);
    CHECK(mode_of(path) == mode);
  }
}

TEST_CASE("failing calls: errors name the path that was given, and the old file stays") {
  const Folder folder;
  const std::string path = folder.file("a");
  save(path, 1);
  const auto error_of = [&] {
    try {
      save(path, 2);
    } catch (const errors::OpError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  for (failing_calls::Plan* call : {&failing_calls::open, &failing_calls::fsync})
    for (const int error : {EIO, ENOSPC, EDQUOT, EACCES, EROFS}) {
      // The first open() reads the id of the boot.
      *call = {error, call == &failing_calls::open ? 2 : 1, 0};
      const std::string text = error_of();
      CHECK(interrupted() > 0);
      CHECK_THAT(text, ContainsSubstring(path));
      CHECK_THAT(text, ContainsSubstring(std::strerror(error)));
      CHECK_THAT(text, !ContainsSubstring(".partial."));
      CHECK(load(path) == 1);
      CHECK(folder.files() == 1);
    }
}
