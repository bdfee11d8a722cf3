#pragma once

#include <string>
#include <vector>

// CLI11 behind two small classes: its headers cost every file that includes them several seconds to
// compile, so only command_line.cpp and main.cpp do.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace evener::cli {

// A word of the command line that has been declared; the rest of what there is to say about it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& between(double low, double high);  // both included
  Option& one_of(const std::vector<std::string>& words);
  Option& in_bytes();  // takes 12G, 300M
  Option& from_environment(const std::string& variable);
  Option& excludes(const Option& other);
  Option& separated_by_commas();  // of a vector: 1,2,3

 private:
  CLI::Option* option_;
};

// Declares the words of one command. Each fills its variable, whose present value is the default.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  // A name without dashes is a positional. T: bool (a flag), std::string, std::filesystem::path,
  // the unsigned integers, int32_t, float, double, std::optional<double>, std::vector of
  // std::string, uint64_t or double (may be given again).
  template <typename T>
  Option add(const std::string& names, T& value, const std::string& help);

  // What is added from here on stands under this heading of the help.
  void begin_group(const std::string& heading) { group_ = heading; }

 private:
  CLI::App& app_;
  std::string group_;
};

}  // namespace evener::cli
