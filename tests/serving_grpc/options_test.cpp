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

}  // namespace grpc_options_test
