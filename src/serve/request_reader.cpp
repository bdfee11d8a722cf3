#include "serve/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "base/text.h"
#include "serve/random.h"

namespace evener::serve {
namespace http = boost::beast::http;

struct RequestReader::Parser : http::request_parser<http::string_body> {};

namespace {

ApiError malformed(const boost::beast::error_code& error) {
  ApiError out = invalid_value("", "the request is not valid HTTP: " + error.message());
  out.code = "malformed_request";
  return out;
}

ApiError to_error(const boost::beast::error_code& error) {
  ApiError out = malformed(error);
  if (error == http::error::header_limit) {
    out.status = 431;
    out.code = "header_too_large";
    out.message = "the request's header is too large";
  } else if (error == http::error::body_limit) {
    out.status = 413;
    out.code = "request_too_large";
    out.message = "the request's body is too large";
  }
  return out;
}

std::string to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// The client's own id is taken over if it is short and cannot disturb a log.
std::string request_id(const Headers& headers) {
  constexpr size_t kLengthMax = 128;
  const auto sent = find_header(headers, "x-request-id");
  if (!sent || sent->empty() || sent->size() > kLengthMax) return random_id("req_");
  for (const char c : *sent) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\') return random_id("req_");
  }
  return std::string(*sent);
}

}  // namespace

RequestReader::RequestReader(RequestLimits limits) : limits_(limits) { (void)take_request(); }

RequestReader::~RequestReader() = default;

std::expected<size_t, ApiError> RequestReader::feed(std::span<const char> bytes) {
  if (bytes.empty()) return size_t{0};
  untouched_ = false;
  const bool was_header = state_ == State::header;
  // Eager: body bytes behind the header are taken at once. Not before the header has been seen.
  parser_->eager(!was_header);
  size_t used = 0;
  while (used < bytes.size() && !parser_->is_done()) {
    boost::beast::error_code error;
    const size_t n =
        parser_->put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += n;
    if (error == http::error::need_more) break;
    if (error) return std::unexpected(to_error(error));
    if (was_header && parser_->is_header_done()) break;
    if (n == 0) break;
  }
  if (was_header && parser_->is_header_done()) {
    read_head();
    state_ = State::body;
  }
  if (parser_->is_done()) state_ = State::done;
  return used;
}

void RequestReader::read_head() {
  const auto& message = parser_->get();
  head_ = {};
  head_.method = to_std(message.method_string());
  head_.target = to_std(message.target());
  head_.path = normalise_path(head_.target);
  for (const auto& field : message) {
    head_.headers.emplace_back(lower_case(to_std(field.name_string())), to_std(field.value()));
  }
  head_.id = request_id(head_.headers);
}

bool RequestReader::keep_alive() const { return parser_->get().keep_alive(); }

bool RequestReader::is_http10() const { return parser_->get().version() < 11; }

bool RequestReader::expects_continue() const {
  const auto expect = find_header(head_.headers, "expect");
  return expect && lower_case(std::string(*expect)) == "100-continue" && !is_http10();
}

HttpRequest RequestReader::take_request() {
  HttpRequest request = std::exchange(head_, {});
  if (parser_) request.body = std::move(parser_->get().body());
  parser_ = std::make_unique<Parser>();
  parser_->header_limit(static_cast<uint32_t>(limits_.header_bytes_max));
  parser_->body_limit(limits_.body_bytes_max);
  state_ = State::header;
  untouched_ = true;
  return request;
}

}  // namespace evener::serve
