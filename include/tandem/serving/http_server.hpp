// HttpServer: HTTP/1.1 over TCP or TLS. Part of the component tandem::serving. Not here: what is answered (rest.hpp).
#pragma once
#include <memory>

#include "tandem/serving/options.hpp"
#include "tandem/serving/rest.hpp"

namespace TANDEM_NS::serving::impl {

class Certificates;

/// What answers requests, on many threads at once. It does not raise.
struct HttpHandler {
  virtual ~HttpHandler() = default;
  virtual HttpAnswer handle(const HttpRequest& request) = 0;
  /// A request was refused with this status before it could be handled: it is too large, too slow, or one too many.
  virtual void refused(int status) noexcept = 0;
};

/// Listens on a port. What is asked by GET is answered at once, other requests by the handler on many threads,
/// one for each connection at most. A header has at most 16 KiB and comes within 10 seconds, a body at least 1 KiB a
/// second; a connection without requests is closed after a minute, 5 seconds later at most, as is one whose client
/// takes nothing of an answer for 30 seconds. A request whose client has closed its connection is cancelled
/// (HttpRequest::cancel).
class HttpServer {
 public:
  /// Begins to listen.
  ///   throws  errors::UnavailableError for an address or a port that it cannot have; errors::InvalidArgumentError
  ///           for a port that is not from 0 to 65535
  HttpServer(const Options& options, const Certificates& certificates, HttpHandler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Closes all connections, when the handler has answered.
  ~HttpServer();
  int port() const;
  /// Takes no new connections, and closes those that there are after their next answer.
  void stop_accepting();
  /// Waits until all answers are sent, so many seconds at most.
  void finish(double seconds);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::serving::impl
