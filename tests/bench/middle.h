/* middle -- of several figures, when others use the machine too. */
#pragma once
#include <stdlib.h>

static inline int middle_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them; of an even number the upper one. */
static inline double middle(double *all, size_t n)
{
    qsort(all, n, sizeof *all, middle_by_size);
    return all[n / 2];
}
