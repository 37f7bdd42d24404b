// A process that is killed before any of the calls by which a version is saved: what it leaves is never taken for a
// version, and the next one that saves removes it.
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/saved_model/counted_calls.hpp"
#include "tests/saved_model/models.hpp"

namespace saved_model_killed_test {

using namespace tandem;
using testing::answer;
using testing::HalfPlusTwo;
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

// Saves in another process, which is killed before its call of this number; returns whether it ended before.
template <class F>
bool ends_before(int call, const F& save) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    counted_calls::left = call;
    save();
    counted_calls::left = -1;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE((WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
  return WIFEXITED(status);
}

TEST_CASE("killed save: before any call, the version is not there, or whole") {
  const testing::TemporaryFolder folder;
  const std::string asset = folder.file("asset", "text"), base = folder / "base/m";
  int call = 0, absent = 0, whole = 0;
  for (bool ended = false; !ended; ++call) {
    std::filesystem::remove_all(base);
    ended = ends_before(call, [&] { HalfPlusTwo().save(base + "/1", {.assets = {{"a", asset}}, .warmup = {"x"}}); });
    const bool exists = std::filesystem::exists(base + "/1");
    const std::vector<i64> versions = std::filesystem::exists(base) ? saved_model::versions(base) : std::vector<i64>{};
    REQUIRE(versions == (exists ? std::vector<i64>{1} : std::vector<i64>{}));
    ++(exists ? whole : absent);
    if (exists) {
      REQUIRE(answer(saved_model::load(base + "/1"), {1}) == Floats{2.5f});
      continue;
    }
    HalfPlusTwo(3).save(base + "/1");  // removes what is left
    REQUIRE(testing::names_in(base) == Names{"1"});
    REQUIRE(answer(saved_model::load(base + "/1"), {1}) == Floats{5});
  }
  CHECK(absent > 20);
  CHECK(whole >= 2);  // the last calls come after it is published
}

TEST_CASE("killed save: before any call that replaces a version, the old or the new one is there") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "m/1";
  HalfPlusTwo(1).save(path);
  int old = 0, replaced = 0;
  for (bool ended = false; !ended;) {
    HalfPlusTwo(1).save(path, {.overwrite = true});
    ended = ends_before(old + replaced, [&] { HalfPlusTwo(3).save(path, {.overwrite = true}); });
    const Floats is = answer(saved_model::load(path), {1});
    REQUIRE((is == Floats{3} || is == Floats{5}));
    ++(is == Floats{3} ? old : replaced);
  }
  CHECK(old > 20);
  CHECK(replaced >= 2);
  HalfPlusTwo(1).save(path, {.overwrite = true});
  CHECK(testing::names_in(folder / "m") == Names{"1"});
}

TEST_CASE("killed save: a folder that another process still fills is left alone") {
  const testing::TemporaryFolder folder;
  const std::string base = folder / "m";
  std::filesystem::create_directory(base);
  const std::string other = base + "/.tmp-1-1";  // of process 1, which runs
  std::filesystem::create_directory(other);
  const int lock = ::open(other.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  HalfPlusTwo().save(base + "/1");
  CHECK(testing::names_in(base) == Names{".tmp-1-1", "1"});
  ::close(lock);
  HalfPlusTwo().save(base + "/1", {.overwrite = true});
  CHECK(testing::names_in(base) == Names{"1"});
}

TEST_CASE("killed save: what is left of any version is removed by the next save, and nothing else") {
  const testing::TemporaryFolder folder;
  for (const char* name : {".tmp-7-1", ".tmp-7-99999", ".tmp-8-1", ".tmp-8", ".tmp-x-1", ".tmp-0-1", ".tmp-7-1-1", "7"})
    std::filesystem::create_directories(folder / name);
  HalfPlusTwo().save(folder / "1");
  CHECK(testing::names_in(folder.path) == Names{".tmp-0-1", ".tmp-7-1-1", ".tmp-8", ".tmp-x-1", "1", "7"});
}

// No file can be opened during its lifetime.
class NoDescriptors {
 public:
  NoDescriptors() {
    const int lowest = ::open("/", O_RDONLY | O_DIRECTORY);
    ::close(lowest);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{static_cast<rlim_t>(lowest), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("save: a process without descriptors says so, and leaves nothing") {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "m");
  const auto save = [&] {
    const NoDescriptors none;
    HalfPlusTwo().save(folder / "m/1");
  };
  CHECK_THAT(testing::error_of<errors::UnavailableError>(save), ContainsSubstring("Too many open files"));
  CHECK(testing::names_in(folder / "m").empty());
}

// Exchanges the folders 1 and 2 before a graph is read, so that the Variables are of one model and it is of the other.
struct Exchange {
  static inline std::string base;
  static inline int graphs = 0, left = 0;
  Exchange(const std::string& folder, int times) {
    base = folder, graphs = 0, left = times;
    counted_calls::opening = [](const char* path) {
      if (!std::string_view(path).ends_with("/graphs/f.graph") || ++graphs % 2 || !left) return;  // read twice a load
      left -= ::renameat2(AT_FDCWD, (base + "/1").c_str(), AT_FDCWD, (base + "/2").c_str(), RENAME_EXCHANGE) == 0;
    };
  }
  Exchange(const Exchange&) = delete;
  ~Exchange() { counted_calls::opening = nullptr; }
};

TEST_CASE("load: a version that is replaced meanwhile is loaded as the old one or the new one") {
  const testing::TemporaryFolder folder;
  for (const float k : {1.f, 2.f}) {
    const Variable w(k, {.name = "w"});
    const auto f = function([&](const Tensor& x) { return x * w + 10.f * k; });
    saved_model::save(folder / std::to_string(int(k)), {{"f", saved_model::predict(f, {{"x", {{}, float32}}}, {"y"})}});
  }
  const auto load = [&] { return saved_model::load(folder / "1")("f", {{"x", constant(1.f)}}).at("y").item<float>(); };
  CHECK(load() == 11);
  for (const int times : {1, 2}) {
    const Exchange exchange(folder.path, times);
    const float is = load();
    CHECK((is == 11 || is == 22));
    CHECK(Exchange::left == 0);
  }
  const Exchange exchange(folder.path, 3);
  CHECK_THAT(testing::error_of<errors::UnavailableError>(load), ContainsSubstring("was replaced 3 times"));
}

}  // namespace saved_model_killed_test
