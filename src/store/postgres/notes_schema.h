/* notes_schema.h - triggers that note by name what is changed, while a server asks for it. */
#pragma once

/* The rows go into the connection's temporary table noted (kind, user, space, id). */
extern const char pg_notes_schema[];
