/* multi.h - curl's transfers inside a loop. */
#pragma once

#include <curl/curl.h>

struct loop;

/* flush: called each time after curl, whose callbacks may have added output for clients. */
void multi_open(struct loop *l, void (*flush)(struct loop *l));
void multi_close(struct loop *l);
/* Lets curl act on a handle that was just added, without waiting for the next turn. */
void multi_kick(struct loop *l);
CURL *multi_handle(struct loop *l);
void multi_handle_back(struct loop *l, CURL *easy);
