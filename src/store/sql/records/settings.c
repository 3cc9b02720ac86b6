/* settings.c - settings that were changed while a server ran, by name. */
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

enum status store_setting(struct ctx *ctx, struct store *s, str name, str *out)
{
    READER(r, ctx, s);
    return SQL_WORD(ctx, r.db, out, SQL_SETTING_GET, name);
}

struct setting {
    str name, value;
};

/* A row with an empty value would hide the default. */
static enum status put_setting(struct ctx *ctx, struct db *db, const void *what)
{
    const struct setting *setting = what;
    return setting->value.n ? SQL_DO(ctx, db, SQL_SETTING_PUT, setting->name, setting->value)
                            : SQL_DO(ctx, db, SQL_SETTING_DELETE, setting->name);
}

enum status store_put_setting(struct ctx *ctx, struct store *s, str name, str value)
{
    if (!name.n)
        return fail(ctx, BAD_INPUT, "a setting needs a name");
    return writer_call(ctx, s->writer, put_setting, &(struct setting){name, value});
}
