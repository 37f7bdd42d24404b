// serving/rest.hpp: methods, statuses, headers, time and compression.
#include <zlib.h>

#include <stdexcept>

#include "tandem/saved_model.hpp"
#include "tandem/serving.hpp"
#include "tandem/tandem.hpp"
#include "tests/serving/rest_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rest_http_test {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using serving::HttpAnswer;
using testing::Half;
using testing::header;
using testing::MemoryCore;
using testing::predict_path;
using testing::request;
using testing::Servable;
using testing::three_rows;

std::string gzip(const std::string& s, int window = MAX_WBITS + 16) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY);
  std::string r(deflateBound(&z, s.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data())), z.avail_in = static_cast<uInt>(s.size());
  z.next_out = reinterpret_cast<Bytef*>(r.data()), z.avail_out = static_cast<uInt>(r.size());
  deflate(&z, Z_FINISH);
  r.resize(z.total_out);
  deflateEnd(&z);
  return r;
}
std::string gunzip(const std::string& s, std::size_t size) {
  z_stream z{};
  inflateInit2(&z, MAX_WBITS + 16);
  std::string r(size + 1, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data())), z.avail_in = static_cast<uInt>(s.size());
  z.next_out = reinterpret_cast<Bytef*>(r.data()), z.avail_out = static_cast<uInt>(r.size());
  inflate(&z, Z_FINISH);
  r.resize(z.total_out);
  inflateEnd(&z);
  return r;
}

TEST_CASE("rest: methods, HEAD, OPTIONS and CORS") {
  Half h, open({.cors = true});
  HttpAnswer a = h.get(predict_path);
  CHECK(a.status == 405);
  CHECK(header(a, "Allow") == "POST, OPTIONS");
  CHECK(a.body == R"({"error":"Malformed request: GET /v1/models/half:predict"})");
  CHECK(header(h.post("/metrics", ""), "Allow") == "GET, HEAD, OPTIONS");
  CHECK(h.rest.handle(request("DELETE", "/v1/models/half")).status == 405);
  CHECK(h.rest.handle(request("HEAD", "/v2/health/live")).body == h.get("/v2/health/live").body);
  a = h.rest.handle(request("OPTIONS", predict_path));
  CHECK(a.status == 204);
  CHECK(header(a, "Access-Control-Allow-Origin").empty());
  CHECK(h.rest.handle(request("OPTIONS", "*")).status == 204);  // of the server
  CHECK(h.rest.handle(request("GET", "*")).status == 404);
  a = open.rest.handle(request("OPTIONS", predict_path, {{"Origin", "http://a"}}));
  CHECK(a.status == 204);
  CHECK(header(a, "Access-Control-Allow-Origin") == "*");
  CHECK(header(a, "Access-Control-Allow-Methods") == "GET, POST, OPTIONS");
  CHECK_THAT(header(a, "Access-Control-Allow-Headers"),
             ContainsSubstring("Content-Type") && ContainsSubstring("Authorization"));
  CHECK(header(open.post(predict_path, three_rows), "Access-Control-Allow-Origin") == "*");
  CHECK(header(open.post(predict_path, "{"), "Access-Control-Allow-Origin") == "*");
}

TEST_CASE("rest: every kind of error has its status") {
  Half h;
  const auto status = [&](auto raise) {
    h.raise([raise](const CallOptions&) { raise(); });
    return h.post(predict_path, three_rows);
  };
  const auto of = [&]<class E>(std::type_identity<E>) { return status([] { errors::raise<E>("op", "what"); }); };
  CHECK(of(std::type_identity<errors::InvalidArgumentError>()).status == 400);
  CHECK(of(std::type_identity<errors::InvalidArgumentError>()).body == R"({"error":"op: what"})");
  CHECK(of(std::type_identity<errors::FailedPreconditionError>()).status == 400);
  CHECK(of(std::type_identity<errors::OutOfRangeError>()).status == 400);
  CHECK(of(std::type_identity<errors::NotFoundError>()).status == 404);
  CHECK(of(std::type_identity<errors::DeadlineExceededError>()).status == 504);
  CHECK(of(std::type_identity<errors::AlreadyExistsError>()).status == 409);
  CHECK(of(std::type_identity<errors::AbortedError>()).status == 409);
  CHECK(of(std::type_identity<errors::ResourceExhaustedError>()).status == 429);
  CHECK(header(of(std::type_identity<errors::ResourceExhaustedError>()), "Retry-After") == "1");
  CHECK(of(std::type_identity<errors::UnimplementedError>()).status == 501);
  CHECK(of(std::type_identity<errors::UnavailableError>()).status == 503);
  CHECK(header(of(std::type_identity<errors::UnavailableError>()), "Retry-After") == "1");
  CHECK(of(std::type_identity<errors::CancelledError>()).status == 499);
  CHECK(status([] { throw std::bad_alloc(); }).status == 429);
  const auto grpc = []<class E>(std::type_identity<E>) {
    return serving::status_of(std::make_exception_ptr(E("op", "what"))).grpc;
  };
  CHECK(grpc(std::type_identity<errors::CancelledError>()) == 1);
  CHECK(grpc(std::type_identity<errors::InvalidArgumentError>()) == 3);
  CHECK(grpc(std::type_identity<errors::DeadlineExceededError>()) == 4);
  CHECK(grpc(std::type_identity<errors::NotFoundError>()) == 5);
  CHECK(grpc(std::type_identity<errors::AlreadyExistsError>()) == 6);
  CHECK(grpc(std::type_identity<errors::ResourceExhaustedError>()) == 8);
  CHECK(grpc(std::type_identity<errors::FailedPreconditionError>()) == 9);
  CHECK(grpc(std::type_identity<errors::AbortedError>()) == 10);
  CHECK(grpc(std::type_identity<errors::OutOfRangeError>()) == 11);
  CHECK(grpc(std::type_identity<errors::UnimplementedError>()) == 12);
  CHECK(grpc(std::type_identity<errors::InternalError>()) == 13);
  CHECK(grpc(std::type_identity<errors::UnavailableError>()) == 14);
  CHECK(grpc(std::type_identity<errors::DataLossError>()) == 15);
  CHECK(serving::status_of(std::make_exception_ptr(std::bad_alloc())).grpc == 8);
  for (int code = 0; code <= 16; ++code) CHECK(serving::code_name(code) != std::string(code == 2 ? "OK" : "UNKNOWN"));
  CHECK(serving::code_name(17) == std::string("UNKNOWN"));
}

std::string logged;

TEST_CASE("rest: internal errors tell an id that the log has, and nothing else") {
  Half h;
  set_warning_handler([](const char* text) { logged += text; });
  std::string ids[2];
  for (std::string& id : ids) {
    h.raise([&](const CallOptions&) {
      if (&id == ids) errors::raise<errors::DataLossError>("read", "/srv/models/half/1/variables is damaged");
      throw std::runtime_error("/srv/secret");
    });
    const HttpAnswer a = h.post(predict_path, three_rows);
    CHECK(a.status == 500);
    CHECK(a.body.find("/srv") == std::string::npos);
    REQUIRE(a.body.starts_with("{\"error\":\"internal error "));
    id = a.body.substr(25, 16);
    CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
  set_warning_handler(nullptr);
  CHECK(ids[0] != ids[1]);
  CHECK_THAT(logged, ContainsSubstring(ids[0] + ": read: /srv/models") && ContainsSubstring(ids[1] + ": /srv/secret"));
}

TEST_CASE("rest: the time of a request, and its cancellation") {
  Half h({.timeout = 100});
  int calls = 0;
  h.raise([&](const CallOptions& call) {
    ++calls;
    if (call.deadline.has_passed()) calls = -100;
  });
  CHECK(h.post(predict_path, three_rows).status == 200);
  CHECK(h.post(predict_path, three_rows, {{"X-Request-Timeout-Ms", "9000000000000000"}}).status == 200);
  CHECK(calls == 2);
  CHECK(h.post(predict_path, three_rows, {{"x-request-timeout-ms", "0"}}).status == 504);
  CHECK(h.post(predict_path, three_rows, {{"X-Request-Timeout-Ms", "1s"}}).status == 400);
  serving::HttpRequest late{"POST", predict_path, {}, three_rows};
  late.waited = 101;
  CHECK(h.rest.handle(late).status == 504);
  serving::HttpRequest gone{"POST", predict_path, {}, three_rows, CancelToken()};
  CHECK(h.rest.handle(gone).status == 200);
  gone.cancel->cancel();
  CHECK(h.rest.handle(gone).status == 499);
  CHECK(calls == 3);  // those who wait no more are not served
}

TEST_CASE("rest: a model that does not end is left at its deadline") {
  const testing::TemporaryFolder folder;
  const auto endless = function([](const Tensor& x) {
    return while_loop([](const Tensor& y) { return reduce_all(y < 1e30f); }, [](const Tensor& y) { return y * 1.f; },
                      x);
  });
  saved_model::save(folder / "m/1",
                    {{"serving_default", saved_model::predict(endless, {{"x", {{none}, float32}}}, {"y"})}});
  MemoryCore core;
  core.models_by_name["m"][1] = Servable::of(saved_model::load(folder / "m/1"));
  const HttpAnswer a = serving::Rest(core).handle(
      request("POST", "/v1/models/m:predict", {{"X-Request-Timeout-Ms", "5"}}, R"({"instances":[1]})"));
  CHECK(a.status == 504);
}

TEST_CASE("rest: compressed requests, with a bounded size") {
  Half h({.most_request_bytes = 1000});
  const auto post = [&](const std::string& body, const std::string& coding) {
    return h.post(predict_path, body, {{"Content-Encoding", coding}});
  };
  CHECK(post(three_rows, "identity").status == 200);
  CHECK(post(gzip(three_rows), "gzip").body == R"({"predictions":[2.5,3.0,4.5]})");
  CHECK(post(gzip(three_rows), "GZIP").status == 200);
  CHECK(post(gzip(three_rows, MAX_WBITS), "deflate").status == 200);
  const std::string text = three_rows;
  CHECK(post(gzip(text.substr(0, 9)) + gzip(text.substr(9)), "gzip").status == 200);  // two members
  CHECK(post(text + std::string(1000, ' '), "").status == 413);
  CHECK(post(text + std::string(1000 - text.size(), ' '), "").status == 200);
  CHECK(post(gzip(text + std::string(1000 - text.size(), ' ')), "gzip").status == 200);
  CHECK(post(gzip(text + std::string(1001 - text.size(), ' ')), "gzip").status == 413);
  const std::string bomb = gzip(std::string(std::size_t{512} << 10, ' '));
  REQUIRE(bomb.size() < 1000);
  CHECK(post(bomb, "gzip").status == 413);
  CHECK(post(gzip(three_rows).substr(0, 20), "gzip").status == 400);
  CHECK(post("no gzip", "gzip").status == 400);
  CHECK(post("", "gzip").status == 400);
  CHECK(post(three_rows, "br").status == 415);
}

TEST_CASE("rest: compressed answers for those who accept them") {
  Half h;
  std::string body = "{\"instances\":[1", expected = "{\"predictions\":[2.5";
  for (int i = 0; i < 500; ++i) body += ",1", expected += ",2.5";
  body += "]}", expected += "]}";
  for (const char* accepted : {"gzip", "deflate, gzip;q=0.5", "*", "br;q=1.0, GZIP"}) {
    CAPTURE(accepted);
    const HttpAnswer a = h.post(predict_path, body, {{"accept-encoding", accepted}});
    CHECK(header(a, "Content-Encoding") == "gzip");
    CHECK(header(a, "Vary") == "Accept-Encoding");
    CHECK(a.body.size() < expected.size());
    CHECK(gunzip(a.body, expected.size()) == expected);
  }
  for (const char* accepted : {"", "deflate", "gzip;q=0", "gzip;q=0.000, deflate", "*;q=0"}) {
    CAPTURE(accepted);
    const HttpAnswer a = h.post(predict_path, body, {{"accept-encoding", accepted}});
    CHECK(header(a, "Content-Encoding").empty());
    CHECK(a.body == expected);
  }
  CHECK(header(h.post(predict_path, three_rows, {{"accept-encoding", "gzip"}}), "Content-Encoding").empty());  // small
}

}  // namespace rest_http_test
