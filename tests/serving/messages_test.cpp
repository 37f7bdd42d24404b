// Messages of HTTP/1.0 and 1.1 that are unusual, or made to deceive a server (RFC 9112), by real sockets.
#include <optional>

#include "tandem/io.hpp"
#include "tests/serving/http_client.hpp"
#include "tests/serving/models.hpp"

namespace messages_test {

using namespace tandem;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using serving::Server;
using testing::Client;

const std::string body = R"({"instances":[1.0]})", answered = R"({"predictions":[2.5]})";
std::string post(const std::string& headers, const std::string& version = "1.1",
                 const std::string& target = "/v1/models/half:predict") {
  return "POST " + target + " HTTP/" + version + "\r\n" + headers + "\r\n";
}
const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n", host = "Host: h\r\n";

// A server of "half", and what it answers until it closes the connection or a body is whole.
struct Served {
  testing::TemporaryFolder folder;
  std::optional<Server> server;
  Served() {
    testing::save_half(folder / "half/1");
    server.emplace(testing::server_options(folder.path, "half"));
    server->engine().settle();
  }
  std::string ask(const std::string& text) const {
    const Client client(server->rest_port());
    client.send(text);
    return client.receive();
  }
};

TEST_CASE("messages: a target may be a whole address") {
  const Served s;
  for (const char* origin : {"http://h", "HTTP://h:80", "https://user@h"})
    CHECK_THAT(s.ask(post(host + length, "1.1", std::string(origin) + "/v1/models/half:predict") + body),
               StartsWith("HTTP/1.1 200") && EndsWith(answered));
  CHECK_THAT(s.ask("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 200"));  // the page
  CHECK_THAT(s.ask("GET http://h/v3 HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  for (const char* rest : {"?x=/v2", "#/v2", "?/v3"}) {  // its path is empty: the page
    CAPTURE(rest);
    const std::string answer = s.ask(std::string("GET http://h") + rest + " HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK_THAT(answer, StartsWith("HTTP/1.1 200") && ContainsSubstring("text/html"));
  }
  CHECK_THAT(s.ask("GET ftp://h/v2 HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 404"));
}

TEST_CASE("messages: one header Host, which HTTP/1.0 need not have") {
  const Served s;
  CHECK_THAT(s.ask(post(length) + body), StartsWith("HTTP/1.1 400") && ContainsSubstring("needs one header Host") &&
                                             ContainsSubstring("Connection: close"));
  CHECK_THAT(s.ask(post(host + host + length) + body), StartsWith("HTTP/1.1 400"));
  CHECK_THAT(s.ask(post("Host: \r\n" + length) + body), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(s.ask(post(length, "1.0") + body), StartsWith("HTTP/1.1 200"));
  CHECK_THAT(s.ask(post(host + host + length, "1.0") + body), StartsWith("HTTP/1.1 400"));
}

// Where a server in front takes the end of a body to be elsewhere, what follows it is a request that nobody has sent.
TEST_CASE("messages: a body has one end, whoever reads it") {
  const Served s;
  const std::string pieces = "13\r\n" + body + "\r\n0\r\n\r\n", hidden = "GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK_THAT(s.ask(post(host + "Transfer-Encoding: Chunked\r\n") + pieces), EndsWith(answered));
  const struct {
    std::string request;
    int status;
  } cases[] = {
      {post(host + "Transfer-Encoding: gzip, chunked\r\n") + pieces, 501},
      {post(host + "Transfer-Encoding: identity\r\n") + body, 501},
      {post(host + "Transfer-Encoding: xchunked\r\n") + pieces, 501},
      {post(host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + pieces, 400},
      {post("Transfer-Encoding: chunked\r\n", "1.0") + pieces, 400},
      {post(host + length + "Transfer-Encoding: chunked\r\n") + pieces, 400},
      {post(host + length + "Content-Length: 3\r\n") + body, 400},
      {post(host + "Content-Length: +19\r\n") + body, 400},
      {post(host + "Content-Length : 19\r\n") + body, 400},
      {post(host + "Transfer-Encoding: chunked\r\n") + "13 \n" + body, 400},
      {post(host + "Transfer-Encoding: chunked\r\n") + "10000000000000013\r\n" + body, 400},
  };
  for (const auto& c : cases) {
    CAPTURE(c.request);
    const Client client(s.server->rest_port());
    client.send(c.request + hidden);
    const std::string answer = client.receive();
    CHECK_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(c.status)));
    CHECK(client.receive().empty());  // the connection has ended
    CHECK(answer.find("\"name\":\"tandem\"") == answer.npos);
  }
}

TEST_CASE("messages: trailers are not headers") {
  const Served s;
  const std::string piece = "13\r\n" + body + "\r\n0\r\n", chunked = host + "Transfer-Encoding: chunked\r\n";
  CHECK_THAT(s.ask(post(chunked + "X-Request-Timeout-Ms: 0\r\n") + piece + "\r\n"), StartsWith("HTTP/1.1 504"));
  for (const char* trailer : {"X-Request-Timeout-Ms: 0\r\n", "Host: other\r\n", "Content-Encoding: gzip\r\n"}) {
    CAPTURE(trailer);
    CHECK_THAT(s.ask(post(chunked) + piece + trailer + "\r\n"), StartsWith("HTTP/1.1 200") && EndsWith(answered));
  }
}

// What a server keeps of a message before it knows what it means has a limit.
TEST_CASE("messages: endless chunk headers and trailers are refused, long chunks are not") {
  const Served s;
  const std::string head = post(host + "Transfer-Encoding: chunked\r\n"), line = "X: " + std::string(997, 'a') + "\r\n";
  std::string trailers = "0\r\n";
  for (int i = 0; i < 200; ++i) trailers += line;
  for (const std::string& endless : {trailers, "5;a=" + std::string(200000, 'a'), std::string(200000, '0')}) {
    CAPTURE(endless.substr(0, 10));
    CHECK_THAT(s.ask(head + endless), StartsWith("HTTP/1.1 431") && ContainsSubstring("Connection: close"));
  }
  const std::string spaces(0x40000, ' ');
  CHECK_THAT(s.ask(head + "40000\r\n" + spaces + "\r\n13\r\n" + body + "\r\n0\r\n" + line + "\r\n"),
             StartsWith("HTTP/1.1 200") && EndsWith(answered));
}

TEST_CASE("messages: one empty line before a request is skipped") {
  const Served s;
  const std::string get = "GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n";
  CHECK_THAT(s.ask("\r\n" + get), StartsWith("HTTP/1.1 200"));
  for (const char* wrong : {"\r\n\r\n", "\n", "\r", "\r\n\r"})
    CHECK_THAT(s.ask(wrong + get), StartsWith("HTTP/1.1 400"));
  const Client client(s.server->rest_port());
  client.send("\r");  // in pieces, which may come together
  client.send("\n");
  client.send(post(host + length) + body + "\r\n");
  CHECK_THAT(client.receive(), EndsWith(answered));
  client.send(get + "\r\n" + get);  // behind the empty line that has come before it
  for (int i = 0; i < 2; ++i) CHECK_THAT(client.receive_until("}"), StartsWith("HTTP/1.1 200"));
}

TEST_CASE("messages: clients of HTTP/1.0 get no 100, and are told that a connection stays") {
  const Served s;
  CHECK_THAT(s.ask(post(length + "Expect: 100-continue\r\n", "1.0") + body),
             StartsWith("HTTP/1.1 200") && ContainsSubstring("Connection: close"));
  const Client client(s.server->rest_port());
  for (int i = 0; i < 2; ++i) {
    client.send(post(length + "Connection: keep-alive\r\n", "1.0") + body);
    CHECK_THAT(client.receive(), ContainsSubstring("Connection: keep-alive") && EndsWith(answered));
  }
}

TEST_CASE("messages: what is not a tf.Example is the fault of who sends it") {
  const testing::TemporaryFolder folder;
  const auto scores = function([](const Tensor& a) { return a * 2.f; });
  const saved_model::ExampleOptions features{{{"a", io::FixedLenFeature{{2}, float32}}}};
  saved_model::save(folder / "examples/1", {{"serving_default", saved_model::classify(scores, features, {"scores"})}});
  Server server(testing::server_options(folder.path, "examples"));
  server.engine().settle();
  const Client client(server.rest_port());
  const std::string infer = R"({"inputs":[{"name":"inputs","shape":[1],"datatype":"BYTES","data":["a"]}]})";
  for (const std::string& answer : {client.ask("POST", "/v1/models/examples:predict", R"({"instances":["a"]})"),
                                    client.ask("POST", "/v2/models/examples/infer", infer)})
    CHECK_THAT(answer, StartsWith("HTTP/1.1 400") && ContainsSubstring("element 0 is not an Example"));
  CHECK_THAT(server.engine().metrics(),
             ContainsSubstring("code=\"INVALID_ARGUMENT\"") && !ContainsSubstring("DATA_LOSS"));
}

}  // namespace messages_test
