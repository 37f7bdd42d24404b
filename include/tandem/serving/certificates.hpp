// Certificates: what a server shows to its clients by TLS, and what they must show. For the definitions of serving and
// serving_grpc.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "tandem/serving/config_file.hpp"

namespace boost::asio::ssl {
class context;
}

namespace TANDEM_NS::serving::impl {

/// The key and the certificates of Options::ssl_config_file. Connections that exist keep those that they began with.
class Certificates {
 public:
  /// Reads the file; without a path there is no TLS.
  ///   throws  errors::NotFoundError for files that cannot be read; errors::InvalidArgumentError for what is not an
  ///           SSLConfig, a key or a certificate, a key of another certificate, and .client_verify without .custom_ca
  explicit Certificates(std::string path);
  /// Reads the file again.
  ///   throws  as the constructor, and errors::InvalidArgumentError for another .client_verify; then what was read
  ///           before stays
  void reload();
  bool is_used() const { return !path_.empty(); }
  /// What OpenSSL needs for a connection: TLS 1.2 or later.
  std::shared_ptr<boost::asio::ssl::context> context() const;
  /// The texts; one object for each time they are read.
  TANDEM_API std::shared_ptr<const SslConfig> config() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const SslConfig> config_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace TANDEM_NS::serving::impl
