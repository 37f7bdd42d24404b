// gRPC: health, tokens, limits, deadlines, cancellation, many calls at once, shutdown.
#include <atomic>
#include <thread>

#include "tandem/serving/status.hpp"
#include "tests/serving_grpc/client.hpp"

namespace grpc_server_test {

using namespace tandem;
using serving::Server;
using testing::append_field;
using testing::append_message;
using testing::at;
using testing::error_of;
using testing::GrpcAnswer;
using testing::GrpcClient;
using testing::GrpcStream;
using testing::metric;
using testing::model_spec;
using testing::grpc_predict_path;
using testing::predict_request;

constexpr const char* check = "/grpc.health.v1.Health/Check";
constexpr const char* watch = "/grpc.health.v1.Health/Watch";
constexpr const char* reload = "/tensorflow.serving.ModelService/HandleReloadConfigRequest";

std::string service(const std::string& name) {
  std::string r;
  append_field(r, 1, name);
  return r;
}

TEST_CASE("grpc: health of the server and of its models") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  for (const char* name : {"", "half", "tensorflow.serving.PredictionService"})
    CHECK(at(client.call(check, service(name)).message, {1}) == "1");
  CHECK(client.call(check, service("none")).code == 5);
  CHECK(client.call(check, "\x0a\x7f").code == 3);

  GrpcStream all(client, watch), one(client, watch), none_such(client, watch);
  REQUIRE((all.write("") && one.write(service("half")) && none_such.write(service("none"))));
  CHECK(at(all.read().message, {1}) == "1");
  CHECK(at(one.read().message, {1}) == "1");
  CHECK(at(none_such.read().message, {1}) == "3");
  server.engine().reload({{.name = "none", .base_path = folder / "half"}});
  CHECK(at(one.read().message, {1}) == "3");
  const std::string loading = at(none_such.read().message, {1});  // between NOT_SERVING and SERVING
  CHECK((loading == "2" || loading == "1"));
  if (loading == "2") CHECK(at(none_such.read().message, {1}) == "1");
}

TEST_CASE("grpc: watchers and reflections end with the server") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  options.drain_seconds = 0.5, options.grace_seconds = 60;
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  GrpcStream watching(client, watch);
  GrpcStream asking(client, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  REQUIRE(watching.write(""));
  CHECK(at(watching.read().message, {1}) == "1");
  const auto begin = std::chrono::steady_clock::now();
  std::thread stopping([&] { server.stop(); });
  CHECK(at(watching.read().message, {1}) == "2");
  CHECK(watching.read().code == 14);
  CHECK(asking.read().code != 0);
  stopping.join();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("grpc: tokens are needed, but for health") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  options.bind = "0.0.0.0";
  options.auth_token_file = folder / "tokens";
  folder.file("tokens", "secret\nadmin:chief\n");
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto code = [&](const char* path, const std::string& message, const std::string& token) {
    return client.call(path, message, {.token = token}).code;
  };
  CHECK(code(check, "", "") == 0);
  CHECK(code("/inference.GRPCInferenceService/ServerLive", "", "") == 0);
  CHECK(code("/inference.GRPCInferenceService/ServerMetadata", "", "") == 16);
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "bEARER secret") == 0);
  for (const char* wrong : {"", "Bearer secrep", "Bearer secret1", "secret", "Bearer admin:chief"})
    CHECK(code(grpc_predict_path, predict_request("half", {1}), wrong) == 16);
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "Bearer secret") == 0);
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "Bearer chief") == 0);
  CHECK(code(reload, "", "Bearer secret") == 7);
  CHECK(metric(server.engine(), "tandem_rejected_total{reason=\"auth\"}") == 7);
  folder.file("tokens", "");
  CHECK_THROWS_AS(server.reload_access(), errors::InvalidArgumentError);
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "Bearer secret") == 0);
  folder.file("tokens", "new\n");
  server.reload_access();
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "Bearer secret") == 16);
  CHECK(code(grpc_predict_path, predict_request("half", {1}), "Bearer new") == 0);
}

// Leaves the id of a failed request on the threads of calls, and counts the refused calls that begin with one.
struct Leaving final : serving::LogSink {
  void write(const serving::LogEntry& e) noexcept override {
    const std::string_view event = e.event;
    if (event == "refused" && serving::impl::failed_request_id) ++left;
    if (event == "request") serving::impl::failed_request_id = 0x5f0c;
  }
  std::atomic<int> left{0};
};

TEST_CASE("grpc: a call does not begin with the id of an earlier one that has failed") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  const auto log = std::make_shared<Leaving>();
  options.log = log, options.auth_token_file = folder / "tokens";
  folder.file("tokens", "secret\n");
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  for (int i = 0; i < 20; ++i) {
    CHECK(client.call(grpc_predict_path, predict_request("half", {1}), {.token = "Bearer secret"}).code == 0);
    CHECK(client.call(grpc_predict_path, predict_request("half", {1})).code == 16);
  }
  CHECK(log->left == 0);
}

TEST_CASE("grpc: an administrator changes the configuration") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  testing::save_half(folder / "other/3", 7);
  serving::Options options = testing::grpc_options(folder.path, "half");
  options.auth_token_file = folder / "tokens";
  folder.file("tokens", "admin:chief\n");
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto config = [&](const std::string& base_path) {
    std::string r;
    append_message(r, 1, [&] {
      append_message(r, 1, [&] {
        append_message(r, 1, [&] {
          append_field(r, 1, "other");
          append_field(r, 2, base_path);
          append_message(r, 7, [&] { append_message(r, 102, [&] { append_field(r, 1, "\x03"); }); });
          append_message(r, 8, [&] {
            append_field(r, 1, "stable");
            testing::append_integer(r, 2, 3);
          });
        });
      });
    });
    return r;
  };
  const auto call = [&](const std::string& message) { return client.call(reload, message, {.token = "Bearer chief"}); };
  CHECK(call("").code == 3);
  CHECK(call("\x0a\x05").code == 3);
  const GrpcAnswer absent = call(config(folder / "nowhere"));
  CHECK(absent.code == 0);
  CHECK(at(absent.message, {1, 1}) == "14");
  const GrpcAnswer a = call(config(folder / "other"));
  REQUIRE(a.code == 0);
  CHECK(at(a.message, {1}).empty());
  std::string labelled = predict_request("other", {2});
  labelled.replace(0, model_spec(1, "other").size(), "\x0a\x0f\x0a\x05other\x22\x06stable");
  CHECK(testing::outputs_of(client.call(grpc_predict_path, labelled, {.token = "Bearer chief"})) == std::vector<float>{8});
  CHECK(client.call(grpc_predict_path, predict_request("half", {1}), {.token = "Bearer chief"}).code == 5);
  Server open(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  CHECK(GrpcClient(open.port()).call(reload, config("x")).code == 7);  // nobody is an administrator
}

TEST_CASE("grpc: messages have a limit in both directions, and are not inflated") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& n) { return range(constant(0.f), cast(n, float32), constant(1.f)); });
  saved_model::save(folder / "range/1", {{"serving_default", saved_model::predict(f, {{"n", {{}, int32}}}, {"y"})}});
  serving::Options options = testing::grpc_options(folder.path, "range");
  options.max_request_bytes = 100'000;
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto request = [](char n0, char n1, char n2) {
    std::string r = model_spec(1, "range");
    append_message(r, 2, [&] {
      append_field(r, 1, "n");
      append_message(r, 2, [&] {
        testing::append_integer(r, 1, 3);
        append_field(r, 4, std::string{n0, n1, n2, 0});
      });
    });
    return r;
  };
  CHECK(testing::outputs_of(client.call(grpc_predict_path, request(3, 0, 0))) == std::vector<float>{0, 1, 2});
  CHECK(client.call(grpc_predict_path, request(0, 0, 1)).code == 8);  // 65536 floats
  CHECK(client.call(grpc_predict_path, predict_request("range", std::vector<float>(30'000))).code == 8);
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  CHECK(client.call(context, grpc_predict_path, predict_request("range", std::vector<float>(20'000))).code == 12);
  CHECK(testing::outputs_of(client.call(grpc_predict_path, request(1, 0, 0))) == std::vector<float>{0});
}

TEST_CASE("grpc: deadlines and cancelled calls end what runs") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Server server(testing::grpc_options(folder.path, "slow"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto in_flight = [&] { return metric(server.engine(), "tandem_in_flight"); };
  CHECK(client.call(grpc_predict_path, predict_request("slow", {1e9f}), {.seconds = 0.2}).code == 4);
  while (in_flight() > 0) std::this_thread::yield();
  CHECK(metric(server.engine(), "tandem_rejected_total{reason=\"deadline\"}") == 1);
  grpc::ClientContext context;
  std::thread cancelling([&] {
    while (in_flight() < 1) std::this_thread::yield();
    context.TryCancel();
  });
  CHECK(client.call(context, grpc_predict_path, predict_request("slow", {1e9f})).code == 1);
  cancelling.join();
  while (in_flight() > 0) std::this_thread::yield();
  CHECK(metric(server.engine(), "tandem_rejected_total{reason=\"cancelled\"}") == 1);
}

TEST_CASE("grpc: health is answered while models are busy, and what is too much is refused") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  serving::Options options = testing::grpc_options(folder.path, "slow");
  options.threads = 1, options.max_connections = 20;
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  std::atomic<int> refused{0}, cancelled{0};
  std::vector<std::thread> clients;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  for (int k = 0; k < 40; ++k) contexts.push_back(std::make_unique<grpc::ClientContext>());
  for (auto& context : contexts)
    clients.emplace_back([&, c = context.get()] {
      const int code = GrpcClient(server.port()).call(*c, grpc_predict_path, predict_request("slow", {1e9f})).code;
      refused += code == 8, cancelled += code == 1;
    });
  while (refused < 20) std::this_thread::yield();
  GrpcClient client(server.port());
  CHECK(at(client.call(check, "").message, {1}) == "1");
  CHECK(metric(server.engine(), "tandem_in_flight") <= 20);
  for (auto& context : contexts) context->TryCancel();
  for (std::thread& t : clients) t.join();
  CHECK(refused + cancelled == 40);
  CHECK(cancelled > 10);
}

TEST_CASE("grpc: many calls at once, alone and in batches") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  for (const bool batching : {false, true}) {
    serving::Options options = testing::grpc_options(folder.path, "half");
    options.batching.enabled = batching;
    Server server(options, serving::grpc_listener);
    server.engine().settle();
    std::atomic<int> good{0};
    std::vector<std::thread> clients;
    for (int k = 0; k < 8; ++k)
      clients.emplace_back([&, k] {
        GrpcClient client(server.port());
        for (int i = 0; i < 100; ++i) {
          const auto x = static_cast<float>(k * 100 + i);
          good += testing::outputs_of(client.call(grpc_predict_path, predict_request("half", {x}))) ==
                  std::vector<float>{x / 2 + 2};
        }
      });
    for (std::thread& t : clients) t.join();
    CHECK(good == 800);
  }
}

TEST_CASE("grpc: stop() lets what runs finish, and refuses what comes") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Server server(testing::grpc_options(folder.path, "slow"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  GrpcAnswer running;
  std::thread caller([&] { running = client.call(grpc_predict_path, predict_request("slow", {200'000})); });
  while (metric(server.engine(), "tandem_in_flight") < 1) std::this_thread::yield();
  server.stop();
  caller.join();
  CHECK(running.code == 0);
  CHECK(testing::outputs_of(running) == std::vector<float>{200'000});
  CHECK(client.call(grpc_predict_path, predict_request("slow", {1}), {.seconds = 5}).code == 14);
}

TEST_CASE("grpc: a port that is taken") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  const Server first(options, serving::grpc_listener);
  options.port = first.port();
  CHECK_THAT(error_of<errors::UnavailableError>([&] { Server second(options, serving::grpc_listener); }),
             ContainsSubstring("cannot listen on 127.0.0.1:"));
  options.port = 70'000;
  CHECK_THROWS_AS(Server(options, serving::grpc_listener), errors::InvalidArgumentError);
}

TEST_CASE("grpc: watchers have a limit") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::grpc_options(folder.path, "half");
  options.max_connections = 3;
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  std::vector<std::unique_ptr<GrpcClient>> clients;
  for (int k = 0; k < 4; ++k) clients.push_back(std::make_unique<GrpcClient>(server.port()));
  std::vector<std::unique_ptr<GrpcStream>> watching;
  for (int k = 0; k < 3; ++k) {
    watching.push_back(std::make_unique<GrpcStream>(*clients[static_cast<std::size_t>(k)], watch));
    REQUIRE(watching.back()->write(""));
    CHECK(at(watching.back()->read().message, {1}) == "1");
  }
  CHECK(GrpcStream(*clients[3], watch).read().code == 8);
  CHECK(at(clients[3]->call(check, "").message, {1}) == "1");
  watching.pop_back();  // its place is free when the server has seen it
  for (int code = 8; code == 8;) {
    GrpcStream another(*clients[3], watch);
    another.write("");
    code = another.read().code;
    CHECK((code == 8 || code == 0));
  }
}

TEST_CASE("grpc: the text of an error is cut between two characters") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  for (const char* shift : {"", "a"}) {
    std::string name = shift;
    for (int i = 0; i < 20'000; ++i) name += "\u00e4";
    const GrpcAnswer a = client.call(grpc_predict_path, predict_request(name, {1}));
    CHECK(a.code == 5);
    CHECK(a.text.size() > 1020);
    CHECK(a.text.size() <= 1024);
    CHECK(a.text.substr(a.text.size() - 2) == "\u00e4");
  }
}

TEST_CASE("grpc: a reload that takes long ends with its deadline, and with the server") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  const std::vector<std::string> endless(1, testing::prediction_log("slow", {1e9f}));
  testing::save_slow(folder / "slow/1", endless);
  serving::Options options = testing::grpc_options(folder.path, "half");
  options.auth_token_file = folder / "tokens", options.grace_seconds = 0.5;
  folder.file("tokens", "admin:chief\n");
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  std::string config;
  append_message(config, 1, [&] {
    append_message(config, 1, [&] {
      append_message(config, 1, [&] {
        append_field(config, 1, "slow");
        append_field(config, 2, folder / "slow");
      });
    });
  });
  CHECK(client.call(reload, config, {.seconds = 0.3, .token = "Bearer chief"}).code == 4);
  std::atomic<int> code{-1};
  std::thread caller([&] { code = client.call(reload, config, {.token = "Bearer chief"}).code; });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  caller.join();
  CHECK(code != 0);
  CHECK_THROWS_AS(server.engine().settle(), errors::UnavailableError);
  CHECK_THROWS_AS(server.engine().reload({}), errors::UnavailableError);
}

}  // namespace grpc_server_test
