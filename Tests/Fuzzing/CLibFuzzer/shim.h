#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library (libclang_rt.fuzzer_no_main of LLVM's compiler-rt), which comes without a
// header.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*read)(const uint8_t *data, size_t size));
