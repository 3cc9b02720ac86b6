/* echo.c - what an answer says that was not put into the model's mouth. */
#include "engine/engine_int.h"

#include "base/words.h"

/*
 * A model that was given memory repeats it. If its answer were found by the same words, each recall
 * would feed the next one, and soon what is remembered would be mostly answers that quote answers.
 * So of such an answer only the sentences that bring something new are searched; the text is kept
 * as it is.
 */
enum { WORDS_MAX = 4096 };

/* A sentence with at least this share of its telling words from the block brings nothing new. */
static const double repeated = 0.6;

static int compare(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

static struct strs telling_stems(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    struct strs out = {NEW_N(a, str, w.n + 1), 0};
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop)
            out.v[out.n++] = w.v[i].stem;
    return out;
}

/* The words of the remembered lines, in order; not those of the block's own sentences. */
static struct strs given_stems(struct arena *a, str block)
{
    struct strs lines = block_texts(a, block);
    struct buf b = buf_make(a, block.n + 1);
    for (size_t i = 0; i < lines.n; i++) {
        buf_add(&b, lines.v[i]);
        buf_byte(&b, '\n');
    }
    struct strs out = telling_stems(a, buf_str(&b));
    if (out.n)
        qsort(out.v, out.n, sizeof *out.v, compare);
    return out;
}

static bool is_new(struct arena *a, str sentence, const struct strs *given)
{
    struct strs stems = telling_stems(a, sentence);
    size_t known = 0;
    for (size_t i = 0; i < stems.n; i++)
        known += bsearch(&stems.v[i], given->v, given->n, sizeof *given->v, compare) != NULL;
    return stems.n && (double)known < repeated * (double)stems.n;
}

/* Up to and with the next full stop, question or exclamation mark before a blank, or line end. A
 * full stop behind a digit numbers something. */
static str next_sentence(str *rest)
{
    size_t n = 0;
    while (n < rest->n) {
        char c = rest->p[n++], before = n > 1 ? rest->p[n - 2] : ' ';
        bool ends = (c == '.' && (before < '0' || before > '9')) || c == '!' || c == '?';
        if (c == '\n' || (ends && (n == rest->n || rest->p[n] == ' ' || rest->p[n] == '\n')))
            break;
    }
    str sentence = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return sentence;
}

str echo_says(struct arena *a, str answer, str block)
{
    struct strs given = given_stems(a, block);
    struct buf b = buf_make(a, answer.n + 1);
    while (answer.n) {
        str sentence = next_sentence(&answer);
        if (is_new(a, sentence, &given))
            buf_add(&b, sentence);
    }
    return buf_str(&b);
}
