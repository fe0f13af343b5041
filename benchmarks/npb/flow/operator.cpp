#include "benchmarks/npb/flow/operator.hpp"

namespace strata::npb::flow {
namespace {

/// Diffusion and fourth differences together, from two points before to two behind.
Weights linear_weights(const Axis& axis, std::int64_t at, std::int64_t n) {
    Weights w = fourth_difference(at, n);
    for (double& weight : w) weight *= -kDissipation;
    const double diffusion = axis.diffusion * axis.second;
    w[1] += diffusion;
    w[2] -= 2 * diffusion;
    w[3] += diffusion;
    return w;
}

/// U and what was derived of it at eight points.
struct Point {
    Vec u[kComponents];
    Vec velocity[3], kinetic, energy;  // the last two per unit of mass
};

/// The flux of the gas along direction D.
template <int D>
void flux(const Point& p, Vec (&out)[kComponents]) {
    const Vec v = p.velocity[D];
    const Vec pressure = k2 * (p.u[4] - p.u[0] * p.kinetic);
    out[0] = p.u[1 + D];
    for (int m = 1; m <= 3; ++m) out[m] = p.u[m] * v;
    out[1 + D] += pressure;
    out[4] = (p.u[4] + pressure) * v;
}

/// Adds to `sum` the differences along D of the fluxes of gas, viscosity and heat.
template <int D>
void add_fluxes(const Axis& axis, const Point& minus, const Point& centre, const Point& plus,
                Vec (&sum)[kComponents]) {
    Vec before[kComponents], behind[kComponents];
    flux<D>(minus, before);
    flux<D>(plus, behind);
    for (int m = 0; m < kComponents; ++m) sum[m] -= axis.first * (behind[m] - before[m]);

    const double viscous = kViscous * axis.second;
    const auto second = [](Vec a, Vec b, Vec c) { return a - 2 * b + c; };
    for (int d = 0; d < 3; ++d)
        sum[1 + d] += (d == D ? 4.0 / 3 : 1.0) * viscous *
                      second(minus.velocity[d], centre.velocity[d], plus.velocity[d]);
    const Vec a = minus.velocity[D], b = centre.velocity[D], c = plus.velocity[D];
    sum[4] += (1 - kHeat) * viscous * second(minus.kinetic, centre.kinetic, plus.kinetic) +
              viscous / 6 * second(a * a, b * b, c * c) +
              kHeat * viscous * second(minus.energy, centre.energy, plus.energy);
}

}  // namespace

/// Where a row of u and what was derived of it begin.
struct Operator::Row {
    const double *u, *derived;
    std::int64_t u_step, derived_step;

    [[nodiscard]] Vec component(int m, std::int64_t x) const { return load(u + m * u_step + x); }
    [[nodiscard]] Point at(std::int64_t x) const {
        Point p;
        for (int m = 0; m < kComponents; ++m) p.u[m] = component(m, x);
        for (int d = 0; d < 3; ++d) p.velocity[d] = load(derived + d * derived_step + x);
        p.kinetic = load(derived + 3 * derived_step + x);
        p.energy = load(derived + 4 * derived_step + x);
        return p;
    }
};

Operator::Operator(const Tile& tile)
    : tile_(tile), axes_(axes_of(tile.scale)), step_(round_up(tile.size[0]) + 2 * kLanes) {
    const std::int64_t width = round_up(tile.size[0]);
    inside_.assign(static_cast<std::size_t>(width), 0.0);
    for (auto& weights : along_x_) weights.assign(static_cast<std::size_t>(width), 0.0);
    for (std::int64_t x = tile.first(0); x < tile.last(0); ++x) {
        const auto i = static_cast<std::size_t>(x);
        inside_[i] = 1;
        const Weights w = linear_weights(axes_[0], tile.begin[0] + x, tile.n[0]);
        for (std::size_t k = 0; k < 5; ++k) along_x_[k][i] = w[k];
    }
}

std::size_t Operator::doubles(const Index& size) {
    return static_cast<std::size_t>(3 * (size[1] + 2) * kDerived * (round_up(size[0]) + 2 * kLanes));
}

double* Operator::derived(std::int64_t y, std::int64_t z) const {
    const std::int64_t slot = (z + 3) % 3;
    return window_ + (slot * (tile_.size[1] + 2) + y + 1) * kDerived * step_ + kLanes;
}

Operator::Row Operator::row_at(std::int64_t y, std::int64_t z) const {
    return {u_.at(y, z), derived(y, z), u_.row, step_};
}

void Operator::begin(const Field& u, double* window) {
    u_ = u;
    window_ = window;
    started_ = false;
}

void Operator::derive(std::int64_t z) {
    // A neighbour's points beside the row are derived too where there are any.
    const bool left = tile_.begin[0] > 0, right = tile_.begin[0] + tile_.size[0] < tile_.n[0];
    const std::int64_t from = left ? -kLanes : 0, to = tile_.size[0] + (right ? 1 : 0);
    for (std::int64_t y = -1; y <= tile_.size[1]; ++y) {
        const double* u = u_.at(y, z);
        double* out = derived(y, z);
        for (std::int64_t x = from; x < to; x += kLanes) {
            const Vec inverse = 1 / load(u + x);
            Vec square{};
            for (int d = 0; d < 3; ++d) {
                const Vec v = load(u + (1 + d) * u_.row + x) * inverse;
                store(out + d * step_ + x, v);
                square += v * v;
            }
            store(out + 3 * step_ + x, 0.5 * square);
            store(out + 4 * step_ + x, load(u + 4 * u_.row + x) * inverse);
        }
    }
}

void Operator::plane(std::int64_t z, const Field& forcing, const Field& out, double factor) {
    if (!started_) next_ = z - 1;
    started_ = true;
    for (; next_ <= z + 1; ++next_) derive(next_);
    for (std::int64_t y = tile_.first(1); y < tile_.last(1); ++y) row(y, z, forcing, out, factor);
}

void Operator::row(std::int64_t y, std::int64_t z, const Field& forcing, const Field& out,
                   double factor) const {
    const Row row = row_at(y, z);
    const Row south = row_at(y - 1, z), north = row_at(y + 1, z);
    const Row below = row_at(y, z - 1), above = row_at(y, z + 1);
    const Weights wy = linear_weights(axes_[1], tile_.begin[1] + y, tile_.n[1]);
    const Weights wz = linear_weights(axes_[2], tile_.begin[2] + z, tile_.n[2]);
    for (std::int64_t x = 0; x < tile_.size[0]; x += kLanes) {
        Vec sum[kComponents], wx[5];
        for (std::size_t k = 0; k < 5; ++k) wx[k] = load(along_x_[k].data() + x);
        for (int m = 0; m < kComponents; ++m) {
            const double* u = row.u + m * u_.row + x;
            Vec value = forcing.origin == nullptr ? Vec{} : load(forcing.at(y, z) + m * forcing.row + x);
            for (std::int64_t k = -2; k <= 2; ++k) {
                const auto w = static_cast<std::size_t>(k + 2);
                value += wx[w] * load(u + k) + wy[w] * load(u + k * u_.line) + wz[w] * load(u + k * u_.plane);
            }
            sum[m] = value;
        }
        const Point centre = row.at(x);
        add_fluxes<0>(axes_[0], row.at(x - 1), centre, row.at(x + 1), sum);
        add_fluxes<1>(axes_[1], south.at(x), centre, north.at(x), sum);
        add_fluxes<2>(axes_[2], below.at(x), centre, above.at(x), sum);
        const Vec scale = factor * load(inside_.data() + x);
        for (int m = 0; m < kComponents; ++m) store(out.at(y, z) + m * out.row + x, scale * sum[m]);
    }
}

}  // namespace strata::npb::flow
