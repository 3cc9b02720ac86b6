/* answer_facts.c - model, id and tokens of a model's answer, for the trace of a chat. */
#include "surface/proxy/answer_facts.h"

/* OpenAI's APIs and Anthropic's have an object of counts, in the answer itself or in a member of an
 * event; Ollama has its counts beside the text. */
static const struct count_place {
    const char *name;
    bool is_input, adds; /* adds: the count of another row does not include this one */
} in_usage[] =
    {
        {"prompt_tokens", true, false},
        {"input_tokens", true, false},
        {"cache_read_input_tokens", true, true},
        {"cache_creation_input_tokens", true, true},
        {"completion_tokens", false, false},
        {"output_tokens", false, false},
        {0},
},
  beside_text[] = {{"prompt_eval_count", true, false}, {"eval_count", false, false}, {0}};

static void note_counts(const struct json *o, const struct count_place *rows,
                        struct chat_facts *out)
{
    int64_t n[2] = {0};
    if (!o || o->type != JSON_OBJECT)
        return;
    for (const struct count_place *row = rows; row->name; row++) {
        int64_t count = json_int_or(json_get(o, row->name), 0);
        if (count > 0)
            n[row->is_input] = row->adds ? n[row->is_input] + count : count;
    }
    out->tokens_in = n[true] ? n[true] : out->tokens_in;
    out->tokens_out = n[false] ? n[false] : out->tokens_out;
}

static void note_text(const struct json *v, char to[FACT_BYTES], str *out)
{
    str text = json_string(v);
    if (!text.n || text.n >= FACT_BYTES || out->n)
        return;
    memcpy(to, text.p, text.n);
    *out = (str){to, text.n};
}

void answer_facts_note(struct answer_facts *f, const struct json *piece, struct chat_facts *out)
{
    const struct json *places[] = {piece, json_get(piece, "message"), json_get(piece, "response")};
    note_counts(piece, beside_text, out);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || places[i]->type != JSON_OBJECT)
            continue;
        note_counts(json_get(places[i], "usage"), in_usage, out);
        note_text(json_get(places[i], "model"), f->model, &out->answered_by);
        note_text(json_get(places[i], "id"), f->id, &out->answer_id);
    }
}
