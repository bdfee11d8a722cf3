#include "bench/client/url.h"

#include <gtest/gtest.h>

namespace evener::bench {
namespace {

TEST(BenchUrl, IsTakenApart) {
  struct UrlCase {
    std::string_view text;
    bool https;
    std::string_view host, port, prefix, authority;
  };
  const UrlCase cases[] = {
      {"http://127.0.0.1:8080", false, "127.0.0.1", "8080", "", "127.0.0.1:8080"},
      {"http://localhost", false, "localhost", "80", "", "localhost"},
      {"https://example.org/", true, "example.org", "443", "", "example.org"},
      {"https://example.org:8443/v1", true, "example.org", "8443", "", "example.org:8443"},
      {"http://h:80/v1/", false, "h", "80", "", "h"},
      {"http://h/prefix/v1", false, "h", "80", "/prefix", "h"},
      {"http://h/a/b//", false, "h", "80", "/a/b", "h"},
      {"http://h/xv1", false, "h", "80", "/xv1", "h"},
      {"http://[::1]:8080/p", false, "::1", "8080", "/p", "[::1]:8080"},
      {"https://[fe80::1]", true, "fe80::1", "443", "", "[fe80::1]"},
  };
  for (const UrlCase& c : cases) {
    const Result<Url> url = parse_url(c.text);
    ASSERT_TRUE(url) << c.text;
    EXPECT_EQ(url->https, c.https) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->prefix, c.prefix) << c.text;
    EXPECT_EQ(url->authority(), c.authority) << c.text;
  }
}

TEST(BenchUrl, WhatIsNoneIsRefusedWithAnExample) {
  for (const std::string_view text :
       {"", "127.0.0.1:8080", "ftp://h", "http://", "http:///v1", "http://h:0", "http://h:65536",
        "http://h:x", "http://h:", "http://a b", "http://h/\r\nX: y", "http://user:key@h",
        "http://h?x=1", "http://[::1", "http://[::1]x", "http://[h]", "http://::1",
        "http://h/\x01"}) {
    const Result<Url> url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::invalid_argument) << text;
    EXPECT_FALSE(url.error().remedy.empty()) << text;
  }
  EXPECT_FALSE(parse_url("http://" + std::string(5000, 'h')));
  EXPECT_EQ(to_string(parse_url("h:80").error()),
            "cannot use the server's URL: 'h:80': does not begin with http:// or https://\n"
            "  give it like http://127.0.0.1:8080 or https://example.org/prefix");
}

}  // namespace
}  // namespace evener::bench
