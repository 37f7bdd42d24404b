// gRPC: arguments of its channels, which are an option.
#include "tests/serving_grpc/client.hpp"

namespace grpc_options_test {

using namespace tandem;
using serving::Server;
using testing::grpc_predict_path;
using testing::GrpcClient;
using testing::predict_request;

TEST_CASE("grpc: arguments of channels are those of the options") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  const std::string token(3000, 'x');
  {
    Server server(options, serving::grpc_listener);
    server.engine().settle();
    CHECK(GrpcClient(server.port()).call(grpc_predict_path, predict_request("half", {1}), {.token = token}).code == 0);
  }
  options.grpc_channel_arguments = "grpc.primary_user_agent=half,grpc.max_metadata_size=2000";
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  CHECK(client.call(grpc_predict_path, predict_request("half", {1})).code == 0);
  CHECK(client.call(grpc_predict_path, predict_request("half", {1}), {.token = token}).code == 8);
  for (const char* wrong : {"grpc.max_metadata_size", "a=1,=2", "a=1,,b=2"}) {
    options.grpc_channel_arguments = wrong;
    CHECK_THAT(testing::error_of<errors::InvalidArgumentError>([&] { Server other(options, serving::grpc_listener); }),
               ContainsSubstring("which is not NAME=VALUE"));
  }
}

TEST_CASE("grpc: metadata is limited by its bytes, and 32 more for each entry") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto code_with = [&](int entries) {
    return client.call(grpc_predict_path, predict_request("half", {1}), {.entries = entries}).code;
  };
  CHECK(code_with(300) == 0);
  CHECK(code_with(512) == 8);  // 32 bytes each are 16 KiB
}

TEST_CASE("grpc: arguments of channels in place of the library's are integers of 32 bits") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  for (const char* wrong : {"grpc.max_metadata_size=16k", "grpc.max_concurrent_streams=99999999999",
                            "grpc.server_handshake_timeout_ms=10.5", "grpc.so_reuseport=", "grpc.keepalive_time_ms=1m",
                            "grpc.keepalive_permit_without_calls=true", "grpc.max_connection_idle_ms=-99999999999"}) {
    options.grpc_channel_arguments = std::string("grpc.primary_user_agent=half,") + wrong;
    CHECK_THAT(testing::error_of<errors::InvalidArgumentError>([&] { Server other(options, serving::grpc_listener); }),
               ContainsSubstring("has " + std::string(wrong) + ", but it must be an integer of 32 bits"));
  }
  options.grpc_channel_arguments = "grpc.max_concurrent_streams=2147483647,grpc.max_connection_idle_ms=-1";
  CHECK_NOTHROW(Server(options, serving::grpc_listener));
}

}  // namespace grpc_options_test
