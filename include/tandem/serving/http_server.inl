// Definitions of serving/http_server.hpp: the listener. Not here: its connections (http_session.hpp).
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/serving/certificates.hpp"
#include "tandem/serving/http_server.hpp"
#include "tandem/serving/http_session.hpp"

namespace TANDEM_NS::serving::impl {

struct HttpServer::State final : CrewWork {
  State(const Options& o, const Certificates& c, HttpHandler& h) : shared(o, h), certificates(c) {}

  void listen();
  void accept();
  void serve(tcp::socket socket);
  void sweep();
  void work(bool stays) override;

  HttpShared shared;  // outlives the sessions, which end with the context
  const Certificates& certificates;
  net::io_context io;
  net::executor_work_guard<net::io_context::executor_type> keep{io.get_executor()};
  tcp::acceptor acceptor{net::make_strand(io)};
  net::steady_timer pause{acceptor.get_executor()}, next_sweep{acceptor.get_executor()};
  bool has_warned = false;  // that connections cannot be accepted
  std::optional<Crew> crew;
  int port = 0;
};

TANDEM_INLINE void HttpServer::State::listen() {
  const Options& o = shared.options;
  if (o.rest_api_port < 0 || o.rest_api_port > 65535)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "the port " + std::to_string(o.rest_api_port) + " is not from 0 to 65535");
  try {
    const tcp::endpoint at(net::ip::make_address(o.bind), static_cast<unsigned short>(o.rest_api_port));
    acceptor.open(at.protocol());
    acceptor.set_option(net::socket_base::reuse_address(true));
    acceptor.bind(at);
    acceptor.listen();
    port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& e) {
    errors::raise<errors::UnavailableError>(
        "serving", "cannot listen on " + o.bind + ":" + std::to_string(o.rest_api_port) + ": " + e.code().message());
  }
}
TANDEM_INLINE void HttpServer::State::accept() {
  acceptor.async_accept(net::make_strand(io), [this](beast::error_code e, tcp::socket socket) {
    if (e == net::error::operation_aborted || shared.is_closing) return;
    if (!e) {
      accept();  // first: a connection that cannot be served does not end it
      return serve(std::move(socket));
    }
    // Without a descriptor that is free the next one fails at once, too.
    if (!has_warned) tandem::detail::warn(("serving: cannot accept connections: " + e.message()).c_str());
    has_warned = true;
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](beast::error_code stopped) {
      if (!stopped && !shared.is_closing) accept();
    });
  });
}
TANDEM_INLINE void HttpServer::State::serve(tcp::socket socket) {
  if (const std::shared_ptr<net::ssl::context> tls = certificates.context())
    std::make_shared<TlsSession>(shared, *crew, TlsStream(std::move(socket), *tls), tls)->start();
  else std::make_shared<PlainSession>(shared, *crew, beast::tcp_stream(std::move(socket)), nullptr)->start();
}
TANDEM_INLINE void HttpServer::State::sweep() {
  next_sweep.expires_after(sweep_time);
  next_sweep.async_wait([this](beast::error_code stopped) {
    if (stopped || shared.is_closing) return;
    sweep();  // first: without memory for the list it is tried again
    shared.idle.sweep(IdleTime::Clock::now());
  });
}
// A connection that has no memory left ends, not the server.
TANDEM_INLINE void HttpServer::State::work(bool stays) {
  constexpr std::chrono::milliseconds patience(200);
  constexpr int most_idle = 25;  // times as long
  for (int idle = 0; !io.stopped() && (stays || !crew->lets_go(idle > most_idle));) {
    try {
      if (stays) io.run();
      else idle = io.run_for(patience) ? 0 : idle + 1;
    } catch (const std::exception& e) {
      tandem::detail::warn((std::string("serving: a connection has ended: ") + e.what()).c_str());
    }
  }
}

TANDEM_INLINE HttpServer::HttpServer(const Options& options, const Certificates& certificates, HttpHandler& handler)
    : state_(std::make_unique<State>(options, certificates, handler)) {
  state_->listen();
  state_->crew.emplace(*state_, options.max_connections);
  try {
    state_->accept();
    state_->sweep();
    state_->crew->start();
  } catch (...) {  // no thread, or no memory: those that have begun must end
    state_->io.stop();
    state_->crew->join();
    throw;
  }
}
TANDEM_INLINE HttpServer::~HttpServer() {
  stop_accepting();
  state_->io.stop();
  state_->crew->join();  // waits for the handler
}
TANDEM_INLINE int HttpServer::port() const { return state_->port; }
TANDEM_INLINE void HttpServer::stop_accepting() {
  state_->shared.is_closing = true;
  net::post(state_->acceptor.get_executor(), [s = state_.get()] {
    beast::error_code ignored;
    s->acceptor.close(ignored);
    s->pause.cancel();
    s->next_sweep.cancel();
  });
}
TANDEM_INLINE void HttpServer::finish(double seconds) {
  const Deadline end = Deadline::after(seconds);
  while (state_->shared.busy > 0 && !end.has_passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace TANDEM_NS::serving::impl
