// gRPC predictions under load while the versions of a model change: none fails, none mixes two versions. A short run is
// one of the tests; TANDEM_SWAP_SECONDS=60 makes it as long.
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/serving_grpc/client.hpp"
#include "tests/support/environment.hpp"

namespace grpc_swap_test {

using namespace tandem;

// Asks until it is told to stop.
struct SwapClient {
  int answers = 0, failed = 0, mixed = 0;
  std::string last_error;

  void run(int port, const std::atomic<bool>& stop, std::atomic<int>& all, std::atomic<i64>& newest) {
    testing::GrpcClient client(port);
    const std::string request = testing::predict_request("half", {0, 0, 0, 0});
    while (!stop) {
      const testing::GrpcAnswer a = client.call(testing::grpc_predict_path, request);
      ++all, ++answers;
      if (a.code != 0) {
        ++failed, last_error = a.text;
        continue;
      }
      const i64 version = std::stoll(testing::at(a.message, {2, 2, 1}));  // the model_spec's
      mixed += testing::outputs_of(a) != std::vector<float>(4, static_cast<float>(version));
      newest = std::max<i64>(newest, version);
    }
  }
};

TEST_CASE("grpc: no prediction fails and none mixes versions while they change") {
  const testing::TemporaryFolder folder;
  const auto seconds = static_cast<double>(testing::number_from("TANDEM_SWAP_SECONDS", 1));
  constexpr i64 last = 20, broken = 13;
  for (const bool batching : {false, true}) {
    std::filesystem::remove_all(folder / "half");
    testing::save_half(folder / "half/1", 1);
    serving::Options options = testing::grpc_options(folder.path, "half");
    options.batching.enabled = batching;
    options.file_system_poll_wait_seconds = 0.02, options.max_num_load_retries = 0;
    serving::Server server(options, serving::grpc_listener);
    server.engine().settle();
    const double bytes = testing::metric(server.engine(), "tandem_model_bytes{model=\"half\",version=\"1\"}");
    std::atomic<bool> stop{false};
    std::atomic<int> all{0};
    std::atomic<i64> newest{0};
    std::vector<SwapClient> clients(4);
    std::vector<std::thread> threads;
    for (SwapClient& c : clients)
      threads.emplace_back([&, client = &c] { client->run(server.port(), stop, all, newest); });
    for (i64 v = 2; v <= last; ++v) {
      const std::string made = folder / "made/" + std::to_string(v), place = folder / "half/" + std::to_string(v);
      testing::save_half(made, static_cast<float>(v));
      if (v == broken) std::filesystem::resize_file(made + "/variables.safetensors", 20);
      std::filesystem::rename(made, place);
      for (const int before = all; all < before + 20;) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 2 / static_cast<double>(last)));
      // A version that is followed by another before it is seen is never loaded: here the broken one is.
      const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (v == broken && testing::states(server.engine(), "half").find("13 END") == std::string::npos &&
             std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    }
    while (newest < last) std::this_thread::yield();
    stop = true;
    for (std::thread& t : threads) t.join();
    for (const SwapClient& c : clients) {
      INFO(c.answers << " answers, batching " << batching << ", last error: " << c.last_error);
      CHECK(c.failed == 0);
      CHECK(c.mixed == 0);
      CHECK(c.answers > 0);
    }
    server.engine().settle();
    CHECK_THAT(testing::states(server.engine(), "half"),
               ContainsSubstring("20 AVAILABLE") && ContainsSubstring("13 END"));
    CHECK(testing::metric(server.engine(), "tandem_model_bytes{model=\"half\",version=\"20\"}") == bytes);
  }
}

}  // namespace grpc_swap_test
