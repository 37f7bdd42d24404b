// gRPC for a model server. Part of the component tandem::serving_grpc.
#pragma once
#include <memory>

#include "tandem/serving/listener.hpp"

namespace TANDEM_NS::serving {

/// gRPC for a Server, on Options::port:
///
///   serving::Server server(options, serving::grpc_listener);
///
/// The services are tensorflow.serving.PredictionService and ModelService, inference.GRPCInferenceService (the Open
/// Inference Protocol), grpc.health.v1.Health and grpc.reflection.v1alpha.ServerReflection. Deadlines and cancellation
/// of calls are those of CallOptions; errors have the codes of status.hpp. Messages are limited by
/// Options::max_request_bytes, in both directions.
///   throws  errors::UnavailableError for a port that it cannot have; errors::InvalidArgumentError for one that is not
///           from 0 to 65535
TANDEM_API std::unique_ptr<Listener> grpc_listener(const ListenerContext& context);

}  // namespace TANDEM_NS::serving
