#include "serve/static_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.h"

namespace evener::serve {
namespace {

constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// FNV-1a: tells versions apart; nobody gains by making two alike.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

}  // namespace

std::string_view content_type_of(std::string_view path) {
  struct Type {
    std::string_view ending;
    std::string_view name;
  };
  static constexpr std::array kTypes = {
      Type{".html", "text/html; charset=utf-8"},
      Type{".js", "text/javascript; charset=utf-8"},
      Type{".mjs", "text/javascript; charset=utf-8"},
      Type{".css", "text/css; charset=utf-8"},
      Type{".json", "application/json"},
      Type{".webmanifest", "application/manifest+json"},
      Type{".svg", "image/svg+xml"},
      Type{".png", "image/png"},
      Type{".ico", "image/x-icon"},
      Type{".woff2", "font/woff2"},
      Type{".txt", "text/plain; charset=utf-8"},
  };
  const auto found =
      std::ranges::find_if(kTypes, [&](const Type& type) { return path.ends_with(type.ending); });
  return found == kTypes.end() ? "application/octet-stream" : found->name;
}

StaticFiles::StaticFiles(std::span<const StaticFile> files) {
  for (const StaticFile& file : files) {
    entries_.push_back({.file = file, .etag = fmt::format("\"{:016x}\"", hash_of(file.content))});
  }
}

const StaticFiles::Entry* StaticFiles::find(std::string_view path) const {
  if (path == "/") path = "/index.html";
  const auto found =
      std::ranges::find(entries_, path, [](const Entry& entry) { return entry.file.path; });
  return found == entries_.end() ? nullptr : &*found;
}

HttpResponse StaticFiles::answer(const HttpRequest& request) const {
  const Entry* entry = find(request.path);
  EVENER_ASSERT(entry != nullptr);
  HttpResponse response{.status = 200,
                        .content_type = std::string(content_type_of(entry->file.path)),
                        .headers = {{"ETag", entry->etag},
                                    {"Cache-Control", "no-cache"},
                                    {"Content-Security-Policy", kPolicy},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Referrer-Policy", "no-referrer"}},
                        .body = ""};
  if (find_header(request.headers, "if-none-match") == entry->etag) {
    response.status = 304;
    response.content_type = "";
    return response;
  }
  response.body = entry->file.content;
  return response;
}

}  // namespace evener::serve
