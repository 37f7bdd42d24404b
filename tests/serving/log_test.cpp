// The log: a line of JSON for each request and for what happens to versions, without what clients send.
#include <clocale>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tandem/io/failure_file.hpp"
#include "tandem/op_table.hpp"
#include "tandem/serving/manager.hpp"
#include "tandem/serving/status.hpp"
#include "tests/serving/models.hpp"

namespace log_test {

using namespace tandem;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using testing::ask;
using testing::request_for;

struct Kept final : serving::LogSink {
  void write(const serving::LogEntry& e) noexcept override {
    const std::lock_guard lock(mutex);
    text += serving::json_line(e, 1795749255926) + "\n";
  }
  std::string all() {
    const std::lock_guard lock(mutex);
    return text;
  }
  std::mutex mutex;
  std::string text;
};

TEST_CASE("log: lines of JSON") {
  serving::LogEntry e;
  e.protocol = "grpc", e.model = "a\"b\n", e.version = 3, e.signature = "s", e.method = "predict";
  e.code = 3, e.seconds = 0.0012345, e.text = "caf\xe9";
  const std::string line =
      R"x({"time":"2026-11-27T03:14:15.926Z","level":"info","event":"request","protocol":"grpc","model":"a\"b\n",)x"
      R"x("version":3,"signature":"s","method":"predict","code":"INVALID_ARGUMENT","latency_ms":1.234,)x"
      "\"text\":\"caf\xef\xbf\xbd\"}";
  CHECK(serving::json_line(e, 1795749255926) == line);
  e = {};
  e.event = "shutdown";
  CHECK(serving::json_line(e, 0) ==
        R"({"time":"1970-01-01T00:00:00.000Z","level":"info","event":"shutdown","code":"OK","latency_ms":0.000})");
}

TEST_CASE("log: requests that reached a model have its rows and times") {
  serving::LogEntry e;
  e.seconds = 0.003, e.queue_seconds = 0.0005, e.run_seconds = 0.002, e.rows = 7, e.id = "5f0c3b9a5d1e7764";
  CHECK_THAT(serving::json_line(e, 0), EndsWith(R"("code":"OK","latency_ms":3.000,"queue_ms":0.500,"run_ms":2.000,)"
                                                R"("rows":7,"id":"5f0c3b9a5d1e7764"})"));
  e.run_seconds = 0;
  CHECK_THAT(serving::json_line(e, 0), ContainsSubstring(R"("queue_ms":0.500,"rows":7,)"));
  e.queue_seconds = 0;
  CHECK_THAT(serving::json_line(e, 0), ContainsSubstring(R"("latency_ms":3.000,"rows":7,)"));
}

// The lines with a text.
std::vector<std::string> lines_with(const std::string& all, const std::string& text) {
  std::vector<std::string> r;
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);)
    if (line.find(text) != line.npos) r.push_back(line);
  return r;
}
void wait_for_run(serving::Engine& engine) {
  while (testing::metric(engine, "tandem_queue_seconds_count{model=\"half\"}") < 1) std::this_thread::yield();
}
std::thread client_of(serving::Engine& engine, const serving::Request& request) {
  return std::thread([&engine, request] { testing::error_of([&] { engine.predict(request); }); });
}

TEST_CASE("log: requests that fail have the time that they waited, and the time that they ran") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "half/1");
  for (const bool is_batched : {false, true}) {
    const auto log = std::make_shared<Kept>();
    serving::Options options = testing::options_for(folder.path);
    options.log = log, options.threads = 1, options.max_queue_rows = 3, options.batching.enabled = is_batched;
    serving::Engine engine(options);
    engine.settle();
    serving::Request running = request_for("half", {1e9f}), waiting = request_for("half", {1});
    const CancelToken end;
    running.call.cancel = end;
    std::thread first = client_of(engine, running);
    wait_for_run(engine);
    CHECK_THROWS_AS(ask(engine, "half", {1, 2, 3, 4, 5}), errors::ResourceExhaustedError);
    waiting.call.deadline = Deadline::after(0.05);
    std::thread second = client_of(engine, waiting), third = client_of(engine, waiting);
    second.join(), third.join();
    end.cancel();
    first.join();
    const auto with = [&](const std::string& code) { return lines_with(log->all(), "\"code\":\"" + code); };
    const auto waited = ContainsSubstring("\"queue_ms\":"), ran = ContainsSubstring("\"run_ms\":");
    REQUIRE(with("RESOURCE_EXHAUSTED").size() == 1);
    CHECK_THAT(with("RESOURCE_EXHAUSTED")[0], !waited && !ran && ContainsSubstring("\"rows\":5"));
    REQUIRE(with("DEADLINE_EXCEEDED").size() == 2);
    for (const std::string& line : with("DEADLINE_EXCEEDED"))
      CHECK_THAT(line, waited && !ran && ContainsSubstring("\"rows\":1"));
    REQUIRE(with("CANCELLED").size() == 1);
    CHECK_THAT(with("CANCELLED")[0], waited && ran);
  }
}

TEST_CASE("log: who leaves a batch that runs has its times") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "half/1");
  const auto log = std::make_shared<Kept>();
  serving::Options options = testing::options_for(folder.path);
  options.log = log;
  options.batching = {.enabled = true, .max_batch_size = 2, .batch_timeout_micros = 1'000'000'000};
  serving::Engine engine(options);
  engine.settle();
  serving::Request request = request_for("half", {1e9f});
  const CancelToken end;
  request.call.cancel = end;
  std::thread first = client_of(engine, request), second = client_of(engine, request);
  wait_for_run(engine);  // of both
  end.cancel();
  first.join(), second.join();
  const std::vector<std::string> lines = lines_with(log->all(), "\"code\":\"CANCELLED");
  REQUIRE(lines.size() == 2);
  for (const std::string& line : lines)
    CHECK_THAT(line, ContainsSubstring("\"queue_ms\":") && ContainsSubstring("\"run_ms\":"));
}

TEST_CASE("log: a part of the requests that succeed, and all else") {
  const testing::TemporaryFolder folder;
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen((folder / "log").c_str(), "w"), std::fclose);
    serving::JsonLog log(file.get(), 3);
    serving::LogEntry request, failed, loaded;
    failed.code = 3, loaded.event = "loaded";
    for (int i = 0; i < 7; ++i) log.write(request);
    for (int i = 0; i < 2; ++i) log.write(failed), log.write(loaded);
  }
  std::ifstream in(folder / "log");
  const std::string all(std::istreambuf_iterator<char>(in), {});
  const auto count = [&](const std::string& text) {
    int n = 0;
    for (std::size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++n;
    return n;
  };
  CHECK(count(R"("event":"request","code":"OK")") == 3);  // the first, the fourth and the seventh
  CHECK(count(R"("event":"request","code":"INVALID_ARGUMENT")") == 2);
  CHECK(count(R"("event":"loaded")") == 2);
}

TEST_CASE("log: an internal error has the id of its request") {
  const auto error = [] { return serving::status_of(std::make_exception_ptr(std::runtime_error("x"))).text; };
  serving::impl::failed_request_id = 0x5f0c;
  const std::string first = error(), second = error();
  CHECK_THAT(first, StartsWith("internal error 0000000000005f0c ("));
  CHECK_THAT(second, StartsWith("internal error ") && !ContainsSubstring("0000000000005f0c"));
}

TEST_CASE("log: what batches are worth is told when a version is loaded") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  const auto log = std::make_shared<Kept>();
  serving::Options options = testing::options_for(folder.path);
  options.log = log, options.batching = {.enabled = true, .max_batch_size = 6};
  serving::Engine engine(options);
  engine.settle();
  const std::string all = log->all();
  const std::string begin =
      R"("event":"batch_speed","model":"half","version":1,"signature":"serving_default","code":"OK",)"
      R"("latency_ms":0.000,"text":"rows a second in batches of 1: )";
  const std::size_t at = all.find(begin);
  REQUIRE(at != all.npos);
  const std::string numbers = all.substr(at + begin.size(), all.find('"', at + begin.size()) - at - begin.size());
  for (const char* rows : {", 2: ", ", 4: ", ", 6: "}) CHECK_THAT(numbers, ContainsSubstring(rows));
  CHECK(std::stod(numbers) > 0);

  const serving::impl::BatchFacts facts{{}, {{1, 1.0}, {4, 2.0}}};
  CHECK(facts.expected_seconds(1) == 1);
  CHECK(facts.expected_seconds(3) == 2);
  CHECK(facts.expected_seconds(8) == 4);
}

TEST_CASE("log: numbers have a point in every locale") {
  struct Restored {
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    ~Restored() { std::setlocale(LC_NUMERIC, before.c_str()); }
  } const restored;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, name)) break;
  serving::LogEntry e;
  e.seconds = 1.5;
  CHECK_THAT(serving::json_line(e, 0), ContainsSubstring("\"latency_ms\":1500.000}"));
}

TEST_CASE("log: requests, versions and the end, without what clients send") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  const auto log = std::make_shared<Kept>();
  serving::Options options = testing::options_for(folder.path);
  options.log = log;
  {
    serving::Engine engine(options);
    engine.settle();
    ask(engine, "half", {987654});
    CHECK_THROWS_AS(ask(engine, "secret-name", {1}), errors::NotFoundError);
    serving::Request wrong = request_for("half", {1});
    wrong.inputs.emplace("secret-input", constant(1.f));
    CHECK_THROWS_AS(engine.predict(wrong), errors::InvalidArgumentError);
    wrong = request_for("half", {1});
    wrong.model.signature = "secret-signature";
    wrong.method = saved_model::classify_method;
    CHECK_THROWS_AS(engine.predict(wrong), errors::InvalidArgumentError);
    engine.count_rejected("auth");
    testing::save_half(folder / "half/2");
    std::filesystem::resize_file(folder / "half/2/model.json", 20);
    engine.settle();
    std::filesystem::remove_all(folder / "half/2");
    testing::save_half(folder / "half/3");
    engine.settle();
    engine.settle();
    engine.stop_being_ready();
    engine.stop_being_ready();
  }
  const std::string all = log->all();
  const auto has = [&](const std::string& text) { CHECK_THAT(all, ContainsSubstring(text)); };
  has(R"("event":"loaded","model":"half","version":1,"code":"OK","latency_ms":)");
  has(R"("level":"info","event":"request","protocol":"rest","model":"half","version":1,"signature":"serving_default","method":"predict","code":"OK")");
  has(R"("level":"warning","event":"request","protocol":"rest","model":"other","method":"predict","code":"NOT_FOUND")");
  has(R"("version":1,"method":"classify","code":"INVALID_ARGUMENT")");
  has(R"("event":"refused","method":"auth","code":"UNAUTHENTICATED")");
  has(R"("level":"warning","event":"load_failed","model":"half","version":2,"code":"DATA_LOSS")");
  has(R"("event":"unloaded","model":"half","version":1,)");
  const std::size_t answered = all.find(R"("event":"request")");
  const std::string first = all.substr(answered, all.find('\n', answered) - answered);
  CHECK_THAT(first, ContainsSubstring(R"("queue_ms":)") && ContainsSubstring(R"("run_ms":)") &&
                        ContainsSubstring(R"("rows":1,"id":")"));
  CHECK(first.size() - first.find(R"("id":")") == std::string(R"("id":"0123456789abcdef"})").size());
  CHECK_THAT(all, !ContainsSubstring("secret") && !ContainsSubstring("987654"));
  const std::size_t end = all.find("shutdown");
  CHECK(end != all.npos);
  CHECK(all.find("shutdown", end + 1) == all.npos);
}

TEST_CASE("log: requests that raise in a model leave files, without what clients send unless they are asked for") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& i) { return gather(constant({1.f, 2.f}), i); });
  saved_model::save(folder / "half/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, int32}}}, {"y"})}});
  serving::Options options = testing::options_for(folder.path);
  options.failure_folder = folder / "failures", options.most_failure_files = 2;
  std::filesystem::create_directories(options.failure_folder);
  const auto names = [&] {
    std::vector<std::string> r;
    for (const auto& entry : std::filesystem::directory_iterator(options.failure_folder)) r.push_back(entry.path());
    return r;
  };
  for (const bool values : {false, true}) {
    options.failure_values = values;
    serving::Engine engine(options);
    engine.settle();
    const auto call = [&](const Tensor& x) { engine.predict({.model = {"half"}, .inputs = {{"x", x}}}); };
    call(constant({1, 0}));
    CHECK_THROWS_AS(call(constant({1.f})), errors::InvalidArgumentError);  // refused before the model runs
    CHECK(names().empty());
    for (int i = 0; i < 4; ++i) CHECK_THROWS_AS(call(constant({0, 77})), errors::OpError);
    REQUIRE(names().size() == 2);
    const io::Failure failure = io::load_failure(names()[0], {.ops = all_ops()});
    CHECK(failure.has_values == values);
    CHECK_THAT(failure.error, ContainsSubstring("gather: "));
    CHECK(io::replay_failure(failure) == (values ? failure.error : ""));
    std::filesystem::remove_all(options.failure_folder);
    std::filesystem::create_directories(options.failure_folder);
  }
  // A file of an earlier run stays, and counts; so does an attempt that leaves none.
  std::ofstream(options.failure_folder + "/half_1_0.failure") << "kept";
  {
    serving::Engine engine(options);
    engine.settle();
    for (int i = 0; i < 4; ++i)
      CHECK_THROWS_AS(engine.predict({.model = {"half"}, .inputs = {{"x", constant({77})}}}), errors::OpError);
  }
  CHECK(testing::content_of(options.failure_folder + "/half_1_0.failure") == "kept");
  CHECK(names().size() == 2);
  std::filesystem::remove_all(options.failure_folder);
  CHECK_THROWS_AS(serving::Engine(options), errors::InvalidArgumentError);
}

}  // namespace log_test
