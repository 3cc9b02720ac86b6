/* claude.c - an export of Claude: conversations, what it remembers, and projects. */
#include "ext/import/foreign.h"

SHAPE(talk, (STR, uuid, .required = true, .min = 1), (STR, name, .max = 4096), (STR, project_uuid),
      (JSON, chat_messages, .required = true), (JSON, created_at));

static enum status read_said(struct foreign *f, const struct json *v, struct message *out)
{
    str sender = text_in(v, "sender");
    /* "text" repeats the content, with notes on what the page could not show. */
    str text = foreign_text_of(&f->ctx->arena, json_get(v, "content"), "text", NULL);
    *out = (struct message){.role = str_is(sender, "human") ? S("user") : S("assistant"),
                            .ref = text_in(v, "uuid"),
                            .text = text.n ? text : text_in(v, "text")};
    if (!str_is(sender, "human") && !str_is(sender, "assistant"))
        return fail_field(f->ctx, "sender", "must be human or assistant");
    return foreign_time(f->ctx, json_get(v, "created_at"), "created_at", &out->created);
}

enum status claude_conversation(struct foreign *f, const struct json *record)
{
    struct talk t;
    struct session s = {0};
    size_t n = 0;
    TRY(fields_read(f->ctx, talk_fields, record, false, &t));
    TRY(foreign_time(f->ctx, t.created_at, "created_at", &s.created));
    if (t.chat_messages->type != JSON_ARRAY)
        return fail_field(f->ctx, "chat_messages", "must be an array");
    struct message *v = NEW_N(&f->ctx->arena, struct message, t.chat_messages->n + 1);
    for (const struct json *m = t.chat_messages->first; m; m = m->next)
        TRY(read_said(f, m, &v[n++]));
    s.id = foreign_session_id(f, t.uuid);
    s.title = t.name;
    return n ? foreign_session(f, &s, v, n) : OK;
}

enum status claude_memories(struct foreign *f, const struct json *record)
{
    const struct json *projects = json_get(record, "project_memories");
    const struct json *said = json_get(record, "conversations_memory");
    if (said && said->type != JSON_STRING && said->type != JSON_NULL)
        return fail_field(f->ctx, "conversations_memory", "must be a text");
    TRY(foreign_lines(f, json_string(said), &(struct memory){0}));
    for (const struct json *p = projects ? projects->first : NULL; p; p = p->next) {
        struct json_out w = json_in(&f->ctx->arena, SIZE_MAX);
        json_open(&w, '{');
        json_member_str(&w, "project", json_name(p));
        json_close(&w, '}');
        const struct memory of_project = {.metadata = buf_str(w.b)};
        TRY(foreign_lines(f, json_string(p), &of_project));
    }
    return OK;
}

SHAPE(project, (STR, uuid, .required = true, .min = 1), (STR, name, .max = 4096),
      (STR, description), (JSON, docs), (JSON, created_at), (JSON, updated_at));

/* Its documents are read like notes. prompt_template instructs the model and is no memory. */
enum status claude_project(struct foreign *f, const struct json *record)
{
    struct arena *a = &f->ctx->arena;
    struct project p;
    struct memory like = {0};
    TRY(fields_read(f->ctx, project_fields, record, false, &p));
    TRY(foreign_time(f->ctx, p.created_at, "created_at", &like.created));
    TRY(foreign_time(f->ctx, p.updated_at, "updated_at", &like.updated));
    if (str_trim(p.description).n) {
        struct memory m = like;
        m.id = p.uuid;
        m.content = str_printf(a, S_FMT ": " S_FMT, S_ARG(p.name), S_ARG(p.description));
        TRY(foreign_memory(f, &m));
    }
    for (const struct json *d = p.docs ? p.docs->first : NULL; d; d = d->next) {
        str name = text_in(d, "filename");
        str title = str_printf(a, S_FMT " / " S_FMT, S_ARG(p.name), S_ARG(name));
        str uuid = text_in(d, "uuid");
        struct memory of_doc = {0};
        TRY(foreign_time(f->ctx, json_get(d, "created_at"), "created_at", &of_doc.created));
        TRY(foreign_sections(f, uuid.n ? uuid : title, title, text_in(d, "content"), &of_doc));
    }
    return OK;
}
