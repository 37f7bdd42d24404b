// Batching: rows of several requests run as one, and each request gets its own.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/run_slots.hpp"
#include "tests/serving/models.hpp"

namespace batching_test {

using namespace tandem;
using serving::Engine;
using testing::ask;
using testing::error_of;
using testing::metric;
using testing::request_for;
using Floats = std::vector<float>;

serving::Options batched(const std::string& folder, const std::string& model, serving::Batching how = {}) {
  how.enabled = true;
  return {.models = {{.name = model, .base_path = folder + "/" + model}}, .batching = how, .threads = 1};
}
// Asks for the numbers k, k + 1 ... of `rows` rows from many threads at once.
void ask_together(Engine& engine, const std::string& model, int threads, int rows) {
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int k = 0; k < threads; ++k)
    clients.emplace_back([&, k] {
      Floats x, y;
      for (int i = 0; i < rows; ++i) x.push_back(static_cast<float>(k + i)), y.push_back(x.back() / 2 + 2);
      for (int i = 0; i < 20; ++i) wrong += ask(engine, model, x) != y;
    });
  for (std::thread& c : clients) c.join();
  CHECK(wrong == 0);
}

TEST_CASE("batching: requests that come together run as one") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Engine engine(batched(folder.path, "half", {.max_batch_size = 8, .batch_timeout_micros = 20000}));
  engine.settle();
  ask_together(engine, "half", 8, 1);
  const double runs = metric(engine, "tandem_batch_rows_count{model=\"half\"}");
  CHECK(metric(engine, "tandem_batch_rows_sum{model=\"half\"}") == 160);
  CHECK(runs < 80);
  CHECK(metric(engine, "tandem_queue_rows{model=\"half\"}") == 0);
}

TEST_CASE("batching: sizes are filled up, large requests run in parts or are refused") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Engine engine(batched(folder.path, "half", {.max_batch_size = 4, .allowed_batch_sizes = {2, 4}}));
  engine.settle();
  CHECK(ask(engine, "half", {2, 4, 6}) == Floats{3, 4, 5});
  CHECK(metric(engine, "tandem_padding_rows_total{model=\"half\"}") == 1);
  CHECK(ask(engine, "half", {0, 2, 4, 6, 8, 10, 12, 14, 16}) == Floats{2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(metric(engine, "tandem_batch_rows_count{model=\"half\"}") == 4);
  ask_together(engine, "half", 4, 3);
  Engine strict(batched(folder.path, "half", {.max_batch_size = 4, .enable_large_batch_splitting = false}));
  strict.settle();
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               ask(strict, "half", {1, 2, 3, 4, 5});
             }),
             ContainsSubstring("the request has 5 rows, a batch at most 4"));
  CHECK_THROWS_AS(Engine(batched(folder.path, "half", {.max_batch_size = 4, .allowed_batch_sizes = {4, 2}})),
                  errors::InvalidArgumentError);
}

TEST_CASE("batching: an error of one row is told to its request alone") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return gather(constant({2.f, 3.f}), cast(x, int32)); });
  saved_model::save(folder / "pick/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
  Engine engine(batched(folder.path, "pick", {.max_batch_size = 4, .batch_timeout_micros = 100000}));
  engine.settle();
  std::atomic<int> right{0}, refused{0};
  std::vector<std::thread> clients;
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&, k] {
      const std::string error = error_of([&] { right += ask(engine, "pick", {k == 2 ? 9.f : 1.f}) == Floats{3}; });
      refused += error.find("gather") != error.npos;
    });
  for (std::thread& c : clients) c.join();
  CHECK(right == 3);
  CHECK(refused == 1);
  CHECK(metric(engine, "tandem_batch_rows_count{model=\"pick\"}") ==
        3);  // together, which raised, then those that do not
}

std::string last_warning;
void keep_warning(const char* text) { last_warning = text; }

TEST_CASE("batching: signatures whose rows touch each other are not batched, and it is said why") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return x - reduce_mean(x, {.axis = 0, .keepdims = true}); });
  saved_model::save(folder / "mean/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
  set_warning_handler(&keep_warning);
  Engine engine(batched(folder.path, "mean", {.batch_timeout_micros = 1000}));
  engine.settle();
  set_warning_handler(nullptr);
  CHECK_THAT(last_warning,
             ContainsSubstring("mean is not batched: row 0 of its output 'y' depends on the other rows of a "
                               "batch, first in node '"));
  CHECK_THAT(last_warning, ContainsSubstring("(reduce_mean)"));
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&] {
      for (int i = 0; i < 20; ++i) wrong += ask(engine, "mean", {1, 3}) != Floats{-1, 1};
    });
  for (std::thread& c : clients) c.join();
  CHECK(wrong == 0);
}

// What is said of a signature x -> f(x) when it is not batched.
template <class F>
std::string why_not_batched(const F& f) {
  const testing::TemporaryFolder folder;
  saved_model::save(folder / "f/1",
                    {{"serving_default", saved_model::predict(function(f), {{"x", {{none, 2}, float32}}}, {"y"})}});
  last_warning.clear();
  set_warning_handler(&keep_warning);
  Engine engine(batched(folder.path, "f"));
  engine.settle();
  set_warning_handler(nullptr);
  return last_warning;
}

TEST_CASE("batching: of a signature that is not batched the first node is named that mixes rows") {
  CHECK_THAT(why_not_batched([](const Tensor& x) { return x + 2.f * cumsum(x * 2.f, {.axis = 0}); }),
             ContainsSubstring("(cumsum)"));
  CHECK_THAT(why_not_batched([](const Tensor& x) { return nn::softmax(nn::relu(x), {.axis = 0}) * 3.f; }),
             ContainsSubstring("(softmax)"));
  // The number of rows, which a reshape needs, differs, too, but is not what mixes them.
  CHECK_THAT(why_not_batched([](const Tensor& x) {
               const Tensor flat = reshape(x, {-1, 1});
               return reshape(flat * 2.f - reduce_max(flat, {.axis = 0}), {-1, 2});
             }),
             ContainsSubstring("(reduce_max)"));
  CHECK(why_not_batched([](const Tensor& x) { return nn::softmax(x); }).empty());
}

TEST_CASE("batching: who gives up leaves its batch, and a batch that all have left ends") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine(batched(folder.path, "slow", {.max_batch_size = 3, .batch_timeout_micros = 50000}));
  engine.settle();
  std::vector<std::thread> clients;
  std::atomic<int> late{0};
  for (int k = 0; k < 3; ++k)
    clients.emplace_back([&] {
      serving::Request r = request_for("slow", {1e9f});
      r.call.deadline = Deadline::after(0.2);
      late += error_of<errors::DeadlineExceededError>([&] { engine.predict(r); }) != "no error";
    });
  for (std::thread& c : clients) c.join();
  CHECK(late == 3);
  CHECK(ask(engine, "slow", {4}) == Floats{4});
}

TEST_CASE("batching: a request that gives up, also the one that leads, does not end those of others") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine(batched(folder.path, "slow", {.max_batch_size = 3, .batch_timeout_micros = 100000}));
  engine.settle();
  for (int who = 0; who < 3; ++who) {
    std::vector<std::thread> clients;
    std::atomic<int> late{0}, right{0};
    for (int k = 0; k < 3; ++k) {
      clients.emplace_back([&, k] {
        serving::Request r = request_for("slow", {60000});
        if (k == who) r.call.deadline = Deadline::after(0.005);
        const std::string error =
            error_of([&] { right += engine.predict(r).outputs.at("y").to_vector<float>() == Floats{60000}; });
        late += error.find("deadline") != error.npos;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (std::thread& c : clients) c.join();
    CHECK(right >= 2);
    CHECK(right + late == 3);
  }
}

TEST_CASE("batching: rows that a model drops are not taken from other requests") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return boolean_mask(x, x > -5.f); });
  saved_model::save(folder / "drop/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
  Engine engine(batched(folder.path, "drop", {.max_batch_size = 4, .batch_timeout_micros = 20000}));
  engine.settle();
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&, k] {
      for (int i = 0; i < 10; ++i) {
        const auto number = static_cast<float>(k);
        wrong += ask(engine, "drop", {k % 2 ? -10.f : number}) != (k % 2 ? Floats{} : Floats{number});
      }
    });
  for (std::thread& c : clients) c.join();
  CHECK(wrong == 0);
}

TEST_CASE("batching: a request that has no time does not wait for others") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Engine engine(batched(folder.path, "half", {.max_batch_size = 4, .batch_timeout_micros = 100'000'000}));
  engine.settle();
  serving::Request r = request_for("half", {2});
  r.call.deadline = Deadline::after(0.1);
  CHECK(engine.predict(r).outputs.at("y").to_vector<float>() == Floats{3});
}

TEST_CASE("batching: what a batch is expected to take is that of the size that it is filled up to") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  const serving::impl::Servable servable{"half", 1, 1, saved_model::load(folder / "half/1"), {}};
  const serving::Batching how{.max_batch_size = 4, .batch_timeout_micros = 1'000'000'000, .allowed_batch_sizes = {4}};
  const serving::impl::BatchFacts facts{{}, {{1, 1e-6}, {4, 2000.0}}};
  const CancelToken never;
  serving::impl::RunSlots slots(1);
  serving::impl::Metrics metrics;
  serving::impl::BatchQueue queue("serving_default");
  serving::impl::RequestTimes times;
  // Four rows would take longer than there is: the row does not wait for others.
  const auto outputs = queue.run({{"x", constant({2.f})}}, {.deadline = Deadline::after(1000)},
                                 {servable, how, facts, nullptr, never, slots, metrics, nullptr}, times);
  CHECK(outputs.at("y").to_vector<float>() == Floats{3});
}

TEST_CASE("batching: no more batches wait than .max_enqueued_batches") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Engine engine(batched(folder.path, "slow", {.max_batch_size = 2, .max_enqueued_batches = 1}));
  engine.settle();
  const CancelToken token;
  std::atomic<int> cancelled{0}, refused{0}, ended{0};
  std::vector<std::thread> clients;
  const auto ask_for_long = [&] {
    serving::Request r = request_for("slow", {1e9f});
    r.call.cancel = token;
    r.call.deadline = Deadline::after(120);  // so that the test ends if too many wait
    const std::string error = error_of([&] { engine.predict(r); });
    cancelled += error.find("cancelled") != error.npos;
    refused += error.find("slow is full: 2 rows wait, and max_enqueued_batches is 1") != error.npos;
    ++ended;
  };
  clients.emplace_back(ask_for_long);
  while (metric(engine, "tandem_queue_seconds_count{model=\"slow\"}") < 1) std::this_thread::yield();  // it runs
  for (int i = 0; i < 7; ++i) clients.emplace_back(ask_for_long);
  while (ended < 5) std::this_thread::yield();  // two wait
  CHECK(metric(engine, "tandem_rejected_total{reason=\"queue\"}") == 5);
  token.cancel();
  for (std::thread& c : clients) c.join();
  CHECK(cancelled == 3);
  CHECK(refused == 5);
  CHECK(ask(engine, "slow", {1, 2, 3, 4, 5}) == Floats{1, 2, 3, 4, 5});  // larger, but nothing waits
  CHECK_THROWS_AS(Engine(batched(folder.path, "slow", {.max_enqueued_batches = -1})), errors::InvalidArgumentError);
}

TEST_CASE("batching: no more batches run at once than .num_batch_threads, of all models") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  testing::save_slow(folder / "other/1");
  serving::Options options = batched(folder.path, "slow", {.num_batch_threads = 1});
  options.models.push_back({.name = "other", .base_path = folder / "other"});
  options.threads = 4;
  Engine engine(options);
  engine.settle();
  const CancelToken token;
  std::atomic<bool> is_cancelled{false};
  std::thread running([&] {
    serving::Request r = request_for("slow", {1e9f});
    r.call.cancel = token;
    is_cancelled = error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
  });
  while (metric(engine, "tandem_queue_seconds_count{model=\"slow\"}") < 1) std::this_thread::yield();
  serving::Request r = request_for("other", {1e9f});
  r.call.deadline = Deadline::after(0.05);
  CHECK_THAT(error_of<errors::DeadlineExceededError>([&] { engine.predict(r); }),
             ContainsSubstring("waited for its turn"));
  token.cancel();
  running.join();
  CHECK(is_cancelled);
  CHECK(ask(engine, "other", {3}) == Floats{3});
}

TEST_CASE("batching: a name that looks like another input does not make a request one of another kind") {
  const auto key = [](const serving::NamedTensors& inputs) { return serving::impl::batch_key("s", inputs, nullptr); };
  const Tensor pair = zeros({1, 2}), triple = zeros({1, 3});
  CHECK(key({{"a", pair}, {"b", triple}}) == key({{"a", ones({1, 2})}, {"b", ones({1, 3})}}));
  CHECK(key({{"a", pair}, {"b", triple}}) != key({{"a float32 2\nb", triple}}));
  CHECK(key({{"a", pair}, {"b", triple}}) != key({{"a float32 2\n1 b", triple}}));
  CHECK(key({{"a", zeros({2, 2})}, {"b", triple}}).empty());
}

}  // namespace batching_test
