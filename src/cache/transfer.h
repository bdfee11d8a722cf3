#pragma once

#include <cstdint>

#include "cache/entry_key.h"
#include "cache/ids.h"

namespace evener::cache {

// One thing that the device does between two steps' rows, so that pages and state slots hold what
// Residency says they hold. The order of a list of them is their meaning: a page or slot that one
// of them reads may be written by the next.
//
// Only loads may be put off, past later transfers and to a later step, since nobody but `sequence`
// touches their target: it runs no row before all of its loads are done, and when it is released
// first, the loads still put off are dropped.
struct Transfer {
  enum class Kind {
    clear_state,  // slot `to` becomes the state before the first token
    copy_state,   // slot `to` becomes slot `from`
    load_page,    // page `to` becomes the stored bytes of `key`
    load_state,   // slot `to` becomes the stored bytes of `key`
    save_page,    // the bytes of page `from` are offered to the tiers under `key`
    save_state,   // the bytes of slot `from` are offered to the tiers under `key`
  };

  Kind kind = Kind::clear_state;
  int32_t from = -1;        // copy, save
  int32_t to = -1;          // clear, copy, load
  EntryKey key = {};        // load, save
  SequenceId sequence = 0;  // loads: whose rows need it

  bool operator==(const Transfer&) const = default;

  bool is_load() const { return kind == Kind::load_page || kind == Kind::load_state; }
  bool is_save() const { return kind == Kind::save_page || kind == Kind::save_state; }
};

}  // namespace evener::cache
