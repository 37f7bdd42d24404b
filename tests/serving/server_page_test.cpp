// Server: web pages, and code of a program that answers a path.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "tandem/serving/status.hpp"
#include "tests/serving/http_client.hpp"
#include "tests/serving/models.hpp"

namespace server_page_test {

using namespace tandem;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using serving::Server;
using testing::Client;
using testing::error_of;
using testing::server_options;

TEST_CASE("server: the page has the models, and loads nothing from elsewhere") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(server_options(folder.path, "half"));
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

// Sends so many pieces, the last but one of which waits until it is told to go on.
struct Pieces final : serving::HttpStream {
  Pieces(int n, std::shared_ptr<std::atomic<bool>> go) : left(n), may_go(std::move(go)) {}
  ~Pieces() override { *may_go = true; }
  std::string next() override {
    while (left == 1 && !*may_go) std::this_thread::yield();
    if (left == -2) throw 7;
    if (left < 0) throw std::runtime_error("the ink is used up");
    return left-- > 0 ? "piece " + std::to_string(left) + "\n" : "";
  }
  int left;
  const std::shared_ptr<std::atomic<bool>> may_go;
};
struct Code final : serving::HttpRoute {
  serving::HttpAnswer answer(const serving::HttpRequest& request) override {
    if (request.body == "wrong") throw errors::InvalidArgumentError("code", "this is wrong");
    if (request.body == "header") return {200, {{"A", "b\r\nInjected: c"}}, "text"};
    if (request.body == "plain") return {200, {}, "plain answer"};
    return {
        201, {{"Content-Type", "text/plain"}}, {}, std::make_shared<Pieces>(std::stoi(std::string(request.body)), go)};
  }
  const std::shared_ptr<std::atomic<bool>> go = std::make_shared<std::atomic<bool>>(false);
};

TEST_CASE("server: code of the program answers a path, piece by piece") {
  const auto code = std::make_shared<Code>();
  serving::Options options;
  options.rest_api_port = 0, options.drain_seconds = 0, options.routes = {{"/write", code}};
  const Server server(options);
  const Client client(server.rest_port());
  CHECK_THAT(client.ask("POST", "/write?to=me", "plain"), EndsWith("\r\n\r\nplain answer"));
  CHECK_THAT(client.ask("POST", "/write", "wrong"),
             StartsWith("HTTP/1.1 400") && ContainsSubstring(R"({"error":"code: this is wrong"})"));
  CHECK_THAT(client.ask("GET", "/write"), StartsWith("HTTP/1.1 404"));
  // The first piece comes before the second one is there.
  client.send("POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n2");
  std::string got = client.receive_until("piece 1\n\r\n");
  CHECK_THAT(got, StartsWith("HTTP/1.1 201") && ContainsSubstring("Transfer-Encoding: chunked"));
  *code->go = true;
  CHECK(client.receive_until("\r\n0\r\n\r\n") == "8\r\npiece 0\n\r\n0\r\n\r\n");
  CHECK_THAT(client.ask("POST", "/write", "plain"), EndsWith("plain answer"));  // the connection goes on
  // One that fails ends the connection without the last chunk; HTTP/1.0 has no chunks.
  for (const char* failing : {"-1", "-2"}) {
    const Client torn(server.rest_port());
    torn.send(std::string("POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n") + failing);
    CHECK_THAT(torn.receive_until("never"), StartsWith("HTTP/1.1 201") && !ContainsSubstring("0\r\n\r\n"));
  }
  const Client old(server.rest_port());
  old.send("POST /write HTTP/1.0\r\nContent-Length: 1\r\n\r\n2");
  CHECK_THAT(old.receive_until("never"), EndsWith("\r\n\r\npiece 1\npiece 0\n") && !ContainsSubstring("chunked"));
  // A client that goes ends it, too.
  *code->go = false;
  {
    const Client gone(server.rest_port());
    gone.send("POST /write HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n9000000");
    (void)gone.receive_until("piece");
  }
  for (int i = 0; i < 500 && !*code->go; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(*code->go);
  CHECK_THAT(client.ask("POST", "/write", "header"),
             StartsWith("HTTP/1.1 500") && !ContainsSubstring("Injected") && ContainsSubstring("internal error"));
  for (const char* wrong :
       {"write", "/v1/x", "/v2", "/v2/health/live", "/metrics", "/monitoring/x", "/models.json", "/openapi.json"}) {
    options.routes = {{wrong, code}};
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Server{options}; }), ContainsSubstring(wrong));
  }
  options.routes = {{"/write", code}, {"/write", code}};
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Server{options}; }), ContainsSubstring("occurs twice"));
  options.routes = {{"/write", nullptr}};
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Server{options}; }), ContainsSubstring("has no code"));
}

TEST_CASE("server: the metrics have a path that nothing else answers") {
  serving::Options options;
  options.rest_api_port = 0, options.drain_seconds = 0;
  const std::vector<serving::WebFile> files{{"/page.txt", "text/plain", "x"}};  // in place of the built-in page
  const auto error_with = [&](const char* path) {
    options.monitoring.path = path;
    return error_of<errors::InvalidArgumentError>([&] { Server{options}; });
  };
  for (const char* built_in : {"/", "/page.js", "/page.css", "/page.svg"}) {
    options.web_files = {};
    CHECK_THAT(error_with(built_in), ContainsSubstring("is that of the web page"));
    options.web_files = files;
    const Server server(options);
    CHECK_THAT(Client(server.rest_port()).ask("GET", built_in), ContainsSubstring("# TYPE tandem_"));
  }
  for (const char* wrong : {"metrics", "/v2/x", "/v1/models/x", "/models.json", "/x?y", "/page.txt"})
    CHECK_THAT(error_with(wrong), ContainsSubstring("the path '" + std::string(wrong) + "' of the metrics"));
}

// Leaves the id of a failed request on its thread, as one whose error the client does not get.
struct Leaving final : serving::HttpRoute {
  serving::HttpAnswer answer(const serving::HttpRequest&) override {
    return {200, {}, std::exchange(serving::impl::failed_request_id, 0x5f0c) ? "left" : "none"};
  }
};

TEST_CASE("server: a request does not begin with the id of an earlier one that has failed") {
  serving::Options options;
  options.rest_api_port = 0, options.drain_seconds = 0, options.routes = {{"/write", std::make_shared<Leaving>()}};
  const Server server(options);
  const Client client(server.rest_port());
  for (int i = 0; i < 20; ++i) CHECK_THAT(client.ask("POST", "/write", "x"), EndsWith("none"));
}

}  // namespace server_page_test
