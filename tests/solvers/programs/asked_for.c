/* An allocator in front of glibc's (LD_PRELOAD), whose mallinfo2() counts what a program has asked for, each
 * piece as large as glibc makes it at least. glibc's own count has up to 16 bytes more a piece, by what lay
 * free when it was asked for: so it differs from one glibc to another, and a little from run to run. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void __libc_free(void*);

/* Before each piece. */
struct head {
    void* from; /* glibc's piece, which holds this one */
    size_t asked;
};

static atomic_size_t given;

/* What glibc takes for a piece at least: 8 bytes more, in units of 16, and 32 in all. */
static size_t least(size_t asked) {
    const size_t bytes = (asked + 8 + 15) & ~(size_t)15;
    return bytes < 32 ? 32 : bytes;
}

static void* piece(size_t align, size_t asked) {
    if (align < 16) align = 16;
    if (asked > PTRDIFF_MAX - 2 * align) return errno = ENOMEM, NULL;
    char* const from = __libc_malloc(asked + align + sizeof(struct head));
    if (from == NULL) return NULL;
    char* const at = (char*)(((uintptr_t)from + sizeof(struct head) + align - 1) & ~(uintptr_t)(align - 1));
    *((struct head*)at - 1) = (struct head){from, asked};
    atomic_fetch_add(&given, least(asked));
    return at;
}

void* malloc(size_t asked) { return piece(16, asked); }

void free(void* at) {
    if (at == NULL) return;
    const struct head* const head = (struct head*)at - 1;
    const int before = errno;
    atomic_fetch_sub(&given, least(head->asked));
    __libc_free(head->from);
    errno = before;
}

void* calloc(size_t number, size_t each) {
    size_t asked = 0;
    if (__builtin_mul_overflow(number, each, &asked)) return errno = ENOMEM, NULL;
    void* const at = piece(16, asked);
    return at == NULL ? NULL : memset(at, 0, asked);
}

void* realloc(void* at, size_t asked) {
    if (at != NULL && asked == 0) return free(at), NULL;
    void* const next = piece(16, asked);
    if (at == NULL || next == NULL) return next;
    const size_t had = ((struct head*)at - 1)->asked;
    memcpy(next, at, had < asked ? had : asked);
    free(at);
    return next;
}

void* reallocarray(void* at, size_t number, size_t each) {
    size_t asked = 0;
    return __builtin_mul_overflow(number, each, &asked) ? (errno = ENOMEM, NULL) : realloc(at, asked);
}

void* memalign(size_t align, size_t asked) { return piece(align, asked); }
void* aligned_alloc(size_t align, size_t asked) { return piece(align, asked); }
void* valloc(size_t asked) { return piece((size_t)sysconf(_SC_PAGESIZE), asked); }

int posix_memalign(void** into, size_t align, size_t asked) {
    if (align % sizeof(void*) != 0 || (align & (align - 1)) != 0 || align == 0) return EINVAL;
    void* const at = piece(align, asked);
    if (at == NULL) return ENOMEM;
    *into = at;
    return 0;
}

size_t malloc_usable_size(void* at) { return at == NULL ? 0 : ((struct head*)at - 1)->asked; }

struct mallinfo2 mallinfo2(void) {
    return (struct mallinfo2){.uordblks = atomic_load(&given)};
}
