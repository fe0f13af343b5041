/* The heat equation on a cube as one writes it in an afternoon: one process, one OpenMP loop over planes and
 * rows, three indices, no blocks. Beside Strata's stencil: plain_heat N STEPS REPEATS prints millions of cell
 * updates a second, the median of the repeats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const long n = atol(argv[1]), steps = atol(argv[2]), repeats = atol(argv[3]), w = n + 2;
    double *u = malloc((size_t)(w * w * w) * sizeof *u), *v = malloc((size_t)(w * w * w) * sizeof *v);
    double* seconds = calloc((size_t)repeats, sizeof *seconds);
    if (u == NULL || v == NULL || seconds == NULL) return 1;
#pragma omp parallel for schedule(static)
    for (long k = 0; k < w; ++k)
        for (long i = 0; i < w * w; ++i) u[k * w * w + i] = v[k * w * w + i] = 0;
#pragma omp parallel for schedule(static) collapse(2)
    for (long k = 1; k <= n; ++k)
        for (long j = 1; j <= n; ++j)
            for (long i = 1; i <= n; ++i) u[(k * w + j) * w + i] = sin(0.01 * (double)(i * j + k));
    for (long repeat = -1; repeat < repeats; ++repeat) {
        const double start = now();
        for (long step = 0; step < steps; ++step) {
#pragma omp parallel for schedule(static) collapse(2)
            for (long k = 1; k <= n; ++k)
                for (long j = 1; j <= n; ++j) {
                    const double* restrict from = u + (k * w + j) * w;
                    double* restrict to = v + (k * w + j) * w;
                    for (long i = 1; i <= n; ++i)
                        to[i] = 0.25 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - w] +
                                                          from[i + w] + from[i - w * w] + from[i + w * w]);
                }
            double* const other = u;
            u = v;
            v = other;
        }
        if (repeat >= 0) seconds[repeat] = (now() - start) / (double)steps;
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
    double sum = 0;
    for (long i = 0; i < w * w * w; ++i) sum += u[i];
    if (isnan(sum)) return 1;
    printf("%.6g\n", 1e-6 * (double)(n * n * n) / seconds[repeats / 2]);
    free(u);
    free(v);
    free(seconds);
    return 0;
}
