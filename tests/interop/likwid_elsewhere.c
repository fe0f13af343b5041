/* Loaded before likwid-pin, together with HWLOC_XMLFILE: what the C library tells it of this machine's processors
   is what a machine with PUS of them would say, so that its own domains and lists can be compared on machines that
   are not here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pus(void) { return atoi(getenv("PUS")); }

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) {
    (void)process;
    memset(set, 0, bytes);
    for (int pu = 0; pu < pus(); ++pu) CPU_SET_S(pu, bytes, set);
    return 0;
}

long sysconf(int name) {
    long (*real)(int);
    if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN) return pus();
    *(void**)&real = dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}

static FILE* open_file(const char* path, const char* mode, const char* function) {
    FILE* (*real)(const char*, const char*);
    if (strcmp(path, "/sys/devices/system/cpu/online") == 0) {
        FILE* file = tmpfile(); /* without a name: nothing is left behind */
        fprintf(file, "0-%d\n", pus() - 1);
        rewind(file);
        return file;
    }
    *(void**)&real = dlsym(RTLD_NEXT, function);
    return real(path, mode);
}

FILE* fopen(const char* path, const char* mode) { return open_file(path, mode, "fopen"); }
FILE* fopen64(const char* path, const char* mode) { return open_file(path, mode, "fopen64"); }
