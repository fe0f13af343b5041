/* Crews from C: every call, with what comes of it. To be run with a layout of 2x2. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdio.h>
#include <strata/mlp.h>
#include <string.h>
#include <time.h>

#define N 1000

static int wrong = 0;

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "wrong in member %d: %s\n", mlp_rank(), what);
    ++wrong;
}

struct region {
    atomic_int calls, seen[8], inner;
    int threads;
};

static void nested(int thread, int threads, void* arg) {
    struct region* region = arg;
    if (thread == 0 && threads == 1) atomic_fetch_add(&region->inner, 1);
}

static void body(int thread, int threads, void* arg) {
    struct region* region = arg;
    if (thread == 0) region->threads = threads;
    atomic_fetch_add(&region->calls, 1);
    if (thread < 8) atomic_fetch_add(&region->seen[thread], 1);
    mlp_parallel(nested, region);
}

/* The number of threads of a region, each of which was called once. */
static int threads_of_region(void) {
    struct region region;
    memset(&region, 0, sizeof region);
    check(mlp_parallel(body, &region) == MLP_OK, "a region");
    check(atomic_load(&region.calls) == region.threads, "as many calls as threads");
    for (int i = 0; i < region.threads; ++i) check(atomic_load(&region.seen[i]) == 1, "each thread once");
    check(atomic_load(&region.inner) == region.threads, "a region within a region has one thread");
    return region.threads;
}

/* Who had the cores before may be on its way out. */
static void await_threads(int wanted) {
    int now = 0;
    for (time_t end = time(NULL) + 20; now != wanted && time(NULL) < end;) now = threads_of_region();
    check(now == wanted, "as many threads as cores");
}

struct loop {
    atomic_int times[N], blocks, longest;
};

static void block(int64_t first, int64_t last, void* arg) {
    struct loop* loop = arg;
    atomic_fetch_add(&loop->blocks, 1);
    if (last - first > atomic_load(&loop->longest)) atomic_store(&loop->longest, (int)(last - first));
    for (int64_t i = first; i < last; ++i) atomic_fetch_add(&loop->times[i + 100], 1);
}

static void loops(int threads) {
    static struct loop loop;
    for (int64_t chunk = 0; chunk <= 7; chunk += 7) {
        memset(&loop, 0, sizeof loop);
        check(mlp_parallel_for(-100, N - 100, chunk, block, &loop) == MLP_OK, "a loop");
        for (int i = 0; i < N; ++i) check(atomic_load(&loop.times[i]) == 1, "each iteration once");
        check(atomic_load(&loop.blocks) == (chunk == 0 ? threads : (N + 6) / 7), "as many blocks");
        check(chunk == 0 || atomic_load(&loop.longest) == 7, "no block is longer than the chunk");
    }
    memset(&loop, 0, sizeof loop);
    check(mlp_parallel_for(5, 5, 0, block, &loop) == MLP_OK && atomic_load(&loop.blocks) == 0,
          "no iteration");
}

static void expect(int own, int other) {
    const int rank = mlp_rank();
    int counts[2] = {-1, -1};
    check(mlp_crew_counts(counts, 2) == MLP_OK, "counts");
    check(counts[rank] == own && counts[1 - rank] == other, "the counts of all");
    check(mlp_crew_count(rank) == own && mlp_crew_count(1 - rank) == other, "the count of each");
    mlp_barrier();
    await_threads(own);
    mlp_barrier();
}

static void calls(void) {
    const int rank = mlp_rank();
    mlp_crew_prepare();
    expect(2, 2);
    loops(2);
    mlp_barrier();
    if (rank == 1) mlp_crew_move(0, 1, 1); /* anybody may */
    mlp_barrier();
    expect(rank == 0 ? 1 : 3, rank == 0 ? 3 : 1);
    loops(rank == 0 ? 1 : 3);
    mlp_barrier();
    const int all[2] = {3, 1};
    if (rank == 0) mlp_crew_set_counts(all, 2);
    mlp_barrier();
    expect(rank == 0 ? 3 : 1, rank == 0 ? 1 : 3);
    if (rank == 0) mlp_crew_set_count(0, 1); /* two are nobody's now */
    mlp_barrier();
    expect(1, 1);
    if (rank == 0) mlp_crew_set_count(1, 2);
    mlp_barrier();
    expect(rank == 0 ? 1 : 2, rank == 0 ? 2 : 1);
    check(mlp_lend_to_openmp() == 0, "a program without OpenMP");
}

static void refused(int result, int expected, const char* part) {
    check(result == expected && strstr(mlp_error(), part) != NULL, part);
}

static void errors(void) {
    const int few[2] = {2, 0}, many[2] = {3, 2};
    int room[3];
    mlp_errors_return(1);
    refused(mlp_crew_count(2), -1, "no such member");
    refused(mlp_crew_count(-1), -1, "no such member");
    refused(mlp_crew_counts(room, 3), MLP_ERROR, "allowed: 2");
    refused(mlp_crew_counts(NULL, 2), MLP_ERROR, "given: NULL");
    refused(mlp_crew_set_count(0, 0), MLP_ERROR, "keeps one thread");
    refused(mlp_crew_set_count(0, 4), MLP_ERROR, "more threads than the team has places");
    refused(mlp_crew_set_count(2, 1), MLP_ERROR, "no such member");
    refused(mlp_crew_set_counts(few, 2), MLP_ERROR, "keeps one thread");
    refused(mlp_crew_set_counts(many, 2), MLP_ERROR, "more threads than");
    refused(mlp_crew_set_counts(many, 1), MLP_ERROR, "1 counts");
    refused(mlp_crew_set_counts(NULL, 2), MLP_ERROR, "0 counts");
    refused(mlp_crew_move(0, 1, 2), MLP_ERROR, "keeps one thread");
    refused(mlp_crew_move(0, 2, 1), MLP_ERROR, "no such member");
    refused(mlp_crew_move(0, 1, -1), MLP_ERROR, "not negative");
    refused(mlp_parallel(NULL, NULL), MLP_ERROR, "mlp_parallel needs a function");
    refused(mlp_parallel_for(0, 9, 0, NULL, NULL), MLP_ERROR, "mlp_parallel_for needs a function");
    refused(mlp_parallel_for(0, 9, -1, block, NULL), MLP_ERROR, "such chunks");
    check(mlp_crew_count(0) == 2 && mlp_crew_count(1) == 2, "what is refused changes nothing");
    mlp_errors_return(0);
    mlp_barrier();
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "before") == 0) return mlp_parallel(body, NULL);
    mlp_start(argc, argv);
    if (strcmp(what, "errors") == 0)
        errors();
    else if (strcmp(what, "fatal") == 0)
        mlp_crew_move(0, 1, mlp_rank() == 0 ? 2 : 0);
    else
        calls();
    mlp_barrier();
    if (wrong == 0) printf("member %d: %s\n", mlp_rank(), what);
    return mlp_finish() == MLP_OK && wrong == 0 ? 0 : 3;
}
