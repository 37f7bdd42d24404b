// Batching of one model, and of one version, by options of its own or by a file in the version's folder.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/serving/models.hpp"

namespace model_batching_test {

using namespace tandem;
using serving::Engine;
using testing::ask;
using testing::error_of;
using testing::metric;
using testing::states;
using Floats = std::vector<float>;

const Floats five{0, 2, 4, 6, 8}, answer_of_five{2, 3, 4, 5, 6};

// The options of a server of two models, "half" and "other".
serving::Options two_models(const std::string& folder, const serving::Batching& batching) {
  return {
      .models = {{.name = "half", .base_path = folder + "/half"}, {.name = "other", .base_path = folder + "/other"}},
      .batching = batching,
      .file_system_poll_wait_seconds = 0,
      .max_num_load_retries = 0,
      .threads = 1};
}
void save_both(const std::string& folder) {
  testing::save_half(folder + "/half/1");
  testing::save_half(folder + "/other/1");
}
void write_params(const std::string& version, const std::string& text) {
  std::ofstream(version + "/batching_params.pbtxt", std::ios::binary) << text;
}
// Why a request of five rows is refused.
std::string refused(Engine& engine, const std::string& model) {
  return error_of<errors::InvalidArgumentError>([&] { ask(engine, model, five); });
}

std::string warnings;
void keep_warning(const char* text) { warnings += std::string(text) + "\n"; }

TEST_CASE("model batching: a model has options of its own in place of those of all") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  serving::Options options =
      two_models(folder.path, {.enabled = true, .max_batch_size = 4, .enable_large_batch_splitting = false});
  options.models[1].batching = {.enabled = true, .max_batch_size = 6, .allowed_batch_sizes = {6}};
  Engine engine(options);
  engine.settle();
  CHECK_THAT(refused(engine, "half"), ContainsSubstring("5 rows, a batch at most 4"));
  CHECK(ask(engine, "other", five) == answer_of_five);
  CHECK(metric(engine, "tandem_padding_rows_total{model=\"other\"}") == 1);  // filled up to 6
  options.models[1].batching = serving::Batching();                          // which is off
  Engine one_off(options);
  one_off.settle();
  CHECK_THAT(refused(one_off, "half"), ContainsSubstring("a batch at most 4"));
  CHECK(ask(one_off, "other", five) == answer_of_five);
  CHECK(metric(one_off, "tandem_batch_rows_sum{model=\"other\"}") == 5);
  options.batching = {}, options.models[1].batching = {.enabled = true, .allowed_batch_sizes = {8, 64}};
  Engine one_on(options);
  one_on.settle();
  CHECK(ask(one_on, "half", five) == answer_of_five);
  CHECK(ask(one_on, "other", five) == answer_of_five);
  CHECK(metric(one_on, "tandem_padding_rows_total{model=\"half\"}") == 0);
  CHECK(metric(one_on, "tandem_padding_rows_total{model=\"other\"}") == 3);
}

TEST_CASE("model batching: options that are wrong name the model, at the start and by reload") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  serving::Options options = two_models(folder.path, {});
  Engine engine(options);
  const auto error = [&](const serving::Batching& batching) {
    options.models[1].batching = batching;
    const std::string at_start = error_of<errors::InvalidArgumentError>([&] { Engine other(options); });
    CHECK(error_of<errors::InvalidArgumentError>([&] { engine.reload(options.models); }) == at_start);
    return at_start;
  };
  CHECK_THAT(error({.max_batch_size = 0}), ContainsSubstring("the model 'other': max_batch_size must be positive"));
  CHECK_THAT(error({.max_enqueued_batches = -1}), ContainsSubstring("'other': max_enqueued_batches is -1"));
  CHECK_THAT(error({.num_batch_threads = 1}), ContainsSubstring("'other': num_batch_threads is of all models"));
  const serving::Batching off[] = {{.max_batch_size = 32},
                                   {.batch_timeout_micros = 1},
                                   {.allowed_batch_sizes = {64}},
                                   {.enable_large_batch_splitting = false},
                                   {.pad_variable_length_inputs = true},
                                   {.max_enqueued_batches = 1}};
  for (const serving::Batching& b : off)
    CHECK_THAT(error(b), ContainsSubstring("'other': .enabled is false, which turns batching off, but"));
}

TEST_CASE("model batching: other options count for the versions that are loaded from then on") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  serving::Options options = two_models(folder.path, {});
  Engine engine(options);
  engine.settle();
  options.models[0].batching = {.enabled = true, .max_batch_size = 4, .enable_large_batch_splitting = false};
  engine.reload(options.models);
  engine.settle();
  CHECK(ask(engine, "half", five) == answer_of_five);
  testing::save_half(folder / "half/2");
  engine.settle();
  CHECK_THAT(refused(engine, "half"), ContainsSubstring("a batch at most 4"));
}

TEST_CASE("model batching: other parameters of all models count at once, without loading again") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  const serving::Batching first{.enabled = true, .max_batch_size = 4, .enable_large_batch_splitting = false};
  serving::Options options = two_models(folder.path, first);
  options.models[1].batching = {.enabled = true, .max_batch_size = 3, .enable_large_batch_splitting = false};
  Engine engine(options);
  engine.settle();
  CHECK_THAT(refused(engine, "half"), ContainsSubstring("a batch at most 4"));
  serving::Batching other = first;
  other.max_batch_size = 8, other.allowed_batch_sizes = {8};
  engine.set_batching(other);
  CHECK(ask(engine, "half", five) == answer_of_five);
  CHECK(metric(engine, "tandem_padding_rows_total{model=\"half\"}") == 3);  // filled up to 8
  CHECK_THAT(refused(engine, "other"), ContainsSubstring("a batch at most 3"));
  testing::save_half(folder / "half/2");  // and for versions that are loaded from then on
  engine.settle();
  CHECK(states(engine, "half") == "2 AVAILABLE, 1 END");
  CHECK(ask(engine, "half", five) == answer_of_five);
  CHECK(metric(engine, "tandem_padding_rows_total{model=\"half\"}") == 6);
  const auto error = [&](serving::Batching b) {
    return error_of<errors::InvalidArgumentError>([&] { engine.set_batching(b); });
  };
  other.allowed_batch_sizes = {9};
  CHECK_THAT(error(other), ContainsSubstring("allowed_batch_sizes ascending numbers that end with it"));
  other = first, other.num_batch_threads = 2;
  CHECK_THAT(error(other), ContainsSubstring("num_batch_threads, which is 0, stay as they are"));
  CHECK_THAT(error({}), ContainsSubstring("whether requests are batched"));
  CHECK(ask(engine, "half", five) == answer_of_five);
}

TEST_CASE("model batching: a version stays while a call uses it as it was, and comes back as all are batched by now") {
  const testing::TemporaryFolder folder;
  for (const char* version : {"slow/1", "slow/2"}) testing::save_slow(folder / version);
  const auto only = [&](i64 version) {
    return std::vector<serving::ModelConfig>{
        {.name = "slow",
         .base_path = folder / "slow",
         .policy = {.kind = serving::VersionPolicy::specific, .versions = {version}}}};
  };
  serving::Batching batching{.enabled = true, .max_batch_size = 4, .enable_large_batch_splitting = false};
  Engine engine({.models = only(1), .batching = batching, .file_system_poll_wait_seconds = 0, .threads = 4});
  engine.settle();
  const i64 bytes = engine.states({"slow"}).at(0).bytes;
  const CancelToken end;
  std::atomic<bool> is_cancelled{false};
  std::thread running([&] {
    serving::Request r = testing::request_for("slow", {1e9f});
    r.call.cancel = end;
    is_cancelled = error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
  });
  while (metric(engine, "tandem_queue_seconds_count{model=\"slow\"}") < 1) std::this_thread::yield();
  batching.max_batch_size = 8;
  engine.set_batching(batching);
  engine.reload(only(2));
  engine.settle();
  CHECK(states(engine, "slow") == "2 AVAILABLE, 1 UNLOADING");
  CHECK(engine.states({"slow", 1}).at(0).bytes == bytes);
  batching.max_batch_size = 6;
  engine.set_batching(batching);
  engine.reload(only(1));
  engine.settle();
  CHECK(states(engine, "slow") == "2 END, 1 AVAILABLE");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { ask(engine, "slow", Floats(7)); }),
             ContainsSubstring("7 rows, a batch at most 6"));
  CHECK(ask(engine, "slow", {1, 1, 1, 1, 1}) == Floats{1, 1, 1, 1, 1});
  end.cancel();
  running.join();
  CHECK(is_cancelled);
  engine.reload(only(2));
  engine.settle();
  CHECK(states(engine, "slow") == "2 AVAILABLE, 1 END");
}

TEST_CASE("model batching: larger batches must fit into the memory limit") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  const saved_model::Loaded half = saved_model::load(folder / "half/1");
  serving::Options options = two_models(folder.path, {.enabled = true, .max_batch_size = 4});
  options.memory_limit = 2 * half.memory_for(1000);
  Engine engine(options);
  engine.settle();
  engine.set_batching({.enabled = true, .max_batch_size = 1000, .enable_large_batch_splitting = false});
  CHECK(ask(engine, "half", five) == answer_of_five);
  CHECK_THAT(error_of<errors::ResourceExhaustedError>(
                 [&] { engine.set_batching({.enabled = true, .max_batch_size = 100'000}); }),
             ContainsSubstring("with batches of 100000 rows the models in memory take "));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { ask(engine, "half", Floats(1001)); }),
             ContainsSubstring("a batch at most 1000"));
}

TEST_CASE("model batching: a file in the version's folder says how it is batched") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  write_params(folder / "half/1", "max_batch_size { value: 4 } enable_large_batch_splitting { value: false }");
  serving::Options options =
      two_models(folder.path, {.enabled = true, .max_batch_size = 8, .allowed_batch_sizes = {8}});
  {
    Engine by_default(options);  // does not look for the file
    by_default.settle();
    CHECK(ask(by_default, "half", five) == answer_of_five);
    CHECK(metric(by_default, "tandem_padding_rows_total{model=\"half\"}") == 3);
  }
  options.enable_per_model_batching_parameters = true;
  {
    Engine engine(options);
    engine.settle();
    CHECK_THAT(refused(engine, "half"), ContainsSubstring("a batch at most 4"));
    CHECK(ask(engine, "half", {2, 4, 6}) == Floats{3, 4, 5});
    CHECK(metric(engine, "tandem_padding_rows_total{model=\"half\"}") == 0);  // not the sizes of all
    CHECK(ask(engine, "other", five) == answer_of_five);                      // without a file it is not batched
    CHECK(metric(engine, "tandem_padding_rows_total{model=\"other\"}") == 0);
  }
  options.models[0].batching = {.enabled = true, .max_batch_size = 2};  // the file is told in its place
  options.models[1].batching = {.enabled = true, .max_batch_size = 3, .enable_large_batch_splitting = false};
  {
    Engine engine(options);
    engine.settle();
    CHECK_THAT(refused(engine, "half"), ContainsSubstring("a batch at most 4"));
    CHECK_THAT(refused(engine, "other"), ContainsSubstring("a batch at most 3"));
  }
  options.batching = {}, options.models[1].batching = {};
  Engine off(options);
  off.settle();
  CHECK(ask(off, "other", five) == answer_of_five);
  CHECK(ask(off, "half", five) == answer_of_five);  // in batches of 2, as its model has it
  CHECK(metric(off, "tandem_batch_rows_count{model=\"half\"}") == 3);
}

TEST_CASE("model batching: each version has its own file, and one that is wrong is not loaded") {
  const testing::TemporaryFolder folder;
  save_both(folder.path);
  serving::Options options = two_models(folder.path, {.enabled = true});
  options.enable_per_model_batching_parameters = true;
  Engine engine(options);
  engine.settle();
  const auto fails = [&](int version, const std::string& text) {
    const std::string path = folder / "half/" + std::to_string(version);
    testing::save_half(path);
    write_params(path, text);
    engine.settle();
    const serving::VersionStatus status = engine.states({"half", version}).at(0);
    CHECK(status.state == serving::State::end);
    CHECK_THAT(status.error, ContainsSubstring(path + "/batching_params.pbtxt"));
    CHECK(ask(engine, "half", five) == answer_of_five);
    return status.error;
  };
  set_warning_handler([](const char*) {});
  CHECK_THAT(fails(2, "\nmax_size { value: 4 }"), ContainsSubstring(":2: there is no field 'max_size'"));
  CHECK_THAT(fails(3, "max_batch_size { value: 0 }"), ContainsSubstring("max_batch_size must be positive"));
  CHECK_THAT(fails(4, "max_batch_size { value: 4 } allowed_batch_sizes: 2"), ContainsSubstring("that end with it"));
  CHECK_THAT(fails(5, std::string(100'000, ' ')), ContainsSubstring("has 100000 bytes, at most 65536"));
  set_warning_handler(nullptr);
  testing::save_half(folder / "half/6");  // whether there is a file cannot be told
  std::filesystem::create_symlink("batching_params.pbtxt", folder / "half/6/batching_params.pbtxt");
  engine.settle();
  CHECK_THAT(engine.states({"half", 6}).at(0).error, ContainsSubstring("cannot look for " + (folder / "half/6")));
  CHECK(states(engine, "half") == "6 END, 5 END, 4 END, 3 END, 2 END, 1 AVAILABLE");
}

TEST_CASE("model batching: the file is saved with a version, and then compared with its checksum") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return x / 2.f + 2.f; });
  const auto save = [&](const std::string& version) {
    saved_model::save(folder / version,
                      {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}},
                      {.batching_params = "max_batch_size { value: 4 } num_batch_threads { value: 3 } "
                                          "enable_large_batch_splitting { value: false }"});
  };
  save("half/1");
  save("half/2");
  write_params(folder / "half/2",
               "max_batch_size { value: 6 } num_batch_threads { value: 3 } "
               "enable_large_batch_splitting { value: false }");
  serving::Options options = two_models(folder.path, {.enabled = true});
  options.models.pop_back();
  options.models[0].policy = {.kind = serving::VersionPolicy::all};
  options.enable_per_model_batching_parameters = true;
  warnings.clear();
  set_warning_handler(&keep_warning);
  Engine engine(options);
  engine.settle();
  set_warning_handler(nullptr);
  CHECK(states(engine, "half") == "2 END, 1 AVAILABLE");
  CHECK_THAT(engine.states({"half", 2}).at(0).error, ContainsSubstring("half/2/batching_params.pbtxt is damaged"));
  CHECK_THAT(refused(engine, "half"), ContainsSubstring("a batch at most 4"));
  CHECK_THAT(warnings, ContainsSubstring("half/1/batching_params.pbtxt: num_batch_threads is of all models together"));
}

}  // namespace model_batching_test
