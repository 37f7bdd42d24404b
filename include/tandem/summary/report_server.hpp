// ReportServer: the report of a run in a browser while it trains. Part of the component tandem::summary.
#pragma once
#include <memory>
#include <string>

#include "tandem/summary/report.hpp"

namespace TANDEM_NS::summary {

/// Serves write_report's page over HTTP, on this machine alone (127.0.0.1), as long as it lives. Each request makes the
/// page anew from the event files, on the server's own thread; browsers reload it every ten seconds. Requests are
/// answered one after the other, and a client that is slow is dropped: its request has a second, the answer five.
///
///   const summary::ReportServer server("runs/a/events", 6007);
///   std::cout << "look at " << server.url() << "\n";
///   trainer.fit(...);
class TANDEM_API ReportServer {
 public:
  ///   logdir  as for write_report; there need not be event files yet
  ///   port    0: one that is free
  ///   throws  errors::InvalidArgumentError for a port that is none, or for options as write_report;
  ///           errors::UnavailableError if the port is in use, or for other system errors;
  ///           errors::ResourceExhaustedError without a thread left
  explicit ReportServer(std::string logdir, int port = 0, ReportOptions options = {});
  ReportServer(ReportServer&&) noexcept;
  ReportServer& operator=(ReportServer&&) noexcept;
  /// Ends the thread. A client that is being waited for is cut off; a page that is being made is completed.
  ~ReportServer();

  int port() const;
  /// "http://127.0.0.1:6007/"
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()) + "/"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::summary
