/* words.c - any bytes: words lie in the text, in order, and are valid wherever the text is. */
#include <assert.h>

#include "base/utf8.h"
#include "words/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    str text = str_dup(&a, (str){(const char *)data, size});
    bool valid = utf8_is_valid(text);
    struct words w = words_of(&a, text, 500);
    assert(w.n <= 501);
    for (size_t i = 0; i < w.n; i++) {
        assert(w.v[i].text.p == text.p + w.v[i].at);
        assert(w.v[i].at + w.v[i].text.n <= text.n);
        assert(i == 0 || w.v[i].at >= w.v[i - 1].at);
        assert(!valid || utf8_is_valid(w.v[i].stem));
    }
    assert(!valid || utf16_length(text) <= text.n);
    assert(utf8_cut(text, 10).n <= 10);
    arena_free(&a);
    return 0;
}
