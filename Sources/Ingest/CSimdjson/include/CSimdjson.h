#ifndef LIVEHOST_CSIMDJSON_H
#define LIVEHOST_CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Access to the two parts of simdjson that this project uses. Swift cannot call them directly:
// they are virtual C++ member functions, chosen at run time by instruction set. The grammar is
// checked in Swift.

// Finds where the tokens of one JSON document begin ("stage 1").
typedef struct livehost_json_indexer livehost_json_indexer;

typedef enum livehost_json_status {
  LIVEHOST_JSON_INDEXED,
  // Not UTF-8.
  LIVEHOST_JSON_INVALID_UTF8,
  // A string without an end, a control character in a string, or no token at all.
  LIVEHOST_JSON_MALFORMED,
} livehost_json_status;

// An indexer for documents of at most `capacity` bytes; NULL if memory is short.
livehost_json_indexer *livehost_json_indexer_create(size_t capacity);
void livehost_json_indexer_destroy(livehost_json_indexer *indexer);

// The result of the last call of `livehost_json_index`: the ascending offsets of the first bytes of
// all tokens, followed by one more entry, the length of the document. Allocated once.
const uint32_t *livehost_json_indexer_places(const livehost_json_indexer *indexer);

// Indexes `bytes` and stores the number of tokens. `length` must not exceed the capacity.
// Does not read past `length`.
livehost_json_status livehost_json_index(
  livehost_json_indexer *indexer, const uint8_t *bytes, size_t length, size_t *count);

// Whether `bytes` are valid UTF-8, by the same instruction set.
bool livehost_is_utf8(const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
