// TLS: REST by it, the versions and certificates that are accepted, and certificates that are renewed under load.
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/serving/certificate_files.hpp"
#include "tests/serving/models.hpp"

namespace tls_test {

using namespace tandem;
using Catch::Matchers::StartsWith;
using serving::Server;
using testing::error_of;
using testing::KeyAndCertificate;
using testing::make_certificate;
using testing::ssl_config;

struct ClientOptions {
  const KeyAndCertificate* own = nullptr;
  int version = TLS1_3_VERSION;  // exactly this one
};

/// A client's connection, which trusts one authority.
class TlsClient {
 public:
  TlsClient(int port, const std::string& authority, const ClientOptions& options = {})
      : context_(SSL_CTX_new(TLS_client_method())), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    SSL_CTX_set_min_proto_version(context_, options.version);
    SSL_CTX_set_max_proto_version(context_, options.version);
    SSL_CTX_set_security_level(context_, 0);  // so that it is the server that refuses old versions
    BIO* const bio = BIO_new_mem_buf(authority.data(), static_cast<int>(authority.size()));
    X509* const x = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), x);
    X509_free(x), BIO_free(bio);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    if (options.own) show(*options.own);
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_port = htons(static_cast<std::uint16_t>(port)),
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssl_ = SSL_new(context_);
    SSL_set1_host(ssl_, "localhost");
    SSL_set_fd(ssl_, socket_);
    is_connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 && SSL_connect(ssl_) == 1;
    ERR_clear_error();
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() {
    SSL_free(ssl_);
    ::close(socket_);
    SSL_CTX_free(context_);
  }
  bool is_connected() const { return is_connected_; }
  long serial() const {
    X509* const x = SSL_get1_peer_certificate(ssl_);
    const long r = x ? ASN1_INTEGER_get(X509_get_serialNumber(x)) : -1;
    X509_free(x);
    return r;
  }
  bool send(const std::string& text) const {
    return SSL_write(ssl_, text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
  }
  void end() const { SSL_shutdown(ssl_), ::shutdown(socket_, SHUT_WR); }
  std::string ask(const std::string& target, const std::string& body) const {
    const std::string head = (body.empty() ? "GET " : "POST ") + target + " HTTP/1.1\r\nHost: localhost\r\n";
    if (!is_connected_ || !send(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)) return {};
    return receive();
  }
  std::string receive() const {
    std::string r;
    for (char some[4096];;) {
      const std::size_t end = r.find("\r\n\r\n"), length = r.find("Content-Length: ");
      if (end != r.npos && length != r.npos && r.size() >= end + 4 + std::stoul(r.substr(length + 16, 20))) break;
      const int n = SSL_read(ssl_, some, sizeof some);
      if (n <= 0) break;
      r.append(some, static_cast<std::size_t>(n));
    }
    ERR_clear_error();
    return r;
  }

 private:
  void show(const KeyAndCertificate& own) const {
    BIO *const key = BIO_new_mem_buf(own.key.data(), -1), *const certificate =
                                                              BIO_new_mem_buf(own.certificate.data(), -1);
    EVP_PKEY* const k = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    X509* const x = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context_, x), SSL_CTX_use_PrivateKey(context_, k);
    EVP_PKEY_free(k), X509_free(x), BIO_free(key), BIO_free(certificate);
  }

  SSL_CTX* context_;
  int socket_;
  SSL* ssl_ = nullptr;
  bool is_connected_ = false;
};

serving::Options options_for(const testing::TemporaryFolder& folder, const std::string& config) {
  folder.file("ssl.config", config);
  testing::save_half(folder / "half/1");
  return {.models = {{.name = "half", .base_path = folder / "half"}},
          .rest_api_port = 0,
          .ssl_config_file = folder / "ssl.config",
          .drain_seconds = 0,
          .grace_seconds = 5};
}
constexpr const char* predict = "/v1/models/half:predict";
constexpr const char* body = R"({"instances": [1.0, 2.0, 5.0]})";

TEST_CASE("tls: REST, several requests on a connection, TLS 1.2 and 1.3 only") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority);
  const testing::TemporaryFolder folder;
  serving::Options options = options_for(folder, ssl_config(own));
  options.bind = "0.0.0.0";  // without tokens
  Server server(options);
  server.engine().settle();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const TlsClient client(server.rest_port(), authority.certificate, {.version = version});
    REQUIRE(client.is_connected());
    CHECK(client.serial() == 2);
    for (int i = 0; i < 2; ++i)
      CHECK_THAT(client.ask(predict, body), StartsWith("HTTP/1.1 200") && ContainsSubstring("[2.5,3.0,4.5]"));
  }
  CHECK_FALSE(TlsClient(server.rest_port(), authority.certificate, {.version = TLS1_1_VERSION}).is_connected());
  CHECK_FALSE(TlsClient(server.rest_port(), make_certificate(3).certificate).is_connected());
}

TEST_CASE("tls: clients that must show a certificate") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority),
                          client = make_certificate(3, &authority), other = make_certificate(4);
  const testing::TemporaryFolder folder;
  Server server(options_for(folder, ssl_config(own, authority.certificate, true)));
  server.engine().settle();
  const auto answer = [&](const KeyAndCertificate* shown) {
    return TlsClient(server.rest_port(), authority.certificate, {.own = shown}).ask(predict, body);
  };
  CHECK_THAT(answer(&client), StartsWith("HTTP/1.1 200"));
  CHECK(answer(nullptr).empty());
  CHECK(answer(&other).empty());
}

TEST_CASE("tls: certificates are renewed under load, and a wrong file changes nothing") {
  const KeyAndCertificate authority = make_certificate(1), first = make_certificate(10, &authority),
                          second = make_certificate(11, &authority);
  const testing::TemporaryFolder folder;
  Server server(options_for(folder, ssl_config(first)));
  server.engine().settle();
  std::atomic<int> good{0}, bad{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int k = 0; k < 4; ++k)
    clients.emplace_back([&] {
      while (!stop) {
        const TlsClient client(server.rest_port(), authority.certificate);
        for (int i = 0; i < 5; ++i) ++(client.ask(predict, body).starts_with("HTTP/1.1 200") ? good : bad);
      }
    });
  const auto serial = [&] { return TlsClient(server.rest_port(), authority.certificate).serial(); };
  CHECK(serial() == 10);
  for (const KeyAndCertificate* next : {&second, &first, &second}) {
    folder.file("ssl.config", ssl_config(*next));
    server.reload_access();
    CHECK(serial() == (next == &second ? 11 : 10));
  }
  folder.file("ssl.config", ssl_config({first.key, second.certificate}));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { server.reload_access(); }),
             ContainsSubstring("server_key cannot be used"));
  CHECK(serial() == 11);
  while (good < 40 && bad == 0) std::this_thread::yield();
  stop = true;
  for (std::thread& t : clients) t.join();
  CHECK(bad == 0);
}

TEST_CASE("tls: a client that closes its connection cancels its request") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority);
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  serving::Options options = options_for(folder, ssl_config(own));
  options.models = {{.name = "slow", .base_path = folder / "slow"}};
  Server server(options);
  server.engine().settle();
  const std::string endless = R"({"instances": [1000000000.0]})";
  const TlsClient client(server.rest_port(), authority.certificate);
  REQUIRE(client.send("POST /v1/models/slow:predict HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                      std::to_string(endless.size()) + "\r\n\r\n" + endless));
  while (testing::metric(server.engine(), "tandem_in_flight") < 1) std::this_thread::yield();
  client.end();
  while (testing::metric(server.engine(), "tandem_in_flight") > 0) std::this_thread::yield();
  CHECK(testing::metric(server.engine(), "tandem_rejected_total{reason=\"cancelled\"}") == 1);
}

TEST_CASE("tls: files that cannot be used") {
  const KeyAndCertificate own = make_certificate(1);
  const testing::TemporaryFolder folder;
  const auto error = [&](const std::string& config) {
    const serving::Options options = options_for(folder, config);
    std::filesystem::remove_all(folder / "half");
    return error_of<errors::InvalidArgumentError>([&] { Server server(options); });
  };
  CHECK_THAT(error("server_key: \"x\""), ContainsSubstring("it has no server_key or no server_cert"));
  CHECK_THAT(error("server_kay: \"x\""), ContainsSubstring("ssl.config:1: there is no field 'server_kay'"));
  CHECK_THAT(error(ssl_config({own.key, own.key})), ContainsSubstring("server_cert cannot be used"));
  CHECK_THAT(error(ssl_config(own) + "client_verify: true"), ContainsSubstring("client_verify needs custom_ca"));
  serving::Options options = options_for(folder, "server_key: \"none.pem\" server_cert: \"none.pem\"");
  CHECK_THROWS_AS(Server(options), errors::NotFoundError);
  folder.file("key.pem", own.key), folder.file("certificate.pem", own.certificate);
  folder.file("ssl.config",
              "server_key: '" + folder / "key.pem" + "' server_cert: '" + folder / "certificate.pem" + "'");
  Server server(options);
  CHECK(TlsClient(server.rest_port(), own.certificate).is_connected());
}

TEST_CASE("tls: a client that still sends a body that is too large gets the answer") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority);
  const testing::TemporaryFolder folder;
  serving::Options options = options_for(folder, ssl_config(own));
  options.max_request_bytes = 1000;
  Server server(options);
  server.engine().settle();
  const TlsClient client(server.rest_port(), authority.certificate);
  REQUIRE(client.send("POST /v1/models/half:predict HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"));
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    CHECK(client.send(std::string(10'000, ' ')));
  }
  CHECK_THAT(client.receive(), StartsWith("HTTP/1.1 413"));
}

}  // namespace tls_test
