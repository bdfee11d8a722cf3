#include "bench/client/response_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <optional>

namespace evener::bench {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

// A body that is handed on instead of kept.
struct PassedBody {
  struct value_type {  // NOLINT(readability-identifier-naming): the library's name
    const ResponseParser::OnBody* on_body = nullptr;
    bool stopped = false;
  };

  class reader {  // NOLINT(readability-identifier-naming): the library's name
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>&, value_type& sink) : sink_(sink) {}

    void init(const boost::optional<uint64_t>&, ErrorCode& error) { error = {}; }

    template <class Buffers>
    size_t put(const Buffers& buffers, ErrorCode& error) {
      error = {};
      size_t size = 0;
      for (auto at = boost::asio::buffer_sequence_begin(buffers);
           at != boost::asio::buffer_sequence_end(buffers); ++at) {
        const boost::asio::const_buffer piece = *at;
        size += piece.size();
        if (sink_.stopped) continue;
        const std::string_view bytes(static_cast<const char*>(piece.data()), piece.size());
        sink_.stopped = !(*sink_.on_body)(bytes);
      }
      return size;
    }

    void finish(ErrorCode& error) { error = {}; }

   private:
    value_type& sink_;
  };
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string media_type(std::string_view field) {
  std::string type = lower(field.substr(0, field.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

}  // namespace

class ResponseParser::Impl {
 public:
  Impl() { restart(); }

  State feed(std::string_view bytes, OnBody on_body) {
    if (state_ == State::complete) has_surplus_ = has_surplus_ || !bytes.empty();
    if (state_ != State::head && state_ != State::body) return state_;
    if (waiting_.empty()) {
      waiting_ = bytes.substr(parse(bytes, on_body));
    } else {
      waiting_ += bytes;
      waiting_.erase(0, parse(waiting_, on_body));
    }
    // A head has the parser's limit; the line before a chunk has none there.
    if (state_ == State::body && waiting_.size() > kHeadBytesMax) {
      return fail("it is no HTTP answer (the line before a chunk does not end)");
    }
    has_surplus_ = state_ == State::complete && !waiting_.empty();
    return state_;
  }

  State end() {
    if (state_ != State::head && state_ != State::body) return state_;
    ErrorCode error;
    const bool had_head = parser_->is_header_done();
    if (had_head) parser_->put_eof(error);
    if (!had_head || error) return fail("the connection ended inside the answer");
    return state_ = State::complete;
  }

  State state_ = State::head;
  ResponseHead head_;
  std::string why_;

  bool keeps_alive() const { return !has_surplus_ && parser_->keep_alive(); }

 private:
  void restart() {
    parser_.emplace();  // not eager: stops behind the head, which is to be known before the body
    parser_->header_limit(kHeadBytesMax);
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // whoever takes the bytes counts
  }

  // How many bytes were used.
  size_t parse(std::string_view bytes, OnBody on_body) {
    size_t num_used = 0;
    while (num_used < bytes.size() && (state_ == State::head || state_ == State::body)) {
      parser_->get().body().on_body = &on_body;
      ErrorCode error;
      num_used += parser_->put(
          boost::asio::buffer(bytes.data() + num_used, bytes.size() - num_used), error);
      const bool needs_more = error == http::error::need_more;
      if (parser_->get().body().stopped) {  // what comes after it is nobody's concern
        state_ = State::stopped;
      } else if (error && !needs_more) {
        fail("it is no HTTP answer (" + error.message() + ")");
      } else {
        settle();
      }
      if (needs_more) break;
    }
    return num_used;
  }

  void settle() {
    if (state_ == State::head && parser_->is_header_done()) {
      if (parser_->get().result_int() / 100 == 1) return restart();
      take_head();
    }
    if (parser_->is_done()) state_ = State::complete;
  }

  void take_head() {
    const auto& message = parser_->get();
    const auto field = [&message](http::field name) {
      const auto value = message[name];
      return std::string_view(value.data(), value.size());
    };
    head_.status = static_cast<int>(message.result_int());
    head_.content_type = media_type(field(http::field::content_type));
    head_.content_encoding = lower(field(http::field::content_encoding));
    head_.location = field(http::field::location);
    parser_->eager(true);
    state_ = State::body;
  }

  State fail(std::string why) {
    why_ = std::move(why);
    return state_ = State::failed;
  }

  std::optional<http::response_parser<PassedBody>> parser_;
  std::string waiting_;  // not used by the parser yet
  bool has_surplus_ = false;
};

ResponseParser::ResponseParser() : impl_(std::make_unique<Impl>()) {}
ResponseParser::~ResponseParser() = default;

ResponseParser::State ResponseParser::feed(std::string_view bytes, OnBody on_body) {
  return impl_->feed(bytes, on_body);
}
ResponseParser::State ResponseParser::end() { return impl_->end(); }
ResponseParser::State ResponseParser::state() const { return impl_->state_; }
const ResponseHead& ResponseParser::head() const { return impl_->head_; }
bool ResponseParser::keeps_alive() const { return impl_->keeps_alive(); }
const std::string& ResponseParser::why() const { return impl_->why_; }

}  // namespace evener::bench
