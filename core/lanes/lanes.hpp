// Eight doubles at once: one register of 512 bits, two of 256 or four of 128. Arithmetic on them is that of
// doubles, lane by lane, so the bits are the same on every machine.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/lanes/registers.hpp"

namespace strata {

inline constexpr int kLanes = 8;

template <int registers>
struct Registers {
    using Doubles = Pair<typename Registers<registers / 2>::Doubles>;
    using Ints = Pair<typename Registers<registers / 2>::Ints>;
};
template <>
struct Registers<1> {
    using Doubles = Register;
    using Ints = RegisterInts;
};
/// Eight doubles, and eight integers of 64 bits: masks and bits of doubles.
using Lanes = Registers<kLanes / kRegisterLanes>::Doubles;
using LaneInts = Registers<kLanes / kRegisterLanes>::Ints;

[[nodiscard]] inline Lanes broadcast(double x) { return Lanes{} + x; }
/// The same in lanes of the kind of `like`.
[[nodiscard]] inline Lanes broadcast(double x, const Lanes& /*like*/) { return broadcast(x); }

/// Their sum, in the order of the lanes.
[[nodiscard]] inline double lane_sum(const Lanes& x) {
    double each[kLanes], s = 0;
    write_lanes(each, x);
    for (const double v : each) s += v;
    return s;
}

/// The largest of them.
[[nodiscard]] inline double largest_lane(const Lanes& x) {
    double most = x[0];
    for (int l = 1; l < kLanes; ++l) most = x[l] > most ? x[l] : most;
    return most;
}

/// Whether a comparison holds in the first n lanes.
[[nodiscard]] inline bool all_of(const LaneInts& yes, int n) {
    std::int64_t each[kLanes], all = -1;
    write_lanes(each, yes);
    for (int l = 0; l < kLanes; ++l) all &= l < n ? each[l] : -1;
    return all != 0;
}

// A number as lanes have it, for kernels that are written once for both.

inline double abs(double x) { return x < 0 ? -x : x; }
inline double max(double x, double y) { return x > y ? x : y; }
inline double min(double x, double y) { return x < y ? x : y; }
inline double sqrt(double x) { return __builtin_sqrt(x); }
/// x where the comparison holds, else y.
inline double select(bool yes, double x, double y) { return yes ? x : y; }

namespace detail {

/// Register number n of lanes.
template <int n, class T>
[[nodiscard]] inline const auto& register_of(const T& x) {
    if constexpr (std::is_class_v<T>) {
        constexpr int half = LanesOf<T>::kCount / kRegisterLanes / 2;
        if constexpr (n < half)
            return register_of<n>(x.a);
        else
            return register_of<n - half>(x.b);
    } else {
        return x;
    }
}

/// Lanes of x (numbers 0 on) and of y (after these).
template <int... lanes>
[[nodiscard]] inline Register shuffle_registers(const Register& x, const Register& y) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(x, y, lanes...);
#else  // GCC 11
    return __builtin_shuffle(x, y, RegisterInts{lanes...});
#endif
}

/// Where the lanes of register number n of a shuffle come from: at most two registers of the sources.
template <int n, int... from>
struct Origin {
    static constexpr int kAll[] = {from...};
    static constexpr int lane(int l) { return kAll[n * kRegisterLanes + l]; }
    static constexpr int first() { return lane(0) / kRegisterLanes; }
    static constexpr int second() {
        for (int l = 1; l < kRegisterLanes; ++l)
            if (lane(l) / kRegisterLanes != first()) return lane(l) / kRegisterLanes;
        return first();
    }
    static constexpr int within(int l) {
        return lane(l) % kRegisterLanes + (lane(l) / kRegisterLanes == first() ? 0 : kRegisterLanes);
    }
    static constexpr bool of_two() {
        for (int l = 0; l < kRegisterLanes; ++l)
            if (lane(l) / kRegisterLanes != first() && lane(l) / kRegisterLanes != second()) return false;
        return true;
    }
};

/// Register number n of x, and behind these of y.
template <int n>
[[nodiscard]] inline const Register& either(const Lanes& x, const Lanes& y) {
    constexpr int count = kLanes / kRegisterLanes;
    if constexpr (n < count)
        return register_of<n>(x);
    else
        return register_of<n - count>(y);
}
template <class Of, int... l>
[[nodiscard]] inline Register shuffled_register(const Lanes& x, const Lanes& y,
                                                std::integer_sequence<int, l...>) {
    static_assert(Of::of_two(), "a register of the result is made of at most two");
    return shuffle_registers<Of::within(l)...>(either<Of::first()>(x, y), either<Of::second()>(x, y));
}

template <class T, int n, int... from>
[[nodiscard]] inline T shuffled(const Lanes& x, const Lanes& y) {
    if constexpr (std::is_class_v<T>) {
        using Half = decltype(T::a);
        return {shuffled<Half, n, from...>(x, y),
                shuffled<Half, n + LanesOf<Half>::kCount / kRegisterLanes, from...>(x, y)};
    } else {
        return shuffled_register<Origin<n, from...>>(x, y, std::make_integer_sequence<int, kRegisterLanes>{});
    }
}

}  // namespace detail

/// Lanes of x (numbers 0 to 7) and of y (8 to 15), in the order of the numbers. Those of one register come
/// from at most two.
template <int... from>
[[nodiscard]] inline Lanes shuffle(const Lanes& x, const Lanes& y) {
    static_assert(sizeof...(from) == kLanes);
    return detail::shuffled<Lanes, 0, from...>(x, y);
}

/// Integers from 0 to 2^63 as doubles, rounded to the nearest.
[[nodiscard]] inline Lanes to_doubles(const LaneInts& x) {
#ifdef __AVX512DQ__
    return __builtin_convertvector(x, Lanes);
#else  // as 2^84 + the upper half and 2^52 + the lower one, which are exact: one rounding
    const LaneInts lower = (x & std::int64_t{0xffffffff}) | 0x4330000000000000,
                   upper = shifted_down(x, 32) | 0x4530000000000000;
    return (of_bits(upper) - (0x1p84 + 0x1p52)) + of_bits(lower);
#endif
}
/// Doubles that are integers from 0 to 2^63 as such.
[[nodiscard]] inline LaneInts to_ints(const Lanes& x) {
#ifdef __AVX512DQ__
    return __builtin_convertvector(x, LaneInts);
#else  // a multiple of 2^32 and a rest of either sign, each in the last bits of a double
    const Lanes upper = x * 0x1p-32 + 0x1p52, rest = (x - (upper - 0x1p52) * 0x1p32) + 0x1.8p52;
    return (bits_of(upper) << 32) + (bits_of(rest) - 0x4338000000000000);
#endif
}

}  // namespace strata
