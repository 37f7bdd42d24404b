// gRPC: inference.GRPCInferenceService, the Open Inference Protocol, with messages that are made by hand.
#include "tests/serving_grpc/client.hpp"

namespace grpc_inference_test {

using namespace tandem;
using serving::Server;
using testing::append_field;
using testing::append_integer;
using testing::append_message;
using testing::at;
using testing::GrpcAnswer;
using testing::GrpcClient;

std::string path(const char* method) { return std::string("/inference.GRPCInferenceService/") + method; }

std::string raw_of(const std::vector<float>& x) {
  return std::string(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
}
struct Infer {
  std::string datatype = "FP32", contents = {}, parameter = {};
  i64 size = 3;
  bool packed = true;
};
/// A ModelInferRequest for the input x of "half", without raw_input_contents.
std::string infer_request(const Infer& how) {
  std::string r;
  append_field(r, 1, "half");
  append_field(r, 3, "id 1");
  append_message(r, 5, [&] {
    append_field(r, 1, "x");
    append_field(r, 2, how.datatype);
    if (how.packed) append_field(r, 3, std::string(1, static_cast<char>(how.size)));
    else append_integer(r, 3, how.size);
    if (!how.parameter.empty()) append_message(r, 4, [&] { append_field(r, 1, how.parameter); });
    if (!how.contents.empty()) append_field(r, 5, how.contents);
  });
  return r;
}
std::string fp32_contents(const std::vector<float>& x) {
  std::string r;
  append_field(r, 6, raw_of(x));
  return r;
}
std::string with_raw(std::string message, const std::string& raw) {
  append_field(message, 7, raw);
  return message;
}

TEST_CASE("grpc: ModelInfer by raw_input_contents and by contents") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const auto infer = [&](const std::string& message) { return client.call(path("ModelInfer"), message); };

  for (const bool packed : {true, false})
    for (const bool raw : {true, false}) {
      const std::string message = raw ? with_raw(infer_request({.packed = packed}), raw_of({1, 2, 5}))
                                      : infer_request({.contents = fp32_contents({1, 2, 5}), .packed = packed});
      const GrpcAnswer a = infer(message);
      REQUIRE(a.code == 0);
      CHECK(at(a.message, {1}) == "half");
      CHECK(at(a.message, {2}) == "1");
      CHECK(at(a.message, {3}) == "id 1");
      CHECK(at(a.message, {5, 1}) == "y");
      CHECK(at(a.message, {5, 2}) == "FP32");
      CHECK(at(a.message, {5, 3}) == "\x03");
      CHECK(testing::floats(at(a.message, {6})) == std::vector<float>{2.5f, 3, 4.5f});
    }
  const auto refused = [&](const std::string& message, int code, const char* text) {
    const GrpcAnswer a = infer(message);
    CHECK(a.code == code);
    CHECK_THAT(a.text, ContainsSubstring(text));
  };
  refused(with_raw(infer_request({.contents = fp32_contents({1, 2, 5})}), raw_of({1, 2, 5})), 3,
          "has contents, and there are raw_input_contents");
  refused(with_raw(infer_request({}), raw_of({1, 2})), 3, "does not have 8 bytes");
  refused(infer_request({.contents = fp32_contents({1, 2})}), 3, "does not have 8 bytes");
  refused(with_raw(with_raw(infer_request({}), ""), ""), 3, "1 inputs, but 2 raw_input_contents");
  refused(infer_request({.datatype = "FP31"}), 3, "unknown datatype FP31");
  refused(infer_request({.datatype = "FP16", .contents = "x"}), 3, "needs raw_input_contents");
  refused(infer_request({.datatype = "INT8", .contents = fp32_contents({1})}), 3, "contents of another datatype");
  refused(with_raw(infer_request({.parameter = "shared_memory_region"}), raw_of({1, 2, 5})), 12,
          "shared_memory_region");
  refused(with_raw(infer_request({.size = -1, .packed = false}), ""), 3, "negative size");
  refused(with_raw(infer_request({.size = i64{1} << 62, .packed = false}), ""), 3, "more elements than there can be");
  refused(with_raw(infer_request({}), raw_of({1, 2, 5})).substr(0, 20), 3, "damaged");
  std::string version = with_raw(infer_request({}), raw_of({1, 2, 5}));
  append_field(version, 2, "1x");
  refused(version, 3, "the version '1x' is not a number");
}

TEST_CASE("grpc: texts as BYTES, both ways") {
  const testing::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return identity(x); });
  saved_model::save(folder / "half/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {{none}, tandem::string}}}, {"y"})}});
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  const std::string raw("\x02\0\0\0ab\0\0\0\0\x01\0\0\0c", 15);
  std::string contents;
  for (const char* text : {"ab", "", "c"}) append_field(contents, 8, text);
  for (const std::string& message : {with_raw(infer_request({.datatype = "BYTES"}), raw),
                                     infer_request({.datatype = "BYTES", .contents = contents})}) {
    const GrpcAnswer a = client.call(path("ModelInfer"), message);
    REQUIRE(a.code == 0);
    CHECK(at(a.message, {6}) == raw);
  }
  CHECK(client.call(path("ModelInfer"), with_raw(infer_request({.datatype = "BYTES"}), "\xff\xff\xff\x7f")).code == 3);
  append_field(contents, 8, std::string(serving::most_string_bytes + 1, 'a'));
  const GrpcAnswer a =
      client.call(path("ModelInfer"), infer_request({.datatype = "BYTES", .contents = contents, .size = 4}));
  CHECK(a.code == 3);
  CHECK_THAT(a.text, ContainsSubstring("has in element 3 a string of 16777217 bytes"));
}

TEST_CASE("grpc: metadata and readiness of the Open Inference Protocol") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  server.engine().settle();
  GrpcClient client(server.port());
  std::string half, none_such;
  append_field(half, 1, "half");
  append_field(none_such, 1, "none");
  CHECK(at(client.call(path("ServerLive"), "").message, {1}) == "1");
  CHECK(at(client.call(path("ServerReady"), "").message, {1}) == "1");
  CHECK(at(client.call(path("ModelReady"), half).message, {1}) == "1");
  const GrpcAnswer absent = client.call(path("ModelReady"), none_such);
  CHECK(absent.code == 0);
  CHECK(absent.message.empty());  // false
  CHECK(at(client.call(path("ServerMetadata"), "").message, {1}) == "tandem");
  const GrpcAnswer a = client.call(path("ModelMetadata"), half);
  REQUIRE(a.code == 0);
  CHECK(at(a.message, {2}) == "1");
  CHECK(at(a.message, {3}) == "tandem");
  CHECK(at(a.message, {4, 1}) == "x");
  CHECK(at(a.message, {4, 2}) == "FP32");
  CHECK(at(a.message, {4, 3}) == std::string(9, '\xff') + "\x01");  // -1
  CHECK(at(a.message, {5, 1}) == "y");
  CHECK(client.call(path("ModelMetadata"), none_such).code == 5);
}

}  // namespace grpc_inference_test
