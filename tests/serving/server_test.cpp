// Server: HTTP over real sockets: answers, limits, slow and vanished clients, tokens, shutdown.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "tests/serving/models.hpp"

namespace server_test {

using namespace tandem;
using Catch::Matchers::StartsWith;
using serving::Server;
using testing::error_of;

/// A connection of a client.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_port = htons(static_cast<std::uint16_t>(port)),
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Client(const Client&) = delete;
  ~Client() { ::close(socket_); }
  void send(const std::string& text) const {
    REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  /// What comes until a whole answer is there or the connection ends.
  std::string receive() const {
    std::string r;
    for (char some[4096]; !is_whole(r);) {
      const ssize_t n = ::recv(socket_, some, sizeof some, 0);
      if (n <= 0) break;
      r.append(some, static_cast<std::size_t>(n));
    }
    return r;
  }
  bool is_closed() const {
    char c;
    return ::recv(socket_, &c, 1, 0) == 0;
  }
  std::string ask(const std::string& method, const std::string& target, const std::string& body = {},
                  const std::string& headers = {}) const {
    send(method + " " + target + " HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body);
    return receive();
  }

 private:
  static bool is_whole(const std::string& r) {
    const std::size_t head = r.find("\r\n\r\n"), length = r.find("Content-Length: ");
    return head != r.npos && length != r.npos && r.size() >= head + 4 + std::stoul(r.substr(length + 16, 20));
  }
  const int socket_;
};

serving::Options options_for(const std::string& folder, const std::string& model) {
  return {.models = {{.name = model, .base_path = folder + "/" + model}},
          .rest_api_port = 0,
          .drain_seconds = 0,
          .grace_seconds = 5};
}
constexpr const char* predict = "/v1/models/half:predict";

TEST_CASE("server: half plus two by REST, several requests on one connection") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(options_for(folder.path, "half"));
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

TEST_CASE("server: bodies in pieces, and with Expect: 100-continue") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(options_for(folder.path, "half"));
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
  serving::Options options = options_for(folder.path, "half");
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
  Server server(options_for(folder.path, "slow"));
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
}

TEST_CASE("server: tokens are needed where others reach it") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = options_for(folder.path, "half");
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
  CHECK(testing::metric(server.engine(), "tandem_rejected_total{reason=\"auth\"}") == 7);
}

TEST_CASE("server: the page has the models, and loads nothing from elsewhere") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(options_for(folder.path, "half"));
  server.engine().settle();
  const Client client(server.rest_port());
  for (const char* file : {"/", "/page.js", "/page.css", "/page.svg"}) {
    const std::string answer = client.ask("GET", file);
    CHECK_THAT(answer, StartsWith("HTTP/1.1 200") && ContainsSubstring("Content-Security-Policy: default-src 'self'"));
    CHECK(answer.find("https://") == answer.npos);
    CHECK(answer.find("http://") == answer.find("http://www.w3.org/2000/svg"));  // a name, not an address
  }
  CHECK_THAT(
      client.ask("GET", "/models.json"),
      ContainsSubstring(
          R"({"models":[{"name":"half","versions":[{"version":"1","state":"AVAILABLE","bytes":8,"error":""}]}]})"));
}

TEST_CASE("server: a page of the program's, or of a folder") {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "page/pictures");
  std::filesystem::create_directories(folder / "page/.hidden");
  for (const char* file : {"index.html", "a.js", "pictures/b.svg", ".secret", ".hidden/c.js", "d"})
    std::ofstream(folder / "page/" + file) << "text of " << file;
  std::filesystem::create_symlink("/etc/hostname", folder / "page/link.txt");
  const std::vector<serving::WebFile> files = serving::read_web_files(folder / "page");
  std::string paths;
  for (const serving::WebFile& f : files) paths += f.path + " " + f.type + "\n";
  CHECK(paths ==
        "/ text/html; charset=utf-8\n/a.js text/javascript; charset=utf-8\n/d application/octet-stream\n"
        "/pictures/b.svg image/svg+xml\n");
  CHECK_THROWS_AS(serving::read_web_files(folder / "none"), errors::NotFoundError);

  serving::Options options;
  options.rest_api_port = 0, options.drain_seconds = 0, options.web_files = files;
  const Server server(options);
  const Client client(server.rest_port());
  CHECK_THAT(client.ask("GET", "/"), ContainsSubstring("text of index.html") &&
                                         ContainsSubstring("Content-Security-Policy: default-src 'self'"));
  CHECK_THAT(client.ask("GET", "/pictures/b.svg?x=1"), ContainsSubstring("text of pictures/b.svg"));
  for (const char* gone : {"/page.js", "/.secret", "/../page/a.js", "/link.txt"})
    CHECK_THAT(client.ask("GET", gone), StartsWith("HTTP/1.1 404"));
  for (const char* wrong : {"a", "/v1/x", "/metrics", "/models.json", "/a.js"}) {
    options.web_files = files;
    options.web_files.push_back({wrong, "text/plain", ""});
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Server{options}; }), ContainsSubstring(wrong));
  }
}

TEST_CASE("server: whether it is alive is answered while models are busy") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  serving::Options options = options_for(folder.path, "slow");
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
  serving::Options options = options_for(folder.path, "half");
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
  std::optional<Server> server(options_for(folder.path, "range"));
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

TEST_CASE("server: stop() lets what runs finish, and refuses what comes") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  Server server(options_for(folder.path, "slow"));
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
               serving::Options options = options_for(folder.path, "slow");
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
