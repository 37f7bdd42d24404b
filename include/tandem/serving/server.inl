// Definitions of serving/server.hpp.
#pragma once
#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <thread>

#include "tandem/serving/certificates.hpp"
#include "tandem/serving/guard.hpp"
#include "tandem/serving/http_route.hpp"
#include "tandem/serving/http_server.hpp"
#include "tandem/serving/page.hpp"
#include "tandem/serving/rest.hpp"
#include "tandem/serving/rest_json.hpp"
#include "tandem/serving/server.hpp"
#include "tandem/serving/status.hpp"
#include "tandem/serving/web_files.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// The REST protocols and the web page, for those who are let in.
class Door final : public HttpHandler {
 public:
  Door(const Options& options, const Guard& guard, Engine& engine)
      : guard_(guard),
        engine_(engine),
        web_files_(options.web_files),
        routes_(options.routes),
        rest_(engine, {.cors = options.enable_cors_support,
                       .timeout = options.rest_api_timeout_seconds,
                       .most_request_bytes = options.max_request_bytes,
                       .metrics = options.monitoring.enable,
                       .metrics_path = options.monitoring.path,
                       .needs_token = !options.auth_token_file.empty(),
                       .ignore_extra_inputs = options.ignore_extra_inputs}) {
    check_web_files(web_files_);
    check_routes(routes_);
    check_monitoring(options.monitoring, web_files_);
  }
  HttpAnswer handle(const HttpRequest& request) override {
    failed_request_id = 0;  // that of an earlier request may be left
    // Who watches whether the server runs needs no token.
    const bool is_health = request.target.starts_with("/v2/health/");
    if (!is_health && request.method != "OPTIONS" && !guard_.lets_in(request.header("authorization")))
      return not_let_in();
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    for (const Route& route : routes_)
      if (route.path == path && request.method == "POST") return answer_by(*route.code, request);
    if (request.method == "GET" || request.method == "HEAD") {
      for (const WebFile& file : web_files_)
        if (file.path == path) return page_answer(file.type, file.text);
      if (const PageFile* const file = web_files_.empty() ? page_file(path) : nullptr)
        return page_answer(file->type, std::string(file->text));
      if (request.target == "/models.json") return page_answer("application/json", models_json(engine_));
    }
    return rest_.handle(request);
  }
  void refused(int status) noexcept override {
    try {
      if (status == 413 || status == 431 || status == 429) engine_.count_rejected("size");
    } catch (const std::exception&) {  // no memory to count it
    }
  }

 private:
  static HttpAnswer answer_by(HttpRoute& code, const HttpRequest& request) {
    try {
      const CallScope until_the_client_goes({.cancel = request.cancel});
      HttpAnswer answer = code.answer(request);
      for (const auto& [name, value] : answer.headers)
        for (const std::string& text : {name, value})
          if (text.find_first_of("\r\n") != text.npos)
            errors::raise<errors::InternalError>("serving", "the header '" + name + "' of a route has an end of line");
      return answer;
    } catch (...) {
      const Status s = status_of(std::current_exception());
      return {s.http, {{"Content-Type", "application/json"}}, error_json(s.text)};
    }
  }
  HttpAnswer not_let_in() {
    engine_.count_rejected("auth");
    return {401,
            {{"Content-Type", "application/json"}, {"WWW-Authenticate", "Bearer"}},
            "{\"error\": \"the request needs a header Authorization: Bearer TOKEN with a valid token\"}"};
  }
  static HttpAnswer page_answer(std::string_view type, std::string body) {
    return {200,
            {{"Content-Type", std::string(type)},
             {"Content-Security-Policy", page_policy},
             {"X-Content-Type-Options", "nosniff"},
             {"Cache-Control", "no-store"}},
            std::move(body)};
  }

  const Guard& guard_;
  Engine& engine_;
  const std::vector<WebFile> web_files_;
  const std::vector<Route> routes_;
  Rest rest_;
};

}  // namespace impl

struct Server::Parts {
  Parts(const Options& o, MakeListener make_other)
      : options(o),
        guard(o),
        certificates(o.ssl_config_file),
        engine(o),
        door(o, guard, engine),
        http(o, certificates, door) {
    if (make_other) other = make_other({options, engine, guard, certificates});
  }

  const Options options;
  impl::Guard guard;  // first: what is wrong with it is said before anything is loaded
  impl::Certificates certificates;
  Engine engine;
  impl::Door door;
  impl::HttpServer http;
  std::unique_ptr<Listener> other;
  bool is_stopped = false;
};

TANDEM_INLINE Server::Server(const Options& options, MakeListener other)
    : parts_(std::make_unique<Parts>(options, other)) {}
TANDEM_INLINE Server::~Server() { stop(); }
TANDEM_INLINE Engine& Server::engine() { return parts_->engine; }
TANDEM_INLINE int Server::rest_port() const { return parts_->http.port(); }
TANDEM_INLINE int Server::port() const { return parts_->other ? parts_->other->port() : 0; }
TANDEM_INLINE void Server::reload_access() {
  std::exception_ptr error;
  try {
    parts_->guard.reload();
  } catch (const errors::OpError&) {  // raised again when the other file has been read
    error = std::current_exception();
  }
  parts_->certificates.reload();
  if (error) std::rethrow_exception(error);
}
TANDEM_INLINE void Server::stop() {
  if (std::exchange(parts_->is_stopped, true)) return;
  parts_->engine.stop_being_ready();
  std::this_thread::sleep_for(std::chrono::duration<double>(parts_->options.drain_seconds));
  const double grace = parts_->options.grace_seconds;
  const auto begin = std::chrono::steady_clock::now();
  parts_->http.stop_accepting();
  if (parts_->other) parts_->other->stop_accepting(grace);
  parts_->engine.drain(grace);
  // What is left of the same time, and a moment for the answers.
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  parts_->http.finish(std::max(0.0, grace - took) + 1);
  if (parts_->other) parts_->other->finish();
}

struct ShutdownSignals::Before {
  sigset_t signals, mask;
};
TANDEM_INLINE ShutdownSignals::ShutdownSignals() : before_(std::make_unique<Before>()) {
  sigemptyset(&before_->signals);
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&before_->signals, s);
  pthread_sigmask(SIG_BLOCK, &before_->signals, &before_->mask);
}
TANDEM_INLINE ShutdownSignals::~ShutdownSignals() { pthread_sigmask(SIG_SETMASK, &before_->mask, nullptr); }
TANDEM_INLINE int ShutdownSignals::wait() {
  int number = 0;
  sigwait(&before_->signals, &number);
  return taken(number);
}
TANDEM_INLINE int ShutdownSignals::wait(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  const int number = sigtimedwait(&before_->signals, nullptr, &time);
  return number < 0 ? 0 : taken(number);
}
TANDEM_INLINE int ShutdownSignals::taken(int number) {
  if (number == SIGHUP) return number;
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM), sigaddset(&end, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &end, nullptr);  // a SIGHUP while the server shuts down changes nothing
  return number;
}

}  // namespace TANDEM_NS::serving
