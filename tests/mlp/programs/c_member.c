/* A C program that does with its team what its first argument says; the tests look at what it prints and how
 * it ends. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/mlp.h>
#include <string.h>

#define N 1000

static int check(int good, const char* what) {
    if (!good) fprintf(stderr, "wrong in member %d: %s\n", mlp_rank(), what);
    return good ? 0 : 1;
}

static int memory_and_reductions(void) {
    const int rank = mlp_rank(), size = mlp_size();
    int wrong = check(rank >= 0 && rank < size && mlp_threads() == 1, "rank, size, threads");

    double* field = mlp_array("field", (size_t)size * sizeof *field);
    wrong += check(field[rank] == 0.0, "new arrays are zeroed");
    mlp_barrier();
    field[rank] = rank + 0.5;
    mlp_barrier();
    for (int i = 0; i < size; ++i) wrong += check(field[i] == i + 0.5, "what others wrote");

    double* spread = mlp_array_placed("spread", 100 * sizeof *spread, MLP_INTERLEAVE, NULL, 0);
    wrong += check(spread != NULL, "placed arrays");

    int data[3] = {rank, rank + 1, rank + 2};
    mlp_broadcast(data, sizeof data, size - 1);
    wrong += check(data[0] == size - 1 && data[2] == size + 1, "broadcast");

    double values[2] = {rank, -rank};
    mlp_reduce_double(values, 2, MLP_SUM);
    wrong += check(values[0] == size * (size - 1) / 2.0 && values[1] == -values[0], "sum of doubles");
    values[0] = values[1] = rank;
    mlp_reduce_double(values, 1, MLP_MIN);
    mlp_reduce_double(values + 1, 1, MLP_MAX);
    wrong += check(values[0] == 0 && values[1] == size - 1, "least and greatest double");
    int64_t whole[2] = {INT64_C(1) << 40, rank};
    mlp_reduce_int64(whole, 2, MLP_SUM);
    wrong +=
        check(whole[0] == size * (INT64_C(1) << 40) && whole[1] == size * (size - 1) / 2, "sum of int64");
    whole[0] = -rank;
    mlp_reduce_int64(whole, 1, MLP_MIN);
    return wrong + check(whole[0] == 1 - size, "least int64");
}

static int locks_counters_signals(void) {
    const int rank = mlp_rank(), size = mlp_size();
    int wrong = 0;
    mlp_lock* lock = mlp_lock_named("lock");
    mlp_counter* counter = mlp_counter_named("counter");
    volatile long* guarded = mlp_array("guarded", sizeof *guarded);
    for (int i = 0; i < 1000; ++i) {
        mlp_lock_acquire(lock);
        *guarded = *guarded + 1;
        mlp_lock_release(lock);
        mlp_counter_take(counter, 2);
    }
    mlp_barrier();
    wrong += check(*guarded == 1000L * size, "the lock");
    wrong += check(mlp_counter_value(counter) == 2000 * size, "the counter");

    mlp_signal* signal = mlp_signal_named("signal");
    volatile int* told = mlp_array("told", sizeof *told);
    if (rank == 0) {
        *told = 42;
        wrong += check(mlp_signal_raise(signal) == 1, "raise");
    }
    mlp_signal_wait(signal, 1);
    wrong += check(*told == 42 && mlp_signal_number(signal) == 1, "the signal");
    mlp_barrier();
    if (rank == 0) {
        wrong += check(mlp_release("told") == MLP_OK, "release");
        mlp_counter_set(counter, 7);
    }
    mlp_barrier();
    return wrong + check(mlp_counter_take(counter, 0) == 7, "the counter is set");
}

/* Values whose plain sum depends on the order, divided among the members. */
static void exact_sum(void) {
    double mine[N], sum = 0;
    size_t count = 0;
    for (int i = mlp_rank(); i < N; i += mlp_size()) mine[count++] = (i % 2 ? 1e16 : 1.0 / 3) / (i + 1);
    mlp_exact_sum(mine, count, &sum);
    if (mlp_rank() == 0) printf("sum %a\n", sum);
}

static int errors_are_returned(void) {
    int wrong = check(mlp_errors_return(1) == 0 && mlp_errors_return(1) == 1, "what held before");
    wrong += check(mlp_array("x", 64) != NULL, "an array");
    wrong += check(mlp_array("x", 65) == NULL && strstr(mlp_error(), "two sizes") != NULL, "two sizes");
    wrong += check(mlp_array_placed("y", 64, MLP_BOUND, NULL, 0) == NULL, "no memory given");
    wrong += check(mlp_array("", 64) == NULL && mlp_array(NULL, 64) == NULL, "no name");
    wrong +=
        check(mlp_release("none") == MLP_ERROR && strstr(mlp_error(), "no such array") != NULL, "no array");
    wrong += check(mlp_broadcast(&wrong, sizeof wrong, mlp_size()) == MLP_ERROR, "no such root");
    double one = 1;
    wrong += check(mlp_reduce_double(&one, 1, 17) == MLP_ERROR, "no such operation");
    wrong += check(mlp_start(0, NULL) == MLP_ERROR, "a second start");
    wrong += check(mlp_barrier() == MLP_OK, "the team goes on");
    if (mlp_rank() == 0 && wrong == 0) puts("errors are returned");
    return wrong;
}

static int lose_member_2(void) {
    mlp_errors_return(1);
    mlp_barrier();
    if (mlp_rank() == 2) raise(SIGKILL);
    const int code = mlp_barrier();
    printf("member %d: %d %s\n", mlp_rank(), code, mlp_error());
    fflush(stdout);
    return code;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "before") == 0) return mlp_barrier();
    if (mlp_start(argc, argv) != MLP_OK) return 99;
    int wrong = 0;
    if (strcmp(what, "lost") == 0) return lose_member_2();
    if (strcmp(what, "unfinished") == 0 && mlp_rank() == 0) return 0;
    if (strcmp(what, "exact") == 0) exact_sum();
    if (strcmp(what, "errors") == 0) wrong = errors_are_returned();
    if (strcmp(what, "calls") == 0) {
        wrong = memory_and_reductions() + locks_counters_signals();
        if (wrong == 0) printf("member %d of %d: all calls\n", mlp_rank(), mlp_size());
    }
    if (strcmp(what, "fatal") == 0 && mlp_rank() == 1) {
        mlp_array("x", 64);
        mlp_array("x", 65);
    }
    if (strcmp(what, "killed") == 0 && mlp_rank() == 2) raise(SIGKILL);
    if (strcmp(what, "fail") == 0 && mlp_rank() == 1) mlp_fail(9, "the matrix is singular");
    mlp_barrier();
    if (mlp_rank() == 0) puts("passed");
    return mlp_finish() == MLP_OK && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
