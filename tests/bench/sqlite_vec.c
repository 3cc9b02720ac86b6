/* sqlite_vec.c - hands our SQLite, which loads no extensions, to sqlite-vec. */
#include "sqlite_vec.h"

#include <dlfcn.h>
#include <stdio.h>
/* Else the header turns every function into a member of what is handed over. */
#define SQLITE_CORE
#include <sqlite3ext.h>

#define GIVE(name) .name = sqlite3_##name

/* What it calls. */
static const sqlite3_api_routines api = {
    GIVE(bind_blob),
    GIVE(bind_int),
    GIVE(bind_int64),
    GIVE(bind_null),
    GIVE(bind_text),
    GIVE(bind_value),
    GIVE(bind_zeroblob),
    GIVE(bind_zeroblob64),
    GIVE(blob_bytes),
    GIVE(blob_close),
    GIVE(blob_open),
    GIVE(blob_read),
    GIVE(blob_reopen),
    GIVE(blob_write),
    GIVE(clear_bindings),
    GIVE(column_blob),
    GIVE(column_bytes),
    GIVE(column_int),
    GIVE(column_int64),
    GIVE(column_text),
    GIVE(column_type),
    GIVE(column_value),
    GIVE(context_db_handle),
    GIVE(create_function_v2),
    GIVE(create_module_v2),
    GIVE(db_handle),
    GIVE(db_mutex),
    GIVE(declare_vtab),
    GIVE(errmsg),
    GIVE(exec),
    GIVE(extended_errcode),
    GIVE(finalize),
    GIVE(free),
    GIVE(last_insert_rowid),
    GIVE(libversion_number),
    GIVE(malloc),
    GIVE(malloc64),
    GIVE(mprintf),
    GIVE(mutex_enter),
    GIVE(mutex_leave),
    GIVE(prepare_v2),
    GIVE(realloc64),
    GIVE(reset),
    GIVE(result_blob),
    GIVE(result_double),
    GIVE(result_error),
    GIVE(result_error_code),
    GIVE(result_error_nomem),
    GIVE(result_int),
    GIVE(result_int64),
    GIVE(result_null),
    GIVE(result_subtype),
    GIVE(result_text),
    GIVE(result_value),
    GIVE(step),
    GIVE(stricmp),
    GIVE(strnicmp),
    GIVE(str_appendall),
    GIVE(str_appendchar),
    GIVE(str_appendf),
    GIVE(str_finish),
    GIVE(str_length),
    GIVE(str_new),
    GIVE(user_data),
    GIVE(value_blob),
    GIVE(value_bytes),
    GIVE(value_double),
    GIVE(value_dup),
    GIVE(value_free),
    GIVE(value_int),
    GIVE(value_int64),
    GIVE(value_nochange),
    GIVE(value_subtype),
    GIVE(value_text),
    GIVE(value_type),
    .vmprintf = sqlite3_vmprintf,
    GIVE(vtab_in),
    GIVE(vtab_in_first),
    GIVE(vtab_in_next),
    GIVE(vtab_nochange),
    GIVE(vtab_on_conflict),
};

bool sqlite_vec_load(sqlite3 *handle, const char *file)
{
    int (*init)(sqlite3 *, char **, const sqlite3_api_routines *) = NULL;
    char *why = NULL;
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (lib)
        *(void **)&init = dlsym(lib, "sqlite3_vec_init");
    if (init && init(handle, &why, &api) == SQLITE_OK)
        return true;
    fprintf(stderr, "%s: %s\n", file, init ? why : dlerror());
    return false;
}
