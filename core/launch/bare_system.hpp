// Linux without the C library, for a program whose whole life is shorter than that library's start: system
// calls, the entry, and the few functions of memory that compilers call by themselves.
//
// glibc's start asks the processor what it is by some 26 CPUID instructions (init_cpu_features() and the
// sizes of caches). Each leaves a virtual machine, for 1 to 70 us.
#pragma once

#include <asm/unistd.h>

#include <cstddef>

namespace strata::launch::bare {

/// The kernel's answer: -errno on failure.
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
#if defined(__x86_64__)
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#else
#error "the system calls of this processor are not written down here"
#endif
}

inline long address(const void* at) { return reinterpret_cast<long>(at); }

[[noreturn]] inline void leave(int status) {
    while (true) call(__NR_exit_group, status);
}

/// Returns only where it fails, with -errno.
inline long become(const char* path, char** words, char** environment) {
    return call(__NR_execve, address(path), address(words), address(environment));
}

inline size_t length(const char* text) {
    size_t n = 0;
    while (text[n] != '\0') ++n;
    return n;
}

/// What follows `head` in `text`; null where it begins otherwise.
inline const char* after(const char* text, const char* head) {
    for (; *head != '\0'; ++head, ++text)
        if (*text != *head) return nullptr;
    return text;
}

/// The whole text as a number from 0 to 10^8; -1 for any other text, and for none.
inline int number(const char* text) {
    if (text == nullptr || *text == '\0') return -1;
    int value = 0;
    for (; *text != '\0'; ++text) {
        if (*text < '0' || *text > '9' || value > 9'999'999) return -1;
        value = 10 * value + (*text - '0');
    }
    return value;
}

/// Text in a buffer of `size` bytes, always ended by a zero; what did not fit is told by `whole`.
class Text {
  public:
    Text(char* buffer, size_t size) : at_(buffer), left_(size) { *at_ = '\0'; }
    Text& add(const char* text, size_t n) {
        whole_ = whole_ && n < left_;
        if (!whole_) return *this;
        for (size_t i = 0; i < n; ++i) *at_++ = text[i];
        *at_ = '\0';
        left_ -= n;
        return *this;
    }
    Text& add(const char* text) { return add(text, length(text)); }
    Text& add(unsigned value) {
        char digits[10];
        size_t n = sizeof digits;
        do digits[--n] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        return add(digits + n, sizeof digits - n);
    }
    [[nodiscard]] bool whole() const { return whole_; }

  private:
    char* at_;
    size_t left_;
    bool whole_ = true;
};

}  // namespace strata::launch::bare

// The kernel enters with the number of words at the top of the stack, and above it words and environment,
// each ended by a null pointer.
extern "C" [[noreturn]] void begin(long* stack);

#if defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n bl begin\n");
#endif

extern "C" void* memset(void* to, int value, size_t n) {
    volatile char* at = static_cast<char*>(to);
    for (size_t i = 0; i < n; ++i) at[i] = static_cast<char>(value);
    return to;
}

extern "C" void* memcpy(void* to, const void* from, size_t n) {
    volatile char* at = static_cast<char*>(to);
    for (size_t i = 0; i < n; ++i) at[i] = static_cast<const char*>(from)[i];
    return to;
}
