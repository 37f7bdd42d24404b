// HttpServer: HTTP/1.1 over TCP. Part of the component tandem::serving. Not here: what is answered (rest.hpp).
#pragma once
#include <memory>

#include "tandem/serving/options.hpp"
#include "tandem/serving/rest.hpp"

namespace TANDEM_NS::serving::impl {

/// What answers requests, on many threads at once. It does not raise.
struct HttpHandler {
  virtual ~HttpHandler() = default;
  virtual HttpAnswer handle(const HttpRequest& request) = 0;
};

/// Listens on a port, and gives each request to a handler on a thread of its own, at most so many connections at once.
/// A header has at most 16 KiB and comes within 10 seconds, a body at least 1 KiB a second; a connection without
/// requests is closed after a minute. A request whose client has closed its connection is cancelled
/// (HttpRequest::cancel).
class HttpServer {
 public:
  /// Begins to listen.
  ///   throws  errors::UnavailableError for an address or a port that it cannot have
  HttpServer(const Options& options, HttpHandler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Closes all connections.
  ~HttpServer();
  int port() const;
  /// Takes no new connections, and closes those that there are after their next answer.
  void stop_accepting();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::serving::impl
