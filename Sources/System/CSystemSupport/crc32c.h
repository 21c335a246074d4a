#ifndef LIVEHOST_CPLATFORM_CRC32C_H
#define LIVEHOST_CPLATFORM_CRC32C_H

/* The processor's instruction for CRC-32C. Debian's baseline processors may lack it, so programs
   check at run time whether this machine has it. */

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#define LIVEHOST_CRC32C __attribute__((target("sse4.2")))
#define LIVEHOST_CRC32C_WORD __builtin_ia32_crc32di
#define LIVEHOST_CRC32C_BYTE __builtin_ia32_crc32qi

static inline int livehost_has_crc32c(void) { return __builtin_cpu_supports("sse4.2") != 0; }

#elif defined(__aarch64__)

#include <sys/auxv.h>

#define LIVEHOST_CRC32C __attribute__((target("+crc")))
#define LIVEHOST_CRC32C_WORD __builtin_arm_crc32cd
#define LIVEHOST_CRC32C_BYTE __builtin_arm_crc32cb

/* HWCAP_CRC32 */
static inline int livehost_has_crc32c(void) { return (getauxval(AT_HWCAP) >> 7 & 1) != 0; }

#endif

#if defined(LIVEHOST_CRC32C)

/* Extends a checksum without inverting it. Requires livehost_has_crc32c(). */
LIVEHOST_CRC32C static inline uint32_t livehost_crc32c(
    uint32_t checksum, const uint8_t *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes, 8);
    checksum = (uint32_t)LIVEHOST_CRC32C_WORD(checksum, word);
  }
  for (; count > 0; bytes++, count--) checksum = LIVEHOST_CRC32C_BYTE(checksum, *bytes);
  return checksum;
}

#else

static inline int livehost_has_crc32c(void) { return 0; }

static inline uint32_t livehost_crc32c(uint32_t checksum, const uint8_t *bytes, size_t count) {
  (void)bytes, (void)count;
  return checksum;
}

#endif

#endif
