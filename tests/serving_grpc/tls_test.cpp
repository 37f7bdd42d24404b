// gRPC by TLS: certificates of the server and of clients, and certificates that are renewed under load.
#include <atomic>
#include <thread>

#include "tests/serving/certificate_files.hpp"
#include "tests/serving_grpc/client.hpp"

namespace grpc_tls_test {

using namespace tandem;
using serving::Server;
using testing::GrpcClient;
using testing::KeyAndCertificate;
using testing::make_certificate;
using testing::grpc_predict_path;
using testing::predict_request;
using testing::ssl_config;

std::shared_ptr<grpc::ChannelCredentials> trusting(const std::string& authority, const KeyAndCertificate& own = {}) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = authority;
  options.pem_private_key = own.key, options.pem_cert_chain = own.certificate;
  return grpc::SslCredentials(options);
}
serving::Options options_for(const testing::TemporaryFolder& folder, const std::string& config) {
  folder.file("ssl.config", config);
  testing::save_half(folder / "half/1");
  serving::Options r = testing::grpc_options(folder.path, "half");
  r.ssl_config_file = folder / "ssl.config";
  return r;
}
int code(const Server& server, const std::shared_ptr<grpc::ChannelCredentials>& by) {
  return GrpcClient(server.port(), by).call(grpc_predict_path, predict_request("half", {1}), {.seconds = 10}).code;
}

TEST_CASE("grpc tls: clients that trust the server, and others") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority);
  const testing::TemporaryFolder folder;
  serving::Options options = options_for(folder, ssl_config(own));
  options.bind = "0.0.0.0";  // without tokens
  Server server(options, serving::grpc_listener);
  server.engine().settle();
  CHECK(code(server, trusting(authority.certificate)) == 0);
  CHECK(code(server, trusting(make_certificate(3).certificate)) == 14);
  CHECK(code(server, grpc::InsecureChannelCredentials()) == 14);
}

TEST_CASE("grpc tls: clients that must show a certificate") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority),
                          client = make_certificate(3, &authority), other = make_certificate(4);
  const testing::TemporaryFolder folder;
  Server server(options_for(folder, ssl_config(own, authority.certificate, true)), serving::grpc_listener);
  server.engine().settle();
  CHECK(code(server, trusting(authority.certificate, client)) == 0);
  CHECK(code(server, trusting(authority.certificate)) == 14);
  CHECK(code(server, trusting(authority.certificate, other)) == 14);
}

TEST_CASE("grpc tls: certificates are renewed under load") {
  const KeyAndCertificate authority = make_certificate(1), other = make_certificate(2),
                          first = make_certificate(10, &authority), second = make_certificate(11, &other);
  const testing::TemporaryFolder folder;
  Server server(options_for(folder, ssl_config(first)), serving::grpc_listener);
  server.engine().settle();
  std::atomic<int> good{0}, bad{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  const std::string both = authority.certificate + other.certificate;
  for (const bool reconnects : {false, true, true})
    clients.emplace_back([&, reconnects] {
      std::optional<GrpcClient> client;
      while (!stop) {
        if (reconnects || !client) client.emplace(server.port(), trusting(both));
        ++(client->call(grpc_predict_path, predict_request("half", {1})).code == 0 ? good : bad);
      }
    });
  CHECK(code(server, trusting(authority.certificate)) == 0);
  CHECK(code(server, trusting(other.certificate)) == 14);
  folder.file("ssl.config", ssl_config(second));
  server.reload_access();
  CHECK(code(server, trusting(authority.certificate)) == 14);
  CHECK(code(server, trusting(other.certificate)) == 0);
  while (good < 40 && bad == 0) std::this_thread::yield();
  stop = true;
  for (std::thread& t : clients) t.join();
  CHECK(bad == 0);
}

TEST_CASE("grpc tls: client_verify cannot change while the server runs") {
  const KeyAndCertificate authority = make_certificate(1), own = make_certificate(2, &authority),
                          client = make_certificate(3, &authority);
  const testing::TemporaryFolder folder;
  Server server(options_for(folder, ssl_config(own, authority.certificate, true)), serving::grpc_listener);
  server.engine().settle();
  folder.file("ssl.config", ssl_config(make_certificate(4, &authority)));
  CHECK_THROWS_AS(server.reload_access(), errors::InvalidArgumentError);
  CHECK(code(server, trusting(authority.certificate, client)) == 0);
  CHECK(code(server, trusting(authority.certificate)) == 14);
}

}  // namespace grpc_tls_test
