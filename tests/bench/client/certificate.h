#pragma once

#include <boost/asio/ssl.hpp>
#include <string>

namespace evener::bench {

// A key and a certificate for it that it has signed itself, made on the spot.
struct Certificate {
  std::string key_pem;
  std::string certificate_pem;
};
// `names`: as OpenSSL writes alternative names, "DNS:localhost,IP:127.0.0.1".
Certificate make_certificate(const std::string& names);

boost::asio::ssl::context server_context(const Certificate& certificate);

}  // namespace evener::bench
