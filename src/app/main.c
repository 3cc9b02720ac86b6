/* main.c - where the process begins. */
#include <stdio.h>

int main(void)
{
    puts("rememberd");
    return 0;
}
