#include "benchmarks/npb/ft/solver.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "benchmarks/npb/common/random.hpp"
#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb::ft {
namespace {

constexpr double kAlpha = 1e-6;
constexpr std::int64_t kEight = kLanes;

/// The wave number of index i, from -n/2 to n/2 - 1.
double wave(std::int64_t i, std::int64_t n) { return static_cast<double>((i + n / 2) % n - n / 2); }

/// e^(-4 alpha pi^2 k^2 t) for the wave numbers of one direction; the product over directions is what |k|^2
/// gives.
std::vector<double> decay(std::int64_t n, std::int64_t begin, std::int64_t end, int t) {
    std::vector<double> factor(static_cast<std::size_t>((end - begin + kEight - 1) / kEight * kEight), 1.0);
    for (std::int64_t i = begin; i < end; ++i) {
        const double k = wave(i, n);
        factor[static_cast<std::size_t>(i - begin)] =
            std::exp(-4 * kAlpha * std::numbers::pi * std::numbers::pi * k * k * t);
    }
    return factor;
}

std::size_t scratch_doubles(const Problem& problem) {
    // Of a transform of the longest direction, its sequences, and a row of random numbers.
    const std::int64_t longest = *std::max_element(problem.n.begin(), problem.n.end());
    return Transform::scratch(longest) + static_cast<std::size_t>(longest) * 2 * kLanes;
}

}  // namespace

Solver::Solver(const Problem& problem, Group& group, Break fault)
    : problem_(problem),
      group_(group),
      fault_(fault),
      pencils_(problem.n, group.size()),
      box_x_(pencils_.box(Pencils::x, group.rank())),
      box_y_(pencils_.box(Pencils::y, group.rank())),
      box_z_(pencils_.box(Pencils::z, group.rank())),
      x_to_y_(pencils_, Pencils::x, Pencils::y, group),
      y_to_z_(pencils_, Pencils::y, Pencils::z, group),
      z_to_y_(pencils_, Pencils::z, Pencils::y, group),
      y_to_x_(pencils_, Pencils::y, Pencils::x, group),
      fft_x_(problem.n[0]),
      fft_y_(problem.n[1]),
      fft_z_(problem.n[2]),
      scratch_size_(scratch_doubles(problem)) {
    const auto make = [&](const char* name, const Box& box) {
        return Field::in(group.array<double>(name, 2 * Field::doubles(box)).data(), box);
    };
    spectrum_ = make("spectrum", box_z_);
    in_z_ = make("work z", box_z_);
    in_y_ = box_y_ == box_z_ ? in_z_ : make("work y", box_y_);
    in_x_ = box_x_ == box_y_ ? in_y_ : make("work x", box_x_);
    scratch_ = group.array<double>("scratch", scratch_size_ * static_cast<std::size_t>(group.workers()));
}

void Solver::fill(std::int64_t z, int worker) {
    double* row = scratch(worker);
    const std::int64_t nx = problem_.n[0];
    for (std::int64_t y = 0; y < box_x_.extent(1); ++y) {
        const std::int64_t place = nx * (box_x_.begin[1] + y + problem_.n[1] * (box_x_.begin[2] + z));
        Random(kSeed)
            .after(static_cast<std::uint64_t>(2 * place))
            .fill(row, static_cast<std::size_t>(2 * nx));
        double *re = in_x_.re + in_x_.at(0, y, z), *im = in_x_.im + in_x_.at(0, y, z);
#pragma omp simd
        for (std::int64_t x = 0; x < nx; ++x) {
            re[x] = row[2 * x];
            im[x] = row[2 * x + 1];
        }
    }
}

void Solver::along_x(std::int64_t z, int worker, bool inverse) {
    const std::int64_t nx = problem_.n[0], height = box_x_.extent(1);
    double* work = scratch(worker);
    double* columns = work + Transform::scratch(nx);
    constexpr std::int64_t step = 2 * kEight;
    for (std::int64_t y = 0; y < height; y += kEight) {
        // Of the last rows there may be fewer than eight; the last one then stands in for those that lack.
        const auto row = [&](std::int64_t i) { return in_x_.at(0, std::min(y + i, height - 1), z); };
        const auto each_tile = [&](auto&& what) {
            for (std::int64_t x = 0; x < nx; x += kEight) {
                what(x, in_x_.re, columns + x * step);
                what(x, in_x_.im, columns + x * step + kEight);
            }
        };
        each_tile([&](std::int64_t x, const double* from, double* to) {
            Vec tile[8];
            for (int i = 0; i < 8; ++i) tile[i] = load(from + row(i) + x);
            transpose(tile);
            for (int i = 0; i < 8; ++i) store(to + i * step, tile[i]);
        });
        const std::int64_t re = inverse ? kEight : 0, im = kEight - re;
        fft_x_.run(
            [&](std::int64_t i, Complex& value) {
                value = {load(columns + i * step + re), load(columns + i * step + im)};
            },
            columns + re, columns + im, step, work);
        each_tile([&](std::int64_t x, double* to, const double* from) {
            Vec tile[8];
            for (int i = 0; i < 8; ++i) tile[i] = load(from + i * step);
            transpose(tile);
            for (std::int64_t i = 0; i < std::min(kEight, height - y); ++i) store(to + row(i) + x, tile[i]);
        });
    }
}

void Solver::along_y(std::int64_t z, std::int64_t x_begin, std::int64_t x_end, int worker, bool inverse) {
    double* const re = inverse ? in_y_.im : in_y_.re;
    double* const im = inverse ? in_y_.re : in_y_.im;
    for (std::int64_t x = x_begin; x < x_end; x += kEight) {
        const std::int64_t at = in_y_.at(x, 0, z);
        fft_y_.run(
            [&](std::int64_t i, Complex& value) {
                value = {load(re + at + i * in_y_.row), load(im + at + i * in_y_.row)};
            },
            re + at, im + at, in_y_.row, scratch(worker));
    }
}

void Solver::transform_z(int t) {
    // t = 0: forward, of the work into the spectrum. Else the spectrum, t steps on, back into the work.
    const bool inverse = t > 0;
    const Field &from = inverse ? spectrum_ : in_z_, &to = inverse ? in_z_ : spectrum_;
    const std::int64_t eights = (box_z_.extent(0) + kEight - 1) / kEight;
    std::vector<double> factor[3];
    for (std::size_t d = 0; d < 3; ++d) factor[d] = decay(problem_.n[d], box_z_.begin[d], box_z_.end[d], t);
    group_.each_part_of(eights * box_z_.extent(1), [&](std::int64_t begin, std::int64_t end, int worker) {
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t y = part / eights, x = part % eights * kEight, at = from.at(x, y, 0);
            if (!inverse) {
                fft_z_.run(
                    [&](std::int64_t i, Complex& value) {
                        const double* p = from.re + at + i * from.layer;
                        const double* q = from.im + at + i * from.layer;
                        __builtin_prefetch(p + kEight);
                        __builtin_prefetch(q + kEight);
                        value = {load(p), load(q)};
                    },
                    to.re + at, to.im + at, to.layer, scratch(worker));
                continue;
            }
            const Vec across =
                load(&factor[0][static_cast<std::size_t>(x)]) * factor[1][static_cast<std::size_t>(y)];
            const double* along = factor[2].data();
            fft_z_.run(
                [&](std::int64_t i, Complex& value) {
                    const double* p = from.re + at + i * from.layer;
                    const double* q = from.im + at + i * from.layer;
                    __builtin_prefetch(p + kEight);
                    __builtin_prefetch(q + kEight);
                    const Vec weight = across * along[i];
                    value = {load(q) * weight, load(p) * weight};  // exchanged: the other sign
                },
                to.im + at, to.re + at, to.layer, scratch(worker));
        }
    });
}

void Solver::start() {
    const std::int64_t width = box_y_.extent(0);
    if (x_to_y_.idle()) {
        // One plane after the other, as long as it is in the cache.
        group_.each_part_of(box_x_.extent(2), [&](std::int64_t begin, std::int64_t end, int worker) {
            for (std::int64_t z = begin; z < end; ++z) {
                fill(z, worker);
                along_x(z, worker, false);
                along_y(z, 0, width, worker, false);
            }
        });
    } else {
        group_.each_part_of(box_x_.extent(2), [&](std::int64_t begin, std::int64_t end, int worker) {
            for (std::int64_t z = begin; z < end; ++z) {
                fill(z, worker);
                along_x(z, worker, false);
            }
        });
        x_to_y_.run(in_x_, in_y_);
        group_.each_part_of(box_y_.extent(2), [&](std::int64_t begin, std::int64_t end, int worker) {
            for (std::int64_t z = begin; z < end; ++z) along_y(z, 0, width, worker, false);
        });
    }
    y_to_z_.run(in_y_, in_z_);
    transform_z(0);
    // What a broken kernel does: a number of the spectrum is lost, or a little wrong. Of those waves that the
    // checksum's points see: that of (1, 1, 1), for one, cancels out over them.
    if (fault_ != Break::none && group_.rank() == 0)
        group_.once([&] { spectrum_.re[spectrum_.at(0, 0, 0)] *= fault_ == Break::skip ? 0 : 1 + 1e-6; });
}

std::complex<double> Solver::step(int t) {
    transform_z(t);
    z_to_y_.run(in_z_, in_y_);
    const std::int64_t width = box_y_.extent(0);
    const bool together = y_to_x_.idle();
    group_.each_part_of(box_y_.extent(2), [&](std::int64_t begin, std::int64_t end, int worker) {
        for (std::int64_t z = begin; z < end; ++z) {
            along_y(z, 0, width, worker, true);
            if (together) along_x(z, worker, true);
        }
    });
    if (!together) {
        y_to_x_.run(in_y_, in_x_);
        group_.each_part_of(box_x_.extent(2), [&](std::int64_t begin, std::int64_t end, int worker) {
            for (std::int64_t z = begin; z < end; ++z) along_x(z, worker, true);
        });
    }
    return checksum();
}

std::complex<double> Solver::checksum() const {
    // The sum of 1024 points (j mod nx, 3 j mod ny, 5 j mod nz), j from 1.
    const auto sums = group_.sum_each<2>([&](int worker, int workers) {
        const Share part(1024, worker, workers);
        std::array<double, 2> sum{};
        for (std::int64_t j = part.begin + 1; j <= part.end; ++j) {
            const std::int64_t x = j % problem_.n[0], y = 3 * j % problem_.n[1] - box_x_.begin[1],
                               z = 5 * j % problem_.n[2] - box_x_.begin[2];
            if (y < 0 || y >= box_x_.extent(1) || z < 0 || z >= box_x_.extent(2)) continue;
            sum[0] += in_x_.re[in_x_.at(x, y, z)];
            sum[1] += in_x_.im[in_x_.at(x, y, z)];
        }
        return sum;
    });
    return std::complex(sums[0], sums[1]) / problem_.points();
}

double Solver::bytes(int steps) const {
    // A pass over all points reads and writes 16 bytes each: planes and z, in start() the former only writes.
    // Moving to pencils along another direction is a pass: messages stay in the cache. What is done together
    // where planes stay whole is two passes where they do not.
    const double pass = 32 * problem_.points();
    const double moved = (x_to_y_.idle() ? 0 : 2 * pass) + (y_to_z_.idle() ? 0 : pass);
    return compulsory_bytes(steps) + moved * (1 + steps);
}

double Solver::compulsory_bytes(int steps) const { return 32 * problem_.points() * (1.5 + 2.0 * steps); }

std::vector<std::pair<std::string, std::uint64_t>> Solver::needs(const Problem& problem,
                                                                 const Pencils& pencils, int processes,
                                                                 int workers) {
    const Box x = pencils.box(Pencils::x, 0), y = pencils.box(Pencils::y, 0), z = pencils.box(Pencils::z, 0);
    const auto field = [](const Box& box) { return std::uint64_t{16} * Field::doubles(box); };
    const auto points = [](const Box& box) { return box.extent(0) * box.extent(1) * box.extent(2); };
    std::vector<std::pair<std::string, std::uint64_t>> needs = {
        {"spectrum", field(z)},
        {"work", field(z) + (y == z ? 0 : field(y)) + (x == y ? 0 : field(x))},
        {"scratch", 8 * scratch_doubles(problem) * static_cast<std::uint64_t>(workers)}};
    if (processes > 1)
        needs.emplace_back("messages", 2 * ((x == y ? 0 : Redistribution::bytes(points(y), y.extent(2))) +
                                            (y == z ? 0 : Redistribution::bytes(points(y), z.extent(2)))));
    return needs;
}

}  // namespace strata::npb::ft
