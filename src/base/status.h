/* status.h - the closed list of how a call can end. */
#pragma once

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define UNUSED __attribute__((unused))
#define CLEANUP(fn) __attribute__((cleanup(fn)))

enum status {
    OK = 0,
    BAD_INPUT,   /* the caller sent something that breaks a stated rule */
    NO_AUTH,     /* a credential is needed, or the one given is not known */
    FORBIDDEN,   /* the credential is known and does not reach this far */
    NOT_FOUND,   /* also: it exists and is someone else's */
    CONFLICT,    /* it exists already, or has changed meanwhile */
    TOO_LARGE,   /* over a stated size limit */
    TOO_BUSY,    /* a queue is full; the same call may succeed later */
    TIMED_OUT,   /* a deadline passed */
    UPSTREAM,    /* a model or another server did not do its part */
    STORAGE,     /* the disk or the database did not do its part */
    UNSUPPORTED, /* this build, backend or setting cannot do it */
    STATUS_COUNT
};

/* The name of a status in lower case, as logs and metrics spell it. */
const char *status_name(enum status s);

/* Passes a failure on; the only macro that hides a return. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_ = (call);                                                                 \
        if (try_ != OK)                                                                            \
            return try_;                                                                           \
    } while (0)
