/* formats.h - the table of formats: how a file is recognised, and who reads its records. */
#pragma once

#include "ext/import/foreign.h"

enum record_shape {
    RECORDS_ITEMS, /* the elements of an array, or of a member of an object */
    RECORDS_WHOLE, /* the file is one record */
    RECORDS_LINES, /* a JSON object a line */
    RECORDS_TEXT   /* text, read as a whole */
};

/* One kind of file. Several rows may be one format; the first row that fits counts. */
struct import_format {
    const char *name;
    enum record_shape shape;
    const char *member; /* of the file's object, whose elements are the records; or NULL */
    const char *keys;   /* names that a record has, between blanks; of lines one of the first */
    const char *begins, *ends; /* of TEXT: one of the first lines, and the name; or NULL */
    foreign_reader *read;
    foreign_text_reader *read_text; /* of TEXT; of LINES and WHOLE in place of read */
    foreign_end *end;               /* behind the last record; or NULL */
    bool may_be_any;                /* of TEXT: with --format any file is one */
    bool is_copy;                   /* our own export, which is taken as a whole or not at all */
};

/* The row of a file, or NULL. name "": any format. is_chosen: the file itself was named, so text is
 * what the format says. */
const struct import_format *format_of(str name, str path, str text, bool is_chosen);
/* Why no row fits, in words for a person. */
str format_missing(struct arena *a, str name, str text);
