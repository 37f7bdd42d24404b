// RunDirectory: going on with a run, other configurations, two processes, damage.
#include "tandem/train/run_directory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"

namespace train_run_directory_test {
using namespace tandem;
using testing::error_of;
using train::RunDirectory;

const train::Metadata configuration{{"batch", "100"}, {"data", "sha256 \"1\"\n\xc3\xa9"}, {"seed", "1"}};

TEST_CASE("a folder is made, and the same configuration goes on with it") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "runs/a";
  {
    const RunDirectory run(path, configuration, {.notes = {{"version", "1"}}});
    CHECK(run.is_new());
    CHECK(run.path() == path);
    CHECK(run.checkpoints() == path + "/checkpoints");
    CHECK(run.events() == path + "/events");
    CHECK(run.report() == path + "/report.html");
    CHECK(run.file("x") == path + "/x");
  }
  RunDirectory run(path, configuration, {.notes = {{"version", "2"}}});
  CHECK_FALSE(run.is_new());
  CHECK(run.configuration() == configuration);
  CHECK(run.notes() == train::Metadata{{"version", "1"}});
  RunDirectory moved = std::move(run);
  CHECK(moved.path() == path);
}

TEST_CASE("another configuration is refused with the keys that differ") {
  const testing::TemporaryFolder folder;
  { const RunDirectory run(folder.path, configuration); }
  const std::string before = testing::content_of(folder / "run.json");
  const std::string error = error_of<errors::FailedPreconditionError>([&] {
    RunDirectory(folder.path, {{"batch", "50"}, {"data", configuration.at("data")}, {"rate", "0.1"}});
  });
  CHECK_THAT(error, ContainsSubstring(folder.path) && ContainsSubstring("\n  batch was \"100\", is \"50\"") &&
                        ContainsSubstring("\n  seed was \"1\", is not given") &&
                        ContainsSubstring("\n  rate was not given, is \"0.1\""));
  CHECK(error.find("data was") == std::string::npos);
  CHECK(testing::content_of(folder / "run.json") == before);
  CHECK_FALSE(RunDirectory(folder.path, configuration).is_new());  // the lock was given back
}

TEST_CASE("a second process is refused, with the first one's number and machine, until that one has ended") {
  const testing::TemporaryFolder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const RunDirectory run(folder.path, configuration);
    char byte = 1;
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  CHECK_THAT(error_of<errors::UnavailableError>([&] { RunDirectory(folder.path, configuration); }),
             ContainsSubstring(folder.path + " is in use by process " + std::to_string(child) + " on " + host + ";"));
  CHECK_NOTHROW(RunDirectory(folder.path, configuration, {.lock = false}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const RunDirectory run(folder.path, configuration);
  CHECK_FALSE(run.is_new());
  CHECK_THAT(error_of<errors::UnavailableError>([&] { RunDirectory(folder.path, configuration); }),
             ContainsSubstring("process " + std::to_string(::getpid())));
  ::close(ready[0]), ::close(ready[1]);
}

TEST_CASE("of many processes that open a folder at the same time one gets it") {
  const testing::TemporaryFolder folder;
  for (int round = 0; round < 10; ++round) {
    const std::string path = folder / std::to_string(round);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        try {
          const RunDirectory run(path, configuration);
          for (;;) ::pause();
        } catch (const errors::UnavailableError&) {
          ::_exit(7);
        }
      }
      children.push_back(child);
    }
    for (int i = 0; i < 7; ++i) {  // all but one end by themselves
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, 0);
      std::erase(children, ended);
      CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
    }
    REQUIRE(children.size() == 1);
    ::kill(children[0], SIGKILL);
    ::waitpid(children[0], nullptr, 0);
    CHECK(RunDirectory(path, configuration).configuration() == configuration);
  }
}

TEST_CASE("a process that is killed while it makes the folder leaves one that can be opened") {
  const testing::TemporaryFolder folder;
  for (int moment = 0; moment < 50; ++moment) {
    const std::string path = folder / std::to_string(moment);
    const pid_t child = ::fork();
    if (child == 0) {
      const RunDirectory run(path, configuration);
      for (;;) ::pause();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(40 * moment));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(RunDirectory(path, configuration).configuration() == configuration);
  }
}

TEST_CASE("folders that cannot be used are refused by name") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("file", "");
  CHECK_THAT(error_of<errors::UnavailableError>([&] { RunDirectory(file, configuration); }), ContainsSubstring(file));
  std::filesystem::create_directory(folder / "read_only");
  std::filesystem::permissions(folder / "read_only", std::filesystem::perms(0555));
  const uid_t user = ::geteuid();
  if (user == 0) REQUIRE(::seteuid(65534) == 0);
  const std::string error =
      error_of<errors::UnavailableError>([&] { RunDirectory(folder / "read_only", configuration); });
  if (user == 0) REQUIRE(::seteuid(0) == 0);
  CHECK_THAT(error, ContainsSubstring(folder / "read_only"));
  {
    const testing::SmallFiles full(0);
    CHECK_THROWS_AS(RunDirectory(folder / "full", configuration), errors::UnavailableError);
  }
  CHECK(RunDirectory(folder / "full", configuration).is_new());
  CHECK_THROWS_AS(RunDirectory(folder / "bytes", {{"name", "\xff"}}), errors::InvalidArgumentError);
  CHECK_FALSE(std::filesystem::exists(folder / "bytes/run.json"));
}

TEST_CASE("a damaged run.json raises, or has another configuration") {
  const testing::TemporaryFolder folder;
  { const RunDirectory run(folder.path, {{"seed", "1"}}); }
  const std::string path = folder / "run.json", good = testing::content_of(path);
  int opened = 0, damages = 0;
  testing::for_each_damage(good, [&](const std::string& bytes, bool) {
    if (damages++ % 3) return;
    folder.file("run.json", bytes);
    opened += !testing::raises([&] { RunDirectory(folder.path, {{"seed", "1"}}); });
  });
  CHECK(opened < damages / 30);  // blanks, the notes
}

}  // namespace train_run_directory_test
