// OpenBLAS called directly, with its own threads: what DGEMM is held against.
//   cc -O2 direct_dgemm.c -o direct_dgemm -ldl
//   OPENBLAS_NUM_THREADS=2 ./direct_dgemm LIBRARY N REPEATS   -> GF/s, best repeat
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void (*Dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    void* library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 1;
    Dgemm dgemm = (Dgemm)dlsym(library, "cblas_dgemm");
    if (!dgemm) dgemm = (Dgemm)dlsym(library, "scipy_cblas_dgemm");
    if (!dgemm) return 1;
    const int n = atoi(argv[2]);
    double* m[3];
    for (int k = 0; k < 3; ++k) {
        if (posix_memalign((void**)&m[k], 4096, sizeof(double) * (size_t)n * (size_t)n)) return 1;
        for (long i = 0; i < (long)n * n; ++i) m[k][i] = 0.5 - (double)(i * 7919 % 1009) / 1009;
    }
    double best = 1e300;
    for (int i = 0; i < atoi(argv[3]); ++i) {
        const double start = now();
        dgemm(101, 111, 111, n, n, n, 1.25, m[0], n, m[1], n, 0.5, m[2], n);
        const double time = now() - start;
        if (time < best) best = time;
    }
    printf("%.6g\n", 2e-9 * n * n * (double)n / best);
    return 0;
}
