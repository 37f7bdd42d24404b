// Server: HTTP over real sockets: answers, limits, slow and vanished clients, tokens, shutdown.
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "tests/serving/http_client.hpp"
#include "tests/serving/models.hpp"

namespace server_test {

using namespace tandem;
using Catch::Matchers::StartsWith;
using serving::Server;
using testing::Client;
using testing::error_of;
using testing::server_options;

constexpr const char* predict = "/v1/models/half:predict";

TEST_CASE("server: half plus two by REST, several requests on one connection") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(server_options(folder.path, "half"));
  server.engine().settle();
  const Client client(server.rest_port());
  for (int i = 0; i < 3; ++i) {
    const std::string answer = client.ask("POST", predict, R"({"instances": [1.0, 2.0, 5.0]})");
    CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    CHECK_THAT(answer, ContainsSubstring("2.5") && ContainsSubstring("4.5"));
  }
  CHECK_THAT(client.ask("GET", "/v1/models/half"), ContainsSubstring("AVAILABLE"));
  CHECK_THAT(client.ask("GET", "/v2/health/ready"), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(client.ask("GET", "/metrics"), ContainsSubstring("tandem_requests_total") && ContainsSubstring("# TYPE"));
  CHECK_THAT(client.ask("POST", "/v1/models/none:predict", R"({"instances": [1]})"),
             StartsWith("HTTP/1.1 404") && ContainsSubstring("Servable not found for request: Latest(none)"));
}

TEST_CASE("server: HEAD has the header of GET, and answers without content have no length") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(server_options(folder.path, "half"));
  server.engine().settle();
  const Client client(server.rest_port());
  for (const char* path : {"/v2", "/v2/health/ready", "/v1/models/half", "/v1/models/none", "/", "/page.js"}) {
    const std::string get = client.ask("GET", path);
    const std::string header = get.substr(0, get.find("\r\n\r\n") + 4);
    CHECK(header.find("Content-Length: 0") == header.npos);
    // The next answer follows at once.
    client.send(std::string("HEAD ") + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(client.receive_until("\r\n\r\n") == header);
  }
  client.send(std::string("OPTIONS ") + predict + " HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 204") && !ContainsSubstring("Content-Length"));
  CHECK_THAT(client.ask("GET", "/v2/health/live"), StartsWith("HTTP/1.1 200") && ContainsSubstring("{\"live\":true}"));
}

TEST_CASE("server: bodies in pieces, and with Expect: 100-continue") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(server_options(folder.path, "half"));
  server.engine().settle();
  const Client client(server.rest_port());
  const std::string body = R"({"instances": [1.0]})";
  client.send(std::string("POST ") + predict + " HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const char c : body) client.send(std::string(1, c));
  CHECK_THAT(client.receive(), StartsWith("HTTP/1.1 100 Continue\r\n\r\n") && ContainsSubstring("2.5"));
  const Client chunked(server.rest_port());
  chunked.send(std::string("POST ") + predict + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" +
               body + "\r\n0\r\n\r\n");
  CHECK_THAT(chunked.receive(), ContainsSubstring("2.5"));
}

TEST_CASE("server: what is too large or is not HTTP is refused") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = server_options(folder.path, "half");
  options.max_request_bytes = 1000;
  Server server(options);
  const auto answer = [&](const std::string& text) {
    const Client client(server.rest_port());
    client.send(text);
    return client.receive();
  };
  CHECK_THAT(answer("POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n"),
             StartsWith("HTTP/1.1 413"));
  CHECK_THAT(answer("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431"));
  const auto with_headers = [&](int n) {
    std::string text = "GET /v2/health/live HTTP/1.1\r\nHost: h\r\nConnection: close\r\n";
    for (int i = 2; i < n; ++i) text += "X-" + std::to_string(i) + ": x\r\n";
    return answer(text + "\r\n");
  };
  CHECK_THAT(with_headers(100), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(with_headers(101), StartsWith("HTTP/1.1 431") && ContainsSubstring("more than 100 headers"));
  CHECK_THAT(answer("\x16\x03\x01 this is TLS\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  options.max_connections = 1;
  Server small(options);
  const Client first(small.rest_port());
  (void)first.ask("GET", "/v2/health/live");
  CHECK_THAT(Client(small.rest_port()).receive(),
             StartsWith("HTTP/1.1 503") && ContainsSubstring("too many connections"));
}

TEST_CASE("server: a client that closes its connection cancels its request") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Server server(server_options(folder.path, "slow"));
  server.engine().settle();
  {
    const Client client(server.rest_port());
    const std::string body = R"({"instances": [1000000000.0]})";
    client.send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    while (testing::metric(server.engine(), "tandem_in_flight") < 1) std::this_thread::yield();
  }
  while (testing::metric(server.engine(), "tandem_in_flight") > 0) std::this_thread::yield();
  CHECK(testing::metric(server.engine(), "tandem_rejected_total{reason=\"cancelled\"}") == 1);
  const Client client(server.rest_port());
  CHECK_THAT(
      client.ask("POST", "/v1/models/slow:predict", R"({"instances": [1000000000.0]})", "X-Request-Timeout-Ms: 50\r\n"),
      StartsWith("HTTP/1.1 504"));
  CHECK_THAT(
      client.ask("POST", "/v1/models/slow:predict", R"({"instances": [1000000000.0]})", "X-Request-Timeout-Ms: 1\r\n"),
      StartsWith("HTTP/1.1 504"));
  CHECK_THAT(client.ask("POST", "/v1/models/slow:predict", R"({"instances": [3.0]})"), ContainsSubstring("[3.0]"));
}

TEST_CASE("server: tokens are needed where others reach it") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = server_options(folder.path, "half");
  options.bind = "0.0.0.0";
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Server server(options); }),
             ContainsSubstring("others reach 0.0.0.0"));
  options.auth_token_file = folder / "tokens";
  CHECK_THROWS_AS(Server(options), errors::NotFoundError);
  folder.file("tokens", "\n");
  CHECK_THROWS_AS(Server(options), errors::InvalidArgumentError);
  folder.file("tokens", "secret1\r\nsecret2\n");
  Server server(options);
  server.engine().settle();
  const auto with = [&](const std::string& header) {
    return Client(server.rest_port()).ask("POST", predict, R"({"instances": [1]})", header);
  };
  CHECK_THAT(with(""), StartsWith("HTTP/1.1 401") && ContainsSubstring("WWW-Authenticate: Bearer"));
  for (const char* wrong : {"secret", "secret3", "secret11", "", "secret1 "})
    CHECK_THAT(with(std::string("Authorization: Bearer ") + wrong + "x\r\n"), StartsWith("HTTP/1.1 401"));
  CHECK_THAT(with("Authorization: secret1\r\n"), StartsWith("HTTP/1.1 401"));
  CHECK_THAT(with("Authorization: Bearer secret2\r\n"), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(Client(server.rest_port()).ask("GET", "/v2/health/live"), StartsWith("HTTP/1.1 200"));
  const Client late(server.rest_port());  // a token behind the body
  late.send("POST " + std::string(predict) +
            " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{\"instances\":[1.0]}\r\n0\r\n"
            "Authorization: Bearer secret2\r\n\r\n");
  CHECK_THAT(late.receive(), StartsWith("HTTP/1.1 401"));
  CHECK(testing::metric(server.engine(), "tandem_rejected_total{reason=\"auth\"}") == 8);
}

TEST_CASE("server: whether it is alive is answered while models are busy") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  serving::Options options = server_options(folder.path, "slow");
  options.threads = 1;
  Server server(options);
  server.engine().settle();
  std::vector<std::unique_ptr<Client>> busy;
  const std::string body = R"({"instances": [1000000000.0]})";
  for (int k = 0; k < 200; ++k) {
    busy.push_back(std::make_unique<Client>(server.rest_port()));
    busy.back()->send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  const Client client(server.rest_port());
  while (testing::metric(server.engine(), "tandem_in_flight") < 200) std::this_thread::yield();
  CHECK_THAT(client.ask("GET", "/v2/health/live"), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(client.ask("GET", "/metrics"), ContainsSubstring("tandem_in_flight 200"));
  busy.clear();
  while (testing::metric(server.engine(), "tandem_in_flight") > 0) std::this_thread::yield();
}

TEST_CASE("server: the bodies that are read have a limit together") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = server_options(folder.path, "half");
  options.max_total_body_bytes = 1500, options.max_request_bytes = 1000;
  Server server(options);
  server.engine().settle();
  const Client first(server.rest_port());
  first.send("POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n");
  while (testing::metric(server.engine(), "tandem_in_flight") < 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Client second(server.rest_port());
  second.send("POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n" +
              std::string(900, ' '));
  CHECK_THAT(second.receive(), StartsWith("HTTP/1.1 429") && ContainsSubstring("Retry-After: 1"));
  first.send(R"({"instances": [1.0]})" + std::string(980, ' '));
  CHECK_THAT(first.receive(), ContainsSubstring("2.5"));
  CHECK_THAT(Client(server.rest_port()).ask("POST", predict, R"({"instances": [1.0]})"), ContainsSubstring("2.5"));
}

TEST_CASE("server: a large answer is sent whole before the server ends") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& n) { return range(constant(0.f), cast(n, float32), constant(1.f)); });
  saved_model::save(folder / "range/1", {{"serving_default", saved_model::predict(f, {{"n", {{}, int32}}}, {"y"})}});
  std::optional<Server> server(server_options(folder.path, "range"));
  server->engine().settle();
  const Client client(server->rest_port());
  const std::string body = R"({"inputs": 300000})";
  client.send("POST /v1/models/range:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  while (testing::metric(server->engine(), "tandem_in_flight") < 1 &&
         testing::metric(server->engine(), "tandem_run_seconds_count{model=\"range\"}") < 1)
    std::this_thread::yield();
  std::thread ending([&] { server.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the client is slow
  CHECK_THAT(client.receive(), StartsWith("HTTP/1.1 200") && ContainsSubstring("299999.0]"));
  ending.join();
}

TEST_CASE(
    "server: a client that closes its connection within an answer ends nothing, with SIGPIPE as it is by default") {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& n) { return range(constant(0.f), cast(n, float32), constant(1.f)); });
  saved_model::save(folder / "range/1", {{"serving_default", saved_model::predict(f, {{"n", {{}, int32}}}, {"y"})}});
  Server server(server_options(folder.path, "range"));
  server.engine().settle();
  const std::string body = R"({"inputs": 600000})";
  for (int i = 0; i < 5; ++i) {
    const Client client(server.rest_port());
    client.send("POST /v1/models/range:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    CHECK_THAT(client.receive_until("\r\n"), StartsWith("HTTP/1.1 200"));
    if (i % 2) client.close_by_reset();
  }
  CHECK_THAT(Client(server.rest_port()).ask("POST", "/v1/models/range:predict", R"({"inputs": 3})"),
             ContainsSubstring("[0.0,1.0,2.0]") || ContainsSubstring("[0.0, 1.0, 2.0]"));
  std::signal(SIGPIPE, before);
}

TEST_CASE("server: stop() lets what runs finish, and refuses what comes") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  serving::Options patient = server_options(folder.path, "slow");
  patient.grace_seconds = patient.rest_api_timeout_seconds = 300;
  Server server(patient);
  server.engine().settle();
  const int port = server.rest_port();
  const Client idle(port);
  (void)idle.ask("GET", "/v2/health/live");
  const Client running(port);
  const std::string body = R"({"instances": [200000.0]})";
  running.send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body);
  while (testing::metric(server.engine(), "tandem_in_flight") < 1) std::this_thread::yield();
  std::thread stopping([&] { server.stop(); });
  CHECK_THAT(running.receive(),
             StartsWith("HTTP/1.1 200") && ContainsSubstring("200000.0") && ContainsSubstring("Connection: close"));
  stopping.join();
  CHECK_THAT(idle.ask("POST", "/v1/models/slow:predict", R"({"instances": [1]})"), StartsWith("HTTP/1.1 503"));
  CHECK(idle.is_closed());
  CHECK_THAT(error_of<errors::UnavailableError>([&] {
               serving::Options options = server_options(folder.path, "slow");
               const Server other(options);
               options.rest_api_port = other.rest_port();
               Server third(options);
             }),
             ContainsSubstring("cannot listen on 127.0.0.1:"));
}

TEST_CASE("server: stop() has one grace for models and for clients that send slowly") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Server server({.models = {{.name = "slow", .base_path = folder / "slow"}},
                 .rest_api_port = 0,
                 .drain_seconds = 0,
                 .grace_seconds = 3});
  server.engine().settle();
  const Client slow(server.rest_port()), endless(server.rest_port());
  const std::string body = R"({"instances": [1000000000.0]})";
  endless.send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body);
  slow.send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n");
  while (testing::metric(server.engine(), "tandem_in_flight") < 1) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(5900));  // not twice 3 s
}

}  // namespace server_test
