#include "chat/jinja/strftime.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace evener::chat::jinja {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

struct Calendar {
  explicit Calendar(std::chrono::sys_seconds time)
      : day_begin(std::chrono::floor<std::chrono::days>(time)),
        date(day_begin),
        clock(time - day_begin),
        weekday(std::chrono::weekday(day_begin).c_encoding()),
        seconds(time.time_since_epoch().count()) {}

  int year() const { return static_cast<int>(date.year()); }
  unsigned month() const { return static_cast<unsigned>(date.month()); }
  unsigned day() const { return static_cast<unsigned>(date.day()); }
  int64_t day_of_year() const {
    return (day_begin - std::chrono::sys_days(date.year() / 1 / 1)).count() + 1;
  }
  int64_t hour() const { return clock.hours().count(); }
  int64_t hour12() const { return hour() % 12 == 0 ? 12 : hour() % 12; }

  std::chrono::sys_days day_begin;
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> clock;
  unsigned weekday;
  int64_t seconds;
};

struct Field {
  int64_t value;
  int width;
};

std::optional<Field> number_field(char directive, const Calendar& now) {
  switch (directive) {
    case 'Y':
      return Field{now.year(), 4};
    case 'y':
      return Field{now.year() % 100, 2};
    case 'm':
      return Field{now.month(), 2};
    case 'd':
      return Field{now.day(), 2};
    case 'j':
      return Field{now.day_of_year(), 3};
    case 'H':
      return Field{now.hour(), 2};
    case 'I':
      return Field{now.hour12(), 2};
    case 'M':
      return Field{now.clock.minutes().count(), 2};
    case 'S':
      return Field{now.clock.seconds().count(), 2};
    case 'f':
      return Field{0, 6};
    case 'w':
      return Field{now.weekday, 1};
    case 'u':
      return Field{now.weekday == 0 ? 7 : now.weekday, 1};
    case 's':
      return Field{now.seconds, 1};
    default:
      return std::nullopt;
  }
}

std::optional<std::string> word_field(char directive, const Calendar& now) {
  const std::string_view month = kMonths[now.month() - 1];
  const std::string_view day = kDays[now.weekday];
  switch (directive) {
    case 'b':
    case 'h':
      return std::string(month.substr(0, 3));
    case 'B':
      return std::string(month);
    case 'a':
      return std::string(day.substr(0, 3));
    case 'A':
      return std::string(day);
    case 'e':
      return fmt::format("{:>2}", now.day());
    case 'p':
      return now.hour() < 12 ? "AM" : "PM";
    case 'Z':
      return "UTC";
    case 'z':
      return "+0000";
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

// Directives that stand for several others.
std::string_view compound_field(char directive) {
  switch (directive) {
    case 'F':
      return "%Y-%m-%d";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    case 'D':
    case 'x':
      return "%m/%d/%y";
    case 'R':
      return "%H:%M";
    case 'c':
      return "%a %b %e %H:%M:%S %Y";
    default:
      return {};
  }
}

std::string expand(std::string_view format, const Calendar& now) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    const bool unpadded = format[i + 1] == '-' && i + 2 < format.size();
    const char directive = format[i + (unpadded ? 2 : 1)];
    if (const auto number = number_field(directive, now)) {
      out += fmt::format("{:0{}}", number->value, unpadded ? 1 : number->width);
    } else if (const auto word = word_field(directive, now)) {
      out += *word;
    } else if (const auto compound = compound_field(directive); !compound.empty()) {
      out += expand(compound, now);
    } else {
      out += '%';
      continue;
    }
    i += unpadded ? 2 : 1;
  }
  return out;
}

}  // namespace

std::string format_time(std::string_view format, std::chrono::sys_seconds time) {
  return expand(format, Calendar(time));
}

}  // namespace evener::chat::jinja
