// Rest: the REST interface of a model server: TensorFlow Serving's paths, the Open Inference Protocol, metrics. Part of
// the component tandem::serving. Not here: sockets, tokens, limits of headers and time.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/serving/core.hpp"
#include "tandem/serving/rest_path.hpp"

namespace TANDEM_NS::serving {

class HttpStream;

/// A request, as it has come from a socket. The texts belong to the caller.
struct HttpRequest {
  std::string_view method, target;  ///< "POST", "/v1/models/half:predict"
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};
  std::string_view body = {};
  std::optional<CancelToken> cancel = {};  ///< set when the client is gone
  double waited = 0;                       ///< seconds since the request came in

  /// The value of a header, whose name is matched without case; empty if it is not there.
  std::string_view header(std::string_view name) const;
};
/// What is sent back. Content-Length is for the one who sends it.
struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::shared_ptr<HttpStream> stream = {};  ///< the body in its place, piece by piece (http_route.hpp)
};

struct RestOptions {
  bool cors = false;                       ///< lets pages of other origins call: --rest_api_enable_cors_support
  double timeout = 30;                     ///< seconds that a request may take: --rest_api_timeout_in_ms
  i64 most_request_bytes = i64{64} << 20;  ///< of a body, also when it is inflated: --max_request_bytes
  i64 gzip_from = 1024;                    ///< bytes from which on answers are compressed for those who accept it
  bool metrics = true;                     ///< whether there are metrics, here and at /metrics
  std::string metrics_path = "/monitoring/prometheus/metrics";
  bool needs_token = false;          ///< whether clients send tokens: for /openapi.json
  bool ignore_extra_inputs = false;  ///< passes over inputs that a signature does not have
};

/// Answers HTTP requests by calls of a Core. handle() may be called by several threads at once.
///
///   POST /v1/models/NAME[/versions/N|/labels/L]:predict, :classify, :regress       json_predict.hpp
///   GET  /v1/models/NAME[/versions/N|/labels/L], .../metadata                      states; signatures
///   POST /v2/models/NAME[/versions/N]/infer                                        json_infer.hpp
///   GET  /v2, /v2/health/live, /v2/health/ready, /v2/models/NAME[/versions/N][/ready]
///   GET  /openapi.json                                                             these paths, by OpenAPI 3.1
///   GET  /metrics, /monitoring/prometheus/metrics or the path of the options in its place
///
/// Errors are {"error": "text"} with the status of status.hpp; 405 has Allow, 429 and 503 have Retry-After. A body may
/// have the Content-Encoding gzip or deflate. X-Request-Timeout-Ms shortens the time that a request may take; one that
/// has taken it already is not begun. HEAD has the answer of GET: who sends it leaves the body out.
class TANDEM_API Rest {
 public:
  /// The core must outlive it.
  explicit Rest(Core& core, const RestOptions& options = {}) : core_(core), options_(options) {}
  /// Never throws: what goes wrong is an answer.
  HttpAnswer handle(const HttpRequest& request) const;

 private:
  RestPath path_of(std::string_view target) const;
  HttpAnswer route(const HttpRequest& request, const RestPath& path) const;
  HttpAnswer answer_get(const RestPath& path) const;
  HttpAnswer answer_post(const HttpRequest& request, const RestPath& path) const;
  CallOptions call_of(const HttpRequest& request) const;
  std::string predict(const RestPath& path, std::string_view body, const CallOptions& call) const;
  HttpAnswer infer(const HttpRequest& request, const RestPath& path, std::string_view body,
                   const CallOptions& call) const;
  void finish(const HttpRequest& request, HttpAnswer& answer) const;

  Core& core_;
  RestOptions options_;
};

}  // namespace TANDEM_NS::serving
