// Goal: an entry's header is read as it was written, and nothing else is taken for one. Method:
// every byte changed, every length, and every field with values of its own under a right checksum.
#include "cache/entry_file.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "cache/tier_rig.h"

namespace evener::cache {
namespace {

const EntryHeader kHeader = {.model = {1, 2},
                             .key = {.high = 3, .low = 4, .kind = EntryKey::Kind::state},
                             .payload_bytes = 1000,
                             .payload_checksum = 5};
constexpr uint64_t kFileBytes = 1000 + kEntryHeaderBytes;

Bytes encoded() {
  const auto bytes = encode(kHeader);
  return {bytes.begin(), bytes.end()};
}

template <class T>
Bytes with_field(size_t at, T value) {
  Bytes bytes = encoded();
  std::memcpy(bytes.data() + at, &value, sizeof value);
  const uint64_t checksum = XXH3_64bits(bytes.data(), 64);
  std::memcpy(bytes.data() + 64, &checksum, sizeof checksum);
  return bytes;
}

std::string why(const Bytes& bytes, uint64_t file_bytes = kFileBytes) {
  const auto header = parse_entry_header(bytes, file_bytes, "x");
  return header ? "" : header.error().why;
}

Code code(const Bytes& bytes) {
  const auto header = parse_entry_header(bytes, kFileBytes, "x");
  return header ? Code::internal : header.error().code;
}

TEST(EntryFile, AHeaderIsReadAsItWasWritten) {
  const auto header = parse_entry_header(encoded(), kFileBytes, "x");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(*header, kHeader);
  EntryHeader page = kHeader;
  page.key.kind = EntryKey::Kind::page;
  EXPECT_EQ(*parse_entry_header(encode(page), kFileBytes, "x"), page);
}

// Files live longer than programs.
TEST(EntryFile, TheLayoutIsTheDocumentedOne) {
  const Bytes bytes = encoded();
  ASSERT_EQ(bytes.size(), 72U);
  EXPECT_EQ(std::memcmp(bytes.data(), "EVENERKV\x01\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\x02", 25), 0);
  EXPECT_EQ(bytes[32], std::byte{3});
  EXPECT_EQ(bytes[40], std::byte{4});
  EXPECT_EQ(std::memcmp(bytes.data() + 48, "\xe8\x03\0\0\0\0\0\0\x05", 9), 0);
  EXPECT_EQ(entry_file_name(entry_id({1, 2}, {.high = 3, .low = 4})),
            "c88a45e2e22b9b81f202212e1efc2f6c.evkv");
}

// Written once and kept: what an earlier Evener left on a disk.
TEST(EntryFile, AnEntryThatWasStoredLongAgoIsRead) {
  const Bytes bytes = read_file(EVENER_TEST_DATA "/fuzz/cache_entry/ok_page");
  const auto header = parse_entry_header(bytes, bytes.size(), "ok_page");
  ASSERT_TRUE(header.has_value()) << to_string(header.error());
  EXPECT_EQ(header->model, model_id("tiny, f16"));
  EXPECT_EQ(header->key, (EntryKey{.high = 0x0123456789abcdef,
                                   .low = 0xfedcba9876543210,
                                   .kind = EntryKey::Kind::page}));
  EXPECT_EQ(header->payload_bytes, 40U);
  EXPECT_TRUE(check_payload(*header, std::span(bytes).subspan(kEntryHeaderBytes), "x").has_value());
}

// The seeds of the fuzz target say in their names what they are.
TEST(EntryFile, SeedsAreJudgedAsTheirNamesSay) {
  size_t num_seeds = 0;
  for (const auto& seed :
       std::filesystem::directory_iterator(EVENER_TEST_DATA "/fuzz/cache_entry")) {
    const Bytes bytes = read_file(seed.path());
    const std::string name = seed.path().filename().string();
    const auto header = parse_entry_header(bytes, bytes.size(), name);
    const bool ok =
        header && check_payload(*header, std::span(bytes).subspan(kEntryHeaderBytes), name);
    EXPECT_EQ(ok, name.starts_with("ok_")) << name;
    ++num_seeds;
  }
  EXPECT_EQ(num_seeds, 12U);
}

TEST(EntryFile, EveryChangedBitIsNoticed) {
  for (size_t i = 0; i < kEntryHeaderBytes; ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes bytes = encoded();
      bytes[i] ^= std::byte(1U << bit);
      EXPECT_NE(why(bytes), "") << "byte " << i;
      const Code wanted = i < 8    ? Code::invalid_argument
                          : i < 12 ? Code::unsupported
                                   : Code::corrupt;
      EXPECT_EQ(code(bytes), wanted) << "byte " << i;
    }
  }
}

TEST(EntryFile, EveryShorterHeaderIsNoticed) {
  for (size_t size = 0; size < kEntryHeaderBytes; ++size) {
    Bytes bytes = encoded();
    bytes.resize(size);
    EXPECT_EQ(code(bytes), size < 8 ? Code::invalid_argument : Code::corrupt) << size;
  }
}

TEST(EntryFile, FieldsAreCheckedUnderARightChecksumToo) {
  EXPECT_EQ(why(with_field<uint32_t>(8, 2)), "has version 2");
  EXPECT_EQ(code(with_field<uint32_t>(8, 2)), Code::unsupported);
  for (const uint32_t kind : {0U, 3U, 0xffffffffU}) {
    EXPECT_EQ(why(with_field(12, kind)), "is of kind " + std::to_string(kind));
  }
  EXPECT_EQ(why(with_field<uint64_t>(48, 999)), "has 1072 bytes instead of 1071");
  EXPECT_EQ(why(with_field(48, ~uint64_t{0})),
            "claims 18446744073709551615 bytes, more than the 4294967296 that are allowed");
  EXPECT_EQ(why(with_field<uint64_t>(48, 0), kEntryHeaderBytes), "");
  EXPECT_EQ(why(with_field<uint64_t>(16, 77)), "");  // whose it is decides the caller
}

TEST(EntryFile, AFileOfAnotherLengthIsNoticed) {
  EXPECT_EQ(why(encoded(), kFileBytes - 1), "has 1071 bytes instead of 1072");
  EXPECT_EQ(why(encoded(), kFileBytes + 1), "has 1073 bytes instead of 1072");
}

TEST(EntryFile, EveryChangedByteOfAPayloadIsNoticed) {
  Bytes payload(300, std::byte{7});
  EntryHeader header = kHeader;
  header.payload_bytes = payload.size();
  header.payload_checksum = payload_checksum(payload);
  EXPECT_TRUE(check_payload(header, payload, "x").has_value());
  for (std::byte& byte : payload) {
    byte ^= std::byte{1};
    EXPECT_FALSE(check_payload(header, payload, "x").has_value());
    byte ^= std::byte{1};
  }
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(check_payload(header, std::span(payload).first(size), "x").has_value());
  }
}

TEST(EntryFile, AnEntryOfAnotherModelOrKindHasAnotherName) {
  const EntryKey page = {.high = 1, .low = 2};
  const EntryId id = entry_id(model_id("a"), page);
  EXPECT_EQ(id, entry_id(model_id("a"), page));
  EXPECT_NE(id, entry_id(model_id("b"), page));
  EXPECT_NE(id, entry_id(model_id("a"), state_key(page)));
  EXPECT_NE(id, entry_id(model_id("a"), {.high = 2, .low = 1}));
}

TEST(EntryFile, NamesLeadBackToTheEntryAndOthersNowhere) {
  const EntryId id = {.high = 0xab, .low = 0x123};
  EXPECT_EQ(id_of_entry_file(entry_file_name(id)), id);
  EXPECT_EQ(id_of_unfinished_file(unfinished_file_name(id)), id);
  EXPECT_FALSE(id_of_entry_file(unfinished_file_name(id)));
  EXPECT_FALSE(id_of_unfinished_file(entry_file_name(id)));
  for (const char* const name :
       {"", ".", "..", ".evkv", "evener.lock", "00000000000000ab0000000000000123",
        "00000000000000AB0000000000000123.evkv", "00000000000000ab000000000000012g.evkv",
        "0x000000000000ab0000000000000123.evkv", "-0000000000000ab0000000000000123.evkv",
        "00000000000000ab00000000000001234.evkv", " 0000000000000ab0000000000000123.evkv"}) {
    EXPECT_FALSE(id_of_entry_file(name)) << name;
  }
}

}  // namespace
}  // namespace evener::cache
