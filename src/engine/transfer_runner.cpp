#include "engine/transfer_runner.h"

#include <cstddef>
#include <span>

#include "base/assert.h"

namespace evener::engine {

using cache::Transfer;

bool TransferRunner::run(const Transfer& transfer) {
  switch (transfer.kind) {
    case Transfer::Kind::clear_state:
      ranks_.clear_state(transfer.to);
      return true;
    case Transfer::Kind::copy_state:
      ranks_.copy_state(transfer.from, transfer.to);
      return true;
    case Transfer::Kind::load_page:
    case Transfer::Kind::load_state:
      return load(transfer);
    case Transfer::Kind::save_page:
    case Transfer::Kind::save_state:
      save(transfer, cache::WhenBusy::drop);
      return true;
  }
  return true;
}

bool TransferRunner::load(const Transfer& transfer) {
  EVENER_ASSERT(tiers_ != nullptr);
  const bool is_page = transfer.kind == Transfer::Kind::load_page;
  const cache::EntryBytes bytes =
      tiers_->get(transfer.key, is_page ? ranks_.page_bytes() : ranks_.state_bytes());
  if (!bytes) return false;
  if (is_page) {
    ranks_.write_page(transfer.to, bytes.span());
  } else {
    ranks_.write_state(transfer.to, bytes.span());
  }
  return true;
}

void TransferRunner::save(const Transfer& transfer, cache::WhenBusy when_busy) {
  EVENER_ASSERT(tiers_ != nullptr);
  const bool is_page = transfer.kind == Transfer::Kind::save_page;
  const auto fill = [&](std::span<std::byte> bytes) {
    const Status read =
        is_page ? ranks_.read_page(transfer.from, bytes) : ranks_.read_state(transfer.from, bytes);
    return read.has_value();
  };
  tiers_->put(transfer.key, is_page ? ranks_.page_bytes() : ranks_.state_bytes(), fill, when_busy);
}

}  // namespace evener::engine
