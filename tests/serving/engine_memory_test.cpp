// Engine: a limit of memory, which versions are asked about before they run, and values of Variables that are replaced.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/serving/models.hpp"

namespace engine_memory_test {

using namespace tandem;
using serving::Engine;
using serving::VersionPolicy;
using testing::ask;
using testing::error_of;
using testing::options_for;
using testing::save_half;
using testing::states;
using Floats = std::vector<float>;

TEST_CASE("engine: memory has a limit, and what is there stays") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1", 1);
  serving::Options options = options_for(folder.path);
  options.memory_limit = 7;  // less than a second version needs besides the first one's 8 bytes
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder / "half/1"))
    if (file.is_regular_file() && file.path().filename() != "model.json")
      options.memory_limit += static_cast<i64>(file.file_size());
  Engine engine(options);
  engine.settle();
  save_half(folder / "half/2", 2);
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{1});
  CHECK(engine.states({"half", 2})[0].code == 8);
  options.swap = serving::Options::resource;  // there is room if the old one goes first
  Engine other(options);
  other.settle();
  CHECK(ask(other, "half", {0}) == Floats{2});
  save_half(folder / "half/3", 3);
  other.settle();
  other.settle();
  CHECK(ask(other, "half", {0}) == Floats{3});
}

// A call of it takes much more than its values.
void save_wide(const std::string& directory) {
  const auto f = function([](const Tensor& x) { return reduce_sum(sort(expand_dims(x, 1) * ones({1, 10000})), 1); });
  saved_model::save(directory,
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
}

TEST_CASE("engine: a version whose calls do not fit is refused in bytes, and the old one goes on") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1", 1);
  save_wide(folder / "wide/1");
  const i64 first = saved_model::load(folder / "half/1").memory_for(1);
  const saved_model::Loaded wide = saved_model::load(folder / "wide/1");
  const i64 second = wide.memory_for(1), batch = wide.memory_for(64);
  CHECK(second > 40000);
  CHECK(batch > 64 * 40000);
  // What an engine says of version 2, which comes when it has version 1.
  serving::Options options = options_for(folder.path, {.kind = VersionPolicy::all});
  const auto error_with = [&](i64 limit) {
    options.memory_limit = limit;
    Engine engine(options);
    engine.settle();
    std::filesystem::rename(folder / "wide/1", folder / "half/2");
    engine.settle();
    std::filesystem::rename(folder / "half/2", folder / "wide/1");
    const serving::VersionStatus status = engine.states({"half", 2})[0];
    CHECK(status.code == (status.error.empty() ? 0 : 8));
    CHECK(states(engine, "half") == (status.error.empty() ? "2 AVAILABLE, 1 AVAILABLE" : "2 END, 1 AVAILABLE"));
    CHECK(engine.predict({.model = {"half", 1}, .inputs = {{"x", constant({0.f})}}}).version == 1);
    return status.error;
  };
  CHECK(error_with(first + second) == "");
  CHECK_THAT(error_with(first + second - 1),
             ContainsSubstring("version 2 of half takes " + std::to_string(second) + " bytes, " +
                               std::to_string(wide.bytes()) + " of them for its values") &&
                 ContainsSubstring("take " + std::to_string(first) + " bytes, the limit is " +
                                   std::to_string(first + second - 1)));
  options.batching.enabled = true;  // calls of 64 rows
  CHECK_THAT(error_with(first + second), ContainsSubstring("takes " + std::to_string(batch) + " bytes"));
}

TEST_CASE("engine: values of Variables are replaced as one set, without loading anything") {
  const testing::TemporaryFolder folder;
  const Variable w1(0.f, {.name = "w1"}), w2(0.f, {.name = "w2"});
  const auto f = function([&](const Tensor& x) { return x * 0.f + (w1 - w2); });
  saved_model::save(folder / "half/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
  Engine engine(options_for(folder.path));
  engine.settle();
  std::atomic<int> wrong{0}, running{4};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      for (int k = 0; k < 300; ++k)
        if (ask(engine, "half", {1, 2}) != Floats{0, 0}) ++wrong;
      --running;
    });
  for (float k = 1; running > 0; ++k) engine.assign_variables({"half"}, {{"w1", constant(k)}, {"w2", constant(k)}});
  for (std::thread& c : clients) c.join();
  CHECK(wrong == 0);
  CHECK(engine.assign_variables({"half"}, {{"w1", constant(5.f)}}) == 1);
  CHECK(engine.assign_variables({"half"}, {{"w2", constant(3.f)}}) == 1);
  CHECK(ask(engine, "half", {1}) == Floats{2});
  const auto fails = [&](const saved_model::NamedTensors& values) {
    return error_of<errors::InvalidArgumentError>([&] { engine.assign_variables({"half"}, values); });
  };
  CHECK_THAT(fails({{"w1", constant(1.f)}, {"w3", constant(1.f)}}), ContainsSubstring("has no Variables {w3}"));
  CHECK_THAT(fails({{"w1", constant(1.f)}, {"w2", constant({1.f})}}), ContainsSubstring("float32[1]"));
  CHECK(ask(engine, "half", {1}) == Floats{2});
  CHECK_THROWS_AS(engine.assign_variables({"none"}, {}), errors::NotFoundError);
}

TEST_CASE("engine: the metrics have the names that dashboards ask for") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Engine engine({.models = {{.name = "half", .base_path = folder / "half"}}, .batching = {.enabled = true}});
  engine.settle();
  CHECK(ask(engine, "half", {2}) == Floats{3});
  CHECK_THROWS_AS(ask(engine, "none", {2}), errors::NotFoundError);
  const std::string text = "\n" + engine.metrics();
  for (
      const char* line :
      {"tandem_requests_total{code=\"OK\",model=\"half\",protocol=\"rest\",signature=\"serving_default\",version=\"1\"}"
       " 1",
       "tandem_request_seconds_count{model=\"half\",protocol=\"rest\"} 1",
       "tandem_queue_seconds_count{model=\"half\"} 1", "tandem_run_seconds_count{model=\"half\"} 1",
       "tandem_batch_rows_sum{model=\"half\"} 1", "tandem_padding_rows_total{model=\"half\"} 0",
       "tandem_queue_rows{model=\"half\"} 0", "tandem_queue_bytes{model=\"half\"} 0", "tandem_in_flight 0",
       "tandem_model_state{model=\"half\",state=\"AVAILABLE\",version=\"1\"} 1", "tandem_model_bytes{",
       "tandem_load_seconds_count{model=\"half\"} 1", "tandem_build_info{version=\"", "process_cpu_seconds_total ",
       ":tensorflow:serving:request_count{model_name=\"half\",status=\"OK\"} 1",
       ":tensorflow:serving:request_count{model_name=\"other\",status=\"NOT_FOUND\"} 1",
       ":tensorflow:serving:request_latency_bucket{API=\"Predict\",entrypoint=\"REST\",model_name=\"half\",le=\"10\"} ",
       ":tensorflow:serving:runtime_latency_bucket{API=\"Predict\",model_name=\"half\",runtime=\"Tandem\",le=\"18\"} "})
    CHECK_THAT(text, ContainsSubstring("\n" + std::string(line)));
}

TEST_CASE("engine: the metrics have what the process takes, and when it has begun") {
  Engine engine({.models = {}});
  const auto value = [&](const char* name) { return testing::metric(engine, std::string("process_") + name); };
  CHECK(value("resident_memory_bytes") > 1e6);
  CHECK(value("virtual_memory_bytes") > value("resident_memory_bytes"));
  CHECK(value("open_fds") >= 3);
  CHECK(value("max_fds") >= value("open_fds"));
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(value("start_time_seconds") <= now + 1);
  CHECK(value("start_time_seconds") > now - 86400);
}

TEST_CASE("engine: the metrics leave the number of open files out while it cannot be read") {
  Engine engine({.models = {}, .file_system_poll_wait_seconds = 0});
  const auto files = [&] { return testing::metric(engine, "process_open_fds"); };
  const double before = files();
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{0, limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const std::string text = engine.metrics();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(text.find("process_open_fds") == text.npos);
  CHECK_THAT(text, ContainsSubstring("\nprocess_max_fds 0\n"));
  CHECK(before >= 3);
  CHECK(files() == before);
}

}  // namespace engine_memory_test
