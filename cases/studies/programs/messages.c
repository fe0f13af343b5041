/* What processes pay MPI for meeting and for each other's data: a barrier, the one-way time of 8 bytes, and
 * the rate at which 2 MiB come from a neighbour; each also through a shared window. Checked, then timed; the
 * median of eleven windows. C99.
 *
 *   mpicc -O3 messages.c -o messages && mpirun -np 2 ./messages barrier
 *
 * Words: barrier [PROCESSES], flag, flag-window, read, read-window. All but the first are between ranks 0 and
 * 1, the others wait. Prints "barrier: X ns", "flag: X ns" or "read: X GB/s", and ends with 1 when what came
 * was wrong.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOWS 11
#define WINDOW_S 0.005
#define CHECKS 100
#define WORDS (2 * 1024 * 1024 / 8)

static int rank, size;
static long wrong;

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

/* Seconds of one call of `round`, which all processes make together: the median of the windows. */
static double timed(void (*round)(void)) {
    double windows[WINDOWS];
    for (int i = 0; i < 100; ++i) round();
    double start = MPI_Wtime();
    for (int i = 0; i < 20; ++i) round();
    long rounds = (long)(WINDOW_S / ((MPI_Wtime() - start) / 20 + 1e-9));
    if (rounds < 5) rounds = 5;
    MPI_Bcast(&rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int w = 0; w < WINDOWS; ++w) {
        start = MPI_Wtime();
        for (long i = 0; i < rounds; ++i) round();
        windows[w] = (MPI_Wtime() - start) / (double)rounds;
    }
    qsort(windows, WINDOWS, sizeof windows[0], by_size);
    return windows[WINDOWS / 2];
}

/* -- barrier ----------------------------------------------------------------------------------------------
 */

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Each rank in turn comes late; after the barrier everybody must have counted the round. */
static void check_barrier(void) {
    MPI_Win window;
    volatile long* mine;
    MPI_Win_allocate_shared(128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&mine, &window);
    MPI_Win_lock_all(0, window);
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 1; round <= CHECKS; ++round) {
        if (round % size == rank) usleep(50);
        *mine = round;
        MPI_Win_sync(window);
        barrier();
        MPI_Win_sync(window);
        for (int other = 0; other < size; ++other) {
            MPI_Aint bytes;
            int unit;
            volatile long* theirs;
            MPI_Win_shared_query(window, other, &bytes, &unit, (void*)&theirs);
            if (*theirs < round || *theirs > round + 1) ++wrong;
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* -- one way of 8 bytes -----------------------------------------------------------------------------------
 */

static uint64_t number;

static void send(uint64_t n) { MPI_Send(&n, 1, MPI_UINT64_T, 1 - rank, 0, MPI_COMM_WORLD); }
static void receive(uint64_t n) {
    uint64_t got = 0;
    MPI_Recv(&got, 1, MPI_UINT64_T, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += got != n;
}

static void message(void) {
    if (rank == 0) {
        send(number + 1);
        receive(number + 2);
    } else if (rank == 1) {
        receive(number + 1);
        send(number + 2);
    }
    number += 2;
}

/* The same through memory that MPI shares: a store, and MPI_Win_sync, which the standard asks for between
 * looks. */
static MPI_Win window;
static volatile uint64_t* word;

static void await(uint64_t n) {
    while (*word != n) MPI_Win_sync(window);
}

static void store(uint64_t n) {
    *word = n;
    MPI_Win_sync(window);
}

static void flag_in_window(void) {
    if (rank == 0) {
        store(number + 1);
        await(number + 2);
    } else if (rank == 1) {
        await(number + 1);
        store(number + 2);
    }
    number += 2;
}

static void* open_window(size_t bytes) {
    MPI_Aint all = rank == 0 ? (MPI_Aint)bytes : 0, their;
    int unit;
    void* memory;
    MPI_Win_allocate_shared(all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &their, &unit, &memory);
    MPI_Win_lock_all(0, window);
    return memory;
}

static void close_window(void) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* -- 2 MiB that the neighbour has just written -------------------------------------------------------------
 */

static void write_words(uint64_t* words, uint64_t round) {
    for (uint64_t i = 0; i < WORDS; ++i) words[i] = round * 0x9e3779b97f4a7c15u + i;
}

static void check_words(const uint64_t* words, uint64_t round, uint64_t total) {
    if (words != NULL) {
        total = 0;
        for (uint64_t i = 0; i < WORDS; ++i) total += words[i];
    }
    wrong += total != (uint64_t)WORDS * (round * 0x9e3779b97f4a7c15u) + (uint64_t)WORDS * (WORDS - 1) / 2;
}

/* Seconds of one reading, by rank 0: rank 1 writes all words, both meet, then the words come. */
static double reading(int through_window) {
    enum { ROUNDS = 20 };
    double windows[WINDOWS];
    uint64_t *words = through_window ? open_window(8 * (size_t)WORDS) : malloc(8 * (size_t)WORDS), round = 0;
    if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(words, 0, through_window && rank != 0 ? 0 : 8 * (size_t)WORDS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int w = -1; w < WINDOWS; ++w) {
        double seconds = 0;
        for (int i = 0; i < ROUNDS; ++i) {
            ++round;
            if (rank == 1) write_words(words, round);
            if (through_window) MPI_Win_sync(window);
            MPI_Barrier(MPI_COMM_WORLD);
            if (through_window) MPI_Win_sync(window);
            const double start = MPI_Wtime();
            if (rank == 0 && through_window) {
                uint64_t total = 0;
                for (uint64_t k = 0; k < WORDS; ++k) total += words[k];
                seconds += MPI_Wtime() - start;
                check_words(NULL, round, total);
            } else if (rank == 0) {
                MPI_Recv(words, WORDS, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                seconds += MPI_Wtime() - start;
                check_words(words, round, 0);
            } else if (rank == 1 && !through_window) {
                MPI_Send(words, WORDS, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (w >= 0) windows[w] = seconds / ROUNDS;
    }
    if (through_window)
        close_window();
    else
        free(words);
    qsort(windows, WINDOWS, sizeof windows[0], by_size);
    return windows[WINDOWS / 2];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* what = argc > 1 ? argv[1] : "";
    char said[80] = "";
    if (size < 2 || (argc > 2 && atoi(argv[2]) != size)) {
        if (rank == 0)
            fprintf(stderr, "messages: %s processes, not %d\n", argc > 2 ? argv[2] : "2 or more", size);
    } else if (!strcmp(what, "barrier")) {
        check_barrier();
        snprintf(said, sizeof said, "barrier: %.2f ns", 1e9 * timed(barrier));
    } else if (!strcmp(what, "flag")) {
        snprintf(said, sizeof said, "flag: %.2f ns", 1e9 * timed(message) / 2);
    } else if (!strcmp(what, "flag-window")) {
        word = open_window(128);
        if (rank == 0) *word = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        snprintf(said, sizeof said, "flag: %.2f ns", 1e9 * timed(flag_in_window) / 2);
        if (*word != number) ++wrong;
        MPI_Barrier(MPI_COMM_WORLD);
        close_window();
    } else if (!strcmp(what, "read") || !strcmp(what, "read-window")) {
        snprintf(said, sizeof said, "read: %.3f GB/s", 8e-9 * WORDS / reading(what[4] != '\0'));
    } else if (rank == 0) {
        fprintf(stderr, "messages: what? barrier, flag, flag-window, read, read-window\n");
    }
    long all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all > 0) fprintf(stderr, "messages: %ld wrong\n", all);
    if (rank == 0 && all == 0 && said[0] != '\0') puts(said);
    MPI_Finalize();
    return all > 0 || said[0] == '\0';
}
