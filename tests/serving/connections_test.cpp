// Server: no request of a connection is lost, and no answer is that of another request: one after the other without
// waiting, many clients in batches; clients that send slowly.
#include <memory>
#include <thread>

#include "tests/serving/http_client.hpp"
#include "tests/serving/models.hpp"

namespace connections_test {

using namespace tandem;
using Catch::Matchers::EndsWith, Catch::Matchers::StartsWith;
using serving::Server;
using testing::Client;

std::string request(const std::string& body, const std::string& header = "") {
  return "POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\n" + header +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
// A row for x, and what x / 2 + 2 is.
std::string row(int x) { return "{\"instances\":[" + std::to_string(x) + "]}"; }
std::string prediction(int x) {
  return "{\"predictions\":[" + std::to_string(x / 2 + 2) + (x % 2 ? ".5" : ".0") + "]}";
}

TEST_CASE("server: requests that a client sends without waiting are all answered, in their order") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::server_options(folder.path, "half"));
  server.engine().settle();
  constexpr int count = 40;
  std::string all, want;
  for (int i = 0; i < count; ++i) all += request(row(i)), want += prediction(i);
  all += "GET /v2/health/live HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  for (const std::size_t part : {all.size(), std::size_t{100}, std::size_t{7}}) {
    CAPTURE(part);
    const Client client(server.rest_port());
    for (std::size_t at = 0; at < all.size(); at += part) client.send(all.substr(at, part));
    const std::string got = client.receive_until("never sent");
    std::string bodies;
    int answers = 0;
    for (std::size_t at = 0; (at = got.find("HTTP/1.1 200 OK\r\n", at)) != got.npos; ++at) ++answers;
    for (std::size_t at = 0; (at = got.find("{\"predictions\"", at)) != got.npos; ++at)
      bodies += got.substr(at, got.find('}', at) + 1 - at);
    CHECK(answers == count + 1);
    CHECK(bodies == want);
  }
}

TEST_CASE("server: an error in between costs no other request of the connection") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::server_options(folder.path, "half"));
  server.engine().settle();
  const Client client(server.rest_port());
  for (int i = 0; i < 5; ++i) {
    CHECK_THAT(client.ask("POST", "/v1/models/half:predict", "{\"instances\":[\"text\"]}"), StartsWith("HTTP/1.1 400"));
    CHECK_THAT(client.ask("POST", "/v1/models/none:predict", row(1)), StartsWith("HTTP/1.1 404"));
    CHECK_THAT(client.ask("POST", "/v1/models/half:predict", row(i), "X-Request-Timeout-Ms: 0\r\n"),
               StartsWith("HTTP/1.1 504"));
    CHECK_THAT(client.ask("POST", "/v1/models/half:predict", row(i)), ContainsSubstring(prediction(i)));
  }
}

TEST_CASE("server: every client of a batch gets its own rows") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::server_options(folder.path, "half");
  options.batching = {.enabled = true, .max_batch_size = 12, .batch_timeout_micros = 1'000'000};
  Server server(options);
  server.engine().settle();
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 12; ++k) clients.push_back(std::make_unique<Client>(server.rest_port()));
  const auto x = [](int k, int i) { return 1000 * k + i; };
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < 12; ++k) clients[static_cast<std::size_t>(k)]->send(request(row(x(k, i))));
    for (int k = 0; k < 12; ++k) {
      const std::string answer = clients[static_cast<std::size_t>(k)]->receive();
      CHECK_THAT(answer, EndsWith(prediction(x(k, i))));
    }
  }
  CHECK(testing::metric(server.engine(), "tandem_batch_rows_count{model=\"half\"}") < 600);  // they ran together
}

TEST_CASE("server: a client that sends byte by byte has 10 s for a header, and for a body a kilobyte a second",
          "[.thorough]") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::server_options(folder.path, "half"));
  server.engine().settle();
  const std::string whole = request(row(1) + std::string(9000, ' '));
  std::size_t of_header = 1, of_body = whole.find("\r\n\r\n") + 5;
  const Client header(server.rest_port()), body(server.rest_port());
  header.send(whole.substr(0, of_header)), body.send(whole.substr(0, of_body));
  for (int turn = 1; !header.can_receive() || !body.can_receive(); ++turn) {
    REQUIRE(of_body + 1 < whole.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!body.can_receive()) body.send_if_open(whole[of_body++]);
    if (turn % 50 == 0 && !header.can_receive()) header.send_if_open(whole[of_header++]);
  }
  CHECK(header.receive().empty());
  CHECK_THAT(body.receive(), StartsWith("HTTP/1.1 408"));
  CHECK_THAT(Client(server.rest_port()).ask("POST", "/v1/models/half:predict", row(1)),
             ContainsSubstring(prediction(1)));
}

TEST_CASE("server: a connection that waits a minute for a request ends, whatever came before", "[.thorough]") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::server_options(folder.path, "half"));
  server.engine().settle();
  const Client silent(server.rest_port()), once(server.rest_port());
  CHECK_THAT(once.ask("POST", "/v1/models/half:predict", row(1)), ContainsSubstring(prediction(1)));
  CHECK(silent.is_closed());
  CHECK(once.is_closed());
}

}  // namespace connections_test
