// A client for the tests of serving_grpc: calls any method with bytes that the tests make themselves.
#pragma once
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/io/wire.hpp"
#include "tandem/serving_grpc.hpp"
#include "tests/serving/models.hpp"

namespace testing {

using tandem::io::detail::append_field;
using tandem::io::detail::append_integer;
using tandem::io::detail::append_message;
using tandem::io::detail::WireReader;
using tandem::io::detail::WireType;

struct GrpcAnswer {
  int code = 0;
  std::string text, message;
};
struct GrpcCallOptions {
  double seconds = 60;
  std::string token = {};
  int entries = 0;  // of metadata, of two bytes each
};

inline grpc::ByteBuffer grpc_buffer(const std::string& message) {
  const grpc::Slice slice(message);
  return {&slice, 1};
}
inline std::string grpc_bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string r;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return r;
  for (const grpc::Slice& s : slices) r.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return r;
}
inline void prepare(grpc::ClientContext& context, const GrpcCallOptions& options) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::microseconds(static_cast<tandem::i64>(options.seconds * 1e6)));
  for (int i = 0; i < options.entries; ++i) context.AddMetadata("k", "v");
  if (!options.token.empty()) context.AddMetadata("authorization", options.token);
}

/// A connection to a server on this machine.
class GrpcClient {
 public:
  explicit GrpcClient(int port,
                      const std::shared_ptr<grpc::ChannelCredentials>& by = grpc::InsecureChannelCredentials())
      : channel_(make(port, by)), stub_(channel_) {}

  GrpcAnswer call(const std::string& method, const std::string& message, const GrpcCallOptions& options = {}) {
    grpc::ClientContext context;
    prepare(context, options);
    return call(context, method, message);
  }
  GrpcAnswer call(grpc::ClientContext& context, const std::string& method, const std::string& message) {
    grpc::CompletionQueue queue;
    grpc::ByteBuffer answer;
    grpc::Status status;
    const auto reader = stub_.PrepareUnaryCall(&context, method, grpc_buffer(message), &queue);
    reader->StartCall();
    reader->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    (void)queue.Next(&tag, &ok);
    return {static_cast<int>(status.error_code()), status.error_message(), grpc_bytes(answer)};
  }
  grpc::GenericStub& stub() { return stub_; }

 private:
  static std::shared_ptr<grpc::Channel> make(int port, const std::shared_ptr<grpc::ChannelCredentials>& by) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt("grpc.use_local_subchannel_pool", 1);  // a connection of its own
    arguments.SetSslTargetNameOverride("localhost");
    return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), by, arguments);
  }

  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
};

/// A call with several messages in either direction, one after the other.
class GrpcStream {
 public:
  GrpcStream(GrpcClient& client, const std::string& method, double seconds = 60) {
    prepare(context_, {.seconds = seconds});
    call_ = client.stub().PrepareCall(&context_, method, &queue_);
    call_->StartCall(nullptr);
    next();
  }
  ~GrpcStream() {
    context_.TryCancel();
    if (!is_finished_) (void)finish();
  }
  bool write(const std::string& message) {
    call_->Write(grpc_buffer(message), nullptr);
    return next();
  }
  bool writes_done() {
    call_->WritesDone(nullptr);
    return next();
  }
  /// The next message; `code` and what finish() says after the last one.
  GrpcAnswer read() {
    grpc::ByteBuffer message;
    call_->Read(&message, nullptr);
    if (next()) return {0, "", grpc_bytes(message)};
    return finish();
  }

 private:
  bool next() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  GrpcAnswer finish() {
    is_finished_ = true;
    grpc::Status status;
    call_->Finish(&status, nullptr);
    next();
    return {static_cast<int>(status.error_code()), status.error_message(), ""};
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool is_finished_ = false;
};

inline tandem::serving::Options grpc_options(const std::string& folder, const std::string& model) {
  return {.models = {{.name = model, .base_path = folder + "/" + model}},
          .port = 0,
          .rest_api_port = 0,
          .drain_seconds = 0,
          .grace_seconds = 5};
}

// Messages, field by field.
/// A ModelSpec as the field `number`.
inline std::string model_spec(std::uint32_t number, const std::string& name, tandem::i64 version = 0,
                              const std::string& signature = {}) {
  std::string r;
  append_message(r, number, [&] {
    append_field(r, 1, name);
    if (version) append_message(r, 2, [&] { append_integer(r, 1, version); });
    if (!signature.empty()) append_field(r, 3, signature);
  });
  return r;
}
/// A PredictRequest for x, float32 [n], as float_val.
inline std::string predict_request(const std::string& model, const std::vector<float>& x,
                                   const std::string& input = "x", tandem::i64 version = 0) {
  std::string r = model_spec(1, model, version);
  append_message(r, 2, [&] {
    append_field(r, 1, input);
    append_message(r, 2, [&] {
      append_integer(r, 1, 1);  // DT_FLOAT
      append_message(r, 2,
                     [&] { append_message(r, 2, [&] { append_integer(r, 1, static_cast<tandem::i64>(x.size())); }); });
      for (const float v : x) tandem::io::detail::append_fixed(r, 5, v);
    });
  });
  return r;
}
/// The bytes of a field of a message, after a path of fields; "?" if there is none.
inline std::string at(const std::string& message, const std::vector<std::uint32_t>& path) {
  std::string_view now = message;
  for (const std::uint32_t field : path) {
    WireReader in(now);
    bool found = false;
    while (!found && in.next())
      if (in.field() == field) found = true;
    if (!found) return "?";
    if (in.type() != WireType::bytes) return std::to_string(in.number());
    now = in.bytes();
  }
  return std::string(now);
}
inline std::vector<float> floats(const std::string& bytes) {
  std::vector<float> r(bytes.size() / sizeof(float));
  if (!r.empty()) std::memcpy(r.data(), bytes.data(), r.size() * sizeof(float));
  return r;
}
/// The tensor_content of the first output of a PredictResponse.
inline std::vector<float> outputs_of(const GrpcAnswer& a) { return floats(at(a.message, {1, 2, 4})); }

inline constexpr const char* grpc_predict_path = "/tensorflow.serving.PredictionService/Predict";

}  // namespace testing
