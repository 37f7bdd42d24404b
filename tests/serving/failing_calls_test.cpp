// What goes on while the server ends or fails: failure files, loads that raise.
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <new>
#include <thread>

#include "tests/serving/models.hpp"

namespace failing_calls_test {

using namespace tandem;
using serving::Engine;
using testing::error_of;

// Saves a model that takes as many turns as its Variable "turns" says, and raises then.
void save_failing(const std::string& directory) {
  const Variable turns(0.f, {.name = "turns"});
  const auto f = function([&](const Tensor& x) {
    const auto [i, y] = while_loop([&](const Tensor& i, const Tensor&) { return i < turns; },
                                   [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1.f, y); },
                                   std::tuple(constant(0.f), cast(x, float32)));
    return gather(constant({1.f, 2.f}), x + cast(reduce_sum(y) * 0.f, int32));
  });
  saved_model::save(directory,
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, int32}}}, {"y"})}});
}
std::size_t files_in(const std::string& folder) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) n += entry.is_regular_file();
  return n;
}
// Holds a request for "failing" that has failed, before the model is called again for its failure file.
struct Hold final : serving::LogSink {
  void write(const serving::LogEntry& e) noexcept override {
    if (e.event != std::string_view("request") || e.code == 0 || e.model != "failing") return;
    has_failed = true;
    while (!may_go_on) std::this_thread::yield();
  }
  std::atomic<bool> has_failed{false}, may_go_on{false};
};
double cpu_seconds(std::thread& thread) {
  clockid_t clock{};
  timespec t{};
  if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || clock_gettime(clock, &t) != 0) return 1e9;
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
// Waits until the request is in its second call, which takes 10^9 turns.
void let_it_call_again(Hold& hold, Engine& engine, std::thread& client) {
  while (!hold.has_failed) std::this_thread::yield();
  engine.assign_variables({"failing"}, {{"turns", constant(1e9f)}});
  const double before = cpu_seconds(client);
  hold.may_go_on = true;
  while (cpu_seconds(client) < before + 0.1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("failure files: the second call ends with the grace, and other requests do not wait for it") {
  const testing::TemporaryFolder folder;
  save_failing(folder / "failing/1");
  save_failing(folder / "other/1");
  const auto log = std::make_shared<Hold>();
  serving::Options options{.models = {{.name = "failing", .base_path = folder / "failing"},
                                      {.name = "other", .base_path = folder / "other"}},
                           .threads = 2,
                           .log = log,
                           .failure_folder = folder / "failures"};
  std::filesystem::create_directories(options.failure_folder);
  Engine engine(options);
  engine.settle();
  const auto call = [&](const char* model) {
    return error_of([&] { engine.predict({.model = {model}, .inputs = {{"x", constant({77})}}}); });
  };
  std::string error;
  std::atomic<bool> is_back{false};
  std::thread client([&] {
    error = call("failing");
    is_back = true;
  });
  let_it_call_again(*log, engine, client);
  for (int i = 0; i < 3; ++i) CHECK_THAT(call("other"), ContainsSubstring("gather"));
  CHECK(files_in(options.failure_folder) == 0);
  CHECK_FALSE(is_back);
  engine.drain(0.05);
  client.join();
  CHECK_THAT(error, ContainsSubstring("gather"));  // of the first call, not that it was cancelled
  CHECK(files_in(options.failure_folder) == 0);
}

TEST_CASE("failure files: a request whose client has gone leaves the second call") {
  const testing::TemporaryFolder folder;
  save_failing(folder / "failing/1");
  const auto log = std::make_shared<Hold>();
  serving::Options options{.models = {{.name = "failing", .base_path = folder / "failing"}},
                           .log = log,
                           .failure_folder = folder / "failures"};
  std::filesystem::create_directories(options.failure_folder);
  Engine engine(options);
  engine.settle();
  serving::Request request{.model = {"failing"}, .inputs = {{"x", constant({77})}}};
  const CancelToken gone;
  request.call.cancel = gone;
  std::string error;
  std::thread client([&] { error = error_of([&] { engine.predict(request); }); });
  let_it_call_again(*log, engine, client);
  gone.cancel();
  client.join();
  CHECK_THAT(error, ContainsSubstring("gather"));
  CHECK(files_in(options.failure_folder) == 0);
}

std::atomic<int> warnings{0};
void raise_at_first(const char*) {
  if (warnings++ == 0) throw std::bad_alloc();
}

TEST_CASE("engine: a loader whose load raises while the server ends does not miss that") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1", {testing::prediction_log("slow", {1e9f})});
  warnings = 0;
  set_warning_handler(&raise_at_first);
  {
    Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}});
    while (testing::states(engine, "slow") != "1 LOADING") std::this_thread::yield();
  }  // the load is cancelled, and the warning about it finds no memory
  set_warning_handler(nullptr);
  CHECK(warnings >= 2);
}

}  // namespace failing_calls_test
