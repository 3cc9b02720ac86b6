/* janitor.h - a thread that now and then removes what has had its time. */
#pragma once

#include <pthread.h>

#include "core/settings.h"
#include "store/store.h"

struct janitor {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_running, ending;
    struct store *store;
    const struct settings *settings;
};

/* Old receipts and expired memories go a minute after the start and then every hour. */
void janitor_begin(struct janitor *j, struct store *store, const struct settings *settings);
/* Harmless on one that never began. */
void janitor_end(struct janitor *j);
