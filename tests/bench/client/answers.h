#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "bench/client.h"

// What the servers of these tests say, and the clients that ask them.

namespace evener::bench {

inline Target target_at(const std::string& url) {
  Target target;
  target.url = url;
  target.model = "m";
  return target;
}

inline std::unique_ptr<Client> client_for(const Target& target) {
  auto client = Client::create(target, Clock::now());
  EXPECT_TRUE(client) << to_string(client.error());
  return client ? std::move(*client) : nullptr;
}

inline std::unique_ptr<Client> client_for(const std::string& url) {
  return client_for(target_at(url));
}

inline RequestPlan chat() {
  RequestPlan plan;
  plan.messages = {{.role = "user", .content = "hello"}};
  plan.max_tokens = 4;
  plan.timeout = std::chrono::seconds(60);
  return plan;
}

inline std::string content_event(std::string_view text) {
  return fmt::format(
      "data: {{\"id\":\"a1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}\n\n",
      json::Value(text).dump());
}

inline std::string finish_event(std::string_view reason) {
  return fmt::format(
      "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{}\"}}]}}\n\n",
      reason);
}

inline const std::string kRole =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
inline const std::string kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
    "\"prompt_tokens_details\":{\"cached_tokens\":3},"
    "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n";
inline const std::string kDone = "data: [DONE]\n\n";
inline const std::string kGoodEvents = content_event("a") + finish_event("stop") + kDone;

inline std::string chunked(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

inline const std::string kChunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

inline std::string chunked_stream(std::string_view events) {
  return kChunkedHead + chunked(events) + "0\r\n\r\n";
}

}  // namespace evener::bench
