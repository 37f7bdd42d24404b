// gRPC for a model server: TensorFlow Serving's services, the Open Inference Protocol, health and reflection. The
// component tandem::serving_grpc.
#pragma once
#include "tandem/serving.hpp"
#include "tandem/serving_grpc/listener.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/serving_grpc/call.inl"
#include "tandem/serving_grpc/credentials.inl"
#include "tandem/serving_grpc/descriptors.inl"
#include "tandem/serving_grpc/inference_service.inl"
#include "tandem/serving_grpc/listener.inl"
#include "tandem/serving_grpc/message_timer.inl"
#include "tandem/serving_grpc/methods.inl"
#include "tandem/serving_grpc/model_service.inl"
#include "tandem/serving_grpc/prediction_service.inl"
#include "tandem/serving_grpc/reflection.inl"
#include "tandem/tandem.hpp"
#endif
