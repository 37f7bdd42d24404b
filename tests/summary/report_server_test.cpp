// ReportServer: what a client gets, and that neither slow nor broken ones stop it.
#include "tandem/summary/report_server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/tensor_board.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace report_server_test {
using namespace tandem;
using testing::error_of, testing::TemporaryFolder;

/// A connection to the server.
struct Client {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  explicit Client(int port, const char* address = "127.0.0.1") {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &at.sin_addr);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) close();
  }
  Client(const Client&) = delete;
  ~Client() { close(); }
  void close() {
    if (socket >= 0) ::close(socket);
    socket = -1;
  }
  bool is_connected() const { return socket >= 0; }
  bool send(std::string_view text) const {
    return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  std::string rest() const {
    std::string r;
    char bytes[4096];
    for (ssize_t n = 0; (n = ::recv(socket, bytes, sizeof bytes, 0)) > 0;) r.append(bytes, static_cast<std::size_t>(n));
    return r;
  }
};
std::string ask(int port, const std::string& text) {
  const Client client(port);
  client.send(text);
  return client.rest();
}
std::string host_of(int port) { return "Host: 127.0.0.1:" + std::to_string(port) + "\r\n"; }
std::string get(int port) { return ask(port, "GET / HTTP/1.1\r\n" + host_of(port) + "\r\n"); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE("a browser gets the report of the moment") {
  const TemporaryFolder folder;
  const summary::ReportServer server(folder / "logs", 0, {.title = "live"});
  CHECK(server.url() == "http://127.0.0.1:" + std::to_string(server.port()) + "/");
  const std::string early = get(server.port());
  CHECK(early.starts_with("HTTP/1.1 503 "));
  CHECK(has(early, "there are no event files"));
  CHECK(has(early, "\r\nRefresh: 10\r\n"));

  summary::FileWriter writer(folder / "logs");
  writer.scalar("first", 1, 0);
  writer.flush();
  const std::string answer = get(server.port());
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  const std::string page = answer.substr(answer.find("\r\n\r\n") + 4);
  CHECK(has(answer, "\r\nContent-Length: " + std::to_string(page.size()) + "\r\n"));
  CHECK(page == summary::report_html(folder / "logs", {.title = "live"}));
  CHECK(has(page, "first"));
  writer.scalar("second", 1, 0);
  writer.flush();
  CHECK(has(get(server.port()), "second"));
  CHECK(!std::filesystem::exists(folder / "logs/report.html"));
}

TEST_CASE("requests for anything else are refused, and the server goes on") {
  const TemporaryFolder folder;
  summary::FileWriter(folder.path).scalar("loss", 1, 0);
  const summary::ReportServer server(folder.path);
  const std::string host = host_of(server.port()), port = std::to_string(server.port());
  const auto status = [&](const std::string& request) { return ask(server.port(), request).substr(0, 12); };
  CHECK(status("GET / HTTP/1.1\r\n" + host + "\r\n") == "HTTP/1.1 200");
  CHECK(status("GET / HTTP/1.0\r\nX: y\r\nHOST:localhost:" + port + " \r\n\r\n") == "HTTP/1.1 200");
  CHECK(status("GET /etc/passwd HTTP/1.1\r\n" + host + "\r\n") == "HTTP/1.1 404");
  CHECK(status("GET /../.. HTTP/1.1\r\n" + host + "\r\n") == "HTTP/1.1 404");
  CHECK(status("POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc") == "HTTP/1.1 405");
  CHECK(status("GET / HTTP/1.1\r\n\r\n") == "HTTP/1.1 403");
  CHECK(status("GET / HTTP/1.1\r\nHost: evil.example:" + port + "\r\n\r\n") == "HTTP/1.1 403");
  CHECK(status("GET / HTTP/2\r\n" + host + "\r\n") == "HTTP/1.1 400");
  CHECK(status("\r\n\r\n") == "HTTP/1.1 400");
  CHECK(status(std::string("\0\xff\x16\x03\r\n\r\n", 8)) == "HTTP/1.1 400");
  CHECK(status("GET / HTTP/1.1\r\nX: " + std::string(9000, 'x')) == "HTTP/1.1 431");
  { const Client silent(server.port()); }  // connected, and gone
  { CHECK(Client(server.port()).send("GET / HT")); }
  CHECK(status("GET / HTTP/1.1\r\n" + host + "\r\n") == "HTTP/1.1 200");
}

TEST_CASE("a slow client is dropped, and the next one served") {
  const TemporaryFolder folder;
  summary::FileWriter(folder.path).scalar("loss", 1, 0);
  const summary::ReportServer server(folder.path);
  const Client slow(server.port());
  CHECK(slow.send("GET / HTTP/1.1\r\n"));  // and no more
  CHECK(get(server.port()).starts_with("HTTP/1.1 200"));
  CHECK(slow.rest().substr(0, 12) != "HTTP/1.1 200");
}

TEST_CASE("clients that say nothing yet hold nobody back") {
  const TemporaryFolder folder;
  summary::FileWriter(folder.path).scalar("loss", 1, 0);
  const summary::ReportServer server(folder.path);
  const Client early(server.port()), never(server.port());
  const Client partly(server.port());
  CHECK(partly.send("GET / HTTP/1.1\r\n"));  // is waited for at most once: the others need not be
  for (int i = 0; i < 20; ++i) CHECK(get(server.port()).starts_with("HTTP/1.1 200"));
  CHECK(early.send("GET / HTTP/1.1\r\n" + host_of(server.port()) + "\r\n"));
  CHECK(early.rest().starts_with("HTTP/1.1 200"));
  for (int i = 0; i < 20; ++i) const Client gone(server.port());
  std::deque<Client> many;
  for (int i = 0; i < 20; ++i) many.emplace_back(server.port());
  CHECK(many.front().rest().empty());  // dropped
  CHECK(get(server.port()).starts_with("HTTP/1.1 200"));
}

TEST_CASE("the end of a server does not wait for a client, nor does the port") {
  const TemporaryFolder folder;
  std::optional<summary::ReportServer> server(std::in_place, folder.path);
  const int port = server->port();
  const Client waiting(port);
  CHECK(waiting.send("GET / HTTP/1.1\r\n"));
  CHECK(error_of<errors::UnavailableError>([&] {
          summary::ReportServer(folder.path, port);
        }).find("cannot serve at 127.0.0.1:" + std::to_string(port)) != std::string::npos);
  server.reset();
  CHECK(!Client(port).is_connected());
  const summary::ReportServer again(folder.path, port);
  CHECK(again.port() == port);
}

TEST_CASE("only this machine is served, and a child of fork() ends without the server") {
  const TemporaryFolder folder;
  summary::FileWriter(folder.path).scalar("loss", 1, 0);
  summary::ReportServer server(folder.path);
  CHECK(!Client(server.port(), "127.0.0.2").is_connected());  // listens to one address
  const pid_t child = ::fork();
  if (child == 0) {
    { const summary::ReportServer moved = std::move(server); }
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  CHECK(get(server.port()).starts_with("HTTP/1.1 200"));
}

TEST_CASE("a training shows its report while it runs") {
  using namespace training;
  const Points points(40);
  const TemporaryFolder folder;
  const int port = summary::ReportServer(folder.path).port();  // one that is free
  train::Trainer trainer(network(), options());
  const summary::TensorBoardOptions live{.update_freq = 1, .status_port = port, .writer = {.flush_seconds = 0.001}};
  std::string early, page;
  const auto look = [&](train::Run& run) {
    if (run.step() == 1) early = get(port);
    const auto is_whole = [&] { return has(page, "validation") && has(page, "step_loss"); };  // two files
    for (int i = 0; i < 10000 && run.step() == 9 && !is_whole(); ++i) page = get(port), ::usleep(1000);
  };
  const auto fit = [&] {
    trainer.fit(points.batches(10), {.epochs = 3,
                                     .validation_data = points.batches(20),
                                     .callbacks = {summary::TensorBoard(folder / "logs", live),
                                                   train::LambdaCallback({.on_step_end = look})},
                                     .progress = {.mode = train::ProgressMode::none}});
  };
  fit();
  CHECK((early.starts_with("HTTP/1.1 200") || early.starts_with("HTTP/1.1 503")));
  CHECK(page.starts_with("HTTP/1.1 200"));
  CHECK(has(page, "step_loss"));
  CHECK(has(page, "validation"));
  CHECK(!Client(port).is_connected());
  const summary::ReportServer other(folder.path, port);
  CHECK_THROWS_AS(fit(), errors::UnavailableError);
  for (const int none : {0, -1, 65536})
    CHECK_THROWS_AS(summary::TensorBoard("x", {.status_port = none}), errors::InvalidArgumentError);
}

TEST_CASE("a port that is none, a smoothing of 1 and negative sizes raise") {
  CHECK_THROWS_AS(summary::ReportServer("x", 65536), errors::InvalidArgumentError);
  CHECK_THROWS_AS(summary::ReportServer("x", -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(summary::ReportServer("x", 0, {.smoothing = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(summary::ReportServer("x", 0, {.max_sound_bytes = -1}), errors::InvalidArgumentError);
}

}  // namespace report_server_test
