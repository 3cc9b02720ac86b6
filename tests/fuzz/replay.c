/* replay.c - gives a fuzz target the files that it is called with, without libFuzzer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { FILE_MAX_BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    static uint8_t text[FILE_MAX_BYTES];
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "re");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        printf("%s\n", argv[i]);
        fflush(stdout); /* a crash comes after its file's name */
        /* Of its own size, so that AddressSanitizer sees a read behind its end. */
        uint8_t *copy = malloc(n ? n : 1);
        if (!copy)
            return 1;
        memcpy(copy, text, n);
        LLVMFuzzerTestOneInput(copy, n);
        free(copy);
    }
    printf("%d passed, 0 failed\n", argc - 1);
    return 0;
}
