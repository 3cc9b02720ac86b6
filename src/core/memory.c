/* memory.c - the names of the enums and the tables of the words of the product. */
#include "core/memory.h"

const char *const origin_names[] = {"user", "assistant", "tool", "import",
                                    "api",  "distilled", NULL};
const char *const layer_names[] = {"fact", "episode", "identity", "summary", NULL};
const char *const type_names[] = {"factual", "episodic", "procedural", "semantic", NULL};

int name_index(const char *const *names, str name, int otherwise)
{
    for (int i = 0; names[i]; i++)
        if (str_is(name, names[i]))
            return i;
    return otherwise;
}
