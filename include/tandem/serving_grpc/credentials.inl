// Definitions of serving_grpc/credentials.hpp.
#pragma once
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "tandem/serving_grpc/credentials.hpp"

namespace TANDEM_NS::serving::impl {

// gRPC's C++ interface takes certificates that stay as they are, or files that it watches; its C interface asks for
// them at each handshake.
class RenewedCredentials final : public ::grpc::ServerCredentials {
 public:
  explicit RenewedCredentials(const Certificates& certificates) : certificates_(certificates) {
    const auto request = certificates.config()->client_verify
                             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    credentials_ = ::grpc_ssl_server_credentials_create_with_options(
        ::grpc_ssl_server_credentials_create_options_using_config_fetcher(request, fetch, this));
  }
  ~RenewedCredentials() override { ::grpc_server_credentials_release(credentials_); }
  void SetAuthMetadataProcessor(const std::shared_ptr<::grpc::AuthMetadataProcessor>&) override {}  // tokens: Guard

 private:
  int AddPortToServer(const std::string& address, ::grpc_server* server) override {
    return ::grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }
  static ::grpc_ssl_certificate_config_reload_status fetch(void* self, ::grpc_ssl_server_certificate_config** config) {
    auto& c = *static_cast<RenewedCredentials*>(self);
    const std::shared_ptr<const SslConfig> now = c.certificates_.config();
    const std::lock_guard lock(c.mutex_);
    if (now == c.last_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const ::grpc_ssl_pem_key_cert_pair pair{now->server_key.c_str(), now->server_cert.c_str()};
    // gRPC wants an authority also where no client is asked for its certificate.
    const std::string& authority = now->custom_ca.empty() ? now->server_cert : now->custom_ca;
    *config = ::grpc_ssl_server_certificate_config_create(authority.c_str(), &pair, 1);
    if (!*config) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    c.last_ = now;
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const Certificates& certificates_;
  ::grpc_server_credentials* credentials_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<const SslConfig> last_;
};

TANDEM_INLINE std::shared_ptr<::grpc::ServerCredentials> grpc_credentials(const Certificates& certificates) {
  if (!certificates.is_used()) return ::grpc::InsecureServerCredentials();
  return std::make_shared<RenewedCredentials>(certificates);
}

}  // namespace TANDEM_NS::serving::impl
