#include "bench/client/model_name.h"

#include <utility>

#include "bench/client/fields.h"

namespace evener::bench {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::string first_model(const HttpAnswer& answer) {
  if (answer.status != 200) return {};
  const Result<json::Value> body = json::parse(answer.body, "/v1/models");
  if (!body) return {};
  const json::Value* models = find_array(*body, "data");
  if (models == nullptr || models->empty()) return {};
  const std::string* id = find_string(models->front(), "id");
  return id != nullptr ? *id : std::string();
}

}  // namespace

ModelName::ModelName(ConnectionContext& context, ConnectionPool& pool, std::string given,
                     std::string headers)
    : context_(context), pool_(pool), name_(std::move(given)), headers_(std::move(headers)) {}

void ModelName::find(std::function<void(const std::string& model)> on_found) {
  if (!name_.empty()) return on_found(name_);
  waiting_.push_back(std::move(on_found));
  if (fetch_ != nullptr) return;
  fetch_ = std::make_shared<Fetch>(
      context_, pool_,
      HttpRequest{.method = "GET", .path = "/v1/models", .body = {}, .headers = headers_},
      [this](const Result<HttpAnswer>& answer) { on_answer(answer); });
  fetch_->start(kPatience);
}

void ModelName::cancel() {
  if (const std::shared_ptr<Fetch> fetch = fetch_) fetch->cancel();
}

void ModelName::on_answer(const Result<HttpAnswer>& answer) {
  const std::shared_ptr<Fetch> fetch = std::exchange(fetch_, nullptr);
  if (answer) name_ = first_model(*answer);
  for (const auto& on_found : std::exchange(waiting_, {})) on_found(name_);
}

}  // namespace evener::bench
