#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "serve/http_message.h"

namespace evener::serve {

// Who sends a request, as the engine tells clients apart. Numbers are hashes: the same after a
// restart, since what the cache keeps on disk carries the salt.
struct Caller {
  uint64_t client = 0;  // clients take turns: one for each API key; without keys, each address
  uint64_t salt = 0;    // who may share what was computed: one for each API key; 0 without keys
};

// `key` is the known API key that the request carries; none if the server asks for none.
Caller caller_of(const HttpRequest& request, const std::optional<std::string_view>& key);

// The caller's salt, divided further by a name of the caller's choice; empty: not divided.
uint64_t salt_of(const Caller& caller, std::string_view cache_salt);

// The chat a request belongs to: header x-session-id, session-id or session_id, else `field`. Two
// clients' chats of one name are two. 0: none is named.
uint64_t session_of(const HttpRequest& request, const Caller& caller, std::string_view field);

}  // namespace evener::serve
