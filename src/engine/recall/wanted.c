/* wanted.c - which candidates a search may show at all. */
#include "base/clock.h"
#include "engine/recall/candidates.h"

static bool is_excluded(const struct recall_in *in, str id)
{
    for (size_t i = 0; id.n && i < in->n_exclude; i++)
        if (str_eq(in->exclude[i], id))
            return true;
    return false;
}

bool find_wants(const struct recall_in *in, const struct bars *bars, const struct message *m,
                const struct memory *memory)
{
    /* What was said before 1970 has a negative time. */
    bool is_old = in->after && (m ? m->created : memory->created) < in->after;
    bool is_of_now = memory && in->session.n && memory->layer == LAYER_EPISODE &&
                     str_eq(memory->session, in->session);
    if (m)
        return m->id.n && !is_old && !is_excluded(in, m->id) &&
               !(m->is_echo && !str_trim(m->says).n);
    bool is_over = memory->valid_to || memory->superseded_by.n ||
                   (memory->expires && memory->expires <= clock_ms());
    return memory->id.n && !is_over && !is_of_now && !is_old && !is_excluded(in, memory->id) &&
           (!is_excluded(in, memory->source) || bars_touch(bars, memory->source)) &&
           (!in->layer.n || str_is(in->layer, layer_names[memory->layer])) &&
           (!in->type.n || str_is(in->type, type_names[memory->type]));
}
