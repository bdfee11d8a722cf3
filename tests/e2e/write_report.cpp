// write_report FOLDER: the pages that bench_report_e2e.py looks at.
#include <cstdio>
#include <fstream>
#include <string>

#include "bench/report.h"
#include "bench/report/sample_run.h"

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return bool(file);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace evener::bench;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const bool all = write(folder + "/sample.html", report_html(sample_run(), Language::english)) &&
                   write(folder + "/hostile.html", report_html(hostile_run(), Language::english)) &&
                   write(folder + "/empty.html", report_html(Run{}, Language::chinese));
  return all ? 0 : 1;
}
