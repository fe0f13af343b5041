#include "benchmarks/stencil/heat.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "benchmarks/common/clock.hpp"

namespace strata::bench::stencil {
namespace {

constexpr double kUsualRatio = 0.125, kHeightLeft = 0.1;
/// Different along each direction, so that two that are mixed up are seen; long waves, as all cells of the
/// cube then have a part in them.
constexpr Triple kHalfWaves = {1, 2, 3};
/// Distances of rows or planes that are multiples of a page make a store seem to alias the loads above it.
constexpr std::size_t kPageDoubles = 512;

/// One row: 7 loads, of which the caches serve all but one, and one store. `row` and `plane` are the
/// distances of the neighbours along y and z.
void step_row(double* __restrict to, const double* from, int n, std::size_t row, std::size_t plane,
              double own, double others) {
    const double *left = from - 1, *right = from + 1, *before = from - row, *after = from + row,
                 *below = from - plane, *above = from + plane;
#pragma omp simd
    for (int i = 0; i < n; ++i)
        to[i] =
            own * from[i] + others * ((left[i] + right[i]) + (before[i] + after[i]) + (below[i] + above[i]));
}

/// work(thread, threads) on all threads of the runtime's team.
template <class F>
void on_all(F&& work) {
#ifdef _OPENMP
#pragma omp parallel
    work(omp_get_thread_num(), omp_get_num_threads());
#else
    work(0, 1);
#endif
}

void wait_for_team() {
#ifdef _OPENMP
#pragma omp barrier
#endif
}

}  // namespace

Mode::Mode(int n, long steps) : n_(n) {
    double sum = 0;
    for (const Direction d : {kZ, kY, kX}) {
        half_waves_[d] = std::min(kHalfWaves[d], n);
        const double s = std::sin(std::numbers::pi * half_waves_[d] / (2.0 * (n + 1)));
        sum += s * s;
    }
    // 2 cos(x) - 2 = -4 sin^2(x / 2) in each direction (LeVeque, equation 2.23, times h^2).
    const double most = -std::expm1(std::log(kHeightLeft) / static_cast<double>(std::max(steps, 1L)));
    ratio_ = std::min(kUsualRatio, most / (4 * sum));
    drop_ = 4 * ratio_ * sum;
}

double Mode::after(long steps) const { return std::exp(static_cast<double>(steps) * std::log1p(-drop_)); }

double Mode::sine(Direction direction, int i) const {
    return std::sin(std::numbers::pi * half_waves_[direction] * (i + 1) / (n_ + 1));
}

std::size_t Field::pitch_of(const Block& block) {
    const auto cells = static_cast<std::size_t>(block.cells[kX].count) + 2;
    const std::size_t pitch = (cells + kLine - 1) / kLine * kLine;
    return pitch % kPageDoubles == 0 ? pitch + kLine : pitch;
}

std::size_t Field::plane_of(const Block& block) {
    const std::size_t plane = pitch_of(block) * (static_cast<std::size_t>(block.cells[kY].count) + 2);
    return plane % kPageDoubles == 0 ? plane + kLine : plane;
}

std::size_t Field::elements(const Block& block) {
    return 2 * kLine + plane_of(block) * (static_cast<std::size_t>(block.cells[kZ].count) + 2);
}

Field::Field(const Block& block, const Mode& mode)
    : mode_(mode),
      counts_{block.cells[kZ].count, block.cells[kY].count, block.cells[kX].count},
      pitch_(pitch_of(block)),
      plane_(plane_of(block)),
      first_(elements(block)),
      second_(elements(block)),
      now_(first_.data()),
      next_(second_.data()) {
    for (const Direction d : {kZ, kY, kX}) {
        const Part part = block.cells[d];
        for (int i = 0; i < part.count; ++i) sines_[d].push_back(mode.sine(d, part.first + i));
        for (const int side : {0, 1}) {
            if (block.neighbours[d][static_cast<std::size_t>(side)] < 0) continue;
            const std::size_t size =
                static_cast<std::size_t>(counts_[kZ]) * static_cast<std::size_t>(counts_[kY]) *
                static_cast<std::size_t>(counts_[kX]) / static_cast<std::size_t>(counts_[d]);
            faces_.push_back({d, side, Array<double>(size), Array<double>(size)});
            swaps_.push_back({block.neighbours[d][static_cast<std::size_t>(side)], faces_.back().out.span(),
                              faces_.back().in.span()});
        }
    }
    on_all([this](int thread, int threads) {
        const Rows rows = rows_of(thread, threads);
        // A row's memory begins with the cell before it: what lies between that and the end of the row before
        // is nobody's.
        const auto start = [this](int row) { return cell(row / counts_[kY], row % counts_[kY], 0) - 1; };
        const std::size_t begin = thread == 0 ? 0 : start(rows.first);
        const std::size_t end = thread + 1 == threads ? first_.size() : start(rows.last);
        std::fill(now_ + begin, now_ + end, 0.0);
        std::fill(next_ + begin, next_ + end, 0.0);
        each_row(rows, [this](int k, int j) {
            for (int i = 0; i < counts_[kX]; ++i) now_[cell(k, j, i)] = initial(k, j, i);
        });
        copy_faces<true>(rows, now_);  // so that these buffers, too, lie with the threads that fill them
    });
}

Field::Rows Field::rows_of(int thread, int threads) const {
    const Part mine = part(counts_[kZ] * counts_[kY], threads, thread);
    return {mine.first, mine.first + mine.count};
}

template <class F>
void Field::each_row(Rows rows, F&& work) const {
    int k = rows.first / counts_[kY], j = rows.first % counts_[kY];
    for (int row = rows.first; row < rows.last; ++row) {
        work(k, j);
        if (++j == counts_[kY]) {
            j = 0;
            ++k;
        }
    }
}

template <bool Out>
void Field::copy_faces(Rows rows, double* values) {
    const auto copy_row = [](double* face, double* row, int count) {
        if constexpr (Out) {
            std::copy_n(row, count, face);
        } else {
            std::copy_n(face, count, row);
        }
    };
    for (Face& face : faces_) {
        const int edge = face.side == 0 ? 0 : counts_[face.direction] - 1;
        const int halo = face.side == 0 ? -1 : counts_[face.direction];
        const int there = Out ? edge : halo;
        double* const packed = Out ? face.out.data() : face.in.data();
        if (face.direction == kZ) {
            const Rows mine = {std::max(rows.first, edge * counts_[kY]),
                               std::min(rows.last, (edge + 1) * counts_[kY])};
            each_row(mine, [&](int, int j) {
                copy_row(packed + static_cast<std::size_t>(j) * width(), values + cell(there, j, 0),
                         counts_[kX]);
            });
        } else if (face.direction == kY) {
            for (int k = rows.first / counts_[kY]; k < counts_[kZ]; ++k) {
                const int row = k * counts_[kY] + edge;
                if (row >= rows.last) break;
                if (row < rows.first) continue;
                copy_row(packed + static_cast<std::size_t>(k) * width(), values + cell(k, there, 0),
                         counts_[kX]);
            }
        } else {
            int row = rows.first;
            each_row(rows, [&](int k, int j) { copy_row(packed + row++, values + cell(k, j, there), 1); });
        }
    }
}

double Field::advance(Group& group, long steps) {
    double in_exchange = 0;
    on_all([&](int thread, int threads) {
        const Rows rows = rows_of(thread, threads);
        double *from = now_, *to = next_;
        double own_exchange = 0;
        for (long step = 0; step < steps; ++step) {
            if (!faces_.empty()) {
                const double start = now();
                copy_faces<true>(rows, from);
                wait_for_team();
                if (thread == 0) group.exchange(swaps_);  // MPI_THREAD_FUNNELED: the first thread alone calls
                wait_for_team();
                // A thread's rows need no other halo cells than those that it copies itself.
                copy_faces<false>(rows, from);
                own_exchange += now() - start;
            }
            each_row(rows, [&](int k, int j) {
                const std::size_t row = cell(k, j, 0);
                step_row(to + row, from + row, counts_[kX], pitch_, plane_, 1 - 6 * mode_.ratio(),
                         mode_.ratio());
            });
            // With faces the wait before the next exchange does it: nobody overwrites what others still read.
            if (faces_.empty()) wait_for_team();
            std::swap(from, to);
        }
        if (thread == 0) in_exchange = own_exchange;
    });
    if (steps % 2 != 0) std::swap(now_, next_);
    return in_exchange;
}

double Field::error(long steps) const {
    const double height = mode_.after(steps);
    double worst = 0;
    for (int k = 0; k < counts_[kZ]; ++k)
        for (int j = 0; j < counts_[kY]; ++j)
            for (int i = 0; i < counts_[kX]; ++i) {
                const double distance = std::abs(now_[cell(k, j, i)] - height * initial(k, j, i));
                // What is not a number is as wrong as can be; max() would drop it.
                worst = std::isnan(distance) ? std::numeric_limits<double>::infinity()
                                             : std::max(worst, distance);
            }
    return worst;
}

void Field::disturb(double by) { now_[cell(counts_[kZ] / 2, counts_[kY] / 2, counts_[kX] / 2)] += by; }

std::size_t Field::bytes_sent() const {
    std::size_t sum = 0;
    for (const Swap& swap : swaps_) sum += swap.out.size_bytes();
    return sum;
}

}  // namespace strata::bench::stencil
