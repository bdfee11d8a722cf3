#include <future>
#include <memory>
#include <utility>

#include "bench/client.h"

namespace evener::bench {

RequestRecord Client::ask(RequestPlan plan) {
  // Shared: the client's thread may still be inside set_value when get has returned.
  const auto ended = std::make_shared<std::promise<RequestRecord>>();
  std::future<RequestRecord> record = ended->get_future();
  start(std::move(plan), {.on_event = {}, .on_end = [ended](RequestRecord what_came) {
                            ended->set_value(std::move(what_came));
                          }});
  return record.get();
}

}  // namespace evener::bench
