// What a gRPC server shows to its clients by TLS. For the definitions of serving_grpc.
#pragma once
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "tandem/serving/certificates.hpp"

namespace TANDEM_NS::serving::impl {

/// Credentials with the certificates that there are when a connection begins; without TLS if there are none. The
/// certificates must outlive the server.
std::shared_ptr<::grpc::ServerCredentials> grpc_credentials(const Certificates& certificates);

}  // namespace TANDEM_NS::serving::impl
