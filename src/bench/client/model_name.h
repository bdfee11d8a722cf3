#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/client/fetch.h"

namespace evener::bench {

// The model that requests name: the one given, else the first of the server's /v1/models, which is
// asked when the first request needs it. The client's thread alone.
class ModelName {
 public:
  ModelName(ConnectionContext& context, ConnectionPool& pool, std::string given,
            std::string headers);

  // At once or later. Empty if the server names none: a request without a model then tells what is
  // wrong, and the next one asks again.
  void find(std::function<void(const std::string& model)> on_found);
  void cancel();

 private:
  void on_answer(const Result<HttpAnswer>& answer);

  ConnectionContext& context_;
  ConnectionPool& pool_;
  std::string name_;
  std::string headers_;
  std::shared_ptr<Fetch> fetch_;
  std::vector<std::function<void(const std::string&)>> waiting_;
};

}  // namespace evener::bench
