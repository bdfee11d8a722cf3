#include "bench/client/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <filesystem>
#include <limits>
#include <utility>

namespace evener::bench {
namespace {

bool is_ip_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

// The reason of OpenSSL's first error, and none left behind for whoever asks next.
std::string take_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "the connection ended inside the handshake";
}

std::string explain_certificate(long code, const std::string& host) {
  const std::string why = X509_verify_cert_error_string(code);
  switch (code) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return fmt::format(
          "nobody this machine trusts vouches for the certificate of '{}' ({}): give its "
          "certificate with --ca-file, or --insecure to measure without the check",
          host, why);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format(
          "the certificate is not one of '{}' ({}): use the name it was made for, or --insecure "
          "to "
          "measure without the check",
          host, why);
    default:
      return fmt::format("the certificate of '{}' does not hold: {}", host, why);
  }
}

Error bad_ca_file(Code code, const std::string& file, std::string why) {
  return {.code = code,
          .doing = "read the certificates to trust",
          .where = file,
          .why = std::move(why),
          .remedy = "--ca-file takes a PEM file"};
}

// SNI and the name to check; both as RFC 6066 and 9525 want them.
bool set_host(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* const checks = SSL_get0_param(ssl);
  if (is_ip_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(checks, host.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 &&
         X509_VERIFY_PARAM_set1_host(checks, host.c_str(), host.size()) == 1;
}

}  // namespace

TlsSession::TlsSession(ssl_st* ssl, std::string host)
    : ssl_(ssl),
      from_socket_(BIO_new(BIO_s_mem())),
      to_socket_(BIO_new(BIO_s_mem())),
      host_(std::move(host)) {
  SSL_set_bio(ssl_, from_socket_, to_socket_);
  SSL_set_connect_state(ssl_);
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

TlsSession::State TlsSession::feed(std::string_view bytes, std::string& plain) {
  if (state_ == State::failed || state_ == State::ended) return state_;
  if (!bytes.empty()) BIO_write(from_socket_, bytes.data(), static_cast<int>(bytes.size()));
  return state_ = step(plain);
}

TlsSession::State TlsSession::step(std::string& plain) {
  ERR_clear_error();
  if (state_ == State::handshake) {
    const int outcome = SSL_do_handshake(ssl_);
    if (outcome != 1) {
      return SSL_get_error(ssl_, outcome) == SSL_ERROR_WANT_READ ? State::handshake : fail();
    }
  }
  char bytes[16384];  // a record's most
  while (true) {
    const int size = SSL_read(ssl_, bytes, sizeof bytes);
    if (size > 0) {
      plain.append(bytes, static_cast<size_t>(size));
      continue;
    }
    const int error = SSL_get_error(ssl_, size);
    if (error == SSL_ERROR_WANT_READ) return State::open;
    return error == SSL_ERROR_ZERO_RETURN ? State::ended : fail();
  }
}

TlsSession::State TlsSession::fail() {
  const long verified = SSL_get_verify_result(ssl_);
  const bool distrusts = verified != X509_V_OK && SSL_get_verify_mode(ssl_) != SSL_VERIFY_NONE;
  const std::string reason = take_reason();
  if (distrusts) {
    why_ = explain_certificate(verified, host_);
  } else if (reason == "wrong version number") {
    why_ = "what answers there does not speak TLS: is it http:// rather than https://?";
  } else {
    why_ = "TLS with '" + host_ + "' failed: " + reason;
  }
  return State::failed;
}

void TlsSession::write(std::string_view plain) {
  while (!plain.empty()) {
    const size_t size =
        std::min<size_t>(plain.size(), static_cast<size_t>(std::numeric_limits<int>::max()));
    // A memory BIO takes all there is.
    const int written = SSL_write(ssl_, plain.data(), static_cast<int>(size));
    if (written <= 0) return;  // the session has failed, which the next read tells
    plain.remove_prefix(static_cast<size_t>(written));
  }
}

std::string TlsSession::take_output() {
  std::string out(BIO_ctrl_pending(to_socket_), '\0');
  if (!out.empty()) BIO_read(to_socket_, out.data(), static_cast<int>(out.size()));
  return out;
}

TlsContext::TlsContext(ssl_ctx_st* context, Options options)
    : context_(context), options_(std::move(options)) {}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::unique_ptr<TlsContext>> TlsContext::create(Options options) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) {
    return Error{.code = Code::internal,
                 .doing = "set up TLS",
                 .where = {},
                 .why = take_reason(),
                 .remedy = {}};
  }
  std::unique_ptr<TlsContext> out(new TlsContext(context, std::move(options)));
  const Options& wanted = out->options_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, wanted.verify_certificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     nullptr);
  if (wanted.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context);  // an empty store shows as a certificate's error
    return out;
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(wanted.ca_file, ignored)) {
    return bad_ca_file(Code::not_found, wanted.ca_file, "there is no such file");
  }
  ERR_clear_error();
  if (SSL_CTX_load_verify_locations(context, wanted.ca_file.c_str(), nullptr) != 1) {
    return bad_ca_file(Code::corrupt, wanted.ca_file,
                       "holds no certificate that can be read (" + take_reason() + ")");
  }
  return out;
}

Result<std::unique_ptr<TlsSession>> TlsContext::new_session() const {
  SSL* const ssl = SSL_new(context_);
  if (ssl != nullptr && set_host(ssl, options_.host)) {
    return std::unique_ptr<TlsSession>(new TlsSession(ssl, options_.host));
  }
  SSL_free(ssl);
  return Error{.code = Code::internal,
               .doing = "set up TLS",
               .where = options_.host,
               .why = take_reason(),
               .remedy = {}};
}

}  // namespace evener::bench
