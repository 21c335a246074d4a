#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library (LLVM's compiler-rt, libclang_rt.fuzzer_no_main); it has no header of its own.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*read)(const uint8_t *data, size_t size));
