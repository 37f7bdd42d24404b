// gRPC: a client that goes while its answer is sent does not end the server.
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "tests/serving_grpc/raw_caller.hpp"

namespace grpc_pipe_test {

using namespace tandem;

TEST_CASE("grpc: a client that closes its connection within an answer ends nothing, with SIGPIPE as it is by default") {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return broadcast_to(reduce_sum(x), {4'000'000}); });
  saved_model::save(folder / "large/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {testing::any_rows, float32}}}, {"y"})}});
  serving::Server server(testing::grpc_options(folder.path, "large"), serving::grpc_listener);
  server.engine().settle();
  const std::string request = testing::predict_request("large", {1});
  for (int i = 0; i < 5; ++i) {
    testing::RawCaller caller(server.port());
    REQUIRE(caller.send_message(request));
    caller.read_some();
    if (i % 2) caller.close_by_reset();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (testing::metric(server.engine(), "tandem_run_seconds_count{model=\"large\"}") < i + 1) {
      if (std::chrono::steady_clock::now() > end) FAIL("the model has not run");
      std::this_thread::yield();
    }
  }
  CHECK(testing::outputs_of(testing::GrpcClient(server.port()).call(testing::grpc_predict_path, request)).size() ==
        4'000'000);
  std::signal(SIGPIPE, before);
}

}  // namespace grpc_pipe_test
