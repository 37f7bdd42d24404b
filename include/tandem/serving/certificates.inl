// Definitions of serving/certificates.hpp.
#pragma once
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fstream>
#include <iterator>

#include "tandem/base/error.hpp"
#include "tandem/serving/certificates.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE std::string read_config(const std::string& path) {
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad() || text.empty()) errors::raise<errors::NotFoundError>("serving", "cannot read " + path);
  return text;
}
// A key or certificates: PEM, or the path of a file that has it.
TANDEM_INLINE void read_pem(std::string& value) {
  if (!value.empty() && value.find("-----BEGIN ") == value.npos) value = read_config(value);
}
TANDEM_INLINE std::shared_ptr<boost::asio::ssl::context> make_context(const SslConfig& c, const std::string& path) {
  namespace ssl = boost::asio::ssl;
  auto r = std::make_shared<ssl::context>(ssl::context::tls_server);
  const auto buffer = [](const std::string& s) { return boost::asio::buffer(s); };
  const char* what = "server_cert";
  try {
    ::SSL_CTX_set_min_proto_version(r->native_handle(), TLS1_2_VERSION);
    r->use_certificate_chain(buffer(c.server_cert));
    what = "server_key";  // also if it belongs to another certificate
    r->use_private_key(buffer(c.server_key), ssl::context::pem);
    what = "custom_ca";
    if (!c.custom_ca.empty()) r->add_certificate_authority(buffer(c.custom_ca));
    constexpr unsigned char id[] = "tandem";  // of sessions that a client resumes
    ::SSL_CTX_set_session_id_context(r->native_handle(), id, sizeof id - 1);
    if (c.client_verify) r->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  } catch (const boost::system::system_error& e) {
    errors::raise<errors::InvalidArgumentError>("serving",
                                                path + ": " + what + " cannot be used: " + e.code().message());
  }
  return r;
}

TANDEM_INLINE Certificates::Certificates(std::string path) : path_(std::move(path)) { reload(); }
TANDEM_INLINE void Certificates::reload() {
  if (path_.empty()) return;
  SslConfig read = parse_ssl_config(read_config(path_), path_);
  for (std::string* const pem : {&read.server_key, &read.server_cert, &read.custom_ca}) read_pem(*pem);
  if (read.client_verify && read.custom_ca.empty())
    errors::raise<errors::InvalidArgumentError>(
        "serving", path_ + ": client_verify needs custom_ca, the authority of the clients' certificates");
  // The listeners decide at their start whether they ask clients for certificates.
  if (const auto before = config(); before && before->client_verify != read.client_verify)
    errors::raise<errors::InvalidArgumentError>(
        "serving", path_ + ": client_verify cannot change while the server runs; start it again");
  auto context = make_context(read, path_);
  auto config = std::make_shared<const SslConfig>(std::move(read));
  const std::lock_guard lock(mutex_);
  config_.swap(config);
  context_.swap(context);
}
TANDEM_INLINE std::shared_ptr<boost::asio::ssl::context> Certificates::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}
TANDEM_INLINE std::shared_ptr<const SslConfig> Certificates::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

}  // namespace TANDEM_NS::serving::impl
