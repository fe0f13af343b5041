/* Loops whose speed compilers decide, each checked against its known answer: triad, dot, 7-point stencil, a sum of
 * square roots, and a product of small matrices. C99.
 *
 *   cc -O3 kernels.c -o kernels -lm && ./kernels triad
 *
 * Prints "rate: X unit" and ends with 1 when the answer is wrong. Best of the repeats within about half a second.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS 0.4
#define N 4096  /* elements of a vector that stays in a second-level cache */
#define EDGE 64 /* cells along an edge of the stencil's cube */
#define M 48    /* order of the small matrices */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double a[N], b[N], c[N];
static double cube[EDGE][EDGE][EDGE], next[EDGE][EDGE][EDGE];
static double x[M][M], y[M][M], z[M][M];
static volatile double q = 3.0; /* not known when compiling */

/* Each kernel does its work `times` over, and says the work of one time and the error of its answer. */
typedef double (*kernel)(long times, double *error);

static double triad(long times, double *error) {
    const double s = q;
    for (int i = 0; i < N; ++i) a[i] = 0, b[i] = i, c[i] = 2.0 * i;
    for (long t = 0; t < times; ++t) {
        for (int i = 0; i < N; ++i) a[i] = b[i] + s * c[i];
        b[t % N] = (double)(t % N); /* so that no round is the same as the one before it */
    }
    *error = 0;
    for (int i = 0; i < N; ++i) *error = fmax(*error, fabs(a[i] - 7.0 * i));
    return 2.0 * N;
}

static double dot(long times, double *error) {
    double sum = 0;
    for (int i = 0; i < N; ++i) a[i] = i + 1, b[i] = 1.0 / (i + 1);
    for (long t = 0; t < times; ++t) {
        sum = 0;
        for (int i = 0; i < N; ++i) sum += a[i] * b[i];
        a[t % N] = (double)(t % N + 1);
    }
    *error = fabs(sum - N) / N;
    return 2.0 * N;
}

/* One step of the heat equation: of a linear field each cell is the mean of its neighbours and keeps its value. */
static double stencil(long times, double *error) {
    for (int i = 0; i < EDGE; ++i)
        for (int j = 0; j < EDGE; ++j)
            for (int k = 0; k < EDGE; ++k) cube[i][j][k] = next[i][j][k] = i + 2 * j + 3 * k;
    for (long t = 0; t < times; ++t) {
        double(*from)[EDGE][EDGE] = t % 2 ? next : cube, (*to)[EDGE][EDGE] = t % 2 ? cube : next;
        for (int i = 1; i < EDGE - 1; ++i)
            for (int j = 1; j < EDGE - 1; ++j)
                for (int k = 1; k < EDGE - 1; ++k)
                    to[i][j][k] = 0.4 * from[i][j][k] +
                                  0.1 * (from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] +
                                         from[i][j + 1][k] + from[i][j][k - 1] + from[i][j][k + 1]);
    }
    *error = 0;
    for (int i = 0; i < EDGE; ++i)
        for (int j = 0; j < EDGE; ++j)
            for (int k = 0; k < EDGE; ++k)
                *error = fmax(*error, fabs(next[i][j][k] - (i + 2 * j + 3 * k)) / (1 + i + 2 * j + 3 * k));
    return 8.0 * (EDGE - 2) * (EDGE - 2) * (EDGE - 2);
}

static double roots(long times, double *error) {
    double sum = 0;
    for (int i = 0; i < N; ++i) a[i] = (double)i * i;
    for (long t = 0; t < times; ++t) {
        sum = 0;
        for (int i = 0; i < N; ++i) sum += sqrt(a[i]);
        a[t % N] = (double)(t % N) * (double)(t % N);
    }
    *error = fabs(sum / (0.5 * N * (N - 1)) - 1);
    return 2.0 * N;
}

/* With y = 2 I the product is 2 x. */
static double matrices(long times, double *error) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < M; ++j) x[i][j] = i - j, y[i][j] = i == j ? 2 : 0;
    for (long t = 0; t < times; ++t) {
        memset(z, 0, sizeof z);
        for (int i = 0; i < M; ++i)
            for (int k = 0; k < M; ++k)
                for (int j = 0; j < M; ++j) z[i][j] += x[i][k] * y[k][j];
        x[t % M][0] = (double)(t % M);
    }
    *error = 0;
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < M; ++j) *error = fmax(*error, fabs(z[i][j] - 2.0 * (i - j)));
    return 2.0 * M * M * M;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        kernel run;
    } all[] = {{"triad", triad}, {"dot", dot}, {"stencil", stencil}, {"roots", roots}, {"matrices", matrices}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (argc != 2 || strcmp(argv[1], all[i].name) != 0) continue;
        double error = 0, best = 0, end = now() + SECONDS;
        long times = 1;
        do {
            const double begin = now(), work = all[i].run(times, &error), took = now() - begin;
            if (!(error <= 1e-12)) {
                fprintf(stderr, "kernels: %s is wrong by %g\n", all[i].name, error);
                return 1;
            }
            best = fmax(best, (double)times * work / took * 1e-9);
            if (took < 5e-3) times *= 2;
        } while (now() < end);
        printf("rate: %.6g GF/s\n", best);
        return 0;
    }
    fprintf(stderr, "kernels: which one? triad, dot, stencil, roots or matrices\n");
    return 2;
}
