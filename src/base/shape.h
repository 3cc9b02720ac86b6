/* shape.h - Rows of a table of fields, and structs declared with their table. */
#pragma once

#include <stddef.h>

/*
 * One list of fields declares a struct and its table:
 *
 *     SHAPE(search_in, (STR, query, .required = true, .help = "words to look for"),
 *           (AS_INT, limit, "topK", .otherwise = 10, .max = 50));
 *
 * is struct search_in {str query; int64_t limit;} with search_in_fields, whose rows are
 * {STR(struct search_in, query), .required = true, ...} and so on. At most 37 fields.
 */
#define SHAPE(NAME, ...)                                                                           \
    struct NAME {                                                                                  \
        SHAPE_EACH(SHAPE_MEMBER, NAME, __VA_ARGS__)                                                \
    };                                                                                             \
    static FIELDS(NAME, __VA_ARGS__)

/* The table alone, of a struct that is declared elsewhere or has other members as well, also under
 * a name of its own; and the rows alone. */
#define FIELDS(NAME, ...) FIELDS_OF(NAME, NAME, __VA_ARGS__)
#define FIELDS_OF(STRUCT, NAME, ...)                                                               \
    const struct field NAME##_fields[] = {FIELD_ROWS(STRUCT, __VA_ARGS__){0}}
#define FIELD_ROWS(NAME, ...) SHAPE_EACH(SHAPE_ROW, NAME, __VA_ARGS__)

/* A row whose C type disagrees does not compile. */
#define MEMBER_IS(S, M, T) (0 * sizeof(_Generic(((S *)0)->M, T : 1)))
#define FIELD_(S, M, T, TYPE, NAME, ...)                                                           \
    .name = NAME, .type = TYPE, .at = offsetof(S, M) + MEMBER_IS(S, M, T), ##__VA_ARGS__
#define STR(S, M, ...) FIELD_(S, M, str, FIELD_STR, #M, ##__VA_ARGS__)
#define INT(S, M, ...) FIELD_(S, M, int64_t, FIELD_INT, #M, ##__VA_ARGS__)
#define NUM(S, M, ...) FIELD_(S, M, double, FIELD_NUM, #M, ##__VA_ARGS__)
#define BOOL(S, M, ...) FIELD_(S, M, bool, FIELD_BOOL, #M, ##__VA_ARGS__)
#define ENUM(S, M, ...) FIELD_(S, M, unsigned, FIELD_ENUM, #M, ##__VA_ARGS__) /* needs .one_of */
#define TIME(S, M, ...) FIELD_(S, M, int64_t, FIELD_TIME, #M, ##__VA_ARGS__)
#define JSON(S, M, ...) FIELD_(S, M, const struct json *, FIELD_JSON, #M, ##__VA_ARGS__)
#define RAW(S, M, ...) FIELD_(S, M, str, FIELD_RAW, #M, ##__VA_ARGS__)
#define STRS(S, M, ...) FIELD_(S, M, struct strs, FIELD_STRS, #M, ##__VA_ARGS__)
/* An ENUM of that type in C; a struct inside, which needs .inside. */
#define ENUM_OF(S, M, T, ...) ENUM(S, M, ##__VA_ARGS__)
#define OBJECT(S, M, T, ...) FIELD_(S, M, T, FIELD_OBJECT, #M, ##__VA_ARGS__)
/* The same under another name in JSON: AS_STR(struct x, session_id, "sessionId"). */
#define AS_STR(S, M, NAME, ...) FIELD_(S, M, str, FIELD_STR, NAME, ##__VA_ARGS__)
#define AS_INT(S, M, NAME, ...) FIELD_(S, M, int64_t, FIELD_INT, NAME, ##__VA_ARGS__)
#define AS_NUM(S, M, NAME, ...) FIELD_(S, M, double, FIELD_NUM, NAME, ##__VA_ARGS__)
#define AS_BOOL(S, M, NAME, ...) FIELD_(S, M, bool, FIELD_BOOL, NAME, ##__VA_ARGS__)
#define AS_ENUM(S, M, NAME, ...) FIELD_(S, M, unsigned, FIELD_ENUM, NAME, ##__VA_ARGS__)
#define AS_TIME(S, M, NAME, ...) FIELD_(S, M, int64_t, FIELD_TIME, NAME, ##__VA_ARGS__)
#define AS_JSON(S, M, NAME, ...) FIELD_(S, M, const struct json *, FIELD_JSON, NAME, ##__VA_ARGS__)
#define AS_RAW(S, M, NAME, ...) FIELD_(S, M, str, FIELD_RAW, NAME, ##__VA_ARGS__)
#define AS_OBJECT(S, M, T, NAME, ...) FIELD_(S, M, T, FIELD_OBJECT, NAME, ##__VA_ARGS__)
#define AS_STRS(S, M, NAME, ...) FIELD_(S, M, struct strs, FIELD_STRS, NAME, ##__VA_ARGS__)

/* --- how SHAPE works: what each kind declares, and a call for each element of a list --- */

#define MEMBER_STR(M, ...) str M;
#define MEMBER_INT(M, ...) int64_t M;
#define MEMBER_NUM(M, ...) double M;
#define MEMBER_BOOL(M, ...) bool M;
#define MEMBER_ENUM(M, ...) unsigned M;
#define MEMBER_TIME(M, ...) int64_t M;
#define MEMBER_JSON(M, ...) const struct json *M;
#define MEMBER_RAW(M, ...) str M;
#define MEMBER_STRS(M, ...) struct strs M;
#define MEMBER_ENUM_OF(M, T, ...) T M;
#define MEMBER_OBJECT(M, T, ...) T M;
#define MEMBER_AS_OBJECT MEMBER_OBJECT
#define MEMBER_AS_STR MEMBER_STR
#define MEMBER_AS_INT MEMBER_INT
#define MEMBER_AS_NUM MEMBER_NUM
#define MEMBER_AS_BOOL MEMBER_BOOL
#define MEMBER_AS_ENUM MEMBER_ENUM
#define MEMBER_AS_TIME MEMBER_TIME
#define MEMBER_AS_JSON MEMBER_JSON
#define MEMBER_AS_RAW MEMBER_RAW
#define MEMBER_AS_STRS MEMBER_STRS
#define SHAPE_MEMBER(...) SHAPE_MEMBER_OF(__VA_ARGS__)
#define SHAPE_MEMBER_OF(NAME, KIND, ...) MEMBER_##KIND(__VA_ARGS__)
#define SHAPE_ROW(...) SHAPE_ROW_OF(__VA_ARGS__)
#define SHAPE_ROW_OF(NAME, KIND, ...) {KIND(struct NAME, __VA_ARGS__)},

/* A macro does not expand within itself. So each step leaves a call of the next one behind, which
 * the next of the turns expands. */
#define SHAPE_EACH(F, NAME, ...) SHAPE_TURNS(SHAPE_STEP(F, NAME, __VA_ARGS__))
#define SHAPE_STEP(F, NAME, FIRST, ...)                                                            \
    F(NAME, SHAPE_OPEN FIRST) __VA_OPT__(SHAPE_AGAIN SHAPE_NONE(F, NAME, __VA_ARGS__))
#define SHAPE_AGAIN() SHAPE_STEP
#define SHAPE_NONE ()
#define SHAPE_OPEN(...) __VA_ARGS__
#define SHAPE_TURNS(...) SHAPE_4(SHAPE_4(SHAPE_4(SHAPE_4(__VA_ARGS__))))
#define SHAPE_4(...) SHAPE_3(SHAPE_3(SHAPE_3(__VA_ARGS__)))
#define SHAPE_3(...) SHAPE_1(SHAPE_1(SHAPE_1(__VA_ARGS__)))
#define SHAPE_1(...) __VA_ARGS__
