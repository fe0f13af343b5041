#include "benchmarks/npb/mg/kernels.hpp"

#include <cstring>

#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb::mg {
namespace {

/// Of a plane's row y: `faces` is the sum of the four rows at distance 1 in y or z, `edges` of the four at
/// distance 1 in both; from x = -1 to nx.
void sum_rows(const Slab& f, std::int64_t y, std::int64_t nx, double* __restrict faces,
              double* __restrict edges) {
    const double *south = f.here.at(y - 1), *north = f.here.at(y + 1);
    const double *below = f.below.at(y), *above = f.above.at(y);
    const double *sb = f.below.at(y - 1), *nb = f.below.at(y + 1);
    const double *sa = f.above.at(y - 1), *na = f.above.at(y + 1);
    const auto at = [&](std::int64_t x) {
        faces[x] = south[x] + north[x] + below[x] + above[x];
        edges[x] = sb[x] + nb[x] + sa[x] + na[x];
    };
    // The two outer ones by themselves: the loop over the others then begins on a cache line.
    at(-1);
    at(nx);
#pragma omp simd
    for (std::int64_t x = 0; x < nx; ++x) at(x);
}

/// Two rows of each plane to come, if there is one.
struct Ahead {
    const double *first[2], *second[2];
    [[gnu::always_inline]] Ahead(const Next& next, std::int64_t y)
        : first{row(next.first, y), row(next.first, y + 1)},
          second{row(next.second, y), row(next.second, y + 1)} {}
    [[gnu::always_inline]] static const double* row(Plane p, std::int64_t y) {
        return p.origin == nullptr ? nullptr : p.at(y);
    }
    [[gnu::always_inline]] void ask_for(std::int64_t x) const {
        for (const auto& rows : {first, second}) {
            if (rows[0] == nullptr) continue;
            __builtin_prefetch(rows[0] + x, 0, 2);
            __builtin_prefetch(rows[1] + x, 0, 2);
        }
    }
};

/// Of two rows, y and y + 1, and eight points of each: sums over neighbours in y and z alone.
struct Sums {
    Vec here[2], faces[2], edges[2];  // the row's own values; the four at distance 1; the four at distance 2
};

/// Rows y - 1 to y + 2 of three planes. A copy of the addresses, which no store can change.
struct RowsAround {
    const double *here[4], *below[4], *above[4];

    [[gnu::always_inline]] RowsAround(const Slab& f, std::int64_t y) {
        for (int i = 0; i < 4; ++i) {
            here[i] = f.here.at(y - 1 + i);
            below[i] = f.below.at(y - 1 + i);
            above[i] = f.above.at(y - 1 + i);
        }
    }
    [[nodiscard, gnu::always_inline]] Sums sums(std::int64_t x) const {
        Vec own[4], pair[4];
        for (int i = 0; i < 4; ++i) {
            own[i] = load(here[i] + x);
            pair[i] = load(below[i] + x) + load(above[i] + x);
        }
        Sums s;
        for (int i = 0; i < 2; ++i) {
            s.here[i] = own[i + 1];
            s.faces[i] = own[i] + own[i + 2] + pair[i + 1];
            s.edges[i] = pair[i] + pair[i + 2];
        }
        return s;
    }
};

/// Two rows at a time, so that what they share is loaded once, and eight points after eight: what these need
/// of those beside them is in registers. what(sums before, here and behind, x).
template <class What>
[[gnu::always_inline]] inline void by_two_rows(const Slab& f, std::int64_t nx, std::int64_t y, What&& what) {
    const RowsAround rows(f, y);
    Sums before = rows.sums(-kLanes), here = rows.sums(0);
    for (std::int64_t x = 0; x < nx; x += kLanes) {
        const Sums behind = rows.sums(x + kLanes);
        what(before, here, behind, x);
        before = here;
        here = behind;
    }
}

void residual_row(const Slab& u, Plane v, Plane out, std::int64_t nx, std::int64_t y, Scratch scratch) {
    const double *faces = scratch.first, *edges = scratch.second;
    sum_rows(u, y, nx, scratch.first, scratch.second);
    const double *here = u.here.at(y), *from = v.at(y);
    double* to = out.at(y);
#pragma omp simd
    for (std::int64_t x = 0; x < nx; ++x)
        to[x] = from[x] - kA[0] * here[x] - kA[2] * (edges[x] + faces[x - 1] + faces[x + 1]) -
                kA[3] * (edges[x - 1] + edges[x + 1]);
}

void smooth_row(const Slab& r, Plane u, const Weights& c, std::int64_t nx, std::int64_t y, Scratch scratch) {
    const double *faces = scratch.first, *edges = scratch.second;
    sum_rows(r, y, nx, scratch.first, scratch.second);
    const double* here = r.here.at(y);
    double* to = u.at(y);
#pragma omp simd
    for (std::int64_t x = 0; x < nx; ++x)
        to[x] += c[0] * here[x] + c[1] * (here[x - 1] + here[x + 1] + faces[x]) +
                 c[2] * (edges[x] + faces[x - 1] + faces[x + 1]);
}

}  // namespace

void residual(const Slab& u, Plane v, Plane out, std::int64_t nx, Rows rows, Scratch scratch, Next next) {
    std::int64_t y = rows.begin;
    for (; nx % kLanes == 0 && y + 2 <= rows.end; y += 2) {
        const double* const from[2] = {v.at(y), v.at(y + 1)};
        double* const to[2] = {out.at(y), out.at(y + 1)};
        const Ahead ahead(next, y);
        by_two_rows(u, nx, y, [=](const Sums& before, const Sums& here, const Sums& behind, std::int64_t x) {
            ahead.ask_for(x);
            for (int i = 0; i < 2; ++i) {
                const Vec beside = left_of(before.faces[i], here.faces[i]) +
                                   right_of(here.faces[i], behind.faces[i]) + here.edges[i];
                const Vec corners =
                    left_of(before.edges[i], here.edges[i]) + right_of(here.edges[i], behind.edges[i]);
                store(to[i] + x, load(from[i] + x) - kA[0] * here.here[i] - kA[2] * beside - kA[3] * corners);
            }
        });
    }
    for (; y < rows.end; ++y) residual_row(u, v, out, nx, y, scratch);
}

void smooth(const Slab& r, Plane u, const Weights& c, bool fresh, std::int64_t nx, Rows rows, Scratch scratch,
            Next next) {
    std::int64_t y = rows.begin;
    if (fresh)
        for (std::int64_t row = y; row < rows.end; ++row)
            std::memset(u.at(row), 0, static_cast<std::size_t>(nx) * sizeof(double));
    const double c0 = c[0], c1 = c[1], c2 = c[2];
    for (; nx % kLanes == 0 && y + 2 <= rows.end; y += 2) {
        double* const to[2] = {u.at(y), u.at(y + 1)};
        const Ahead ahead(next, y);
        by_two_rows(r, nx, y, [=](const Sums& before, const Sums& here, const Sums& behind, std::int64_t x) {
            ahead.ask_for(x);
            for (int i = 0; i < 2; ++i) {
                const Vec faces = left_of(before.here[i], here.here[i]) +
                                  right_of(here.here[i], behind.here[i]) + here.faces[i];
                const Vec edges = left_of(before.faces[i], here.faces[i]) +
                                  right_of(here.faces[i], behind.faces[i]) + here.edges[i];
                store(to[i] + x, load(to[i] + x) + c0 * here.here[i] + c1 * faces + c2 * edges);
            }
        });
    }
    for (; y < rows.end; ++y) smooth_row(r, u, c, nx, y, scratch);
}

void restrict(const Slab& r, Plane out, std::int64_t nx, Rows rows, Scratch scratch) {
    double* __restrict sum = scratch.first;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        const double *c = r.here.at(2 * y + 1), *south = r.here.at(2 * y), *north = r.here.at(2 * y + 2);
        const double *b = r.below.at(2 * y + 1), *sb = r.below.at(2 * y), *nb = r.below.at(2 * y + 2);
        const double *a = r.above.at(2 * y + 1), *sa = r.above.at(2 * y), *na = r.above.at(2 * y + 2);
        double* to = out.at(y);
        if (nx % kLanes == 0) {
            const auto of = [&](std::int64_t x) {
                return 0.5 * load(c + x) +
                       0.25 * (load(south + x) + load(north + x) + load(b + x) + load(a + x)) +
                       0.125 * (load(sb + x) + load(nb + x) + load(sa + x) + load(na + x));
            };
            Vec first = of(0);
            for (std::int64_t x = 0; x < nx; x += kLanes) {
                const Vec second = of(2 * x + kLanes), third = of(2 * x + 2 * kLanes);
                const Vec even = evens(first, second);
                store(to + x, odds(first, second) + 0.5 * (even + right_of(even, third)));
                first = third;
            }
            continue;
        }
        // The weights of y and z; those of x halve them once more to either side.
        const auto at = [&](std::int64_t x) {
            sum[x] = 0.5 * c[x] + 0.25 * (south[x] + north[x] + b[x] + a[x]) +
                     0.125 * (sb[x] + nb[x] + sa[x] + na[x]);
        };
        for (std::int64_t x = 0; x <= 2 * nx; ++x) at(x);
        for (std::int64_t x = 0; x < nx; ++x) to[x] = sum[2 * x + 1] + 0.5 * (sum[2 * x] + sum[2 * x + 2]);
    }
}

void prolong(const Field& w, Plane u, std::int64_t z, bool fresh, std::int64_t nx, Rows rows,
             Scratch scratch) {
    // Of the fine numbers -1 to n the odd ones lie on coarse ones, (i - 1) / 2; the even ones between i / 2 -
    // 1 and i / 2.
    const auto lower = [](std::int64_t i) { return i % 2 == 0 ? i / 2 - 1 : (i - 1) / 2; };
    const auto upper = [](std::int64_t i) { return i % 2 == 0 ? i / 2 : (i - 1) / 2; };
    const Plane below = w.plane(lower(z)), above = w.plane(upper(z));
    const std::int64_t half = nx / 2;
    double* __restrict mean = scratch.first;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        const double *sb = below.at(lower(y)), *nb = below.at(upper(y));
        const double *sa = above.at(lower(y)), *na = above.at(upper(y));
        mean[-1] = 0.25 * (sb[-1] + nb[-1] + sa[-1] + na[-1]);
#pragma omp simd
        for (std::int64_t c = 0; c <= half; ++c) mean[c] = 0.25 * ((sb[c] + nb[c]) + (sa[c] + na[c]));
        double* to = u.at(y);
        const double* ahead = soon(u).at(y);
        if (fresh) std::memset(to - 1, 0, static_cast<std::size_t>(nx + 2) * sizeof(double));
        to[-1] += mean[-1];
        std::int64_t c = 0;
        for (; c + kLanes <= half; c += kLanes) {
            __builtin_prefetch(ahead + 2 * c);
            __builtin_prefetch(ahead + 2 * c + kLanes);
            const Vec on = load(mean + c), between = 0.5 * (load(mean + c - 1) + on);
            store(to + 2 * c, load(to + 2 * c) + zip_low(between, on));
            store(to + 2 * c + kLanes, load(to + 2 * c + kLanes) + zip_high(between, on));
        }
        for (; c < half; ++c) {
            to[2 * c] += 0.5 * (mean[c - 1] + mean[c]);
            to[2 * c + 1] += mean[c];
        }
        to[nx] += 0.5 * (mean[half - 1] + mean[half]);
    }
}

double squares(Plane r, std::int64_t nx, std::int64_t ny) {
    double total = 0;
    for (std::int64_t y = 0; y < ny; ++y) {
        const double* row = r.at(y);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t x = 0; x < nx; ++x) sum += row[x] * row[x];
        total += sum;
    }
    return total;
}

void wrap_ends(Plane plane, std::int64_t nx, Rows rows) {
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        double* row = plane.at(y);
        row[-1] = row[nx - 1];
        row[nx] = row[0];
    }
}

void wrap_rows(Plane plane, std::int64_t nx, std::int64_t ny) {
    const auto bytes = static_cast<std::size_t>(nx + 2) * sizeof(double);
    std::memcpy(plane.at(-1) - 1, plane.at(ny - 1) - 1, bytes);
    std::memcpy(plane.at(ny) - 1, plane.at(0) - 1, bytes);
}

void wrap(Plane plane, std::int64_t nx, std::int64_t ny) {
    wrap_ends(plane, nx, {0, ny});
    wrap_rows(plane, nx, ny);
}

}  // namespace strata::npb::mg
