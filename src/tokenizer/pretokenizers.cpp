#include <algorithm>
#include <vector>

#include "tokenizer/pretokenizer.h"

namespace evener::tokenizer {
namespace {

// The rules as the models' own tokenizer.json files state them. Some are spelled so that PCRE2
// needs no nested groups and no text makes it backtrack more than once over a piece. A trailing
// `|\s+` that makes gaps explicit changes nothing.

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The clitics are spelled out: (?i:'s) would also match U+017F, which the tokenizers do not.
#define EVENER_CLITICS R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define EVENER_SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"

constexpr std::string_view kLlama3 = EVENER_CLITICS
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" EVENER_SPACES;

constexpr std::string_view kQwen2 =
    EVENER_CLITICS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" EVENER_SPACES;

// As qwen2, with combining marks as letters.
constexpr std::string_view kQwen35 = EVENER_CLITICS
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" EVENER_SPACES;

constexpr std::string_view kSeedCoder =
    EVENER_CLITICS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|)" EVENER_SPACES;

constexpr std::string_view kBailing =
    EVENER_CLITICS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                   R"(\s*[\r\n]|\s+(?!\S)|\s+)";

constexpr std::string_view kMiniCpm5 =
    EVENER_CLITICS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" EVENER_SPACES;

// Words as "Xxx" or "XXX": upper-case letters, then lower-case ones, marks and caseless letters
// counting as both. llama.cpp's regex engine lacks these classes; its rule differs from the models'
// for letters outside ASCII (tests/peer/tokenizer.sh holds this one against the models').
#define EVENER_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define EVENER_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"

constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?)" EVENER_UPPER "*" EVENER_LOWER "+(?:" EVENER_CLITICS
    ")?|"
    R"([^\r\n\p{L}\p{N}]?)" EVENER_UPPER "+" EVENER_LOWER "*(?:" EVENER_CLITICS
    ")?|"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" EVENER_SPACES;

constexpr std::string_view kTekken = R"([^\r\n\p{L}\p{N}]?)" EVENER_UPPER "*" EVENER_LOWER
                                     "+|"
                                     R"([^\r\n\p{L}\p{N}]?)" EVENER_UPPER "+" EVENER_LOWER
                                     "*|"
                                     R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" EVENER_SPACES;

constexpr std::string_view kBloom =
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";

constexpr std::string_view kGpt2Patterns[] = {kGpt2};
constexpr std::string_view kLlama3Patterns[] = {kLlama3};
constexpr std::string_view kQwen2Patterns[] = {kQwen2};
constexpr std::string_view kQwen35Patterns[] = {kQwen35};
constexpr std::string_view kSeedCoderPatterns[] = {kSeedCoder};
constexpr std::string_view kBailingPatterns[] = {kBailing};
constexpr std::string_view kGpt4oPatterns[] = {kGpt4o};
constexpr std::string_view kTekkenPatterns[] = {kTekken};
constexpr std::string_view kBloomPatterns[] = {kBloom};
constexpr std::string_view kVikingPatterns[] = {kBloom, R"(\p{N})"};
constexpr std::string_view kDigitPatterns[] = {R"(\p{N})", kGpt2};
constexpr std::string_view kMiniCpm5Patterns[] = {R"(\p{N}{1,3})", kMiniCpm5};

constexpr std::string_view kDefaultPatterns[] = {
    R"([\p{P}$+<=>^~|]+)",
    kGpt2,
    R"(\p{N}+)",
    R"([0-9][0-9][0-9])",
};

constexpr std::string_view kFalconPatterns[] = {
    R"([\p{P}$+<=>^~|`]+)",
    kGpt2,
    R"([0-9][0-9][0-9])",
};

constexpr std::string_view kDeepseekV3Patterns[] = {
    R"(\p{N}{1,3})",
    R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|)" EVENER_SPACES,
};

// U+0800 to U+9FA5 without the spaces in there (as llama.cpp reads this rule), and Hangul.
constexpr std::string_view kOldDeepseekWide =
    R"([\x{800}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E})"
    R"(\x{2060}-\x{2FFF}\x{3001}-\x{9FA5}\x{AC00}-\x{D7FF}]+)";

constexpr std::string_view kDeepseekCoderPatterns[] = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kOldDeepseekWide, R"(\p{N})",
};

constexpr std::string_view kDeepseekLlmPatterns[] = {
    R"([\r\n])",
    // Letters with case, as far as the tokenizer's authors listed them.
    R"(\s?[)"
    R"(\x{41}-\x{5A}\x{61}-\x{7A}\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA})"
    R"(\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377})"
    R"(\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5})"
    R"(\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})"
    R"(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"
    R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"
    R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"
    R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115})"
    R"(\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139})"
    R"(\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B})"
    R"(\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B})"
    R"(\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
    R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2})"
    R"(\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"
    R"(]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3001}\x{3002}]+)",
    R"((?<!\s)\s++\z)",  // the rule is \s+$, which alone would be tried from all of a run
    kOldDeepseekWide,
    R"(\p{N}+)",
};

constexpr std::string_view kLlama3Names[] = {"llama-bpe", "llama3",    "llama-v3",
                                             "falcon3",   "falcon-h1", "pixtral",
                                             "midm-2.0",  "lfm2",      "jina-v5-nano"};
constexpr std::string_view kPlainLlama3Names[] = {"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"};
constexpr std::string_view kQwen2Names[] = {"qwen2",   "deepseek-r1-qwen", "kormo",
                                            "f2llmv2", "megrez",           "stablelm2",
                                            "hunyuan", "solar-open",       "grok-2"};
constexpr std::string_view kQwen35Names[] = {"qwen35"};
constexpr std::string_view kDefaultNames[] = {"default"};
constexpr std::string_view kGpt2Names[] = {"gpt-2",   "phi-2",    "gigachat",       "a.x-4.0",
                                           "mellum",  "mpt",      "olmo",           "jais",
                                           "exaone4", "trillion", "granite-docling"};
constexpr std::string_view kFalconNames[] = {"falcon"};
constexpr std::string_view kDigitNames[] = {"starcoder", "refact",     "command-r", "smollm",
                                            "codeshell", "minerva-7b", "exaone",    "mellum2"};
constexpr std::string_view kDeepseekLlmNames[] = {"deepseek-llm"};
constexpr std::string_view kDeepseekCoderNames[] = {"deepseek-coder"};
constexpr std::string_view kDeepseekV3Names[] = {"deepseek-v3", "hunyuan-dense", "joyai-llm",
                                                 "hy_v4"};
constexpr std::string_view kGpt4oNames[] = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"};
constexpr std::string_view kTekkenNames[] = {"tekken"};
constexpr std::string_view kBailingNames[] = {"bailingmoe", "bailingmoe2", "llada-moe"};
constexpr std::string_view kSeedCoderNames[] = {"seed-coder"};
constexpr std::string_view kMiniCpm5Names[] = {"minicpm5"};
constexpr std::string_view kBloomNames[] = {"bloom", "poro-chat", "gpt3-finnish"};
constexpr std::string_view kVikingNames[] = {"viking"};

constexpr Pretokenizer kPretokenizers[] = {
    {.names = kDefaultNames, .patterns = kDefaultPatterns},
    {.names = kLlama3Names, .patterns = kLlama3Patterns, .whole_words = true, .add_bos = true},
    {.names = kPlainLlama3Names, .patterns = kLlama3Patterns},
    {.names = kQwen2Names, .patterns = kQwen2Patterns},
    {.names = kQwen35Names, .patterns = kQwen35Patterns},
    {.names = kGpt2Names, .patterns = kGpt2Patterns},
    {.names = kFalconNames, .patterns = kFalconPatterns},
    {.names = kDigitNames, .patterns = kDigitPatterns},
    {.names = kDeepseekLlmNames, .patterns = kDeepseekLlmPatterns},
    {.names = kDeepseekCoderNames, .patterns = kDeepseekCoderPatterns},
    {.names = kDeepseekV3Names, .patterns = kDeepseekV3Patterns},
    {.names = kGpt4oNames, .patterns = kGpt4oPatterns},
    {.names = kTekkenNames, .patterns = kTekkenPatterns, .whole_words = true, .add_bos = true},
    {.names = kBailingNames, .patterns = kBailingPatterns},
    {.names = kSeedCoderNames, .patterns = kSeedCoderPatterns},
    {.names = kMiniCpm5Names, .patterns = kMiniCpm5Patterns, .whole_words = true},
    {.names = kBloomNames, .patterns = kBloomPatterns},
    {.names = kVikingNames, .patterns = kVikingPatterns},
};

}  // namespace

const Pretokenizer* find_pretokenizer(std::string_view name) {
  if (name.empty()) name = kDefaultNames[0];
  for (const Pretokenizer& rule : kPretokenizers) {
    if (std::ranges::find(rule.names, name) != rule.names.end()) return &rule;
  }
  return nullptr;
}

std::span<const Pretokenizer> pretokenizers() { return kPretokenizers; }

std::vector<SplitRule> split_rules(const Pretokenizer& rule) {
  std::vector<SplitRule> rules;
  for (const std::string_view pattern : rule.patterns) {
    rules.push_back({.pattern = std::string(pattern)});
  }
  return rules;
}

std::string pretokenizer_names() {
  std::vector<std::string_view> names;
  for (const Pretokenizer& rule : kPretokenizers) {
    names.insert(names.end(), rule.names.begin(), rule.names.end());
  }
  std::ranges::sort(names);
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace evener::tokenizer
