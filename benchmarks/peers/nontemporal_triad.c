// The plain loop that STREAM's triad is held against: a = b + q c with streaming stores and nothing else.
//   cc -O3 -march=native -fopenmp nontemporal_triad.c -o nontemporal_triad
//   OMP_NUM_THREADS=2 OMP_PROC_BIND=close OMP_PLACES=cores ./nontemporal_triad BYTES_PER_ARRAY TRIALS   -> GB/s, best trial
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void triad(double* a, const double* b, const double* c, double q, long n) {
#if defined(__AVX512F__)
    const __m512d factor = _mm512_set1_pd(q);
    for (long i = 0; i < n; i += 8)
        _mm512_stream_pd(a + i, _mm512_add_pd(_mm512_load_pd(b + i), _mm512_mul_pd(factor, _mm512_load_pd(c + i))));
    _mm_sfence();
#elif defined(__AVX__)
    const __m256d factor = _mm256_set1_pd(q);
    for (long i = 0; i < n; i += 4)
        _mm256_stream_pd(a + i, _mm256_add_pd(_mm256_load_pd(b + i), _mm256_mul_pd(factor, _mm256_load_pd(c + i))));
    _mm_sfence();
#elif defined(__x86_64__)
    const __m128d factor = _mm_set1_pd(q);
    for (long i = 0; i < n; i += 2)
        _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(factor, _mm_load_pd(c + i))));
    _mm_sfence();
#else
    for (long i = 0; i < n; ++i) a[i] = b[i] + q * c[i];
#endif
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const long n = atol(argv[1]) / 8 / 8 * 8;
    double* arrays[3];
    for (int k = 0; k < 3; ++k)
        if (posix_memalign((void**)&arrays[k], 4096, (size_t)n * 8)) return 1;
    double best = 1e300;
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), me = omp_get_thread_num(), lines = n / 8;
        const long first = lines * me / threads * 8, count = lines * (me + 1) / threads * 8 - first;
        for (long i = first; i < first + count; ++i) {
            arrays[0][i] = 0;
            arrays[1][i] = 1;
            arrays[2][i] = 2;
        }
        for (int trial = 0; trial < atoi(argv[2]); ++trial) {
#pragma omp barrier
            const double start = omp_get_wtime();
            triad(arrays[0] + first, arrays[1] + first, arrays[2] + first, 3.0, count);
#pragma omp barrier
            const double time = omp_get_wtime() - start;
#pragma omp master
            if (time < best) best = time;
        }
    }
    if (arrays[0][n / 2] != 7.0) return 1;
    printf("%.6g\n", 24.0 * (double)n / best * 1e-9);
    return 0;
}
