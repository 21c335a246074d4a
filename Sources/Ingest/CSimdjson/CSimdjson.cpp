#include "CSimdjson.h"

#include <simdjson.h>

// An opaque C struct represents simdjson's class. Callers hold its address.
using implementation = simdjson::internal::dom_parser_implementation;

static implementation *unwrap(livehost_json_indexer *indexer) {
  return reinterpret_cast<implementation *>(indexer);
}

// Objects with virtual members can be created only in C++.
livehost_json_indexer *livehost_json_indexer_create(size_t capacity) {
  std::unique_ptr<implementation> made;
  // The Swift code limits the depth when it reads the tokens. simdjson's stage 2 never runs.
  const size_t depth = 1;
  auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
    capacity, depth, made);
  if (error != simdjson::SUCCESS) { return nullptr; }
  return reinterpret_cast<livehost_json_indexer *>(made.release());
}

void livehost_json_indexer_destroy(livehost_json_indexer *indexer) { delete unwrap(indexer); }

// A member of type std::unique_ptr cannot be accessed from C.
const uint32_t *livehost_json_indexer_places(const livehost_json_indexer *indexer) {
  return reinterpret_cast<const implementation *>(indexer)->structural_indexes.get();
}

// Calls a virtual function, which Swift cannot do.
livehost_json_status livehost_json_index(
  livehost_json_indexer *indexer, const uint8_t *bytes, size_t length, size_t *count) {
  auto parser = unwrap(indexer);
  auto error = parser->stage1(bytes, length, simdjson::stage1_mode::regular);
  *count = parser->n_structural_indexes;
  if (error == simdjson::SUCCESS) { return LIVEHOST_JSON_INDEXED; }
  // simdjson detects an unclosed string before it checks the encoding. A line with both faults
  // counts as invalid UTF-8.
  if (error == simdjson::UTF8_ERROR || !livehost_is_utf8(bytes, length)) {
    return LIVEHOST_JSON_INVALID_UTF8;
  }
  return LIVEHOST_JSON_MALFORMED;
}

// Calls a virtual function, which Swift cannot do.
bool livehost_is_utf8(const uint8_t *bytes, size_t length) {
  return simdjson::get_active_implementation()->validate_utf8(
    reinterpret_cast<const char *>(bytes), length);
}
