// Definitions of serving/rest.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <optional>

#include "tandem/serving/http_coding.hpp"
#include "tandem/serving/http_text.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/json_predict.hpp"
#include "tandem/serving/json_write.hpp"
#include "tandem/serving/openapi.hpp"
#include "tandem/serving/rest.hpp"
#include "tandem/serving/rest_json.hpp"

namespace TANDEM_NS::serving {

namespace impl {

inline constexpr const char* json_type = "application/json";
inline constexpr const char* infer_length = "Inference-Header-Content-Length";

TANDEM_INLINE HttpAnswer json_answer(std::string body, int status = 200) {
  return {status, {{"Content-Type", json_type}}, std::move(body)};
}
TANDEM_INLINE HttpAnswer error_answer(int status, const std::string& text) {
  HttpAnswer r = json_answer(error_json(text), status);
  if (status == 429 || status == 503) r.headers.emplace_back("Retry-After", "1");
  return r;
}
TANDEM_INLINE HttpAnswer failed_answer(const std::exception_ptr& error) {
  const Status s = status_of(error);
  return error_answer(s.http, s.text);
}
TANDEM_INLINE std::string malformed_text(const HttpRequest& request) {
  return "Malformed request: " + std::string(request.method.substr(0, 40)) + " " +
         std::string(request.target.substr(0, 1024));
}
// A header with a number; nothing if it is not there.
TANDEM_INLINE std::optional<i64> number_header(const HttpRequest& request, const char* name) {
  const std::string_view text = trimmed(request.header(name));
  if (text.empty()) return {};
  i64 n = 0;
  const std::from_chars_result r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || n < 0)
    errors::raise<errors::InvalidArgumentError>(
        "serving", std::string("the header ") + name + " is not a number: " + std::string(text.substr(0, 40)));
  return n;
}

// Calls f(the same model with its version). A request without a version is bound to the one whose signatures it was
// read by; if that is unloaded meanwhile, it is read again.
template <class F>
auto with_version(Core& core, const ModelSpec& model, F f) {
  constexpr int most_tries = 3;
  for (int i = 1;; ++i) {
    i64 version = 0;
    const auto signatures = core.signatures(model, version);
    ModelSpec bound = model;
    if (i < most_tries) bound.version = version, bound.label.clear();
    try {
      return f(*signatures, bound);
    } catch (const errors::NotFoundError&) {
      if (model.version || i == most_tries) throw;
    }
  }
}

TANDEM_INLINE HttpAnswer model_answer(Core& core, const ModelSpec& model) {
  i64 version = 0;
  const auto signatures = core.signatures(model, version);
  std::vector<i64> versions;
  for (const VersionStatus& s : core.states(model))
    if (s.state == State::available) versions.push_back(s.version);
  std::sort(versions.begin(), versions.end());
  return json_answer(infer_metadata_json(model.name, versions, *signatures));
}

}  // namespace impl

TANDEM_INLINE std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (impl::equal_without_case(key, name)) return value;
  return {};
}

TANDEM_INLINE HttpAnswer Rest::handle(const HttpRequest& request) const {
  HttpAnswer answer;
  try {
    answer = route(request, path_of(request.target));
    finish(request, answer);
  } catch (...) {
    answer = impl::failed_answer(std::current_exception());
    if (options_.cors) answer.headers.emplace_back("Access-Control-Allow-Origin", "*");
  }
  return answer;
}

TANDEM_INLINE RestPath Rest::path_of(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find_first_of("?#"));
  if (options_.metrics && path == options_.metrics_path) return {RestPath::metrics};
  RestPath r = parse_rest_path(target);
  if (r.kind != RestPath::metrics) return r;
  const bool is_there =
      impl::equal_without_case(path, "/metrics") || impl::equal_without_case(path, options_.metrics_path);
  return options_.metrics && is_there ? r : RestPath{};
}

TANDEM_INLINE HttpAnswer Rest::route(const HttpRequest& request, const RestPath& path) const {
  if (request.method == "OPTIONS" && request.target == "*") return {204, {{"Allow", "GET, HEAD, POST, OPTIONS"}}};
  if (path.kind == RestPath::unknown)
    return impl::error_answer(404, "Not found: " + std::string(request.target.substr(0, 1024)));
  if (path.kind == RestPath::malformed) return impl::error_answer(400, impl::malformed_text(request));
  const std::string_view m = request.method;
  const char* const allowed = path.is_post() ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
  if (m == "OPTIONS") return {204, {{"Allow", allowed}}};
  if (path.is_post() ? m != "POST" : m != "GET" && m != "HEAD") {
    HttpAnswer r = impl::error_answer(405, impl::malformed_text(request));
    r.headers.emplace_back("Allow", allowed);
    return r;
  }
  return path.is_post() ? answer_post(request, path) : answer_get(path);
}

TANDEM_INLINE HttpAnswer Rest::answer_get(const RestPath& path) const {
  switch (path.kind) {
    case RestPath::nameless: return impl::error_answer(400, "Missing model name in request.");
    case RestPath::status: return impl::json_answer(impl::states_json(core_.states(path.model)));
    case RestPath::metadata: {
      i64 version = 0;
      const auto signatures = core_.signatures(path.model, version);
      return impl::json_answer(impl::metadata_json(path.model.name, version, *signatures));
    }
    case RestPath::server:
      return impl::json_answer("{\"name\":\"tandem\",\"version\":\"" TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
          TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH) "\",\"extensions\":[\"binary_tensor_data\"]}");
    case RestPath::live: return impl::json_answer("{\"live\":true}");
    case RestPath::ready:
      return core_.is_ready() ? impl::json_answer("{\"ready\":true}") : impl::json_answer("{\"ready\":false}", 503);
    case RestPath::infer_ready: {
      const bool is_ready = core_.is_ready(path.model);
      std::string body = "{\"name\":";
      impl::append_json_text(body, path.model.name);
      return impl::json_answer(body + (is_ready ? ",\"ready\":true}" : ",\"ready\":false}"), is_ready ? 200 : 503);
    }
    case RestPath::openapi: return impl::json_answer(impl::openapi_json(core_, options_));
    case RestPath::infer_model: return impl::model_answer(core_, path.model);
    default: return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, core_.metrics()};
  }
}

TANDEM_INLINE HttpAnswer Rest::answer_post(const HttpRequest& request, const RestPath& path) const {
  const CallOptions call = call_of(request);
  const auto most = static_cast<std::size_t>(options_.most_request_bytes);
  const std::string_view coding = impl::trimmed(request.header("Content-Encoding"));
  std::optional<std::string> decoded;
  bool fits = request.body.size() <= most;
  if (fits && !coding.empty() && !impl::equal_without_case(coding, "identity")) {
    try {
      decoded = impl::decoded_body(coding, request.body, most);
    } catch (const errors::UnimplementedError&) {
      return impl::error_answer(415, status_of(std::current_exception()).text);
    }
    fits = decoded.has_value();
  }
  if (!fits)
    return impl::error_answer(413, "the body has more than " + std::to_string(most) + " bytes (--max_request_bytes)");
  const std::string_view body = decoded ? std::string_view(*decoded) : request.body;
  if (path.kind == RestPath::infer) return infer(request, path, body, call);
  return impl::json_answer(predict(path, body, call));
}

TANDEM_INLINE CallOptions Rest::call_of(const HttpRequest& request) const {
  double seconds = options_.timeout;
  if (const std::optional<i64> ms = impl::number_header(request, "X-Request-Timeout-Ms"))
    seconds = std::min(seconds, static_cast<double>(*ms) / 1000);
  const CallOptions call{Deadline::after(seconds - request.waited), request.cancel};
  CallScope(call).check("serving", "before the request was read");
  return call;
}

TANDEM_INLINE std::string Rest::predict(const RestPath& path, std::string_view body, const CallOptions& call) const {
  return impl::with_version(core_, path.model, [&](const Signatures& signatures, const ModelSpec& bound) {
    Request r{.model = bound, .inputs = {}, .call = call};
    if (path.kind == RestPath::predict) {
      PredictBody read = read_predict(body, signatures, {options_.ignore_extra_inputs});
      r.model.signature = read.signature, r.inputs = std::move(read.inputs);
      return write_predict(core_.predict(r).outputs, read.is_rows);
    }
    const bool is_classify = path.kind == RestPath::classify;
    const ExamplesBody read = read_examples(body, signatures, options_.most_request_bytes);
    r.model.signature = read.signature;
    r.inputs.emplace("inputs", read.examples);
    r.method = is_classify ? saved_model::classify_method : saved_model::regress_method;
    const Response response = core_.predict(r);
    return is_classify ? write_classify(response.outputs) : write_regress(response.outputs);
  });
}

TANDEM_INLINE HttpAnswer Rest::infer(const HttpRequest& request, const RestPath& path, std::string_view body,
                                     const CallOptions& call) const {
  const std::optional<i64> json_bytes = impl::number_header(request, impl::infer_length);
  InferBody read = read_infer(body, json_bytes ? std::optional(static_cast<std::size_t>(*json_bytes)) : std::nullopt);
  Request r{.model = path.model, .inputs = std::move(read.inputs), .call = call};
  for (const InferBody::Output& output : read.outputs) r.outputs.push_back(output.name);
  const Response response = core_.predict(r);
  InferAnswer written = write_infer(path.model.name, response.version, response.outputs, read);
  HttpAnswer answer = impl::json_answer(std::move(written.body));
  if (written.json_bytes) {
    answer.headers[0].second = "application/octet-stream";
    answer.headers.emplace_back(impl::infer_length, std::to_string(*written.json_bytes));
  }
  return answer;
}

// Compresses the answer if that is worth it, and adds the headers of CORS.
TANDEM_INLINE void Rest::finish(const HttpRequest& request, HttpAnswer& answer) const {
  if (static_cast<i64>(answer.body.size()) >= options_.gzip_from) {
    answer.headers.emplace_back("Vary", "Accept-Encoding");
    if (impl::accepts_gzip(request.header("Accept-Encoding")))
      if (std::optional<std::string> small = impl::gzip_body(answer.body)) {
        answer.body = std::move(*small);
        answer.headers.emplace_back("Content-Encoding", "gzip");
      }
  }
  if (!options_.cors) return;
  answer.headers.emplace_back("Access-Control-Allow-Origin", "*");
  answer.headers.emplace_back("Access-Control-Expose-Headers", std::string(impl::infer_length) + ", Retry-After");
  if (request.method != "OPTIONS") return;
  answer.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  answer.headers.emplace_back(
      "Access-Control-Allow-Headers",
      std::string("Authorization, Content-Encoding, Content-Type, X-Request-Timeout-Ms, ") + impl::infer_length);
  answer.headers.emplace_back("Access-Control-Max-Age", "86400");
}

}  // namespace TANDEM_NS::serving
