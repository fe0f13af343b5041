#include "benchmarks/graph/euler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace strata::bench::graph_layer {

using namespace strata::graph;

namespace {

// Density, velocity, pressure, and the speed of sound.
constexpr int kPrimitives = 6;
constexpr int kOfPrimitives = 15, kOfSlopes = 12 * kFlowValues, kOfFlux = 102,
              kOfDifference = 2 * kFlowValues;

/// Rows of several quantities.
struct Rows {
    double* at = nullptr;
    std::ptrdiff_t next = 0;  // from one quantity to the next
    [[nodiscard]] double* operator[](int q) const { return at + q * next; }
    [[nodiscard]] Rows operator+(std::ptrdiff_t i) const { return {at + i, next}; }
};

[[gnu::noinline]] void primitives(const std::array<const double*, kFlowValues>& u, const Rows& p, int n) {
    const double* __restrict density = u[0], * __restrict mx = u[1], * __restrict my = u[2], * __restrict mz = u[3], * __restrict energy = u[4];
    double* __restrict rho = p[0], * __restrict x = p[1], * __restrict y = p[2], * __restrict z = p[3], * __restrict pressure = p[4], * __restrict sound = p[5];
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) {
        const double r = density[i], by = 1 / r;
        const double vx = mx[i] * by, vy = my[i] * by, vz = mz[i] * by;
        const double pr = (kGamma - 1) * (energy[i] - 0.5 * (mx[i] * vx + my[i] * vy + mz[i] * vz));
        rho[i] = r, x[i] = vx, y[i] = vy, z[i] = vz, pressure[i] = pr;
        sound[i] = std::sqrt(kGamma * pr * by);
    }
}

/// Half of van Albada's slope, of all quantities.
[[gnu::noinline]] void half_slopes(const Rows& below, const Rows& own, const Rows& above, const Rows& to,
                                   int n) {
    for (int q = 0; q < kFlowValues; ++q) {
        const double* __restrict a = below[q], * __restrict b = own[q], * __restrict c = above[q];
        double* __restrict s = to[q];
        for (int i = 0; i < n; ++i) {
            const double down = b[i] - a[i], up = c[i] - b[i], both = down * up;
            const double slope = 0.5 * both * (down + up) / (down * down + up * up + 1e-300);
            s[i] = both > 0 ? slope : 0.0;
        }
    }
}

/// A face's normal, and the velocity of face i along it: base + i * more.
struct Face {
    double nx, ny, nz, base, more;
};

struct Side {
    double mass, mx, my, mz, energy;           // what flows through the face
    double density, px, py, pz, whole, speed;  // and what is there
};
[[gnu::always_inline]] inline Side side(double rho, double x, double y, double z, double p, double sound,
                                        const Face& face, double w) {
    const double q = x * face.nx + y * face.ny + z * face.nz, through = q - w;
    const double px = rho * x, py = rho * y, pz = rho * z;
    const double e = p * (1 / (kGamma - 1)) + 0.5 * (px * x + py * y + pz * z);
    return {rho * through,
            px * through + p * face.nx,
            py * through + p * face.ny,
            pz * through + p * face.nz,
            e * through + p * q,
            rho,
            px,
            py,
            pz,
            e,
            std::abs(through) + sound};
}

/// Rusanov's flux between cells with their half slopes.
[[gnu::noinline]] void fluxes(const Rows& left, const Rows& left_slope, const Rows& right,
                              const Rows& right_slope, const Face& face, const Rows& flux, int n) {
    const double* __restrict l0 = left[0], * __restrict l1 = left[1], * __restrict l2 = left[2], * __restrict l3 = left[3], * __restrict l4 = left[4], * __restrict l5 = left[5];
    const double* __restrict r0 = right[0], * __restrict r1 = right[1], * __restrict r2 = right[2], * __restrict r3 = right[3], * __restrict r4 = right[4], * __restrict r5 = right[5];
    const double* __restrict a0 = left_slope[0], * __restrict a1 = left_slope[1], * __restrict a2 = left_slope[2], * __restrict a3 = left_slope[3], * __restrict a4 = left_slope[4];
    const double* __restrict b0 = right_slope[0], * __restrict b1 = right_slope[1], * __restrict b2 = right_slope[2], * __restrict b3 = right_slope[3], * __restrict b4 = right_slope[4];
    double* __restrict f0 = flux[0], * __restrict f1 = flux[1], * __restrict f2 = flux[2], * __restrict f3 = flux[3], * __restrict f4 = flux[4];
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) {
        const double w = face.base + i * face.more;
        const Side l =
            side(l0[i] + a0[i], l1[i] + a1[i], l2[i] + a2[i], l3[i] + a3[i], l4[i] + a4[i], l5[i], face, w);
        const Side r =
            side(r0[i] - b0[i], r1[i] - b1[i], r2[i] - b2[i], r3[i] - b3[i], r4[i] - b4[i], r5[i], face, w);
        const double speed = l.speed > r.speed ? l.speed : r.speed;
        f0[i] = 0.5 * (l.mass + r.mass - speed * (r.density - l.density));
        f1[i] = 0.5 * (l.mx + r.mx - speed * (r.px - l.px));
        f2[i] = 0.5 * (l.my + r.my - speed * (r.py - l.py));
        f3[i] = 0.5 * (l.mz + r.mz - speed * (r.pz - l.pz));
        f4[i] = 0.5 * (l.energy + r.energy - speed * (r.whole - l.whole));
    }
}

/// What has come into a row of cells: more by what came through its first faces, less by what left.
[[gnu::noinline]] void gain(const Rows& in, const Rows& out, const Rows& sum, int n, bool first) {
    for (int q = 0; q < kFlowValues; ++q) {
        const double* __restrict a = in[q], * __restrict b = out[q];
        double* __restrict to = sum[q];
        if (first)
            for (int i = 0; i < n; ++i) to[i] = a[i] - b[i];
        else
            for (int i = 0; i < n; ++i) to[i] += a[i] - b[i];
    }
}

/// A plane of rows, for some quantities.
class Plane {
  public:
    void shape(int quantities, int rows, int width) {
        next_ = static_cast<std::ptrdiff_t>(rows) * width, width_ = width;
        values_.resize(static_cast<std::size_t>(quantities) * static_cast<std::size_t>(next_));
    }
    [[nodiscard]] Rows row(int j) {
        return {values_.data() + static_cast<std::ptrdiff_t>(j) * width_, next_};
    }

  private:
    std::vector<double> values_;
    std::ptrdiff_t next_ = 0;
    int width_ = 0;
};

/// Goes through a box plane by plane; what it keeps of the planes around fits a second-level cache.
class Stage {
  public:
    void go(const FieldView<const double>& u, const FieldView<const double>& old, const FieldView<double>& to,
            double a, double step, const Box& box, const Turned& grid) {
        box_ = box, grid_ = grid;
        nx_ = box.extent(0), ny_ = box.extent(1);
        if (box.empty()) return;
        for (Plane& plane : primitives_) plane.shape(kPrimitives, ny_ + 4, nx_ + 4);
        for (Plane* plane : {&below_, &here_, &in_, &out_, &gained_}) plane->shape(kFlowValues, ny_, nx_);
        for (Plane* plane : {&slopes_[0], &slopes_[1], &faces_[0], &faces_[1]})
            plane->shape(kFlowValues, 1, nx_ + 4);
        load(u, box.lo[2] - 2), load(u, box.lo[2] - 1);
        for (int k = box.lo[2] - 1; k <= box.hi[2]; ++k) {
            load(u, k + 1);
            for (int j = 0; j < ny_; ++j)
                half_slopes(cells(k - 1, j), cells(k, j), cells(k + 1, j), here_.row(j), nx_);
            if (k >= box.lo[2])
                for (int j = 0; j < ny_; ++j)
                    fluxes(cells(k - 1, j), below_.row(j), cells(k, j), here_.row(j), {0, 0, 1, 0, 0},
                           out_.row(j), nx_);
            if (k > box.lo[2]) {
                for (int j = 0; j < ny_; ++j) {
                    gain(in_.row(j), out_.row(j), gained_.row(j), nx_, false);
                    write(u, old, to, a, step, j, k - 1);
                }
            }
            std::swap(below_, here_), std::swap(in_, out_);
            if (k < box.lo[2] || k == box.hi[2]) continue;
            for (int j = 0; j < ny_; ++j) along_x(k, j);
            along_y(k);
        }
    }

  private:
    [[nodiscard]] Plane& plane(int k) { return primitives_[static_cast<std::size_t>((k + 6) % 3)]; }
    /// Of the cells of the box; two more lie before and behind.
    [[nodiscard]] Rows cells(int k, int j) { return plane(k - box_.lo[2]).row(j + 2) + 2; }
    void load(const FieldView<const double>& u, int k) {
        // At the edges along y and z more than what is used would lie in corners: rows that nobody reads.
        const bool inside = k >= box_.lo[2] && k < box_.hi[2];
        for (int j = inside ? -2 : 0; j < (inside ? ny_ + 2 : ny_); ++j) {
            std::array<const double*, kFlowValues> from{};
            const int before = inside && j >= 0 && j < ny_ ? 2 : 0;
            for (int c = 0; c < kFlowValues; ++c)
                from[static_cast<std::size_t>(c)] = u.row(box_.lo[1] + j, k, c) + (box_.lo[0] - before);
            primitives(from, cells(k, j) + (-before), nx_ + 2 * before);
        }
    }
    void along_x(int k, int j) {
        const Rows own = cells(k, j), slope = slopes_[0].row(0) + 1, flux = faces_[0].row(0);
        half_slopes(own + (-2), own + (-1), own, slope + (-1), nx_ + 2);
        const double w = -grid_.rate * (box_.lo[1] + j + 0.5 - grid_.y);
        fluxes(own + (-1), slope + (-1), own, slope, {grid_.cos, grid_.sin, 0, w, 0}, flux, nx_ + 1);
        gain(flux, flux + 1, gained_.row(j), nx_, true);
    }
    void along_y(int k) {
        const Face face{-grid_.sin, grid_.cos, 0, grid_.rate * (box_.lo[0] + 0.5 - grid_.x), grid_.rate};
        for (int j = -1; j <= ny_; ++j) {
            half_slopes(cells(k, j - 1), cells(k, j), cells(k, j + 1), slopes_[1].row(0), nx_);
            if (j >= 0)
                fluxes(cells(k, j - 1), slopes_[0].row(0), cells(k, j), slopes_[1].row(0), face,
                       faces_[1].row(0), nx_);
            if (j > 0) gain(faces_[0].row(0), faces_[1].row(0), gained_.row(j - 1), nx_, false);
            std::swap(slopes_[0], slopes_[1]), std::swap(faces_[0], faces_[1]);
        }
    }
    void write(const FieldView<const double>& u, const FieldView<const double>& old,
               const FieldView<double>& to, double a, double step, int j, int k) {
        for (int c = 0; c < kFlowValues; ++c) {
            const double* __restrict now = u.row(box_.lo[1] + j, k, c) + box_.lo[0];
            const double* __restrict before = old.row(box_.lo[1] + j, k, c) + box_.lo[0];
            const double* __restrict more = gained_.row(j)[c];
            double* __restrict out = to.row(box_.lo[1] + j, k, c) + box_.lo[0];
            for (int i = 0; i < nx_; ++i) out[i] = a * before[i] + (1 - a) * (now[i] + step * more[i]);
        }
    }

    Box box_;
    Turned grid_;
    int nx_ = 0, ny_ = 0;
    std::array<Plane, 3> primitives_;  // of three planes in turn
    Plane below_, here_;               // half slopes along z
    Plane in_, out_;                   // fluxes along z
    Plane gained_;
    std::array<Plane, 2> slopes_, faces_;  // of a row
};

}  // namespace

const int kFlowOperations =
    kOfPrimitives + 3 * (kOfSlopes + kOfFlux + kOfDifference) - kFlowValues + 5 * kFlowValues;

void flow_stage(const FieldView<const double>& u, const FieldView<const double>& old,
                const FieldView<double>& to, double a, double step, const Box& box, const Turned& grid) {
    thread_local Stage stage;
    stage.go(u, old, to, a, step, box, grid);
}

}  // namespace strata::bench::graph_layer
