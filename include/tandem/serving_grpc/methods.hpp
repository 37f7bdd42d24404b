// Methods: what the gRPC server answers, without gRPC: messages in, messages out. For the definitions of serving_grpc.
#pragma once
#include <string>
#include <string_view>

#include "tandem/serving/engine.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving::impl {

class Methods;

/// What a call has besides its message.
struct CallInfo {
  CallOptions call = {};
};

struct Method {
  enum Kind { unary, watch, reflection };
  enum Access { everybody, users, admins };
  std::string_view path;  ///< "/grpc.health.v1.Health/Check"
  Kind kind;
  Access access;
  bool is_quick;  ///< whether it never waits for models
  std::string (Methods::*answer)(std::string_view message, const CallInfo& call) const;
};

/// The method of a path; null if there is none.
TANDEM_API const Method* find_method(std::string_view path);

/// The methods of tensorflow.serving.PredictionService and ModelService, of inference.GRPCInferenceService and of
/// grpc.health.v1.Health. Functions take the bytes of a request and return those of its answer; numbers of fields are
/// those of proto_texts.hpp. All may be called by several threads at once.
///   throws  errors::InvalidArgumentError for damaged messages, and what Core raises
class TANDEM_API Methods {
 public:
  /// What is given must outlive it.
  ///   engine       what HandleReloadConfigRequest changes; null: it is refused
  ///   most_bytes   of an answer of ModelInfer, and of what a request takes when its repeated values and its context
  ///                are spread out
  Methods(Core& core, Engine* engine, bool ignore_extra_inputs, i64 most_bytes = i64{64} << 20)
      : core_(core), engine_(engine), ignore_extra_inputs_(ignore_extra_inputs), most_bytes_(most_bytes) {}

  std::string predict(std::string_view message, const CallInfo& call) const;
  std::string classify(std::string_view message, const CallInfo& call) const;
  std::string regress(std::string_view message, const CallInfo& call) const;
  std::string multi_inference(std::string_view message, const CallInfo& call) const;
  std::string model_metadata(std::string_view message, const CallInfo& call) const;
  std::string model_status(std::string_view message, const CallInfo& call) const;
  std::string reload_config(std::string_view message, const CallInfo& call) const;

  std::string server_live(std::string_view message, const CallInfo& call) const;
  std::string server_ready(std::string_view message, const CallInfo& call) const;
  std::string model_ready(std::string_view message, const CallInfo& call) const;
  std::string server_metadata(std::string_view message, const CallInfo& call) const;
  std::string infer_metadata(std::string_view message, const CallInfo& call) const;
  std::string infer(std::string_view message, const CallInfo& call) const;

  /// Health.Check.
  ///   throws  errors::NotFoundError for a service that there is not
  std::string check_health(std::string_view message, const CallInfo& call) const;
  /// What Health.Watch sends: as check_health, but a service that there is not is SERVICE_UNKNOWN.
  std::string watched_health(std::string_view message) const;

 private:
  Response ask(const Request& request) const;
  void drop_extra_inputs(Request& request) const;

  Core& core_;
  Engine* const engine_;
  const bool ignore_extra_inputs_;
  const i64 most_bytes_;
};

}  // namespace TANDEM_NS::serving::impl
