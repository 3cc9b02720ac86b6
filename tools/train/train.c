/* train.c - fits recall's weights to dumps of evaluations: ./dev train runs it. */
#include "train.h"

#include <string.h>

/*
 * usage: train_recall ranking|gate|personal|line LIST > TABLE
 *
 * The same dumps give the same table, byte for byte. A set of weights without dumps stays as it is.
 */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*train)(const struct dumps *dumps, FILE *out);
    } tables[] = {{"ranking", train_ranking},
                  {"gate", train_gate},
                  {"personal", train_personal},
                  {"line", train_line}};
    static struct dumps dumps;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && argc == 3; i++)
        if (!strcmp(argv[1], tables[i].name)) {
            dumps_read(&dumps, argv[2]);
            tables[i].train(&dumps, stdout);
            return 0;
        }
    fputs("usage: train_recall ranking|gate|personal|line LIST > TABLE\n", stderr);
    return 2;
}
