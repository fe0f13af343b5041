// The processor's registers of several doubles, and two things that act as one.
//
// GCC's vectors of one register are compiled to its instructions. Wider ones are taken apart lane by lane
// where products and sums meet: slow code, and minutes of compilation. So wider things are pairs here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace strata {
/// Kinds of operations on doubles that processors have units of their own for. A comparison: also a maximum
/// or minimum.
enum class Operation { sum, product, quotient, root, comparison };
inline constexpr int kOperations = 5;
}  // namespace strata

#ifdef STRATA_COUNTED_LANES  // a header of tests: operations are counted, where lanes are pairs of registers
#include STRATA_COUNTED_LANES
namespace strata {
inline constexpr bool kOperationsCounted = true;
}
#else
namespace strata {
inline constexpr bool kOperationsCounted = false;
/// What is told of operations on so many doubles: nothing.
inline void count_operations(Operation /*kind*/, int /*doubles*/) {}
}  // namespace strata
#endif

namespace strata {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;  // SSE2, NEON
#endif
inline constexpr int kRegisterLanes = kRegisterBytes / static_cast<int>(sizeof(double));

using Register = double __attribute__((vector_size(kRegisterBytes)));
using RegisterInts = std::int64_t __attribute__((vector_size(kRegisterBytes)));
using RegisterBits = std::uint64_t __attribute__((vector_size(kRegisterBytes)));

/// Two of a kind, one behind the other in memory: each operation is done for one, then for the other.
template <class T>
struct Pair;

/// What a register's or a pair's lanes are: doubles or integers, and how many.
template <class T>
struct LanesOf {
    using Value = std::remove_cvref_t<decltype(T{}[0])>;
    static constexpr int kCount = kRegisterLanes;
};
template <class T>
struct LanesOf<Pair<T>> {
    using Value = typename LanesOf<T>::Value;
    static constexpr int kCount = 2 * LanesOf<T>::kCount;
};

/// From and to memory, register by register: copies of more than one would go past the registers.
template <class T>
[[nodiscard]] inline T read_lanes(const typename LanesOf<T>::Value* p) {
    if constexpr (std::is_class_v<T>) {
        using Half = decltype(T::a);
        return {read_lanes<Half>(p), read_lanes<Half>(p + LanesOf<Half>::kCount)};
    } else {
        T x;
        std::memcpy(&x, p, sizeof x);
        return x;
    }
}
template <class T>
inline void write_lanes(typename LanesOf<T>::Value* p, const T& x) {
    if constexpr (std::is_class_v<T>) {
        write_lanes(p, x.a);
        write_lanes(p + LanesOf<decltype(T::a)>::kCount, x.b);
    } else {
        std::memcpy(p, &x, sizeof x);
    }
}

template <class T>
struct Pair {
    T a, b;

    using Value = typename LanesOf<T>::Value;
    static constexpr int kCount = 2 * LanesOf<T>::kCount;

    Pair() = default;
    Pair(const T& first, const T& second) : a(first), b(second) {}
    /// A value for each lane.
    template <class... Values>
    requires(sizeof...(Values) == kCount && kCount > 2) explicit(false) Pair(const Values&... values) {
        const Value each[] = {static_cast<Value>(values)...};
        *this = read_lanes<Pair>(each);
    }

    /// One lane; not for inner loops, since it goes through memory.
    [[nodiscard]] Value operator[](int lane) const {
        Value each[kCount];
        write_lanes(each, *this);
        return each[lane];
    }
    /// A vector may be seen as its values, and both halves are in a row.
    [[nodiscard]] Value& operator[](int lane) { return reinterpret_cast<Value*>(this)[lane]; }
    [[nodiscard]] Value operator[](std::size_t lane) const { return (*this)[static_cast<int>(lane)]; }
    [[nodiscard]] Value& operator[](std::size_t lane) { return (*this)[static_cast<int>(lane)]; }

    Pair& operator+=(const Pair& y) { return *this = *this + y; }
    Pair& operator-=(const Pair& y) { return *this = *this - y; }
    Pair& operator*=(const Pair& y) { return *this = *this * y; }
    Pair& operator/=(const Pair& y) { return *this = *this / y; }
    Pair& operator&=(const Pair& y) { return *this = *this & y; }
    Pair& operator+=(Value y) { return *this = *this + y; }
    Pair& operator-=(Value y) { return *this = *this - y; }
    Pair& operator*=(Value y) { return *this = *this * y; }
};

/// Integers as wide as doubles: -1 where a comparison holds, else 0.
template <class T>
struct MaskOf {
    using Type = RegisterInts;
};
template <class T>
struct MaskOf<Pair<T>> {
    using Type = Pair<typename MaskOf<T>::Type>;
};

template <class S>
concept Number = std::is_arithmetic_v<S>;

/// An operation on a pair of T: of two registers of doubles it is counted.
template <class T>
inline void count_pair(Operation kind) {
    if constexpr (!std::is_class_v<T> && std::is_same_v<typename LanesOf<T>::Value, double>)
        count_operations(kind, 2 * LanesOf<T>::kCount);
}

#define STRATA_PAIRED(op, kind, Result)                                           \
    template <class T>                                                            \
    [[nodiscard]] inline Result operator op(const Pair<T>& x, const Pair<T>& y) { \
        count_pair<T>(Operation::kind);                                           \
        return {x.a op y.a, x.b op y.b};                                          \
    }                                                                             \
    template <class T, Number S>                                                  \
    [[nodiscard]] inline Result operator op(const Pair<T>& x, S y) {              \
        count_pair<T>(Operation::kind);                                           \
        return {x.a op y, x.b op y};                                              \
    }                                                                             \
    template <class T, Number S>                                                  \
    [[nodiscard]] inline Result operator op(S x, const Pair<T>& y) {              \
        count_pair<T>(Operation::kind);                                           \
        return {x op y.a, x op y.b};                                              \
    }
STRATA_PAIRED(+, sum, Pair<T>)
STRATA_PAIRED(-, sum, Pair<T>)
STRATA_PAIRED(*, product, Pair<T>)
STRATA_PAIRED(/, quotient, Pair<T>)
// Of integers alone, which are not counted.
STRATA_PAIRED(&, comparison, Pair<T>)
STRATA_PAIRED(|, comparison, Pair<T>)
STRATA_PAIRED(<<, comparison, Pair<T>)
STRATA_PAIRED(>>, comparison, Pair<T>)
// Of doubles.
STRATA_PAIRED(<, comparison, typename MaskOf<Pair<T>>::Type)
STRATA_PAIRED(>, comparison, typename MaskOf<Pair<T>>::Type)
STRATA_PAIRED(<=, comparison, typename MaskOf<Pair<T>>::Type)
STRATA_PAIRED(>=, comparison, typename MaskOf<Pair<T>>::Type)
STRATA_PAIRED(==, comparison, typename MaskOf<Pair<T>>::Type)
STRATA_PAIRED(!=, comparison, typename MaskOf<Pair<T>>::Type)
#undef STRATA_PAIRED

template <class T>
[[nodiscard]] inline Pair<T> operator-(const Pair<T>& x) {
    return {-x.a, -x.b};
}
template <class T>
[[nodiscard]] inline Pair<T> operator~(const Pair<T>& x) {
    return {~x.a, ~x.b};
}

// What is done lane by lane with a register, and with pairs of them.

/// x where the comparison holds, else y.
inline Register select(const RegisterInts& yes, const Register& x, const Register& y) { return yes ? x : y; }
inline Register abs(const Register& x) { return x < 0.0 ? -x : x; }
inline Register max(const Register& x, const Register& y) { return x > y ? x : y; }
inline Register min(const Register& x, const Register& y) { return x < y ? x : y; }
inline Register sqrt(const Register& x) {
    double each[kRegisterLanes];
    std::memcpy(each, &x, sizeof each);
    for (double& v : each) v = __builtin_sqrt(v);  // one instruction: -fno-math-errno
    Register r;
    std::memcpy(&r, each, sizeof r);
    return r;
}
/// The bits of doubles as integers, and back.
inline RegisterInts bits_of(const Register& x) { return (RegisterInts)x; }
inline Register of_bits(const RegisterInts& x) { return (Register)x; }
/// x >> n without a sign.
inline RegisterInts shifted_down(const RegisterInts& x, int n) {
    return (RegisterInts)((RegisterBits)x >> n);
}

template <class M, class T>
inline Pair<T> select(const Pair<M>& yes, const Pair<T>& x, const Pair<T>& y) {
    return {select(yes.a, x.a, y.a), select(yes.b, x.b, y.b)};
}
template <class T>
inline Pair<T> max(const Pair<T>& x, const Pair<T>& y) {
    count_pair<T>(Operation::comparison);
    return {max(x.a, y.a), max(x.b, y.b)};
}
template <class T>
inline Pair<T> min(const Pair<T>& x, const Pair<T>& y) {
    count_pair<T>(Operation::comparison);
    return {min(x.a, y.a), min(x.b, y.b)};
}
template <class T>
inline Pair<T> abs(const Pair<T>& x) {
    return {abs(x.a), abs(x.b)};
}
template <class T>
inline Pair<T> sqrt(const Pair<T>& x) {
    count_pair<T>(Operation::root);
    return {sqrt(x.a), sqrt(x.b)};
}
template <class T>
inline typename MaskOf<Pair<T>>::Type bits_of(const Pair<T>& x) {
    return {bits_of(x.a), bits_of(x.b)};
}
inline Pair<Register> of_bits(const Pair<RegisterInts>& x) { return {of_bits(x.a), of_bits(x.b)}; }
template <class T>
inline auto of_bits(const Pair<Pair<T>>& x) {
    return Pair{of_bits(x.a), of_bits(x.b)};
}
template <class T>
inline Pair<T> shifted_down(const Pair<T>& x, int n) {
    return {shifted_down(x.a, n), shifted_down(x.b, n)};
}

}  // namespace strata
