// What becomes of a writer's events: names of files, restarts, threads, the queue's limit, full disks, crashes, forks.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "tandem/base/warning.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/summary/functions.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;

namespace {

// Limits the size of files, as a full disk does, for a scope.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit before_{};
  void (*old_handler_)(int);
};
std::vector<std::string>& warnings() {
  static std::vector<std::string> list;
  return list;
}
struct CatchWarnings {
  CatchWarnings() {
    warnings().clear();
    set_warning_handler([](const char* text) { warnings().push_back(text); });
  }
  ~CatchWarnings() {
    set_warning_handler([](const char* text) { std::fprintf(stderr, "tandem: %s\n", text); });
  }
};
// Runs f in a child and returns how that ended; f's return value is the child's exit status.
template <class F>
int in_child(const F& f) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}
double number(const testing::Written& w) { return std::get<double>(w.value.content); }

}  // namespace

TEST_CASE("summary writer: files are in order where the clock is set back") {
  const testing::TemporaryFolder folder;
  std::string last;
  for (i64 i = 0; i < 3; ++i) {
    summary::FileWriter writer(folder.path, {.restart_step = i});
    writer.scalar("x", i, i), writer.scalar("x", i, i + 1);
    writer.close();
    if (i > 0) CHECK(writer.path() > last);
    last = writer.path();
    if (i != 0) continue;
    last = folder / ("events.out.tfevents." + std::to_string(std::time(nullptr) + 5000) + ".zzz.1.00000");
    std::filesystem::rename(writer.path(), last);  // as if it were made in an hour
  }
  std::vector<double> values;
  for (const testing::Written& w : testing::values_of(folder.path)) values.push_back(number(w));
  CHECK(values == std::vector<double>{0, 0, 1, 1, 2, 2});
  // Names of other programs do not count.
  for (const char* name : {"events.out.tfevents.99999999999.a", "events.out.tfevents.9999999999.a",
                           "events.out.tfevents.x", "events.out.tfevents.20000000xx.a", "z"})
    folder.file(name, "");
  const std::string path = summary::FileWriter(folder.path).path();
  CHECK(path > last);
  CHECK(path < folder / "events.out.tfevents.2");
}

TEST_CASE("summary writer: two in one folder have files of their own") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "deep/er";
  const summary::FileWriter a(path), b = summary::create_file_writer(path, {.filename_suffix = ".v2"}), c = a;
  CHECK(a.path() == c.path());
  CHECK(testing::event_files(path).size() == 2);
  CHECK(b.path().ends_with(".v2"));
  CHECK_THAT(a.path(), ContainsSubstring("/events.out.tfevents.1"));
  CHECK_THAT(a.path(), ContainsSubstring("." + std::to_string(::getpid()) + "."));
  std::string last;
  for (int i = 0; i < 12; ++i) {  // their names are in the order in which they were made
    const std::string next = summary::FileWriter(path).path();
    CHECK(last < next);
    last = next;
  }
  const std::string file = folder.file("file", "");
  CHECK_THROWS_AS(summary::FileWriter(file), errors::UnavailableError);
  CHECK_THROWS_AS(summary::FileWriter(path, {.flush_seconds = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(summary::FileWriter(path, {.max_queue_bytes = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(summary::FileWriter(path, {.filename_suffix = "a/b"}), errors::InvalidArgumentError);
}

TEST_CASE("summary writer: a restart says from which step on earlier files do not count") {
  const testing::TemporaryFolder folder;
  summary::FileWriter(folder.path).scalar("x", 1, 9);
  summary::FileWriter(folder.path, {.restart_step = 4}).scalar("x", 2, 4);
  std::string text;
  for (const auto& e : summary::read_events(folder.path))
    text += std::to_string(e.step) + (e.is_restart ? " restart; " : e.values.empty() ? " version; " : " value; ");
  CHECK(text == "0 version; 9 value; 4 version; 4 restart; 4 restart; 4 value; ");
}

TEST_CASE("summary writer: a value is in the file after flush_seconds, at flush and at close") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path, {.flush_seconds = 0.01});
  writer.scalar("x", 1, 1);
  for (int i = 0; i < 60000 && testing::values_of(folder.path).empty(); ++i) ::usleep(1000);
  CHECK(testing::values_of(folder.path).size() == 1);
  summary::FileWriter slow(folder.path, {.flush_seconds = 1e6});
  slow.scalar("y", 1, 1);
  CHECK(testing::values_of(slow.path()).empty());
  slow.flush();
  CHECK(testing::values_of(slow.path()).size() == 1);
  slow.scalar("y", 2, 2);
  slow.close();
  CHECK(testing::values_of(slow.path()).size() == 2);
  CHECK(slow.stats().events == 3);  // with the version
  CHECK(slow.stats().bytes == static_cast<i64>(std::filesystem::file_size(slow.path())));
}

TEST_CASE("summary writer: threads write at the same time, and wait where the queue is full") {
  const testing::TemporaryFolder folder;
  constexpr int threads = 4, steps = 3000;
  summary::FileWriter writer(folder.path, {.max_queue_bytes = 200});
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&writer, t] {
      const auto scope = writer.as_default();  // of this thread alone
      for (int i = 0; i < steps; ++i) {
        summary::scalar("thread" + std::to_string(t), i, {.step = i});
        if (i % 500 == 0) writer.flush();
      }
    });
  for (std::thread& t : all) t.join();
  writer.close();
  CHECK(writer.stats().waits > 0);
  CHECK(writer.stats().lost == 0);
  std::map<std::string, i64> next;
  for (const auto& w : testing::values_of(folder.path)) {
    i64& step = next[w.value.tag];
    REQUIRE((w.step == step && number(w) == static_cast<double>(step)));
    ++step;
  }
  REQUIRE(next.size() == threads);
  for (const auto& tag : next) CHECK(tag.second == steps);
}

TEST_CASE("summary writer: on a full disk the program goes on, close raises, and nothing is lost if room comes") {
  const testing::TemporaryFolder folder;
  const CatchWarnings caught;
  summary::FileWriter writer(folder.path, {.flush_seconds = 1e6});
  const Tensor noise = random::uniform({64, 64, 1});
  const auto image = [&](i64 step) { writer.image("noise", expand_dims(noise, 0), {.step = step}); };
  {
    const FullDisk full(3000);
    for (i64 i = 0; i < 3; ++i) image(i), writer.flush();
  }
  REQUIRE(warnings().size() == 1);
  CHECK_THAT(warnings()[0], ContainsSubstring("cannot write " + writer.path() + ": File too large"));
  CHECK(testing::values_of(folder.path).empty());  // the first is not complete
  writer.flush();
  CHECK(testing::values_of(folder.path).size() == 3);
  image(3);
  CHECK_NOTHROW(writer.close());
  CHECK(testing::values_of(folder.path).size() == 4);

  summary::FileWriter second(folder.path, {.flush_seconds = 1e6, .max_queue_bytes = 10000});
  {
    const FullDisk full(3000);
    for (i64 i = 0; i < 1000; ++i) second.scalar("x", i, i), second.flush();  // more than the queue has room for
    CHECK(second.stats().lost > 0);
    CHECK(second.stats().waits == 0);
  }
  CHECK_THAT(testing::error_of<errors::ResourceExhaustedError>([&] { second.close(); }),
             ContainsSubstring(std::to_string(second.stats().lost) + " events are missing"));
  const auto kept = testing::values_of(second.path());
  CHECK(static_cast<i64>(kept.size()) == 1000 - second.stats().lost);
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i].step == static_cast<i64>(i));

  summary::FileWriter third(folder.path, {.flush_seconds = 1e6});
  const FullDisk full(3000);
  for (i64 i = 0; i < 1000; ++i) third.scalar("x", i, i);
  CHECK_THAT(testing::error_of<errors::ResourceExhaustedError>([&] { third.close(); }),
             ContainsSubstring("File too large; the last events are lost"));
  CHECK(warnings().size() == 3);
}

TEST_CASE("summary writer: a handler of warnings may use the writer, and may throw") {
  const testing::TemporaryFolder folder;
  const CatchWarnings restored;
  static summary::FileWriter* used = nullptr;
  summary::FileWriter writer(folder.path, {.flush_seconds = 0.01});
  used = &writer;
  set_warning_handler([](const char* text) {
    warnings().push_back(text);
    used->scalar("from the handler", 1, 1);
    used->flush();
    throw std::runtime_error("of the handler");
  });
  {
    const FullDisk full(30);  // the file has more already
    writer.scalar("x", 1, 1);
    const auto is_told = [&] { return writer.stats().events == 3; };
    for (int i = 0; i < 60000 && !is_told(); ++i) ::usleep(1000);  // on the thread of the writer
    CHECK(is_told());
  }
  CHECK_NOTHROW(writer.close());
  CHECK(warnings().size() == 1);
  CHECK(testing::values_of(folder.path).size() == 2);
}

TEST_CASE("summary writer: after kill -9 no record but the last is torn") {
  std::mt19937 random(1);
  std::size_t most = 0;
  for (int round = 0; round < 12; ++round) {
    const testing::TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // ends a child that hangs
      summary::FileWriter writer(folder.path, {.flush_seconds = 0.001});
      for (i64 i = 0;; ++i) {
        writer.scalar("x", i, i);
        if (i % 100 == 0) writer.text("t", std::string(5000, 'x'), {.step = i});
        if (i % 1000 == 0) writer.flush();
      }
    }
    // Somewhere after so many bytes.
    const auto bytes = std::uniform_int_distribution<std::uintmax_t>(20'000, 500'000)(random);
    const auto written = [&] {
      const auto files = testing::event_files(folder.path);
      return files.empty() ? 0 : std::filesystem::file_size(files[0]);
    };
    bool ended = false;
    while (!ended && written() < bytes) {
      ::usleep(100);
      ended = ::waitpid(child, nullptr, WNOHANG) != 0;
    }
    REQUIRE(!ended);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    i64 next = 0;
    for (const auto& w : testing::values_of(folder.path))
      if (w.value.tag == "x") CHECK(w.step == next++);
    most = std::max(most, static_cast<std::size_t>(next));
  }
  CHECK(most > 100);
}

TEST_CASE("summary writer: exit, abort and exceptions that nobody catches flush it") {
  using End = void (*)(summary::FileWriter&);
  const End ends[] = {[](summary::FileWriter&) { std::exit(7); },
                      [](summary::FileWriter&) { throw std::runtime_error("uncaught"); },
                      [](summary::FileWriter&) { std::terminate(); },
                      [](summary::FileWriter&) { std::abort(); },
                      [](summary::FileWriter&) { std::thread([] { std::abort(); }).join(); },
                      [](summary::FileWriter& w) { w.text("x", "the tag of a scalar", {.step = 1}); },
                      [](summary::FileWriter& w) { w.close(), w.scalar("x", 2, 2); }};
  for (const End end : ends) {
    const testing::TemporaryFolder folder;
    const int status = in_child([&]() noexcept -> int {
      ::alarm(60);  // ends a child that hangs
      ::signal(SIGABRT, SIG_DFL);
      ::dup2(::open("/dev/null", O_WRONLY), 2);
      auto* const writer = new summary::FileWriter(folder.path, {.flush_seconds = 1e6});  // nobody destroys it
      writer->scalar("x", 1, 1);
      end(*writer);
      return 0;
    });
    if (end == ends[0]) CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
    else CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    CHECK(testing::values_of(folder.path).size() == 1);
  }
}

TEST_CASE("summary writer: abort writes what the thread of the writer has not, in order") {
  const testing::TemporaryFolder folder;
  const int status = in_child([&] {
    ::alarm(60);  // ends a child that hangs
    ::signal(SIGABRT, SIG_DFL);
    summary::FileWriter writer(folder.path, {.flush_seconds = 1e-4});
    for (i64 i = 0; i < 20'000; ++i) writer.scalar("x", i, i);
    std::abort();
    return 0;
  });
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  i64 next = 0;
  for (const auto& w : testing::values_of(folder.path)) CHECK(w.step == next++);
  CHECK(next == 20'000);
}

TEST_CASE("summary writer: SIGABRT is handled while there is a writer, unless the program handles it") {
  const testing::TemporaryFolder folder;
  const auto action = [] {
    struct sigaction now {};
    ::sigaction(SIGABRT, nullptr, &now);
    return now.sa_handler;
  };
  const int status = in_child([&] {
    ::signal(SIGABRT, SIG_DFL);
    {
      const summary::FileWriter first(folder.path), second(folder.path);
      if (action() == SIG_DFL) return 1;
    }
    if (action() != SIG_DFL) return 2;
    const auto own = [](int) { ::_exit(9); };
    ::signal(SIGABRT, own);
    { const summary::FileWriter writer(folder.path); }
    if (action() != +own) return 3;
    const summary::FileWriter writer(folder.path);
    std::abort();
    return 0;
  });
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 9));
}

TEST_CASE("summary writer: an exception that ends a scope flushes it") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path, {.flush_seconds = 1e6});
  try {
    const auto scope = writer.as_default(1);
    summary::scalar("x", 1);
    throw 1;
  } catch (int) {
  }
  CHECK(testing::values_of(folder.path).size() == 1);
}

#if !defined(__SANITIZE_THREAD__)  // the sanitizer does not follow a fork of several threads
TEST_CASE("summary writer: a child that fork makes has writers of its own") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path, {.flush_seconds = 1e6});
  const auto scope = writer.as_default();
  summary::scalar("parent", 1, {.step = 1});
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (i64 i = 0; !stop; ++i) writer.scalar("other", i, i);  // has the lock often
  });
  int failed = 0;
  for (int i = 0; i < 20; ++i)
    failed += in_child([&] {
      ::alarm(60);  // ends a child that hangs
      const std::string text =
          testing::error_of<errors::FailedPreconditionError>([] { summary::scalar("x", 1, {.step = 1}); });
      if (text.find("make a FileWriter here") == std::string::npos) return 1;
      writer.flush(), writer.close();  // no effect on what is the parent's
      summary::FileWriter own(folder / "child");
      own.scalar("child", 2, 1);
      own.close();
      { const summary::FileWriter moved = std::move(writer); }  // the destructor of a copy
      return 0;
    });
  stop = true;
  other.join();
  CHECK(failed == 0);
  writer.close();
  std::size_t from_parent = 0;
  i64 next = 0;
  for (const auto& w : testing::values_of(folder.path)) {
    if (w.value.tag == "parent") ++from_parent;
    else CHECK(w.step == next++);
  }
  CHECK(from_parent == 1);
  CHECK(testing::values_of(folder / "child").size() == 20);
}
#endif

TEST_CASE("summary writer: a million scalars take less than 60 MB") {
  const testing::TemporaryFolder folder;
  summary::FileWriter writer(folder.path);
  for (i64 i = 0; i < 1'000'000; ++i) writer.scalar("loss", 0.5, i);
  writer.close();
  CHECK(std::filesystem::file_size(writer.path()) < 60'000'000);
  CHECK(writer.stats().events == 1'000'001);
}
