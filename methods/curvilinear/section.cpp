#include "methods/curvilinear/section.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "methods/curvilinear/stretch.hpp"

namespace strata::flow {

namespace {

constexpr double kClosed = 1.008930411365;  // where the published polynomial has no thickness

// Gauss's rule of five points on (-1, 1).
constexpr double kPlaces[5] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                               0.9061798459386640};
constexpr double kWeights[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                0.4786286704993665, 0.2369268850561891};

template <class Function>
double integral(double from, double to, const Function& f) {
    double sum = 0;
    for (int g = 0; g < 5; ++g) sum += kWeights[g] * f(0.5 * (from + to) + 0.5 * (to - from) * kPlaces[g]);
    return 0.5 * (to - from) * sum;
}

}  // namespace

Section::Section(const std::string& naca, std::string tail, double thickness)
    : thickness_((naca[2] - '0') / 10.0 + (naca[3] - '0') / 100.0),
      scale_(thickness),
      camber_((naca[0] - '0') / 100.0),
      camber_at_((naca[1] - '0') / 10.0),
      tail_(std::move(tail)) {}

double Section::half_thickness(double x) const {
    const double stretched = tail_ == "scaled" ? kClosed * x : x, last = tail_ == "sharp" ? -0.1036 : -0.1015;
    if (x >= 1 && tail_ != "blunt") return 0;
    const double y =
        5 * thickness_ *
        (0.2969 * std::sqrt(stretched) +
         stretched * (-0.1260 + stretched * (-0.3516 + stretched * (0.2843 + stretched * last))));
    return scale_ * (tail_ == "scaled" ? y / kClosed : y);
}

Section::Point Section::at(double w, int side) const {
    const double x = w * w, t = half_thickness(x);
    double y = 0, slope = 0;
    if (camber_ > 0) {
        const double p = camber_at_, q = x < p ? p * p : (1 - p) * (1 - p);
        y = camber_ / q * (x < p ? 2 * p * x - x * x : 1 - 2 * p + 2 * p * x - x * x);
        slope = 2 * camber_ / q * (p - x);
    }
    const double length = std::sqrt(1 + slope * slope);
    return {x - side * t * slope / length, y + side * t / length};
}

namespace {

/// Lengths from the nose to 2001 values of w.
std::vector<double> lengths(const Section& section, int side) {
    constexpr int n = 2000;
    std::vector<double> length{0};
    for (int i = 0; i < n; ++i) {
        const auto speed = [&](double w) {
            constexpr double h = 1e-6;
            const double a = std::max(0.0, w - h), b = std::min(1.0, w + h);
            const auto from = section.at(a, side), to = section.at(b, side);
            return std::hypot(to[0] - from[0], to[1] - from[1]) / (b - a);
        };
        length.push_back(length.back() + integral(static_cast<double>(i) / n, (i + 1.0) / n, speed));
    }
    return length;
}

}  // namespace

double Section::length(int side) const { return lengths(*this, side).back(); }

std::vector<Section::Point> Section::along(const std::vector<double>& shares, int side) const {
    const auto length = lengths(*this, side);
    const double n = static_cast<double>(length.size() - 1);
    std::vector<Point> points;
    for (const double share : shares) {
        const double s = share * length.back();
        const auto above = std::upper_bound(length.begin() + 1, length.end() - 1, s);
        const double low = *(above - 1), part = (s - low) / (*above - low);
        points.push_back(
            at(std::clamp((static_cast<double>(above - length.begin() - 1) + part) / n, 0.0, 1.0), side));
    }
    return points;
}

namespace {

using Point = Section::Point;
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1]; }

/// The curve j-min: points, distances from the nose along it, and on which side.
struct Inner {
    std::vector<Point> points;
    std::vector<double> distance;
    std::vector<double> behind;  // the trailing edge; 0 on the section
    int nose = 0;
};

Inner inner_curve(const AirfoilGrid& grid, double thickness) {
    const Section section(grid.naca, grid.tail, thickness);
    const int half = grid.cells_surface / 2;
    const auto wake = geometric(grid.cells_wake, grid.first_tail, grid.farfield);
    Inner inner;
    inner.nose = grid.cells_wake + half;
    const auto count = static_cast<std::size_t>(2 * inner.nose + 1);
    inner.points.resize(count), inner.distance.resize(count), inner.behind.resize(count);
    for (const int side : {-1, 1}) {
        const double length = section.length(side);
        auto shares = two_sided(half, grid.first_nose, grid.first_tail, length);
        for (double& share : shares) share /= length;
        const auto surface = section.along(shares, side);
        for (int m = 0; m <= inner.nose; ++m) {
            const auto i = static_cast<std::size_t>(inner.nose + side * m);
            const double behind = m > half ? wake[static_cast<std::size_t>(m - half)] : 0;
            inner.points[i] = surface[static_cast<std::size_t>(std::min(m, half))];
            inner.points[i][0] += behind;
            inner.behind[i] = behind;
            inner.distance[i] = shares[static_cast<std::size_t>(std::min(m, half))] * length + behind;
        }
    }
    return inner;
}

/// Unit vectors to the left of the curve's direction, outwards; `instead` where it has none (the nose of a
/// slit).
std::vector<Point> normals(const std::vector<Point>& points, const std::vector<Point>& instead) {
    std::vector<Point> found(points.size());
    const auto unit = [](const Point& a, const Point& b) {
        const double length = std::hypot(b[0] - a[0], b[1] - a[1]);
        return length > 0 ? Point{-(b[1] - a[1]) / length, (b[0] - a[0]) / length} : Point{0, 0};
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point before = unit(points[i == 0 ? 0 : i - 1], points[i == 0 ? 1 : i]);
        const Point after = i + 1 == points.size() ? before : unit(points[i], points[i + 1]);
        const Point sum{before[0] + after[0], before[1] + after[1]};
        const double length = std::sqrt(dot(sum, sum));
        found[i] = length > 1e-6 ? Point{sum[0] / length, sum[1] / length} : instead[i];
    }
    return found;
}

/// How far lines may follow the normals n, away from parabolas that leave along m, before those of neighbours
/// would meet: where the curve is hollow (at the trailing edge) a part of the distance to this meeting, else
/// 0.2 chords; changing so slowly along the curve that lines are moved by a part of their distance.
std::vector<double> reach(const std::vector<Point>& points, const std::vector<Point>& n,
                          const std::vector<Point>& m) {
    std::vector<double> far(points.size(), 0.2), most_change(points.size(), 0);
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        const Point step{points[i + 1][0] - points[i][0], points[i + 1][1] - points[i][1]};
        const double length = std::sqrt(dot(step, step));
        const auto moved = [&](std::size_t at) {
            return std::hypot(n[at][0] - m[at][0], n[at][1] - m[at][1]);
        };
        most_change[i] = 0.3 * length / (std::max(moved(i), moved(i + 1)) + 1e-9);
        if (length == 0) continue;
        const double closing = -dot({n[i + 1][0] - n[i][0], n[i + 1][1] - n[i][1]}, step) / length;
        if (closing <= 0) continue;
        const double most = 0.3 * length / closing;
        far[i] = std::min(far[i], most), far[i + 1] = std::min(far[i + 1], most);
    }
    for (std::size_t i = 1; i < far.size(); ++i)
        far[i] = std::min({far[i], 1.25 * far[i - 1], far[i - 1] + most_change[i - 1]});
    for (std::size_t i = far.size() - 1; i > 0; --i)
        far[i - 1] = std::min({far[i - 1], 1.25 * far[i], far[i] + most_change[i - 1]});
    return far;
}

/// One line from P to Q: a parabola that leaves along m (a quadratic Bezier curve whose second point is p +
/// arm m), moved near P so that it leaves along n. Returns nj + 1 points, their distances growing
/// geometrically.
std::vector<Point> line(const Point& p, const Point& q, const Point& m, double arm, const Point& n,
                        double reach, double first, int nj) {
    const Point way{q[0] - p[0], q[1] - p[1]};
    const auto speed = [&](double t) {
        const double along_m = 2 * (1 - 2 * t) * arm;
        return std::hypot(along_m * m[0] + 2 * t * way[0], along_m * m[1] + 2 * t * way[1]);
    };
    double length = 0;
    for (int i = 0; i < 200; ++i) length += integral(i / 200.0, (i + 1) / 200.0, speed);
    // In a wake that a near far field cuts off, `first` may be more than cells of equal length.
    const auto s = geometric(nj, std::min(first, length / nj), length);
    std::vector<Point> points{p};
    double t = 0;
    for (std::size_t j = 1; j < s.size(); ++j) {
        const double step = s[j] - s[j - 1], from = t;
        t += step / speed(t);
        for (int newton = 0; newton < 30; ++newton) {
            const double more = (step - integral(from, t, speed)) / speed(t);
            t += more;
            if (std::abs(more) <= 1e-15 * t) break;
        }
        if (j + 1 == s.size()) t = 1;
        const double turned = reach * -std::expm1(-s[j] / reach);
        Point at;
        for (std::size_t d = 0; d < 2; ++d)
            at[d] = p[d] + 2 * t * (1 - t) * arm * m[d] + t * t * way[d] + turned * (n[d] - m[d]);
        points.push_back(at);
    }
    return points;
}

}  // namespace

CSection make_c_section(const AirfoilGrid& grid, double thickness) {
    const Inner inner = inner_curve(grid, thickness);
    const auto count = inner.points.size();
    const double radius = grid.farfield;
    // A slit has the parabolic coordinates x = (u^2 - v^2) / 2, y = u v; a nose of radius r has v = sqrt(r).
    // Lines of equal u meet a far circle of radius R at an arc of 2 R u / sqrt(2 R) from in front, while u is
    // small.
    const double nose = Section(grid.naca, grid.tail).nose_radius();
    std::vector<double> u(count);
    std::vector<Point> parabola(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double side = static_cast<int>(i) < inner.nose ? -1 : 1;
        u[i] = side * inner.distance[i] / std::sqrt(0.5 * inner.distance[i] + nose);
        const double length = std::sqrt(nose + u[i] * u[i]);
        parabola[i] = {-std::sqrt(nose) / length, u[i] / length};
    }
    // Lines leave a slit as parabolas: normals would turn by a right angle at its nose.
    const auto normal = thickness > 0 ? normals(inner.points, parabola) : parabola;
    const auto turn = reach(inner.points, normal, parabola);

    CSection section{static_cast<int>(count) - 1, grid.cells_out, {}, {}, {}};
    const std::size_t all = count * (static_cast<std::size_t>(grid.cells_out) + 1);
    section.x.resize(all), section.y.resize(all);
    const double quarter = 0.5 * std::numbers::pi * radius, longest = quarter + radius;
    const Point middle{1, 0};
    for (std::size_t i = 0; i < count; ++i) {
        const double side = static_cast<int>(i) < inner.nose ? -1 : 1;
        const double confocal = std::abs(u[i] / u[side < 0 ? 0 : count - 1]),
                     equal = std::abs(static_cast<double>(i) / inner.nose - 1);
        const double share = confocal + grid.far_equal * (equal - confocal);
        const double arc = 2 * radius * share + (longest - 2 * radius) * share * share * share;
        Point far;
        if (arc < quarter)
            far = {middle[0] - radius * std::cos(arc / radius), side * radius * std::sin(arc / radius)};
        else
            far = {middle[0] + (arc - quarter), side * radius};
        section.first.push_back(grid.first * (1 + grid.wake_growth * inner.behind[i]));
        const double v = std::sqrt(std::hypot(far[0], far[1]) - far[0]);
        const double arm = 0.5 * std::sqrt(nose + u[i] * u[i]) * (v - std::sqrt(nose));
        const auto points = line(inner.points[i], far, parabola[i], arm, normal[i], turn[i],
                                 section.first.back(), grid.cells_out);
        for (std::size_t j = 0; j < points.size(); ++j) {
            const std::size_t n = section.at(static_cast<int>(i), static_cast<int>(j));
            section.x[n] = points[j][0], section.y[n] = points[j][1];
        }
    }
    return section;
}

}  // namespace strata::flow
