/* Teams for C: the processes of one run on one node, with memory that all of them share.
 *
 *   #include <strata/mlp.h>
 *
 *   int main(int argc, char **argv) {
 *       mlp_start(argc, argv);                                    // first of all
 *       double *field = mlp_array("field", 1000000 * sizeof *field);
 *       ...
 *       mlp_barrier();
 *       return mlp_finish();
 *   }
 *
 * A plain ./a.out starts as many members as STRATA_LAYOUT=PxT says, or one for each core (docs/team.md).
 *
 * Errors. As with MPI's default, a call that fails ends the process, with one message on standard error and
 * a status that is not 0; this ends the run. After mlp_errors_return(1) calls return MLP_ERROR or MLP_LOST
 * instead (calls that return a pointer NULL, calls that return a number -1), and mlp_error() returns the
 * message. When another member is gone, the run's parent prints the message about it, once. Every wait of
 * this member then fails with MLP_LOST within a second, and the parent ends members that go on regardless.
 *
 * Threads. mlp_lock_*, mlp_counter_* and mlp_signal_* may be called by any thread. The others belong to one
 * thread of the member at a time. "All members" means: each calls it, in the same order among such calls.
 */
#ifndef STRATA_MLP_H
#define STRATA_MLP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MLP_API __attribute__((visibility("default")))
#else
#define MLP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MLP_OK = 0,
    MLP_ERROR = 1, /* mlp_error() has the message; the team goes on */
    MLP_LOST = 2   /* another member is gone, so this one's wait cannot succeed */
};

/* ---- the team ---------------------------------------------------------------------------------------- */

/* To be called first in main(), with main()'s arguments; returns in the members only. Code before it runs in
 * the run's parent and in each member. mlp_start(0, NULL) takes the arguments from the system (Linux:
 * /proc/self/cmdline), for callers that do not have them. Errors: a layout that does not fit this machine; a
 * second call. */
MLP_API int mlp_start(int argc, char** argv);

/* Leaves the team in good order; arrays of the team may not be used any more. A member that ends with status
 * 0 without this call counts as lost. Does not wait for the others. A member that waits for this one later
 * gets an error. */
MLP_API int mlp_finish(void);

/* 0 to mlp_size() - 1; the number of members; the threads that the layout gives each member. */
MLP_API int mlp_rank(void);
MLP_API int mlp_size(void);
MLP_API int mlp_threads(void);

/* 1: calls return their errors; 0: they end the process (the default). Returns the setting before. May be
 * called before mlp_start(). */
MLP_API int mlp_errors_return(int yes);

/* The message of this thread's last failed call: one or more lines, without the last line's end; "" before
 * any. Valid until the thread's next failure. */
MLP_API const char* mlp_error(void);

/* Ends this member and so the run, with the message: member R (process N) exited with status S: REASON.
 * `status`: 1 to 255. Does not return. */
MLP_API void mlp_fail(int status, const char* reason);

/* ---- memory ------------------------------------------------------------------------------------------ */

/* The array of that name (1 to 63 characters), `bytes` long, zeroed when new, at one address in all members:
 * the first caller makes it. Pages lie where they are first touched. There is room for 8192 names, a few of
 * which the library uses. Errors (NULL): the name is taken by an array of another size; memory does not
 * suffice. */
MLP_API void* mlp_array(const char* name, size_t bytes);

enum {
    MLP_FIRST_TOUCH = 0, /* in the memory nearest to the thread that touches a page first */
    MLP_INTERLEAVE = 1,  /* page by page over the memories, over all when count is 0 */
    MLP_BOUND = 2,       /* in memories[0] */
    MLP_BLOCKED = 3      /* in `count` equal blocks, block i in memories[i] */
};

/* The same with a placing of the pages; `memories`: the system's numbers of memory domains, `count` of them.
 * The first caller's placing holds. Errors (NULL) also: a memory that this process may not use. */
MLP_API void* mlp_array_placed(const char* name, size_t bytes, int placing, const int* memories, int count);

/* Gives the array's memory back at once, for all members: none may use it any more. Error: no such array. */
MLP_API int mlp_release(const char* name);

/* ---- what all members do together -------------------------------------------------------------------- */

/* Waits for all members. Writes of each before the call are visible to all after it. */
MLP_API int mlp_barrier(void);

/* Copies the `bytes` bytes of member `root` to all members. */
MLP_API int mlp_broadcast(void* data, size_t bytes, int root);

enum { MLP_SUM = 0, MLP_MIN = 1, MLP_MAX = 2 };

/* values[i] becomes the sum, minimum or maximum of all members' values[i], in all members; `count` is the
 * same in all. Sums of doubles are taken in the order of the members, so they depend on the number of members
 * (mlp_exact_sum does not). A NaN gives NaN for every operation. Sums of integers wrap around. */
MLP_API int mlp_reduce_double(double* values, size_t count, int operation);
MLP_API int mlp_reduce_int64(int64_t* values, size_t count, int operation);

/* *sum becomes the sum of all members' values, taken exactly and rounded once: the same bits for any order,
 * any division of the values among the members and any number of members. `count` may differ. */
MLP_API int mlp_exact_sum(const double* values, size_t count, double* sum);

/* ---- locks, counters, signals ------------------------------------------------------------------------ */

typedef struct mlp_lock mlp_lock;
typedef struct mlp_counter mlp_counter;
typedef struct mlp_signal mlp_signal;

/* The lock, counter or signal of that name; the first caller makes it. The names are names of arrays and
 * share their room. NULL: as mlp_array(). */
MLP_API mlp_lock* mlp_lock_named(const char* name);
MLP_API mlp_counter* mlp_counter_named(const char* name);
MLP_API mlp_signal* mlp_signal_named(const char* name);

/* A ticket lock: first come, first served. MLP_LOST when a member dies during the wait. */
MLP_API int mlp_lock_acquire(mlp_lock* lock);
MLP_API int mlp_lock_release(mlp_lock* lock);

/* Adds `step` and returns the number before, so each is taken once. The counter starts at 0. Cannot fail. */
MLP_API int64_t mlp_counter_take(mlp_counter* counter, int64_t step);
MLP_API int64_t mlp_counter_value(const mlp_counter* counter);
MLP_API void mlp_counter_set(mlp_counter* counter, int64_t value);

/* A signal of one member to many. The number starts at 0 and grows by one with each raise, which returns the
 * new one; only one member at a time may raise. mlp_signal_wait returns once the number is `number` or later.
 */
MLP_API uint32_t mlp_signal_raise(mlp_signal* signal);
MLP_API uint32_t mlp_signal_number(const mlp_signal* signal);
MLP_API int mlp_signal_wait(mlp_signal* signal, uint32_t number);

/* ---- crews: each member's threads, and cores that go from member to member --------------------------- */

/* Every member has threads of its own, each bound to one core of the layout. As many are awake as the member
 * has cores at the moment (docs/crews.md). Any member may change any member's number; it holds from that
 * member's next mlp_parallel() or mlp_lend_to_openmp() on. The thread of a member that makes the first of the
 * calls below leads its regions, and is bound to the member's first core from then on. */

/* The number of threads that member `member` is to have; for this member: mlp_crew_count(mlp_rank()). -1: no
 * such member. */
MLP_API int mlp_crew_count(int member);

/* The numbers of all members: counts[0] to counts[members - 1]. Error: `members` is not mlp_size(). */
MLP_API int mlp_crew_counts(int* counts, int members);

/* Gives member `member` n threads (1 or more), on cores without a member. Cores that it has too many then
 * have no member. Errors: n < 1; there are not as many cores; no such member. */
MLP_API int mlp_crew_set_count(int member, int n);

/* The same for all members at once, counts[0] to counts[members - 1]: cores of members that have too many go
 * to those that have too few. Error also: `members` is not mlp_size(). */
MLP_API int mlp_crew_set_counts(const int* counts, int members);

/* Moves n cores of member `from` to member `to`, the nearest ones first. Errors: `from` would keep none; no
 * such member; n < 0. */
MLP_API int mlp_crew_move(int from, int to, int n);

/* Makes this member's threads for all cores now. Without this, each is made when the member first has its
 * core. */
MLP_API int mlp_crew_prepare(void);

/* Calls body(thread, threads, arg) once in each thread of this member, thread 0 in the caller, and returns
 * when all have ended. `threads` is the number of threads: fewer than mlp_crew_count() while other members
 * still work on cores that this one will get. Called within a region, or by a thread that does not lead, it
 * is one call with one thread. A body may use locks, counters, signals and all that threads may use; it must
 * not leave by longjmp. */
typedef void (*mlp_body)(int thread, int threads, void* arg);
MLP_API int mlp_parallel(mlp_body body, void* arg);

/* Calls body(first, last, arg) for blocks that together are begin, begin + 1, ... end - 1 (`last` is not in
 * the block). chunk 0: one block for each thread, of equal lengths, so with as many threads thread t always
 * has the same ones. chunk > 0: each free thread takes the next `chunk`. Nothing is called where end <=
 * begin. Error: chunk < 0. */
typedef void (*mlp_block)(int64_t first, int64_t last, void* arg);
MLP_API int mlp_parallel_for(int64_t begin, int64_t end, int64_t chunk, mlp_block body, void* arg);

/* For members that use OpenMP: sets OpenMP's number of threads to this member's count, binds its threads to
 * the member's cores, and returns the number. They keep these cores until the next such call or region. To be
 * called between OpenMP's regions, by the thread that leads. 0: the program has no OpenMP; -1: an error. */
MLP_API int mlp_lend_to_openmp(void);

#ifdef __cplusplus
}
#endif

#endif /* STRATA_MLP_H */
