// gRPC: how long a message may take to come.
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/serving_grpc/client.hpp"
#include "tests/serving_grpc/raw_caller.hpp"

namespace grpc_message_time_test {

using namespace tandem;
using serving::Server;
using testing::GrpcClient;
using testing::GrpcStream;
using testing::metric;
using testing::RawCaller;

constexpr const char* reflection_path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
// A server of the model x / 2 + 2, whose folder it has.
struct HalfServer {
  explicit HalfServer(double message_seconds, double grace_seconds = 5)
      : server(options(message_seconds, grace_seconds), serving::grpc_listener) {
    server.engine().settle();
  }
  serving::Options options(double message_seconds, double grace_seconds) const {
    testing::save_half(folder / "half/1");
    serving::Options o = testing::grpc_options(folder.path, "half");
    o.grpc_message_seconds = message_seconds, o.grace_seconds = grace_seconds;
    return o;
  }

  const testing::TemporaryFolder folder;
  Server server;
};
constexpr const char* late = "tandem_rejected_total{reason=\"deadline\"}";
// Until so many calls were counted, which the server does when gRPC has ended them: it may tell the client before.
void wait_for_late(Server& server, double calls) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (metric(server.engine(), late) < calls && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(metric(server.engine(), late) == calls);
}

TEST_CASE("grpc: a message that comes byte by byte meets its time limit") {
  HalfServer half(0.4);
  Server& server = half.server;
  RawCaller slow(server.port());
  REQUIRE(slow.send_data(std::string("\0\0\0\x03\xe8", 5)));  // a message of 1000 bytes follows
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (metric(server.engine(), late) < 1) {
    if (std::chrono::steady_clock::now() > end) FAIL("the call has not ended");
    slow.send_data("x");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK_THAT(slow.read_to_the_end(), ContainsSubstring("headers"));
  CHECK(testing::outputs_of(
            GrpcClient(server.port()).call(testing::grpc_predict_path, testing::predict_request("half", {1}))) ==
        std::vector<float>{2.5f});
}

TEST_CASE("grpc: a time limit of messages that is not above 0 is refused") {
  serving::Options options;
  for (const double seconds : {0.0, -1.0, std::nan("")}) {
    options.grpc_message_seconds = seconds;
    CHECK_THAT(testing::error_of<errors::InvalidArgumentError>([&] { serving::Engine engine(options); }),
               ContainsSubstring("grpc_message_seconds is") && ContainsSubstring("must be more than 0"));
  }
  options.grpc_message_seconds = std::numeric_limits<double>::infinity();
  CHECK_NOTHROW(serving::Engine(options));
}

TEST_CASE("grpc: calls without a message end, and say why") {
  HalfServer half(0.2);
  Server& server = half.server;
  GrpcClient client(server.port());
  for (int round = 0; round < 3; ++round) {
    GrpcStream first(client, testing::grpc_predict_path), second(client, testing::grpc_predict_path),
        watching(client, "/grpc.health.v1.Health/Watch"), asking(client, reflection_path);
    for (GrpcStream* const stream : {&second, &first, &watching, &asking}) {
      const testing::GrpcAnswer a = stream->read();
      CHECK(a.code == 4);
      CHECK(a.text == "the message comes too slowly");
    }
  }
  wait_for_late(server, 12);
}

TEST_CASE("grpc: watchers and reflections that have their message are not late") {
  HalfServer half(0.2);
  Server& server = half.server;
  GrpcClient client(server.port());
  GrpcStream watching(client, "/grpc.health.v1.Health/Watch"), none(client, testing::grpc_predict_path);
  GrpcStream asking(client, reflection_path);
  std::string list;
  testing::append_field(list, 7, "");
  REQUIRE(asking.write(list));
  CHECK(asking.read().code == 0);
  REQUIRE(watching.write(""));
  CHECK(testing::at(watching.read().message, {1}) == "1");
  CHECK(none.read().code == 4);  // after the limit
  REQUIRE(asking.write(list));
  CHECK(asking.read().code == 0);
  server.engine().reload({{.name = "half", .base_path = half.folder / "nowhere"}});
  CHECK(testing::at(watching.read().message, {1}) == "2");
}

TEST_CASE("grpc: a server that ends does not wait for messages") {
  HalfServer half(3600, 0.1);
  Server& server = half.server;
  GrpcClient client(server.port());
  GrpcStream waiting(client, testing::grpc_predict_path);
  server.stop();
  CHECK(waiting.read().code != 0);
}

}  // namespace grpc_message_time_test
