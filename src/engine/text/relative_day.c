/* relative_day.c - texts that name a day by its distance get the day on which they were said. */
#include "engine/text/relative_day.h"

#include <time.h>

#include "engine/text/phrases.h"

/* "Tomorrow" that is read a month later is another day. The word itself stays: a rule that put a
 * date in its place would have to know what "mañana" or "next Friday" means in each case. */
static const char *const relative[] = {
    "yesterday|today|tomorrow|tonight",
    "last|next|this|coming|past week|weekend|month|year|night|spring|summer|autumn|fall|winter",
    "last|next|this|coming|on @weekday",
    "* day|days|week|weeks|month|months|year|years ago",
    "in * days|weeks|months|years",
    "heute|gestern|vorgestern|morgen|übermorgen",
    "letzte|letzten|letzter|letztes|nächste|nächsten|nächster|nächstes|kommende|kommenden|vorige|"
    "vorigen|diese|diesen|dieses woche|wochenende|monat|jahr|sommer|winter|frühling|herbst|montag|"
    "dienstag|mittwoch|donnerstag|freitag|samstag|sonntag",
    "am montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag",
    "vor|in * tagen|wochen|monaten|jahren",
    "hoy|ayer|anteayer|mañana",
    "semana|mes|año|verano|invierno|lunes|martes|miércoles|jueves|viernes|sábado|domingo "
    "pasado|pasada|próximo|próxima|viene",
    "semana|mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo que viene",
    "próximo|próxima|este|esta|pasado|pasada|el "
    "semana|mes|año|fin|verano|invierno|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
    "hace|dentro ?de * día|días|semana|semanas|mes|meses|año|años",
    "aujourd'hui|demain",
    "hier soir|matin",
    "semaine|mois|année|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche "
    "dernier|dernière|prochain|prochaine",
    "oggi|ieri|domani",
    "settimana|mese|anno scorso|scorsa|prossimo|prossima",
    "hoje|ontem|amanhã",
    "semana|mês|ano passado|passada|próximo|próxima",
    NULL};

/* Four digits that begin as years of our time do. */
static bool has_year(str text)
{
    for (size_t i = 0, digits = 0; i <= text.n; i++) {
        bool is_digit = i < text.n && text.p[i] >= '0' && text.p[i] <= '9';
        const char *from = text.p + i - digits;
        if (!is_digit && digits == 4 && (from[0] == '2' || (from[0] == '1' && from[1] == '9')))
            return true;
        digits = is_digit ? digits + 1 : 0;
    }
    return false;
}

/* "User flies to Oslo tomorrow" becomes "… tomorrow (said 2026-03-05)". A text that names a year
 * gets nothing, as it has a date of its own. said_ms is unix ms; the day is UTC. */
str text_with_day(struct arena *a, str text, int64_t said_ms)
{
    char day[20];
    struct tm t;
    time_t seconds = (time_t)(said_ms / 1000);
    if (said_ms <= 0 || has_year(text))
        return text;
    struct phrase_words words = phrase_words_of(a, phrase_fold(a, text));
    if (!phrase_find_any(&words, relative, NULL) || !gmtime_r(&seconds, &t) ||
        !strftime(day, sizeof day, "%Y-%m-%d", &t))
        return text;
    return str_printf(a, S_FMT " (said %s)", S_ARG(text), day);
}
