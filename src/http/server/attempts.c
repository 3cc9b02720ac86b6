/* attempts.c - wrong credentials: slowed by address and by account, and logged. */
#include "http/server/attempts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "http/wire/address.h"
#include "http/wire/meter.h"

/*
 * A token is 256 random bits, so nobody guesses one; but trying costs the server work, and the
 * operator should see it. Each wrong credential takes one of the address's attempts, and of its
 * account's, where it once belonged to someone. When none are left, wrong ones are answered 429.
 * Right ones pass, so that the others behind one address go on working.
 *
 * Who connects from this machine may be a proxy, and names an address that nobody can check. So all
 * who come that way share a second, larger number of attempts: a program here that makes up a new
 * address each time is slowed by that one. It is asked first: once it is used up, made-up addresses
 * take no places of the table, from which they would push others.
 *
 * The log has one line a minute for each address. Addresses that find no place in the list are one
 * line together.
 */

enum { MINUTE_US = 60000000, NOTES_MAX = 256, PROXY_SHARE = 16, ACCOUNT_MAX = 64 };

struct note {
    char address[ADDRESS_MAX], account[ACCOUNT_MAX]; /* "": a free place; of the last, or "" */
    int64_t count, logged_us;                        /* count: since the last line */
};

struct attempts {
    struct meters *meters;
    double per_minute;
    pthread_mutex_t lock; /* of what follows */
    struct note notes[NOTES_MAX];
};

struct attempts *attempts_new(int64_t per_minute)
{
    struct attempts *a = heap_alloc(sizeof *a);
    pthread_mutex_init(&a->lock, NULL);
    a->meters = meters_new();
    a->per_minute = (double)per_minute;
    return a;
}

void attempts_free(struct attempts *a)
{
    attempts_log(a, INT64_MAX);
    meters_free(a->meters);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* --- the log --- */

static void log_note(struct note *n, int64_t now)
{
    log_event(LOG_WARN, "access.wrong_credential",
              *n->account ? "address=%s count=%lld account=\"%s\"" : "address=%s count=%lld%s",
              n->address, (long long)n->count, n->account);
    n->count = 0;
    n->logged_us = now;
}

/* The place of the address, or a free one; the last is for all others. */
static struct note *find_note(struct attempts *a, const char *address)
{
    struct note *last = a->notes + NOTES_MAX - 1, *unused = last;
    for (struct note *n = last; n-- > a->notes;) {
        if (strcmp(n->address, address) == 0)
            return n;
        if (!*n->address)
            unused = n;
    }
    return unused;
}

static void note_attempt(struct attempts *a, const struct request *in)
{
    const char *address = in->address.n ? in->address.p : "local";
    int64_t now = clock_mono_us();
    HOLD(&a->lock);
    struct note *n = find_note(a, address);
    bool is_new = !*n->address;
    if (is_new)
        snprintf(n->address, sizeof n->address, "%s",
                 n == a->notes + NOTES_MAX - 1 ? "others" : address);
    snprintf(n->account, sizeof n->account, S_FMT, S_ARG(in->attempt->account));
    n->count++;
    if (is_new)
        log_note(n, now);
}

/* One that was not wrong for a minute gives up its place. */
void attempts_log(struct attempts *a, int64_t now)
{
    HOLD(&a->lock);
    for (struct note *n = a->notes; n < a->notes + NOTES_MAX; n++) {
        if (!*n->address || now - n->logged_us < MINUTE_US)
            continue;
        if (n->count)
            log_note(n, now);
        else
            *n = (struct note){0};
    }
}

/* --- the limit --- */

/* Whether all whom a wrong credential counts for have attempts left; takes: one less of each. An
 * address that is slowed itself takes nothing from the others behind a proxy. */
static bool has_attempts(struct attempts *a, const struct request *in, bool takes)
{
    const struct {
        enum meter_kind kind;
        bool counts, takes;
        str name;
        double share;
    } who[] = {
        {METER_CONNECTIONS, in->is_forwarded, false, S("a proxy here"), PROXY_SHARE},
        {METER_ADDRESS, true, takes, in->address, 1},
        {METER_CONNECTIONS, in->is_forwarded, takes, S("a proxy here"), PROXY_SHARE},
        {METER_TOKEN, in->attempt->account.n > 0, takes, in->attempt->account, 1},
    };
    return !SOME(i, sizeof who / sizeof *who,
                 who[i].counts && !meters_take(a->meters, who[i].kind, who[i].name,
                                               who[i].share * a->per_minute, who[i].takes));
}

static enum status refuse_attempt(struct ctx *ctx, const struct attempts *a,
                                  const struct request *in)
{
    in->attempt->retry_s = (int)(60 / a->per_minute) + 1;
    return fail(ctx, TOO_BUSY,
                "more than %lld wrong credentials per minute from this address or of this account; "
                "try again later",
                (long long)a->per_minute);
}

enum status attempts_may(struct ctx *ctx, struct attempts *a, const struct request *in)
{
    return !a->per_minute || has_attempts(a, in, false) ? OK : refuse_attempt(ctx, a, in);
}

enum status attempts_judge(struct ctx *ctx, struct attempts *a, const struct request *in)
{
    if (!in->attempt->is_wrong)
        return NO_AUTH;
    note_attempt(a, in);
    if (!a->per_minute || has_attempts(a, in, true))
        return NO_AUTH;
    ctx_clear_failure(ctx);
    return refuse_attempt(ctx, a, in);
}
