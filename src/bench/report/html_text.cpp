#include "bench/report/html_text.h"

namespace evener::bench {

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html(const Text& text) {
  if (text.english == text.chinese) return html_escaped(text.english);
  return "<span lang=\"en\">" + html_escaped(text.english) + "</span><span lang=\"zh-Hans\">" +
         html_escaped(text.chinese) + "</span>";
}

}  // namespace evener::bench
