#include "bench/client.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "bench/client/fetch.h"
#include "bench/client/generation.h"
#include "bench/client/model_name.h"
#include "bench/client/request_body.h"

namespace evener::bench {
namespace {

constexpr size_t kReadBufferBytes = size_t{64} << 10;

class HttpClient final : public Client {
 public:
  HttpClient(Target target, Url url, std::unique_ptr<TlsContext> tls, Clock::time_point start);
  ~HttpClient() override;

  RequestNumber start(RequestPlan plan, Observer observer) override;
  void cancel(RequestNumber number) override;
  void call_at(Clock::time_point when, std::function<void()> f) override;
  Result<HttpAnswer> get(const std::string& path, std::chrono::milliseconds timeout) override;
  Result<HttpAnswer> post(const std::string& path, const std::string& body,
                          std::chrono::milliseconds timeout) override;
  const Target& target() const override { return target_; }

 private:
  void begin(RequestNumber number, const std::shared_ptr<Generation>& generation);
  Result<HttpAnswer> wait_for(HttpRequest request, std::chrono::milliseconds timeout);
  void run_io() noexcept;
  void close();

  const Target target_;
  const Clock::time_point start_;
  const std::string headers_;  // of every request
  boost::asio::io_context io_{1};
  ConnectionContext context_;
  ConnectionPool pool_;
  ModelName model_;
  std::atomic<RequestNumber> next_number_{1};
  std::map<RequestNumber, std::shared_ptr<Generation>> running_;
  std::map<RequestNumber, std::shared_ptr<Fetch>> fetches_;
  bool closing_ = false;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;  // the last: it uses all others
};

// Of the calling thread. With a nice value alone it still waited up to 4 ms for a busy server.
bool go_first() {
  constexpr int kNice = -10;
  const sched_param real_time = {.sched_priority = 1};
  return ::pthread_setschedparam(::pthread_self(), SCHED_RR, &real_time) == 0 ||
         ::setpriority(PRIO_PROCESS, id_t(::gettid()), kNice) == 0;
}

std::string key_header(const std::string& key) {
  return key.empty() ? std::string() : "Authorization: Bearer " + key + "\r\n";
}

HttpClient::HttpClient(Target target, Url url, std::unique_ptr<TlsContext> tls,
                       Clock::time_point start)
    : target_(std::move(target)),
      start_(start),
      headers_(key_header(target_.api_key)),
      context_{.io = io_,
               .url = std::move(url),
               .connect_timeout = target_.connect_timeout,
               .tls = std::move(tls),
               .read_buffer = std::vector<char>(kReadBufferBytes)},
      pool_(context_),
      model_(context_, pool_, target_.model, headers_),
      work_(io_.get_executor()),
      thread_([this]() noexcept { run_io(); }) {}

void HttpClient::run_io() noexcept {
  go_first();
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::exception& exception) {
      // Memory or threads have run out; the request at hand ends by its timeout.
      log::error("the bench's client goes on after: {}", exception.what());
    }
  }
}

HttpClient::~HttpClient() {
  EVENER_ASSERT(std::this_thread::get_id() != thread_.get_id());
  boost::asio::post(io_, [this] { close(); });
  thread_.join();
}

void HttpClient::close() {
  closing_ = true;
  while (!running_.empty()) {
    const std::shared_ptr<Generation> generation = running_.begin()->second;
    generation->cancel();
  }
  while (!fetches_.empty()) {
    const std::shared_ptr<Fetch> fetch = fetches_.begin()->second;
    fetch->cancel();
  }
  model_.cancel();
  pool_.close_all();
  io_.stop();
}

Client::RequestNumber HttpClient::start(RequestPlan plan, Observer observer) {
  const RequestNumber number = next_number_++;
  // Here and not on the client's thread: a long prompt takes a while to write down.
  RequestBody body = make_body(plan);
  body.name_model(target_.model);
  auto generation = std::make_shared<Generation>(
      context_, pool_,
      Generation::Parts{.plan = std::move(plan),
                        .body = std::move(body),
                        .observer = std::move(observer),
                        .headers = headers_,
                        .start = start_,
                        .on_ended = [this, number] { running_.erase(number); }});
  boost::asio::dispatch(
      io_, [this, number, generation = std::move(generation)] { begin(number, generation); });
  return number;
}

void HttpClient::begin(RequestNumber number, const std::shared_ptr<Generation>& generation) {
  if (closing_) return generation->cancel();
  running_[number] = generation;
  model_.find([generation](const std::string& model) { generation->start(model); });
}

void HttpClient::cancel(RequestNumber number) {
  boost::asio::dispatch(io_, [this, number] {
    const auto at = running_.find(number);
    if (at == running_.end()) return;
    const std::shared_ptr<Generation> generation = at->second;
    generation->cancel();
  });
}

void HttpClient::call_at(Clock::time_point when, std::function<void()> f) {
  boost::asio::dispatch(io_, [this, when, f = std::move(f)]() mutable {
    const auto timer = std::make_shared<boost::asio::steady_timer>(io_, when);
    timer->async_wait([timer, f = std::move(f)](const boost::system::error_code& error) {
      if (!error) f();
    });
  });
}

Result<HttpAnswer> HttpClient::get(const std::string& path, std::chrono::milliseconds timeout) {
  return wait_for({.method = "GET", .path = path, .body = {}, .headers = headers_}, timeout);
}

Result<HttpAnswer> HttpClient::post(const std::string& path, const std::string& body,
                                    std::chrono::milliseconds timeout) {
  return wait_for({.method = "POST", .path = path, .body = body, .headers = headers_}, timeout);
}

Result<HttpAnswer> HttpClient::wait_for(HttpRequest request, std::chrono::milliseconds timeout) {
  EVENER_ASSERT(std::this_thread::get_id() != thread_.get_id());
  // Shared: the client's thread may still be inside set_value when get has returned.
  const auto answered = std::make_shared<std::promise<Result<HttpAnswer>>>();
  std::future<Result<HttpAnswer>> answer = answered->get_future();
  const RequestNumber number = next_number_++;
  boost::asio::post(io_, [this, number, timeout, answered, request = std::move(request)]() mutable {
    const auto fetch = std::make_shared<Fetch>(context_, pool_, std::move(request),
                                               [this, number, answered](Result<HttpAnswer> came) {
                                                 fetches_.erase(number);
                                                 answered->set_value(std::move(came));
                                               });
    fetches_[number] = fetch;
    fetch->start(timeout);
  });
  return answer.get();
}

Error bad_key() {
  return {.code = Code::invalid_argument,
          .doing = "use the server's key",
          .where = {},
          .why = "it holds characters that no header can carry",
          .remedy = "was a line end copied with it?"};
}

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

bool client_goes_first() {
  bool does = false;
  std::thread([&does] { does = go_first(); }).join();
  return does;
}

Result<std::unique_ptr<Client>> Client::create(const Target& target, Clock::time_point start) {
  ASSIGN_OR_RETURN(Url url, parse_url(target.url));
  if (!std::all_of(target.api_key.begin(), target.api_key.end(), is_visible)) return bad_key();
  std::unique_ptr<TlsContext> tls;
  if (url.https) {
    ASSIGN_OR_RETURN(tls, TlsContext::create({.host = url.host,
                                              .verify_certificate = target.verify_certificate,
                                              .ca_file = target.ca_file}));
  }
  try {
    return std::make_unique<HttpClient>(target, std::move(url), std::move(tls), start);
  } catch (const std::system_error& error) {  // no descriptors or threads left
    return Error{.code = Code::unavailable,
                 .doing = "start the client",
                 .where = {},
                 .why = error.what(),
                 .remedy = {}};
  } catch (const boost::system::system_error& error) {
    return Error{.code = Code::unavailable,
                 .doing = "start the client",
                 .where = {},
                 .why = error.what(),
                 .remedy = {}};
  }
}

}  // namespace evener::bench
