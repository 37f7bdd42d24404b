// Keys and certificates for the tests of serving, made by OpenSSL.
#pragma once
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace testing {

struct KeyAndCertificate {
  std::string key, certificate;  // PEM
};

/// A key and a certificate of localhost for a day, signed by another one or by itself.
///   serial   tells certificates apart
inline KeyAndCertificate make_certificate(long serial, const KeyAndCertificate* issuer = nullptr) {
  const auto text = [](BIO* bio) {
    char* data = nullptr;
    const long n = BIO_get_mem_data(bio, &data);
    std::string r(data, static_cast<std::size_t>(n));
    BIO_free(bio);
    return r;
  };
  const auto read = [](const std::string& pem) { return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())); };
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> x(X509_new(), X509_free);
  X509_set_version(x.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(x.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x.get()), 24 * 3600);
  X509_set_pubkey(x.get(), key.get());
  const std::string name = issuer ? "localhost" : "authority " + std::to_string(serial);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  for (const auto& [id, value] : {std::pair(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"),
                                  std::pair(NID_basic_constraints, issuer ? "CA:FALSE" : "critical,CA:TRUE")}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value);
    X509_add_ext(x.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  if (issuer) {
    BIO *const key_bio = read(issuer->key), *const certificate_bio = read(issuer->certificate);
    EVP_PKEY* const signer = PEM_read_bio_PrivateKey(key_bio, nullptr, nullptr, nullptr);
    X509* const authority = PEM_read_bio_X509(certificate_bio, nullptr, nullptr, nullptr);
    X509_set_issuer_name(x.get(), X509_get_subject_name(authority));
    X509_sign(x.get(), signer, EVP_sha256());
    EVP_PKEY_free(signer), X509_free(authority), BIO_free(key_bio), BIO_free(certificate_bio);
  } else {
    X509_set_issuer_name(x.get(), X509_get_subject_name(x.get()));
    X509_sign(x.get(), key.get(), EVP_sha256());
  }
  BIO *const key_bio = BIO_new(BIO_s_mem()), *const certificate_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  PEM_write_bio_X509(certificate_bio, x.get());
  return {text(key_bio), text(certificate_bio)};
}

/// An SSLConfig in the text format.
inline std::string ssl_config(const KeyAndCertificate& own, const std::string& custom_ca = {},
                              bool client_verify = false) {
  const auto quoted = [](const std::string& pem) {
    std::string r;
    for (const char c : pem) r += c == '\n' ? "\\n" : std::string(1, c);
    return "\"" + r + "\"\n";
  };
  std::string r = "server_key: " + quoted(own.key) + "server_cert: " + quoted(own.certificate);
  if (!custom_ca.empty()) r += "custom_ca: " + quoted(custom_ca);
  return r + (client_verify ? "client_verify: true\n" : "");
}

}  // namespace testing
