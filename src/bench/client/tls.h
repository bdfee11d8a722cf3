#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace evener::bench {

// TLS of one connection, as a filter between what the socket carries and what HTTP says: it knows
// no socket. OpenSSL's own words end here.
class TlsSession {
 public:
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  enum class State { handshake, open, ended, failed };
  // Takes what the socket has read and appends what it means to `plain`. Call it once with nothing
  // to begin the handshake. After each call there may be something in take_output().
  State feed(std::string_view bytes, std::string& plain);
  void write(std::string_view plain);  // once open
  std::string take_output();           // for the socket
  // Why it failed, with the remedy.
  const std::string& why() const { return why_; }

 private:
  friend class TlsContext;
  TlsSession(ssl_st* ssl, std::string host);
  State step(std::string& plain);
  State fail();

  ssl_st* ssl_;
  bio_st* from_socket_;  // owned by ssl_
  bio_st* to_socket_;
  std::string host_;
  std::string why_;
  State state_ = State::handshake;
};

// What all TLS connections of a client share.
class TlsContext {
 public:
  struct Options {
    std::string host;  // whom the certificate must name: a DNS name or an IP address
    bool verify_certificate = true;
    std::string ca_file;  // PEM; empty: the system's store
  };
  // Errors: not_found (ca_file cannot be read), corrupt (it holds no certificate).
  static Result<std::unique_ptr<TlsContext>> create(Options options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Errors: internal (OpenSSL has no memory left).
  Result<std::unique_ptr<TlsSession>> new_session() const;

 private:
  TlsContext(ssl_ctx_st* context, Options options);

  ssl_ctx_st* context_;
  Options options_;
};

}  // namespace evener::bench
