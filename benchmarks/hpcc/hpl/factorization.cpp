#include "benchmarks/hpcc/hpl/factorization.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <exception>

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::hpcc::linpack {
namespace {

/// A tile of fewer columns makes the BLAS rearrange L for too little work; one of more waits too long
/// between two looks at the messages.
constexpr long kFewest = 192, kMost = 1536;

int thread_number() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

}  // namespace

Tiles::Tile Tiles::take() {
    long begin = next_.load();
    while (true) {
        const long left = end_ - begin;
        if (left <= 0) return {};
        const long part = left / (2 * threads_) / 8 * 8;
        long width = std::clamp(part, kFewest, kMost);
        if (left - width < kFewest / 2) width = left;
        if (next_.compare_exchange_weak(begin, begin + width)) return {begin, begin + width};
    }
}

Factorization::Factorization(const Blas& blas, Equations& equations, Messages& messages)
    : blas_(blas),
      equations_(equations),
      shape_(equations.shape()),
      factorization_(blas, shape_.grid, messages, shape_.block, shape_.own_rows()),
      broadcast_(shape_.grid, messages),
      exchange_(shape_, messages),
      panels_{Panel(messages.memory(Panel::words(shape_.block, shape_.own_rows()))),
              Panel(messages.memory(Panel::words(shape_.block, shape_.own_rows())))} {}

std::uint64_t Factorization::bytes(const Shape& shape) {
    const auto strip = static_cast<std::size_t>(8 * shape.own_rows());
    return sizeof(double) *
           (2 * Panel::words(shape.block, shape.own_rows()) + strip + 4 * RowExchange::words(shape));
}

void Factorization::run(Progress& progress) {
    place(0, 0);
    begin_panel(0);
    broadcast_.arrive();
    const double n = static_cast<double>(shape_.n);
    for (long first = 0, slot = 0; first < shape_.n; first += shape_.block, slot = 1 - slot) {
        step(static_cast<int>(slot));
        const double left = std::max(0.0, n - static_cast<double>(first + shape_.block)) / n;
        progress.reach(1 - left * left * left);
    }
    broadcast_.free(0);
    broadcast_.free(1);
}

void Factorization::place(int slot, long first) {
    panels_[static_cast<std::size_t>(slot)].place(first, std::min(shape_.block, shape_.n - first), shape_.n,
                                                  shape_.rows());
}

void Factorization::begin_panel(int slot) {
    Panel& panel = panels_[static_cast<std::size_t>(slot)];
    const Cyclic columns = shape_.columns();
    const int owner = columns.owner(panel.first());
    broadcast_.free(slot);
    if (owner == columns.mine) {
        const long column = columns.local(panel.first());
        for (long r = 0; r < panel.height(); ++r)
            std::copy_n(equations_.row(panel.base() + r) + column, panel.width(), panel.row(r));
        factorization_.factor(panel);
        if (panel.has_diagonal())
            for (long i = 0; i < panel.width(); ++i)
                std::copy_n(panel.top(i), panel.width(), equations_.row(panel.base() + i) + column);
    }
    broadcast_.begin(slot, panel.message(), owner);
}

void Factorization::step(int slot) {
    const Panel& panel = panels_[static_cast<std::size_t>(slot)];
    const long after = panel.first() + panel.width(), begin = shape_.columns().before(after);
    if (shape_.grid.rows > 1) exchange_.run(equations_, panel, begin);
    const bool more = after < shape_.n;
    if (more) place(1 - slot, after);
    const long next = panels_[static_cast<std::size_t>(1 - slot)].width();
    const bool mine = more && shape_.columns().owner(after) == shape_.grid.column;
    // One thread that sends to nobody gains nothing from that order; larger tiles serve it better.
    const bool looks_ahead = more && (thread_count() > 1 || shape_.grid.columns > 1);
    const Tiles::Tile ahead{begin, mine && looks_ahead ? begin + next : begin};
    Tiles tiles(ahead.end, shape_.own_columns(), thread_count());
    std::exception_ptr failure;
#pragma omp parallel
    {
        const bool leads = thread_number() == 0;
        try {
            if (leads && looks_ahead) {
                if (mine) update(panel, begin, ahead);
                begin_panel(1 - slot);
            }
            for (Tiles::Tile tile = tiles.take(); !tile.empty(); tile = tiles.take()) {
                update(panel, begin, tile);
                if (leads) broadcast_.poll();
            }
        } catch (...) {  // only the first thread waits for others, who may be lost
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (more && !looks_ahead) begin_panel(1 - slot);
    broadcast_.arrive();
}

const double* Factorization::rows_of_u(const Panel& panel, long begin, Tiles::Tile tile, long& stride) {
    const long width = tile.end - tile.begin;
    if (shape_.grid.rows == 1) {
        stride = equations_.stride();
        for (long j = 0; j < panel.width(); ++j) {
            const auto pivot = static_cast<long>(panel.pivots()[static_cast<std::size_t>(j)]);
            double* const row = equations_.row(panel.first() + j) + tile.begin;
            if (pivot != panel.first() + j)
                std::swap_ranges(row, row + width, equations_.row(pivot) + tile.begin);
        }
        double* const u = equations_.row(panel.first()) + tile.begin;
        blas_.solve_unit_lower(panel.width(), width, panel.top(0), panel.stride(), u, stride);
        return u;
    }
    stride = exchange_.stride();
    double* const u = exchange_.u(0) + (tile.begin - begin);
    blas_.solve_unit_lower(panel.width(), width, panel.top(0), panel.stride(), u, stride);
    if (panel.has_diagonal())
        for (long j = 0; j < panel.width(); ++j)
            std::copy_n(u + j * stride, width, equations_.row(panel.base() + j) + tile.begin);
    return u;
}

void Factorization::update(const Panel& panel, long begin, Tiles::Tile tile) {
    long stride = 0;
    const double* const u = rows_of_u(panel, begin, tile, stride);
    const long active = panel.active(panel.width());
    if (panel.height() == active) return;
    blas_.dgemm(panel.height() - active, tile.end - tile.begin, panel.width(), -1.0, panel.row(active),
                panel.stride(), u, stride, 1.0, equations_.row(panel.base() + active) + tile.begin,
                equations_.stride());
}

}  // namespace strata::bench::hpcc::linpack
