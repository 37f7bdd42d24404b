// A disk that hangs: the threads that load a version stand still within open(), as they do when the system does not
// answer, and nothing but that version waits for them.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstring>
#include <thread>

#include "tests/serving/http_client.hpp"
#include "tests/serving/models.hpp"

namespace hanging_disk_test {

// While .hangs, files of version 2 of any model cannot be opened.
constinit std::atomic<bool> hangs{false};
constinit std::atomic<int> waiting{0};

void wait_for_disk(const char* path) {
  if (!hangs || !std::strstr(path, "/2/")) return;
  ++waiting;
  hangs.wait(true);
  --waiting;
}

}  // namespace hanging_disk_test

extern "C" [[gnu::noinline]] int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const bool creates = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = creates ? va_arg(more, mode_t) : 0;
  va_end(more);
  hanging_disk_test::wait_for_disk(path);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace hanging_disk_test {

using namespace tandem;
using Catch::Matchers::StartsWith;
using testing::Client;

// Ends the hang whatever happens: the server waits for its threads.
struct Hang {
  Hang() { hangs = true; }
  ~Hang() {
    hangs = false;
    hangs.notify_all();
  }
};

TEST_CASE("server: while the disk hangs, the old version, other models, health and metrics are there") {
  const testing::TemporaryFolder folder;
  for (const char* name : {"half", "other", "third"}) testing::save_half(folder / name + "/1", 1);
  serving::Options options = testing::server_options(folder.path, "half");
  for (const char* name : {"other", "third"}) options.models.push_back({.name = name, .base_path = folder / name});
  options.file_system_poll_wait_seconds = 0.02;
  serving::Server server(options);
  server.engine().settle();
  const auto first_row = [&](const char* name) {
    const std::string answer =
        Client(server.rest_port()).ask("POST", std::string("/v1/models/") + name + ":predict", R"({"instances":[0]})");
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  const auto get = [&](const std::string& path) { return Client(server.rest_port()).ask("GET", path); };
  {
    const Hang hang;
    // As many versions as there are threads that load.
    for (const char* name : {"half", "other"}) testing::save_half(folder / name + "/2", 2);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (waiting < options.num_load_threads) {
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (int i = 0; i < 20; ++i)
      for (const char* name : {"half", "other", "third"}) CHECK(first_row(name) == R"({"predictions":[1.0]})");
    CHECK_THAT(get("/v2/health/live"), StartsWith("HTTP/1.1 200"));
    CHECK_THAT(get("/v2/health/ready"), StartsWith("HTTP/1.1 200"));
    CHECK_THAT(get("/v2/models/half/ready"), StartsWith("HTTP/1.1 200"));
    CHECK_THAT(get("/v1/models/half"), ContainsSubstring("LOADING") && ContainsSubstring("AVAILABLE"));
    CHECK_THAT(get("/metrics"),
               ContainsSubstring("tandem_model_state{model=\"half\",state=\"LOADING\",version=\"2\"} 1"));
    CHECK(waiting == options.num_load_threads);
  }
  server.engine().settle();
  for (const char* name : {"half", "other"}) CHECK(first_row(name) == R"({"predictions":[2.0]})");
}

}  // namespace hanging_disk_test
