#include "bench/client/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

namespace evener::bench {
namespace {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Freed<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

std::string text_of(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

constexpr long kDay = 24 * 60 * 60;

}  // namespace

Certificate make_certificate(const std::string& names) {
  const Key key(EVP_EC_gen("P-256"));
  const X509Ptr certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(x), kDay);
  X509_set_pubkey(x, key.get());
  X509_NAME* const name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(x, name);
  const Extension alternative(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()));
  X509_add_ext(x, alternative.get(), -1);
  X509_sign(x, key.get(), EVP_sha256());

  const Bio key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), x);
  return {.key_pem = text_of(key_text), .certificate_pem = text_of(certificate_text)};
}

boost::asio::ssl::context server_context(const Certificate& certificate) {
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_server);
  context.use_private_key(boost::asio::buffer(certificate.key_pem), context.pem);
  context.use_certificate(boost::asio::buffer(certificate.certificate_pem), context.pem);
  return context;
}

}  // namespace evener::bench
