// What moves a patch's atoms: plain loops over arrays of x, y and z, eight atoms at a time, so that the
// largest of all is the same however wide vectors are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace strata::md {

constexpr std::int64_t kLanes = 8;
/// Largest values, lane by lane.
struct Largest {
    std::array<double, kLanes> lanes{};
    void add(std::size_t lane, double value) { lanes[lane] = value > lanes[lane] ? value : lanes[lane]; }
    [[nodiscard]] double all() const { return *std::max_element(lanes.begin(), lanes.end()); }
};

/// each(i, lane) for all i below `count`; no branch within eight.
template <class Each>
void by_lanes(std::int64_t count, Each each) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) each(i + lane, static_cast<std::size_t>(lane));
    for (std::int64_t lane = 0; i < count; ++i, ++lane) each(i, static_cast<std::size_t>(lane));
}

/// x += dt v. Returns the square of the longest way.
inline double drift(std::int64_t count, double* const x[3], const double* const v[3], double dt) {
    Largest most;
    double* __restrict a = x[0], * __restrict b = x[1], * __restrict c = x[2];
    const double* __restrict va = v[0], * __restrict vb = v[1], * __restrict vc = v[2];
    by_lanes(count, [&](std::int64_t i, std::size_t lane) {
        const double p = dt * va[i], q = dt * vb[i], r = dt * vc[i];
        a[i] += p, b[i] += q, c[i] += r;
        most.add(lane, p * p + q * q + r * r);
    });
    return most.all();
}

/// The scale of the box before and after a change in the middle of a step. Places are kept in the first box,
/// and velocities are divided by the change.
struct BoxChange {
    double before = 1, after = 1;
    [[nodiscard]] double slower() const { return before / after; }
    /// What dt v is to be, where a thermostat multiplies v by a factor as well.
    [[nodiscard]] double way(double dt, double factor) const {
        return dt / 2 * (1 / before + factor * slower() / after);
    }
};

/// x += way v, v *= factor.
inline double drift_rescaled(std::int64_t count, double* const x[3], double* const v[3], double way,
                             double factor) {
    Largest most;
    double* __restrict a = x[0], * __restrict b = x[1], * __restrict c = x[2];
    double* __restrict va = v[0], * __restrict vb = v[1], * __restrict vc = v[2];
    by_lanes(count, [&](std::int64_t i, std::size_t lane) {
        const double p = way * va[i], q = way * vb[i], r = way * vc[i];
        a[i] += p, b[i] += q, c[i] += r;
        va[i] *= factor, vb[i] *= factor, vc[i] *= factor;
        most.add(lane, p * p + q * q + r * r);
    });
    return most.all();
}

/// The square of the farthest way from x0 to x.
inline double farthest(std::int64_t count, const double* const x[3], const double* const x0[3]) {
    Largest most;
    const double* __restrict a = x[0], * __restrict b = x[1], * __restrict c = x[2];
    const double* __restrict a0 = x0[0], * __restrict b0 = x0[1], * __restrict c0 = x0[2];
    by_lanes(count, [&](std::int64_t i, std::size_t lane) {
        const double p = a[i] - a0[i], q = b[i] - b0[i], r = c[i] - c0[i];
        most.add(lane, p * p + q * q + r * r);
    });
    return most.all();
}

/// v += change f.
inline void kick(std::int64_t count, double* const v[3], const double* const f[3], double change) {
    for (int c = 0; c < 3; ++c) {
        double* __restrict to = v[c];
        const double* __restrict of = f[c];
        for (std::int64_t i = 0; i < count; ++i) to[i] += change * of[i];
    }
}

/// The same for atoms of several kinds: v += change f / share, with the share of each kind.
inline void kick(std::int64_t count, double* const v[3], const double* const f[3], double change,
                 const std::int32_t* species, const double* shares) {
    for (int c = 0; c < 3; ++c)
        for (std::int64_t i = 0; i < count; ++i) v[c][i] += change / shares[species[i]] * f[c][i];
}

/// The sum of all share v v.
inline double squares(std::int64_t count, const double* const v[3], const std::int32_t* species,
                      const double* shares) {
    double sum = 0;
    for (int c = 0; c < 3; ++c)
        for (std::int64_t i = 0; i < count; ++i) sum += shares[species[i]] * v[c][i] * v[c][i];
    return sum;
}

/// The sum of all v v.
inline double squares(std::int64_t count, const double* const v[3]) {
    std::array<double, kLanes> lanes{};
    for (int c = 0; c < 3; ++c)
        by_lanes(count, [&, u = v[c]](std::int64_t i, std::size_t lane) { lanes[lane] += u[i] * u[i]; });
    double sum = 0;
    for (const double each : lanes) sum += each;
    return sum;
}

}  // namespace strata::md
