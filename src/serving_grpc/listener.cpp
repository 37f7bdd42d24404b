#include "tandem/serving_grpc/listener.inl"
#include "tandem/serving_grpc/call.inl"
#include "tandem/serving_grpc/credentials.inl"
#include "tandem/serving_grpc/message_timer.inl"
