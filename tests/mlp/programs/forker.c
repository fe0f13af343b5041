/* FORKIT with what it refuses, barriers of some of the members, and memory that is asked for late. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/mlp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void getmem_(void* array, void** pointer, const int32_t* bytes);
void getmem8_(void* array, void** pointer, const int64_t* bytes);
void forkit_(const int32_t* members, int32_t* number);
void barrier_(const int32_t* members);

static void* sleeper(void* unused) {
    (void)unused;
    sleep(1000);
    return NULL;
}

/* Where the kernel holds this process, and by which policy it gets memory (3: page by page). */
static void say_where(int number) {
    cpu_set_t set;
    int policy = -1, first = 0;
    sched_getaffinity(0, sizeof set, &set);
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &set)) ++first;
    syscall(SYS_get_mempolicy, &policy, NULL, 0UL, NULL, 0UL);
    printf("number %d on %d of %d cpus policy %d\n", number, first, CPU_COUNT(&set), policy);
}

/* Pairs meet, then all, many times. */
static int pairs(int number, int members) {
    const int32_t two = 2, all = members, bytes = (int32_t)(sizeof(long) * 64);
    void* memory = NULL;
    getmem_(NULL, &memory, &bytes); /* the same for all, though asked for after FORKIT */
    volatile long* count = memory;
    for (int i = 0; i < 2000; ++i) {
        count[number] = count[number] + 1;
        barrier_(&two);
        barrier_(&all); /* else three could be through while the fourth has nobody left to meet */
    }
    for (int i = 0; i < members; ++i)
        if (count[i] != 2000) return 3;
    double sum = 0;
    const double one = 1;
    mlp_exact_sum(&one, 1, &sum); /* a forked member is a member as others are */
    if (number == 0) printf("pairs have met, sum %g\n", sum);
    return 0;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    const int32_t members = strcmp(what, "where") == 0 ? 2 : 4, none = 0;
    int32_t number = -1;
    pthread_t thread;
    if (strcmp(what, "before") == 0) barrier_(&members);
    if (strcmp(what, "none") == 0) forkit_(&none, &number);
    if (strcmp(what, "nothing") == 0) {
        void* memory = NULL;
        getmem_(NULL, &memory, &none);
    }
    if (strcmp(what, "threads") == 0 && pthread_create(&thread, NULL, sleeper, NULL) != 0) return 98;
    const int64_t much = INT64_C(3) << 30;
    char* memory = NULL;
    if (strcmp(what, "large") == 0) getmem8_(NULL, (void**)&memory, &much);
    forkit_(&members, &number);
    if (strcmp(what, "large") == 0) {
        if (number == 3) memory[much - 1] = 42;
        barrier_(&members);
        if (number == 0 && memory[much - 1] == 42) puts("3 GiB are shared");
    }
    if (strcmp(what, "where") == 0) say_where((int)number);
    if (strcmp(what, "numbers") == 0) printf("number %d\n", (int)number);
    if (strcmp(what, "wait") == 0) {
        printf("number %d\n", (int)number);
        fflush(stdout);
        sleep(1000);
    }
    if (strcmp(what, "twice") == 0) forkit_(&members, &number);
    if (strcmp(what, "vain") == 0 && number != 2) {
        const int32_t two = 2;
        if (number == 0) barrier_(&two); /* 0 waits with nobody: 1 and 3 end below */
    }
    if (strcmp(what, "vain") == 0 && number == 2) sleep(1);
    return strcmp(what, "pairs") == 0 ? pairs((int)number, members) : 0;
}
