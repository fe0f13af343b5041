#include "solvers/mpm/surface.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solvers/mpm/fill.hpp"

namespace strata::mpm {

namespace {

constexpr double kPi = std::numbers::pi;

/// Particles' size in each direction.
Real3 part(const Settings& s) {
    Real3 size = s.spacing();
    for (std::size_t d = 0; d < 3; ++d) size[d] /= static_cast<double>(s.per_cell[d]);
    return size;
}

int pieces(double length, double size) { return std::max(1, static_cast<int>(std::ceil(length / size))); }

/// each(point, area vector) on a rectangle across `axis`.
template <class Each>
void on_rectangle(const Surface& f, const Real3& size, Each each) {
    std::size_t across = 0;
    while (across < 2 && f.a[across] != f.b[across]) ++across;
    const std::size_t u = (across + 1) % 3, w = (across + 2) % 3;
    const double lu = f.b[u] - f.a[u], lw = f.b[w] - f.a[w];
    const int nu = pieces(lu, 0.5 * size[u]), nw = pieces(lw, 0.5 * size[w]);
    for (int i = 0; i < nu; ++i)
        for (int j = 0; j < nw; ++j) {
            Real3 x = f.a, area{};
            x[u] += lu * (i + 0.5) / nu, x[w] += lw * (j + 0.5) / nw;
            area[across] = lu * lw / (double(nu) * nw);
            each(x, area);
        }
}

template <class Each>
void on_cylinder(const Surface& f, const Real3& size, Each each) {
    const double narrow = std::min({size[0], size[1], size[2]});
    Real3 axis{}, first{}, second{};
    double length = 0, along = 0;
    for (std::size_t d = 0; d < 3; ++d) axis[d] = f.b[d] - f.a[d], length += axis[d] * axis[d];
    length = std::sqrt(length);
    for (std::size_t d = 0; d < 3; ++d) axis[d] /= length, along += std::abs(axis[d]) * size[d];
    // Two directions across the axis.
    std::size_t least = 0;
    for (std::size_t d = 1; d < 3; ++d)
        if (std::abs(axis[d]) < std::abs(axis[least])) least = d;
    double norm = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        first[d] = (d == least ? 1.0 : 0.0) - axis[least] * axis[d];
        norm += first[d] * first[d];
    }
    for (double& c : first) c /= std::sqrt(norm);
    for (std::size_t d = 0; d < 3; ++d)
        second[d] = axis[(d + 1) % 3] * first[(d + 2) % 3] - axis[(d + 2) % 3] * first[(d + 1) % 3];
    const int around = 4 * pieces(2 * kPi * f.radius, 2 * narrow), up = pieces(length, 0.5 * along);
    const double area = 2 * kPi * f.radius * length / (double(around) * up);
    for (int k = 0; k < up; ++k)
        for (int i = 0; i < around; ++i) {
            const double angle = 2 * kPi * (i + 0.5) / around, c = std::cos(angle), n = std::sin(angle);
            Real3 x{}, out{};
            for (std::size_t d = 0; d < 3; ++d) {
                const double radial = c * first[d] + n * second[d];
                x[d] = f.a[d] + axis[d] * length * (k + 0.5) / up + f.radius * radial;
                out[d] = area * radial;
            }
            each(x, out);
        }
}

/// In bands of latitude, each with as many points as its length asks for and its exact area.
template <class Each>
void on_sphere(const Surface& f, const Real3& size, Each each) {
    const double narrow = std::min({size[0], size[1], size[2]});
    const int bands = 2 * pieces(kPi * f.radius, narrow);
    for (int k = 0; k < bands; ++k) {
        const double lower = kPi * k / bands, upper = kPi * (k + 1) / bands, polar = 0.5 * (lower + upper);
        const int around = 4 * pieces(2 * kPi * f.radius * std::sin(polar), 2 * narrow);
        const double area = 2 * kPi * f.radius * f.radius * (std::cos(lower) - std::cos(upper)) / around;
        for (int i = 0; i < around; ++i) {
            const double angle = 2 * kPi * (i + 0.5) / around;
            const Real3 radial{std::sin(polar) * std::cos(angle), std::sin(polar) * std::sin(angle),
                               std::cos(polar)};
            Real3 x{}, out{};
            for (std::size_t d = 0; d < 3; ++d)
                x[d] = f.a[d] + f.radius * radial[d], out[d] = area * radial[d];
            each(x, out);
        }
    }
}

}  // namespace

std::vector<SurfacePoint> surface_points(const Settings& s) {
    std::vector<SurfacePoint> found;
    const Real3 size = part(s);
    for (std::size_t i = 0; i < s.surfaces.size(); ++i) {
        const Surface& f = s.surfaces[i];
        const auto each = [&](const Real3& x, const Real3& area) {
            SurfacePoint p{x, area, static_cast<int>(i), -1};
            double norm = 0;
            for (const double c : area) norm += c * c;
            // The body that is just beside the surface, on either side.
            for (const double side : {1e-4, -1e-4}) {
                Real3 beside = x;
                for (std::size_t d = 0; d < 3; ++d) beside[d] += side * size[d] * area[d] / std::sqrt(norm);
                if (p.body < 0) p.body = body_at(s, beside);
            }
            for (std::size_t d = 0; d < 3; ++d) {
                if (x[d] < 0 || x[d] > s.size[d]) return;
                p.x[d] = std::min(x[d], s.size[d] * (1 - 1e-12));  // in the last cell
            }
            if (p.body >= 0) found.push_back(p);
        };
        switch (f.shape) {
            case Body::Shape::box:
                on_rectangle(f, size, each);
                break;
            case Body::Shape::sphere:
                on_sphere(f, size, each);
                break;
            default:
                on_cylinder(f, size, each);
        }
    }
    return found;
}

double load_share(const Settings& s, double t) {
    return t < s.rise ? 0.5 * (1 - std::cos(kPi * t / s.rise)) : 1;
}

Real3 surface_force(const Surface& surface, const double (&F)[9], const Real3& area, double share) {
    Real3 force{};
    double size = 0;
    for (const double c : area) size += c * c;
    size = std::sqrt(size);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t p = (i + 1) % 3, q = (i + 2) % 3;
        double now = 0;  // cofactors of F times the area
        for (std::size_t j = 0; j < 3; ++j) {
            const std::size_t u = (j + 1) % 3, w = (j + 2) % 3;
            now += (F[3 * p + u] * F[3 * q + w] - F[3 * p + w] * F[3 * q + u]) * area[j];
        }
        force[i] = share * (surface.pressure * now + surface.traction[i] * size);
    }
    return force;
}

}  // namespace strata::mpm
