#include "serve/http_message.h"

#include <gtest/gtest.h>

#include <charconv>

#include "serve/api_keys.h"
#include "serve/cors.h"
#include "serve/metrics.h"
#include "serve/response_head.h"

namespace evener::serve {
namespace {

HttpRequest with_header(std::string name, std::string value) {
  return {.id = "r",
          .method = "GET",
          .target = "/",
          .path = "/",
          .headers = {{std::move(name), std::move(value)}},
          .body = ""};
}

TEST(NormalisePath, MakesOneOfManySpellings) {
  EXPECT_EQ(normalise_path("/v1/models"), "/models");
  EXPECT_EQ(normalise_path("/models"), "/models");
  EXPECT_EQ(normalise_path("/v1//models/"), "/models");
  EXPECT_EQ(normalise_path("//v1/models?beta=true"), "/models");
  EXPECT_EQ(normalise_path("http://host:80/v1/models"), "/models");
  EXPECT_EQ(normalise_path("http://host"), "/");
  EXPECT_EQ(normalise_path("/v1/models/org%2Fname"), "/models/org/name");
  EXPECT_EQ(normalise_path("/v1"), "/");
  EXPECT_EQ(normalise_path("/v1x"), "/v1x");
  EXPECT_EQ(normalise_path("/a%zz%2"), "/a%zz%2");
  EXPECT_EQ(normalise_path(""), "/");
}

TEST(ApiKeys, TakesBothHeadersAndNoOtherKey) {
  const ApiKeys keys({"secret", "other"});
  EXPECT_TRUE(keys.allow(with_header("authorization", "Bearer secret")));
  EXPECT_TRUE(keys.allow(with_header("authorization", "bearer  other")));
  EXPECT_TRUE(keys.allow(with_header("x-api-key", "secret")));
  EXPECT_FALSE(keys.allow(with_header("authorization", "Bearer secre")));
  EXPECT_FALSE(keys.allow(with_header("authorization", "Bearer secretx")));
  EXPECT_FALSE(keys.allow(with_header("authorization", "Bearer")));
  EXPECT_FALSE(keys.allow(with_header("authorization", "Basic secret")));
  EXPECT_FALSE(keys.allow(with_header("x-api-key", "")));
  EXPECT_TRUE(ApiKeys({}).allow(with_header("x-api-key", "anything")));
}

TEST(Cors, KnowsPagesOfThisMachineOnly) {
  EXPECT_TRUE(is_local_origin("http://localhost:3000"));
  EXPECT_TRUE(is_local_origin("https://127.0.0.1"));
  EXPECT_TRUE(is_local_origin("http://[::1]:8080"));
  EXPECT_FALSE(is_local_origin("http://localhost.evil.example"));
  EXPECT_FALSE(is_local_origin("http://localhost:80.evil.example"));
  EXPECT_FALSE(is_local_origin("http://127.0.0.1@evil.example"));
  EXPECT_FALSE(is_local_origin("null"));
}

TEST(ResponseHead, CannotBeSplitByAValue) {
  const std::string head = response_head({.status = 200,
                                          .content_type = "text/plain",
                                          .headers = {{"x-a", "b\r\nSet-Cookie: c"}},
                                          .body = "body"},
                                         {});
  EXPECT_EQ(head.find("\r\nSet-Cookie"), std::string::npos);
  EXPECT_NE(head.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\nDate: "));
}

TEST(Metrics, EscapesLabelsAndAddsUpBuckets) {
  EXPECT_EQ(escape_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  Metrics metrics;
  metrics.observe(Metrics::Time::queue, std::chrono::milliseconds(1));
  metrics.observe(Metrics::Time::queue, std::chrono::hours(1));
  metrics.count_request("/models", 200);
  const std::string text = metrics.to_text(nullptr, nullptr);
  EXPECT_NE(text.find("evener_queue_seconds_bucket{le=\"0.001\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("evener_queue_seconds_bucket{le=\"300\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("evener_queue_seconds_bucket{le=\"+Inf\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("evener_http_requests_total{route=\"/models\",status=\"200\"} 1\n"),
            std::string::npos);
}

TEST(Metrics, TellTheMemoryOfTheProcess) {
  const std::string text = Metrics().to_text(nullptr, nullptr);
  const std::string_view name = "\nprocess_resident_memory_bytes ";
  const size_t at = text.find(name);
  ASSERT_NE(at, std::string::npos);
  double bytes = 0;
  std::from_chars(text.data() + at + name.size(), text.data() + text.size(), bytes);
  EXPECT_GT(bytes, 1e6);
  EXPECT_LT(bytes, 1e12);
}

}  // namespace
}  // namespace evener::serve
