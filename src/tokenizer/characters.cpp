#include "tokenizer/characters.h"

#include <utf8proc.h>

namespace evener::tokenizer {

bool is_white_space(char32_t character) {
  if (character >= 0x9 && character <= 0xD) return true;
  if (character == 0x85) return true;
  const auto category = utf8proc_category(utf8proc_int32_t(character));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_word_character(char32_t character) {
  switch (utf8proc_category(utf8proc_int32_t(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

}  // namespace evener::tokenizer
