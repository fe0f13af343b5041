#include "benchmarks/npb/mg/kernels.hpp"

#include <cstring>

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

/// Asks for rows that come up soon: rows are too short for the processor's own prefetching to get far.
void ask_for(const double* row, std::int64_t nx) {
    for (std::int64_t x = 0; x < nx; x += Field::kLine) __builtin_prefetch(row + x);
}
constexpr std::int64_t kRowsAhead = 4;

}  // namespace

void residual(const Slab& u, Plane v, Plane out, std::int64_t nx, Rows rows, Scratch scratch) {
    const double *faces = scratch.first, *edges = scratch.second;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        sum_rows(u, y, nx, scratch.first, scratch.second);
        const double *here = u.here.at(y), *from = v.at(y);
        double* to = out.at(y);
        ask_for(v.at(y + kRowsAhead), nx);
        ask_for(u.above.at(y + kRowsAhead), nx);
#pragma omp simd
        for (std::int64_t x = 0; x < nx; ++x)
            to[x] = from[x] - kA[0] * here[x] - kA[2] * (edges[x] + faces[x - 1] + faces[x + 1]) -
                    kA[3] * (edges[x - 1] + edges[x + 1]);
    }
}

void smooth(const Slab& r, Plane u, const Weights& c, bool fresh, std::int64_t nx, Rows rows,
            Scratch scratch) {
    const double *faces = scratch.first, *edges = scratch.second;
    const double c0 = c[0], c1 = c[1], c2 = c[2];
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        sum_rows(r, y, nx, scratch.first, scratch.second);
        const double* here = r.here.at(y);
        double* to = u.at(y);
        ask_for(u.at(y + kRowsAhead), nx);
        ask_for(r.below.at(y + kRowsAhead), nx);
        if (fresh) std::memset(to, 0, static_cast<std::size_t>(nx) * sizeof(double));
#pragma omp simd
        for (std::int64_t x = 0; x < nx; ++x)
            to[x] += c0 * here[x] + c1 * (here[x - 1] + here[x + 1] + faces[x]) +
                     c2 * (edges[x] + faces[x - 1] + faces[x + 1]);
    }
}

void restrict(const Slab& r, Plane out, std::int64_t nx, Rows rows, Scratch scratch) {
    double* __restrict sum = scratch.first;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        const double *c = r.here.at(2 * y + 1), *south = r.here.at(2 * y), *north = r.here.at(2 * y + 2);
        const double *b = r.below.at(2 * y + 1), *sb = r.below.at(2 * y), *nb = r.below.at(2 * y + 2);
        const double *a = r.above.at(2 * y + 1), *sa = r.above.at(2 * y), *na = r.above.at(2 * y + 2);
        // The weights of y and z; those of x halve them once more to either side.
        const auto at = [&](std::int64_t x) {
            sum[x] = 0.5 * c[x] + 0.25 * (south[x] + north[x] + b[x] + a[x]) +
                     0.125 * (sb[x] + nb[x] + sa[x] + na[x]);
        };
#pragma omp simd
        for (std::int64_t x = 0; x < 2 * nx; ++x) at(x);
        at(2 * nx);
        double* to = out.at(y);
#pragma omp simd
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
        ask_for(u.at(y + kRowsAhead), nx);
        if (fresh) std::memset(to - 1, 0, static_cast<std::size_t>(nx + 2) * sizeof(double));
        to[-1] += mean[-1];
#pragma omp simd
        for (std::int64_t c = 0; c < half; ++c) {
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
