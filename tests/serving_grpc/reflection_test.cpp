// gRPC: server reflection. Its descriptors are compared with those that protoc makes of the same texts.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tandem/serving_grpc/descriptors.hpp"
#include "tandem/serving_grpc/methods.hpp"
#include "tandem/serving_grpc/proto_texts.hpp"
#include "tandem/serving_grpc/reflection.hpp"
#include "tests/serving_grpc/client.hpp"

namespace grpc_reflection_test {

using namespace tandem;
using serving::impl::Descriptors;
using testing::append_field;
using testing::at;

std::string reflect(std::uint32_t field, const std::string& asked) {
  static const Descriptors all;
  std::string message;
  append_field(message, field, asked);
  const std::string answer = serving::impl::reflect(all, message);
  CHECK(at(answer, {2}) == message);
  return answer;
}

TEST_CASE("reflection: descriptors are those of protoc, byte for byte") {
  if (std::system("protoc --version >/dev/null 2>&1") != 0) TANDEM_SKIP("protoc is not installed");
  const testing::TemporaryFolder folder;
  for (const auto& file : serving::impl::proto_texts) {
    const std::string path = folder / std::string(file.path);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << file.text;
  }
  const Descriptors all;
  for (const auto& file : serving::impl::proto_texts) {
    const std::string path(file.path), set = folder / "set";
    REQUIRE(std::system(("cd '" + folder.path + "' && protoc -I. --descriptor_set_out=set " + path).c_str()) == 0);
    std::ifstream in(set);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    INFO(path);
    REQUIRE(all.file(path));
    CHECK(at(bytes, {1}) == all.file(path)->descriptor);
  }
}

TEST_CASE("reflection: lists the services, whose methods the server has") {
  const std::string answer = reflect(7, "");
  CHECK(at(answer, {6, 1, 1}) == "tensorflow.serving.PredictionService");
  const Descriptors all;
  CHECK(all.services().size() == 5);
  for (const std::string& service : all.services()) {
    const Descriptors::File* const file = all.file_of(service);
    REQUIRE(file);
    testing::WireReader in(file->descriptor);
    int methods = 0;
    while (in.next()) {
      if (in.field() != 6) continue;
      const std::string text(in.bytes());
      if (!service.ends_with("." + at(text, {1}))) continue;
      testing::WireReader rpcs(in.bytes());
      while (rpcs.next()) {
        if (rpcs.field() != 2) continue;
        const std::string path = "/" + service + "/" + at(std::string(rpcs.bytes()), {1});
        INFO(path);
        CHECK(serving::impl::find_method(path));
        ++methods;
      }
    }
    CHECK(methods > 0);
  }
}

TEST_CASE("reflection: files by name and by symbol, with what they import") {
  const auto files = [](const std::string& answer) {
    const std::string list = at(answer, {4});
    std::vector<std::string> r;
    testing::WireReader in(list);
    while (in.next()) r.push_back(at(std::string(in.bytes()), {1}));
    return r;
  };
  CHECK(files(reflect(3, "tandem/health.proto")) == std::vector<std::string>{"tandem/health.proto"});
  const std::vector<std::string> all{"tandem/tensorflow_serving.proto", "google/protobuf/any.proto",
                                     "google/protobuf/wrappers.proto", "tandem/tensorflow.proto"};
  for (const char* symbol : {"tensorflow.serving.PredictRequest", "tensorflow.serving.PredictionService",
                             "tensorflow.serving.PredictionService.Predict",
                             "tensorflow.serving.ModelVersionStatus.State", "tensorflow.serving.PredictRequest.inputs"})
    CHECK(files(reflect(4, symbol)) == all);
  CHECK(at(reflect(3, "none.proto"), {7, 1}) == "5");
  CHECK(at(reflect(4, "none"), {7, 2}) == "none not found");
  CHECK(at(reflect(5, ""), {7, 1}) == "5");
  CHECK(at(reflect(6, "tensorflow.TensorProto"), {5, 1}) == "tensorflow.TensorProto");
  CHECK_THROWS_AS(reflect(0, ""), errors::InvalidArgumentError);
}

TEST_CASE("reflection: several questions on one stream") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Server server(testing::grpc_options(folder.path, "half"), serving::grpc_listener);
  testing::GrpcClient client(server.port());
  testing::GrpcStream stream(client, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  std::string list, file;
  append_field(list, 7, "");
  append_field(file, 4, "grpc.health.v1.Health");
  for (int i = 0; i < 2; ++i) {
    REQUIRE(stream.write(list));
    CHECK(at(stream.read().message, {6, 1, 1}) == "tensorflow.serving.PredictionService");
    REQUIRE(stream.write(file));
    CHECK(at(stream.read().message, {4, 1, 1}) == "tandem/health.proto");
  }
  REQUIRE(stream.writes_done());
  CHECK(stream.read().code == 0);
}

}  // namespace grpc_reflection_test
