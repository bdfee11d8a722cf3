#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_message.h"

namespace evener::serve {

// One file of web/ in this binary.
struct StaticFile {
  std::string_view path;  // "/index.html"
  std::string_view content;
};

// Those that were there when the binary was built (src/serve/CMakeLists.txt).
std::span<const StaticFile> embedded_files();

// The web page. Answers carry a policy that lets the page load and call nothing but this server,
// and an ETag, so that browsers ask again but fetch only what has changed.
class StaticFiles {
 public:
  explicit StaticFiles(std::span<const StaticFile> files);

  bool has(std::string_view path) const { return find(path) != nullptr; }
  // GET or HEAD of a path that has() knows: 200, or 304 if the client has this version.
  HttpResponse answer(const HttpRequest& request) const;

 private:
  struct Entry {
    StaticFile file;
    std::string etag;
  };
  // "/" is "/index.html".
  const Entry* find(std::string_view path) const;

  std::vector<Entry> entries_;
};

// By the file's ending: "text/html; charset=utf-8"; "application/octet-stream" if unknown.
std::string_view content_type_of(std::string_view path);

}  // namespace evener::serve
