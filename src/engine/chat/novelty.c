/* novelty.c - parts of an answer that were not put into the model's mouth. */
#include "engine/chat/novelty.h"

#include "engine/text/block_strip.h"
#include "engine/text/sentences.h"
#include "engine/text/term_set.h"
#include "words/words.h"

/*
 * A model that was given memory repeats it, and so does one that is told something ("Got it:
 * dentist on Friday."). If its answer were found by the same words, each recall would feed the next
 * one, and soon most memories would be answers that quote answers. So only the novel sentences of
 * such an answer are searched; its text is kept whole.
 *
 * Example: the block says "Ana's dog is called Rex", and the answer is "Your friend's dog is Rex.
 * It may like the lake path." Most content words of the first sentence are the block's, those of
 * the second are new, so only the second can be found later. Words are compared by stem; stop words
 * do not count. A sentence without any content word ("It is.") is never novel.
 */
enum { WORDS_MAX = 4096 };

/* A sentence with at least this share of its content words from what was given is not novel. */
static const double repeated = 0.6;

/* The content words of the remembered lines, without those of the block's own sentences, and of
 * what the user told. */
static struct term_set given_terms(struct arena *a, str block, str told)
{
    struct strs lines = block_texts(a, block);
    struct term_set given = {0};
    size_t left = WORDS_MAX;
    for (size_t i = 0; i <= lines.n; i++) {
        struct words w = words_of(a, i < lines.n ? lines.v[i] : told, left);
        assert(w.n <= left);
        left -= w.n;
        for (size_t k = 0; k < w.n; k++)
            if (!w.v[k].is_stop)
                terms_add(a, &given, str_hash(w.v[k].stem));
    }
    terms_sort(&given);
    return given;
}

/* Cost: one hash look-up for each content word of the answer. */
static bool is_novel(struct arena *a, str sentence, const struct term_set *given)
{
    struct words w = words_of(a, sentence, WORDS_MAX);
    size_t content = 0, known = 0;
    for (size_t i = 0; i < w.n; i++) {
        content += !w.v[i].is_stop;
        known += !w.v[i].is_stop && terms_have(given, str_hash(w.v[i].stem));
    }
    return content && (double)known < repeated * (double)content;
}

str novel_sentences(struct arena *a, str answer, str block, str told)
{
    struct term_set given = given_terms(a, block, told);
    struct buf b = buf_make(a, answer.n + 1);
    while (answer.n) {
        size_t end = str_find(answer, S("\n"));
        str line = str_sub(answer, 0, end + (end < answer.n));
        answer = str_sub(answer, line.n, answer.n);
        for (struct sentence s; sentence_cut(&line, &s);)
            if (is_novel(a, s.text, &given))
                buf_add(&b, s.text);
    }
    return buf_str(&b);
}
