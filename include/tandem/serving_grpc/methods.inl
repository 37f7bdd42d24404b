// Definitions of serving_grpc/methods.hpp: the table of methods, health, and what is common to them.
#pragma once
#include <algorithm>

#include "tandem/base/error.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving_grpc/methods.hpp"

namespace TANDEM_NS::serving::impl {

// Of a HealthCheckResponse: the numbers of ServingStatus.
enum class Health { serving = 1, not_serving = 2, service_unknown = 3 };

// Reflection and Health.Watch are streams, which call.inl answers: they have no function here.
inline constexpr Method method_table[] = {
    {"/tensorflow.serving.PredictionService/Predict", Method::unary, Method::users, false, &Methods::predict},
    {"/tensorflow.serving.PredictionService/Classify", Method::unary, Method::users, false, &Methods::classify},
    {"/tensorflow.serving.PredictionService/Regress", Method::unary, Method::users, false, &Methods::regress},
    {"/tensorflow.serving.PredictionService/MultiInference", Method::unary, Method::users, false,
     &Methods::multi_inference},
    {"/tensorflow.serving.PredictionService/GetModelMetadata", Method::unary, Method::users, true,
     &Methods::model_metadata},
    {"/tensorflow.serving.ModelService/GetModelStatus", Method::unary, Method::users, true, &Methods::model_status},
    {"/tensorflow.serving.ModelService/HandleReloadConfigRequest", Method::unary, Method::admins, false,
     &Methods::reload_config},
    {"/inference.GRPCInferenceService/ServerLive", Method::unary, Method::everybody, true, &Methods::server_live},
    {"/inference.GRPCInferenceService/ServerReady", Method::unary, Method::everybody, true, &Methods::server_ready},
    {"/inference.GRPCInferenceService/ModelReady", Method::unary, Method::users, true, &Methods::model_ready},
    {"/inference.GRPCInferenceService/ServerMetadata", Method::unary, Method::users, true, &Methods::server_metadata},
    {"/inference.GRPCInferenceService/ModelMetadata", Method::unary, Method::users, true, &Methods::infer_metadata},
    {"/inference.GRPCInferenceService/ModelInfer", Method::unary, Method::users, false, &Methods::infer},
    {"/grpc.health.v1.Health/Check", Method::unary, Method::everybody, true, &Methods::check_health},
    {"/grpc.health.v1.Health/Watch", Method::watch, Method::everybody, true, nullptr},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Method::reflection, Method::users, true,
     nullptr}};

TANDEM_INLINE const Method* find_method(std::string_view path) {
  for (const Method& m : method_table)
    if (m.path == path) return &m;
  return nullptr;
}

// A request that loses surplus inputs is bound to the version whose signature was read; if that is unloaded meanwhile,
// the signature is read again.
TANDEM_INLINE Response Methods::ask(const Request& r) const {
  if (!ignore_extra_inputs_) return core_.predict(r);
  constexpr int most_tries = 3;
  for (int i = 1;; ++i) {
    Request bound = r;
    drop_extra_inputs(bound);
    try {
      return core_.predict(bound);
    } catch (const errors::NotFoundError&) {
      if (r.model.version || i == most_tries) throw;
    }
  }
}
TANDEM_INLINE void Methods::drop_extra_inputs(Request& r) const {
  i64 version = 0;
  const auto all = core_.signatures(r.model, version);
  r.model.version = version, r.model.label.clear();
  const auto at = all->find(r.model.signature.empty() ? "serving_default" : r.model.signature);
  if (at == all->end()) return;
  const std::vector<TensorInfo>& known = at->second.inputs;
  std::erase_if(r.inputs, [&](const auto& input) {
    return std::none_of(known.begin(), known.end(), [&](const TensorInfo& t) { return t.name == input.first; });
  });
}

TANDEM_INLINE std::string health_response(Health h) {
  std::string r;
  io::detail::append_integer(r, 1, static_cast<int>(h));
  return r;
}
TANDEM_INLINE std::string watched_service(std::string_view message) {
  std::string service;
  io::detail::WireReader in(message);
  while (in.next())
    if (in.is(1, io::detail::WireType::bytes)) service = in.bytes();
  if (!in.ok()) errors::raise<errors::InvalidArgumentError>("serving", "the HealthCheckRequest is damaged");
  return service;
}
// The names of services are those of the server: "/" + name + "/" begins the paths of their methods.
TANDEM_INLINE bool is_service(std::string_view name) {
  const std::string prefix = "/" + std::string(name) + "/";
  return std::any_of(std::begin(method_table), std::end(method_table),
                     [&](const Method& m) { return m.path.starts_with(prefix); });
}
TANDEM_INLINE Health health_of(Core& core, const std::string& service) {
  if (service.empty() || is_service(service)) return core.is_ready() ? Health::serving : Health::not_serving;
  const std::vector<std::string> names = core.models();
  if (std::find(names.begin(), names.end(), service) == names.end()) return Health::service_unknown;
  return core.is_ready(ModelSpec{.name = service}) ? Health::serving : Health::not_serving;
}
TANDEM_INLINE std::string Methods::check_health(std::string_view message, const CallInfo&) const {
  const std::string service = watched_service(message);
  const Health h = health_of(core_, service);
  if (h == Health::service_unknown)
    errors::raise<errors::NotFoundError>("serving", "there is no service or model named " + service.substr(0, 255));
  return health_response(h);
}
TANDEM_INLINE std::string Methods::watched_health(std::string_view message) const {
  return health_response(health_of(core_, watched_service(message)));
}

}  // namespace TANDEM_NS::serving::impl
