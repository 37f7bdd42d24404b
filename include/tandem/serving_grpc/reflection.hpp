// grpc.reflection.v1alpha.ServerReflection: what services there are, and their messages. For the definitions of
// serving_grpc.
#pragma once
#include <string>
#include <string_view>

#include "tandem/serving_grpc/descriptors.hpp"

namespace TANDEM_NS::serving::impl {

/// The ServerReflectionResponse to a ServerReflectionRequest. What is asked for and not there is an error_response.
///   throws  errors::InvalidArgumentError for a damaged message
TANDEM_API std::string reflect(const Descriptors& all, std::string_view message);

}  // namespace TANDEM_NS::serving::impl
