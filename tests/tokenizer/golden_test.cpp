// Goal: the cases of the golden manifest (made by another program than the corpus), bos included.
#include "corpus.h"

namespace evener::tokenizer::test {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  fields.resize(5);
  return fields;
}

TEST(Golden, CasesOfTheManifestHold) {
  const auto lines = read_lines("golden.cases");
  ASSERT_EQ(lines.size(), 51U);
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    const auto fields = fields_of(line);
    const auto tokenizer = load(fields[0]);
    const std::string text = unescape(fields[1]);
    EXPECT_EQ(tokenizer->encode(text), read_ids(fields[2]));
    EXPECT_EQ(tokenizer->encode(text, {.special = SpecialTokens::parse}), read_ids(fields[3]));
    EXPECT_EQ(tokenizer->encode(text, {.special = SpecialTokens::parse, .add_special = true}),
              read_ids(fields[4]));
  }
}

}  // namespace
}  // namespace evener::tokenizer::test
