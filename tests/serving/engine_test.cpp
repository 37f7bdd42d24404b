// Engine: versions come and go, requests find the right one, limits hold.
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/serving/models.hpp"

namespace engine_test {

using namespace tandem;
using serving::Engine;
using serving::ModelSpec;
using serving::State;
using serving::VersionPolicy;
using testing::ask;
using testing::error_of;
using testing::options_for;
using testing::request_for;
using testing::save_half;
using testing::states;
using Floats = std::vector<float>;

TEST_CASE("engine: half plus two answers, and says which version did") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/3");
  Engine engine(options_for(folder.path));
  engine.settle();
  CHECK(engine.is_ready());
  CHECK(engine.models() == std::vector<std::string>{"half"});
  CHECK(states(engine, "half") == "3 AVAILABLE");
  CHECK(ask(engine, "half", {1, 2, 5}) == Floats{2.5f, 3, 4.5f});
  serving::Request r = request_for("half", {2});
  r.model.signature = "";
  CHECK(engine.predict(r).version == 3);
  r.model.version = 3;
  r.outputs = {"y"};
  CHECK(engine.predict(r).outputs.size() == 1);
  i64 version = 0;
  CHECK(engine.signatures({"half"}, version)->at("serving_default").inputs[0].name == "x");
  CHECK(version == 3);
}

TEST_CASE("engine: errors say what was asked for, in TensorFlow Serving's words") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1");
  Engine engine(options_for(folder.path));
  engine.settle();
  const auto error = [&](ModelSpec model, std::string_view method = {}, std::vector<std::string> outputs = {}) {
    return error_of([&] {
      engine.predict({.model = std::move(model),
                      .inputs = {{"x", constant({1.f})}},
                      .outputs = std::move(outputs),
                      .method = method});
    });
  };
  CHECK_THAT(error({"none"}), ContainsSubstring("Servable not found for request: Latest(none)"));
  CHECK_THAT(error({"half", 3}), ContainsSubstring("Servable not found for request: Specific(half, 3)"));
  CHECK_THAT(error({"half"}, "", {"y", "y"}), ContainsSubstring("the output y is requested twice"));
  CHECK_THAT(error({.name = "half", .label = "stable"}),
             ContainsSubstring("Unrecognized servable version label: stable"));
  CHECK_THAT(error({.name = "half", .signature = "f"}),
             ContainsSubstring("Serving signature name: \"f\" not found in signature def"));
  CHECK_THAT(error({"half"}, saved_model::classify_method), ContainsSubstring("Expected tensorflow/serving/classify"));
  CHECK_THAT(error({"half"}, "", {"z"}), ContainsSubstring("output tensor alias not found in signature: z"));
  CHECK_THAT(error_of([&] {
               engine.predict({.model = {"half"}, .inputs = {{"z", constant({1.f})}}});
             }),
             ContainsSubstring("missing {x}, surplus {z}"));
  CHECK_THAT(error_of([&] { engine.states({"none"}); }),
             ContainsSubstring("Could not find any versions of model none"));
  CHECK_THAT(error_of([&] {
               engine.states({"half", 9});
             }),
             ContainsSubstring("Could not find version 9 of model half"));
  CHECK(testing::metric(engine,
                        "tandem_requests_total{code=\"NOT_FOUND\",model=\"other\",protocol=\"rest\",signature=\"\","
                        "version=\"\"}") == 2);
  CHECK_FALSE(engine.is_ready({"none"}));
}

TEST_CASE("engine: a new version replaces the old one, a broken one does not") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1", 1);
  Engine engine(options_for(folder.path));
  engine.settle();
  save_half(folder / "half/2", 2);
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{2});
  engine.settle();
  CHECK(states(engine, "half") == "2 AVAILABLE, 1 END");
  save_half(folder / "half/3", 3);
  std::filesystem::resize_file(folder / "half/3/variables.safetensors", 10);
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{2});
  CHECK(states(engine, "half") == "3 END, 2 AVAILABLE, 1 END");
  const serving::VersionStatus broken = engine.states({"half", 3})[0];
  CHECK_THAT(broken.error, ContainsSubstring("variables.safetensors"));
  CHECK(broken.code == 15);
  std::filesystem::remove_all(folder / "half");  // what is served stays
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{2});
  save_half(folder / "half/3", 30);  // and the same number can come back
  engine.settle();
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{30});
}

TEST_CASE("engine: policies and labels choose versions, and can be changed") {
  const testing::TemporaryFolder folder;
  for (int v = 1; v <= 4; ++v) save_half(folder / "half/" + std::to_string(v), static_cast<float>(v));
  Engine engine(options_for(folder.path, {.kind = VersionPolicy::latest, .num_versions = 2}));
  engine.settle();
  CHECK(states(engine, "half") == "4 AVAILABLE, 3 AVAILABLE");
  serving::ModelConfig config{.name = "half", .base_path = folder / "half"};
  config.policy = {.kind = VersionPolicy::specific, .versions = {1, 2}};
  config.version_labels = {{"stable", 1}, {"canary", 2}};
  engine.reload({config});
  engine.settle();
  engine.settle();
  CHECK(states(engine, "half") == "4 END, 3 END, 2 AVAILABLE, 1 AVAILABLE");
  const auto of_label = [&](const char* label) {
    serving::Request r = request_for("half", {0});
    r.model.label = label;
    return engine.predict(r).outputs.at("y").to_vector<float>();
  };
  CHECK(of_label("stable") == Floats{1});
  CHECK(of_label("canary") == Floats{2});
  config.policy = {.kind = VersionPolicy::all};
  engine.reload({config});
  engine.settle();
  CHECK(states(engine, "half") == "4 AVAILABLE, 3 AVAILABLE, 2 AVAILABLE, 1 AVAILABLE");
  engine.reload({});
  CHECK_THAT(error_of([&] { ask(engine, "half", {0}); }), ContainsSubstring("Latest(half)"));
  CHECK_THROWS_AS(engine.reload({config, config}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(engine.reload({{.name = "", .base_path = "x"}}), errors::InvalidArgumentError);
  config.policy = {.num_versions = -1};
  CHECK_THROWS_AS(engine.reload({config}), errors::InvalidArgumentError);
}

TEST_CASE(
    "engine: what else is in a model's folder is passed over and named once, and a version that was let go comes "
    "back") {
  static std::string warned;
  warned.clear();
  set_warning_handler([](const char* text) { (warned += text) += "\n"; });
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1", 1);
  std::filesystem::create_symlink("7", folder / "half/7");  // a loop
  folder.file("half/8", "not a folder");
  std::filesystem::create_directories(folder / "half/v2");
  std::filesystem::create_directories(folder / "half/.tmp-3-1");
  Engine engine(options_for(folder.path));
  engine.settle();
  engine.settle();
  set_warning_handler(nullptr);
  CHECK(states(engine, "half") == "1 AVAILABLE");
  for (const char* name : {"'7'", "'8'", "'v2'"}) {
    const std::size_t at = warned.find(std::string("serving: model half: ") + name + " in ");
    REQUIRE(at != warned.npos);
    CHECK(warned.find(name, at + 30) == warned.npos);
  }
  CHECK(warned.find(".tmp-3") == warned.npos);
  save_half(folder / "half/2", 2);
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{2});
  std::filesystem::remove_all(folder / "half/2");  // back to the first
  engine.settle();
  engine.settle();
  CHECK(ask(engine, "half", {0}) == Floats{1});
  CHECK(states(engine, "half") == "1 AVAILABLE");
}

TEST_CASE("engine: warm-up that does not end does not keep the server from ending") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1", {testing::prediction_log("slow", {1e9f})});
  const Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST_CASE("engine: a model that loads slowly does not keep others from being loaded") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "first/1", {testing::prediction_log("first", {1e9f})});
  save_half(folder / "half/1", 1);
  serving::Options options = options_for(folder.path);
  options.models.push_back({.name = "first", .base_path = folder / "first"});
  Engine engine(options);
  for (int i = 0; i < 1000 && !engine.is_ready({"half"}); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(engine.is_ready({"half"}));
  CHECK(states(engine, "first") == "1 LOADING");
  save_half(folder / "half/2", 2);
  CHECK_THROWS_AS(engine.settle({.deadline = Deadline::after(0.5)}),
                  errors::DeadlineExceededError);  // by the other one
  CHECK(ask(engine, "half", {0}) == Floats{2});
}

TEST_CASE("engine: a version that does not get loaded, as from a disk that hangs, keeps no request of the old one") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}, .num_load_threads = 1, .threads = 2});
  engine.settle();
  testing::save_slow(folder / "slow/2", {testing::prediction_log("slow", {1e9f})});
  while (states(engine, "slow") != "2 LOADING, 1 AVAILABLE") std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 20; ++i) CHECK(ask(engine, "slow", {3}) == Floats{3});
  CHECK(engine.is_ready({"slow"}));
  CHECK(states(engine, "slow") == "2 LOADING, 1 AVAILABLE");
}

TEST_CASE("engine: one model's requests do not keep those of another waiting") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  save_half(folder / "half/1");
  Engine engine(
      {.models = {{.name = "slow", .base_path = folder / "slow"}, {.name = "half", .base_path = folder / "half"}},
       .threads = 1});
  engine.settle();
  std::atomic<int> answered{0};
  std::vector<std::thread> flood;
  for (int k = 0; k < 30; ++k)
    flood.emplace_back([&] {
      ask(engine, "slow", {3000});
      ++answered;
    });
  while (testing::metric(engine, "tandem_in_flight") < 30 && answered == 0) std::this_thread::yield();
  CHECK(ask(engine, "half", {2}) == Floats{3});
  CHECK(answered < 30);  // at most the one that ran, and those that were over by then
  for (std::thread& t : flood) t.join();
}

TEST_CASE("engine: no request fails and no answer mixes versions while they change") {
  const testing::TemporaryFolder folder;
  save_half(folder / "half/1", 1);
  serving::Options options = options_for(folder.path);
  options.batching.enabled = true;
  Engine engine(options);
  engine.settle();
  std::atomic<bool> stop{false};
  std::atomic<int> answers{0}, wrong{0};
  std::vector<std::thread> clients;
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&] {
      while (!stop) {
        try {
          const serving::Response r = engine.predict(request_for("half", {0, 0}));
          const auto two = static_cast<float>(r.version);
          wrong += r.outputs.at("y").to_vector<float>() != Floats{two, two};
        } catch (const errors::OpError&) {
          ++wrong;
        }
        ++answers;
      }
    });
  for (int v = 2; v <= 12; ++v) {
    save_half(folder / "half/" + std::to_string(v), static_cast<float>(v));
    if (v == 6) std::filesystem::resize_file(folder / "half/6/model.json", 20);
    engine.settle();
    for (const int before = answers; answers < before + 20;) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& c : clients) c.join();
  CHECK(wrong == 0);
  CHECK(answers > 200);
  engine.settle();
  CHECK_THAT(states(engine, "half"), ContainsSubstring("12 AVAILABLE, 11 END") && ContainsSubstring("6 END"));
}

TEST_CASE("engine: deadlines and cancellation end requests that wait and that run") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}, .threads = 1});
  engine.settle();
  CHECK(ask(engine, "slow", {3, 5}) == Floats{3, 5});
  const auto timed = [&](double seconds) {
    serving::Request r = request_for("slow", {1e9f});
    r.call.deadline = Deadline::after(seconds);
    return error_of<errors::DeadlineExceededError>([&] { engine.predict(r); });
  };
  CHECK_THAT(timed(0.05), ContainsSubstring("deadline"));
  const CancelToken token;
  std::atomic<bool> is_cancelled{false};  // Catch2 does not take checks from several threads
  std::thread running([&] {
    serving::Request r = request_for("slow", {1e9f});
    r.call.cancel = token;
    is_cancelled = error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
  });
  while (testing::metric(engine, "tandem_in_flight") < 1) std::this_thread::yield();
  CHECK_THAT(timed(0.05), ContainsSubstring("waited for its turn") || ContainsSubstring("deadline"));
  token.cancel();
  running.join();
  CHECK(is_cancelled);
  CHECK(testing::metric(engine, "tandem_rejected_total{reason=\"deadline\"}") == 2);
  CHECK(testing::metric(engine, "tandem_rejected_total{reason=\"cancelled\"}") == 1);
  CHECK(ask(engine, "slow", {3}) == Floats{3});  // its slot is free again
}

TEST_CASE("engine: a full queue refuses at once, a drained server everything") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}, .threads = 1, .max_queue_rows = 2});
  engine.settle();
  const CancelToken token;
  std::vector<std::thread> waiting;
  std::atomic<int> cancelled{0};
  for (int k = 0; k < 2; ++k)
    waiting.emplace_back([&] {
      serving::Request r = request_for("slow", {1e9f});
      r.call.cancel = token;
      cancelled += error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
    });
  while (testing::metric(engine, "tandem_queue_rows{model=\"slow\"}") < 2) std::this_thread::yield();
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { ask(engine, "slow", {1}); }),
             ContainsSubstring("queue of the model slow is full"));
  token.cancel();
  for (std::thread& t : waiting) t.join();
  CHECK(cancelled == 2);
  CHECK(ask(engine, "slow", {1}) == Floats{1});
  engine.stop_being_ready();
  CHECK_FALSE(engine.is_ready());
  CHECK(ask(engine, "slow", {1}) == Floats{1});
  std::thread last(
      [&] { cancelled += error_of<errors::CancelledError>([&] { ask(engine, "slow", {1e9f}); }) != "no error"; });
  while (testing::metric(engine, "tandem_in_flight") < 1) std::this_thread::yield();
  engine.drain(0.02);
  last.join();
  CHECK(cancelled == 3);
  CHECK_THAT(error_of<errors::UnavailableError>([&] { ask(engine, "slow", {1}); }), ContainsSubstring("shuts down"));
}

TEST_CASE("engine: what waits for all models together has a limit of rows and of bytes") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  testing::save_half(folder / "half/1");
  for (const bool by_rows : {true, false}) {
    Engine engine(
        {.models = {{.name = "slow", .base_path = folder / "slow"}, {.name = "half", .base_path = folder / "half"}},
         .threads = 2,
         .max_total_queue_rows = by_rows ? 3 : 0,  // below the limit of a model; 0: the usual one
         .max_total_queue_bytes = by_rows ? 0 : 3 * i64{sizeof(float)}});
    engine.settle();
    CHECK(ask(engine, "half", {2, 4, 6, 8}) == Floats{3, 4, 5, 6});  // larger than the limit, but nothing waits
    const CancelToken token;
    std::atomic<bool> is_cancelled{false};
    std::thread waiting([&] {
      serving::Request r = request_for("slow", {1e9f, 1});
      r.call.cancel = token;
      is_cancelled = error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
    });
    while (testing::metric(engine, "tandem_queue_rows{model=\"slow\"}") < 2) std::this_thread::yield();
    CHECK(ask(engine, "half", {2}) == Floats{3});
    CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] {
                 ask(engine, "half", {1, 2});
               }),
               ContainsSubstring("all models together are full: 2 rows and 8 bytes wait"));
    CHECK(testing::metric(engine, "tandem_rejected_total{reason=\"queue\"}") == 1);
    token.cancel();
    waiting.join();
    CHECK(is_cancelled);
    CHECK(ask(engine, "half", {2}) == Floats{3});
  }
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] { Engine({.models = {}, .max_total_queue_rows = -1}); }),
             ContainsSubstring("max_total_queue_rows is -1"));
}

TEST_CASE("engine: one model alone may not have more in its queue than all together") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine({.models = {{.name = "slow", .base_path = folder / "slow"}}, .threads = 1, .max_total_queue_rows = 2});
  engine.settle();
  const CancelToken token;
  std::thread running([&] {
    serving::Request r = request_for("slow", {1e9f, 1});
    r.call.cancel = token;
    (void)error_of<errors::CancelledError>([&] { engine.predict(r); });
  });
  while (testing::metric(engine, "tandem_queue_rows{model=\"slow\"}") < 2) std::this_thread::yield();
  CHECK_THAT(error_of<errors::ResourceExhaustedError>([&] { ask(engine, "slow", {1}); }),
             ContainsSubstring("all models together are full: 2 rows and 8 bytes wait"));
  token.cancel();
  running.join();
  CHECK(ask(engine, "slow", {1}) == Floats{1});
}

}  // namespace engine_test
