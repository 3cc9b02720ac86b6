/* content_key.c - the key of a memory that was stored without one. */
#include "engine/text/content_key.h"

#include "base/id.h"
#include "engine/text/bytes.h"

str content_key(struct arena *a, str content)
{
    char slug[40];
    size_t n = 0, i = 0;
    bool is_lost = false;
    for (; i < content.n && n < sizeof slug; i++) {
        char c = content.p[i];
        is_lost |= c & 0x80 || char_is_one_of(c, "+#"); /* C, C++ and C# are three */
        if (is_ascii_word(c))
            slug[n++] = ascii_lower(c);
        else if (n && slug[n - 1] != '_')
            slug[n++] = '_';
    }
    str key = str_trim_end((str){slug, n}, "_");
    if (i == content.n && key.n && !is_lost)
        return str_dup(a, key);
    return str_printf(a, S_FMT "%s%08llx", S_ARG(key), key.n ? "_" : "",
                      (unsigned long long)(hash64(&content, 1) >> 32));
}

str callers_key(struct arena *a, const struct memory *m)
{
    bool is_own = memory_is_stored(m) && !str_eq(m->key, content_key(a, str_trim(m->content)));
    return is_own ? m->key : S("");
}
