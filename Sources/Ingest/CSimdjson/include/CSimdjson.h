#ifndef LIVEHOST_CSIMDJSON_H
#define LIVEHOST_CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Access to the two parts of simdjson that this project uses. Swift cannot call them directly: they
// are virtual C++ member functions, selected at run time by instruction set. The grammar is checked
// in Swift.

// Finds the start of each token of one JSON document ("stage 1").
typedef struct livehost_json_indexer livehost_json_indexer;

typedef enum livehost_json_status {
  LIVEHOST_JSON_INDEXED,
  // The document is not UTF-8.
  LIVEHOST_JSON_INVALID_UTF8,
  // A string is unclosed or contains a control character, or there is no token.
  LIVEHOST_JSON_MALFORMED,
} livehost_json_status;

// Creates an indexer for documents of at most `capacity` bytes. Returns NULL if memory is short.
livehost_json_indexer *livehost_json_indexer_create(size_t capacity);
void livehost_json_indexer_destroy(livehost_json_indexer *indexer);

// Returns the result of the last call of `livehost_json_index`: the ascending offsets of the first
// bytes of all tokens, followed by the length of the document. The array is allocated once.
const uint32_t *livehost_json_indexer_places(const livehost_json_indexer *indexer);

// Indexes `bytes` and stores the number of tokens. `length` must not exceed the capacity. Does not
// read past `length`.
livehost_json_status livehost_json_index(
  livehost_json_indexer *indexer, const uint8_t *bytes, size_t length, size_t *count);

// Returns whether `bytes` are valid UTF-8. Uses the same instruction set as the indexer.
bool livehost_is_utf8(const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
