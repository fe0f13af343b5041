// In place of core/lanes: eight particles at once, of numbers that count what is done with them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/lanes/functions.hpp"
#include "tests/solvers/mpm/counted_numbers.hpp"

namespace strata::particles {

using strata::kLanes;

/// What a comparison found, in one lane.
struct Truth {
    std::int64_t value = 0;
    std::uint32_t from = 0;  // 0: known beforehand
    Truth() = default;
    Truth(std::int64_t v, std::uint32_t f = 0) : value(v), from(f) {}
    bool operator==(std::int64_t other) const {
        Operations::mine().need(from);
        return value == other;
    }
    bool operator!=(std::int64_t other) const { return !(*this == other); }
};

class LaneInts {
  public:
    Truth& operator[](std::size_t l) { return lanes_[l]; }
    const Truth& operator[](std::size_t l) const { return lanes_[l]; }
    LaneInts operator-(std::int64_t n) const {
        LaneInts r = *this;
        for (Truth& lane : r.lanes_) lane.value -= n;
        return r;
    }
    LaneInts operator~() const {
        LaneInts r;
        for (std::size_t l = 0; l < kLanes; ++l) r[l] = {~lanes_[l].value, lanes_[l].from};
        return r;
    }
    friend LaneInts operator&(const LaneInts& a, const LaneInts& b) {
        LaneInts r;
        for (std::size_t l = 0; l < kLanes; ++l) {
            const Truth &x = a[l], &y = b[l];
            std::uint32_t from = x.from + y.from;
            if (x.from != 0 && y.from != 0)
                from = Operations::mine().of(Operations::free, x.from, y.from);
            else if ((x.from == 0 && x.value == 0) || (y.from == 0 && y.value == 0))
                from = 0;
            r[l] = {x.value & y.value, from};
        }
        return r;
    }
    LaneInts& operator&=(const LaneInts& b) { return *this = *this & b; }

  private:
    std::array<Truth, kLanes> lanes_;
};

class Lanes {
  public:
    Lanes() = default;
    template <class... T>
    requires(sizeof...(T) == kLanes) explicit(false) Lanes(const T&... x) : lanes_{Real(x)...} {}
    Real& operator[](std::size_t l) { return lanes_[l]; }
    const Real& operator[](std::size_t l) const { return lanes_[l]; }
    Real& operator[](int l) { return lanes_[static_cast<std::size_t>(l)]; }
    const Real& operator[](int l) const { return lanes_[static_cast<std::size_t>(l)]; }

  private:
    std::array<Real, kLanes> lanes_;
};

template <class Part>
inline Lanes each_lane(Part part, int executed = kLanes) {
    Operations::mine().execute(executed);
    Lanes r;
    for (std::size_t l = 0; l < kLanes; ++l) r[l] = part(l);
    return r;
}

#define STRATA_COUNTED(sign, name)                                                  \
    inline Lanes operator sign(const Lanes& a, const Lanes& b) {                    \
        return each_lane([&](std::size_t l) { return Real::name(a[l], b[l]); });    \
    }                                                                               \
    inline Lanes operator sign(const Lanes& a, const Real& b) {                     \
        return each_lane([&](std::size_t l) { return Real::name(a[l], b); });       \
    }                                                                               \
    inline Lanes operator sign(const Real& a, const Lanes& b) {                     \
        return each_lane([&](std::size_t l) { return Real::name(a, b[l]); });       \
    }                                                                               \
    inline Lanes operator sign(const Lanes& a, double b) { return a sign Real(b); } \
    inline Lanes operator sign(double a, const Lanes& b) { return Real(a) sign b; } \
    inline Lanes& operator sign##=(Lanes& a, const Lanes& b) { return a = a sign b; }
STRATA_COUNTED(+, plus)
STRATA_COUNTED(-, minus)
STRATA_COUNTED(*, times)
STRATA_COUNTED(/, over)
#undef STRATA_COUNTED

inline Lanes operator-(const Lanes& a) {
    return each_lane([&](std::size_t l) { return Real::negative(a[l]); }, 0);
}

#define STRATA_COMPARED(sign, which)                                                            \
    inline LaneInts operator sign(const Lanes& a, const Lanes& b) {                             \
        Operations::mine().execute(kLanes);                                                     \
        LaneInts r;                                                                             \
        for (std::size_t l = 0; l < kLanes; ++l)                                                \
            r[l] = {a[l].value() sign b[l].value() ? -1 : 0, Real::compare(a[l], b[l], which)}; \
        return r;                                                                               \
    }                                                                                           \
    inline LaneInts operator sign(const Lanes& a, double b) {                                   \
        const Real one(b);                                                                      \
        return a sign Lanes(one, one, one, one, one, one, one, one);                            \
    }
STRATA_COMPARED(<, 0)
STRATA_COMPARED(>, 1)
STRATA_COMPARED(>=, 2)
#undef STRATA_COMPARED

/// Lanes without a particle are nothing.
inline Lanes load_ahead(const double* p, int n, double rest = 0) {
    Lanes x;
    for (int l = 0; l < kLanes; ++l) x[l] = l < n ? Real(p[l]) : Real(rest, 0);
    return x;
}
inline void store_ahead(double* p, const Lanes& x, int n) {
    for (int l = 0; l < n; ++l) p[l] = x[l];
}
inline Lanes broadcast(double x) { return {x, x, x, x, x, x, x, x}; }
inline Lanes broadcast(double x, const Lanes& /*like*/) { return broadcast(x); }
inline Lanes select(const LaneInts& yes, const Lanes& a, const Lanes& b) {
    return each_lane(
        [&](std::size_t l) {
            const Real& chosen = yes[l].value != 0 ? a[l] : b[l];
            if (yes[l].from == 0) return chosen;
            return Real(chosen.value(),
                        Operations::mine().of(Operations::free, yes[l].from, a[l].from(), b[l].from()));
        },
        0);
}
inline Lanes abs(const Lanes& a) {
    return each_lane([&](std::size_t l) { return Real::free(a[l], std::abs(a[l].value()), 3); }, 0);
}
inline Lanes sqrt(const Lanes& a) {
    return each_lane([&](std::size_t l) { return Real::square_root(a[l]); });
}
inline Real max(Real a, Real b) { return a > b ? a : b; }
inline Real min(Real a, Real b) { return a < b ? a : b; }
inline Lanes max(const Lanes& a, const Lanes& b) { return select(a > b, a, b); }
inline Lanes min(const Lanes& a, const Lanes& b) { return select(a < b, a, b); }
inline Real lane_sum(const Lanes& a) {
    Real s = 0;
    for (int l = 0; l < kLanes; ++l) s += a[l];
    return s;
}
inline Real largest_lane(const Lanes& a) {
    Real m = a[0];
    for (int l = 1; l < kLanes; ++l) m = max(a[l], m);
    return m;
}
inline bool all_of(const LaneInts& yes, int n) {
    bool all = true;
    for (int l = 0; l < n; ++l) all &= yes[static_cast<std::size_t>(l)] != 0;
    return all;
}
template <int... lanes>
inline Lanes shuffle(const Lanes& a, const Lanes& b) {
    return {(lanes < kLanes ? a[lanes % kLanes] : b[lanes % kLanes])...};
}

struct Parts {
    Lanes e, m;
};
inline Parts frexp(const Lanes& x) {
    Parts p;
    for (std::size_t l = 0; l < kLanes; ++l) {
        int e = 0;
        double m = std::frexp(x[l].value(), &e);
        if (m < 0.70710678118654752) m *= 2, --e;
        p.e[l] = Real::free(x[l], e, 4), p.m[l] = Real::free(x[l], m, 5);
    }
    return p;
}
inline Lanes ldexp(const Lanes& x, const Lanes& shifted) {
    return each_lane(
        [&](std::size_t l) {
            std::int64_t bits = 0;
            const double up = shifted[l].value();
            std::memcpy(&bits, &up, sizeof bits);
            const auto k = static_cast<int>(static_cast<std::int16_t>(bits & 0xffff));
            return Real(std::ldexp(x[l].value(), k),
                        x[l].from() == 0
                            ? 0
                            : Operations::mine().of(Operations::free, x[l].from(), shifted[l].from(), 0, 6));
        },
        0);
}

inline Lanes log(const Lanes& x) { return strata::detail::log_of(x); }
inline Lanes exp(const Lanes& x) { return strata::detail::exp_of(x); }

}  // namespace strata::particles
