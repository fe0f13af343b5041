#include "benchmarks/hpcc/hpl/panel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::bench::hpcc::linpack {
namespace {

/// Columns that are eliminated at once: one vector of 512 bits.
constexpr long kStrip = 8;

}  // namespace

void Panel::place(long first, long width, long n, const Cyclic& rows) {
    rows_ = rows;
    first_ = first;
    width_ = width;
    base_ = rows.before(first);
    height_ = rows.before(n) - base_;
}

PanelFactorization::PanelFactorization(const Blas& blas, const Grid& grid, Messages& messages, long block,
                                       long most_rows)
    : blas_(blas),
      grid_(grid),
      messages_(messages),
      block_(block),
      strip_(static_cast<std::size_t>(std::max(1L, most_rows) * kStrip)),
      found_(messages.memory(static_cast<std::size_t>(2 + block))),
      other_(messages.memory(static_cast<std::size_t>(2 + block))),
      chosen_(messages.memory(static_cast<std::size_t>(1 + 2 * block))) {
    std::fill(strip_.span().begin(), strip_.span().end(), 0.0);  // its pages come now
}

void PanelFactorization::halves(Panel& panel, long begin, long end) {
    if (end - begin <= kStrip) return narrow(panel, begin, end);
    const long strips = (end - begin + kStrip - 1) / kStrip, middle = begin + (strips + 1) / 2 * kStrip;
    halves(panel, begin, middle);
    const long stride = panel.stride(), active = panel.active(middle);
    blas_.solve_unit_lower(middle - begin, end - middle, panel.top(begin) + begin, stride,
                           panel.top(begin) + middle, stride);
    if (panel.height() > active)
        blas_.dgemm(panel.height() - active, end - middle, middle - begin, -1.0, panel.row(active) + begin,
                    stride, panel.top(begin) + middle, stride, 1.0, panel.row(active) + middle, stride);
    halves(panel, middle, end);
}

void PanelFactorization::narrow(Panel& panel, long begin, long end) {
    begin_ = begin;
    end_ = end;
    const long from = panel.active(begin), height = panel.height();
    Pivot best{-1, from};
    for (long r = from; r < height; ++r) {
        double* const strip = strip_.data() + r * kStrip;
        std::copy(panel.row(r) + begin, panel.row(r) + end, strip);
        std::fill(strip + (end - begin), strip + kStrip, 0.0);
        if (std::fabs(strip[0]) > best.size) best = {std::fabs(strip[0]), r};
    }
    for (long column = begin; column < end; ++column) {
        interchange(panel, column, best);
        const long j = column - begin, next = std::min(j + 1, kStrip - 1);
        const double* const top = panel.top(column);
        const double inverse = top[column] == 0 ? 0 : 1 / top[column];
        double u[kStrip] = {};
        std::copy(top + column + 1, top + end, u + j + 1);
        best = {-1, panel.active(column + 1)};
        for (long r = best.row; r < height; ++r) {
            double* const strip = strip_.data() + r * kStrip;
            const double l = strip[j] * inverse;
            for (long k = 0; k < kStrip; ++k) strip[k] -= l * u[k];
            strip[j] = l;
            const double size = std::fabs(strip[next]);
            if (size > best.size) best = {size, r};
        }
    }
    for (long r = from; r < height; ++r)
        std::copy_n(strip_.data() + r * kStrip, end - begin, panel.row(r) + begin);
}

void PanelFactorization::read_row(const Panel& panel, long row, double* to) const {
    std::copy_n(panel.row(row), panel.width(), to);
    std::copy_n(strip_.data() + row * kStrip, end_ - begin_, to + begin_);
}

void PanelFactorization::write_row(const Panel& panel, long row, const double* from) {
    std::copy_n(from, panel.width(), panel.row(row));
    std::copy_n(from + begin_, end_ - begin_, strip_.data() + row * kStrip);
}

void PanelFactorization::interchange(Panel& panel, long column, const Pivot& mine) {
    if (grid_.rows > 1) return interchange_among_processes(panel, column, mine);
    panel.pivots()[static_cast<std::size_t>(column)] = static_cast<double>(panel.first() + mine.row);
    read_row(panel, mine.row, panel.top(column));
    if (mine.row == column) return;
    read_row(panel, column, chosen_.data());
    write_row(panel, mine.row, chosen_.data());
}

void PanelFactorization::interchange_among_processes(Panel& panel, long column, const Pivot& mine) {
    const Cyclic& rows = panel.rows();
    const int root = rows.owner(panel.first());
    const bool any = mine.row < panel.height();
    found_[0] = any ? std::max(mine.size, 0.0) : -1;
    if (any) {
        found_[1] = static_cast<double>(rows.global(panel.base() + mine.row));
        read_row(panel, mine.row, found_.data() + 2);
    }
    choose_pivot_row(root);
    if (grid_.row == root) {
        std::copy_n(found_.data() + 1, 1 + block_, chosen_.data());
        read_row(panel, column, chosen_.data() + 1 + block_);
    }
    broadcast(root);
    panel.pivots()[static_cast<std::size_t>(column)] = chosen_[0];
    std::copy_n(chosen_.data() + 1, panel.width(), panel.top(column));
    const auto row = static_cast<long>(chosen_[0]);
    if (rows.owner(row) == rows.mine && row != panel.first() + column)
        write_row(panel, rows.local(row) - panel.base(), chosen_.data() + 1 + block_);
}

/// A tree over the processes of the column, the one with the diagonal block at its root. Of elements of the
/// same size the first row's is taken, so that the pivots are the same on every grid.
void PanelFactorization::choose_pivot_row(int root) {
    const int count = grid_.rows, me = (grid_.row - root + count) % count;
    const auto rank = [&](int place) { return grid_.rank((place + root) % count, grid_.column); };
    for (int bit = 1; bit < count; bit *= 2) {
        if (me & bit) return messages_.send(rank(me - bit), found_);
        if (me + bit >= count) continue;
        messages_.receive(rank(me + bit), other_);
        if (other_[0] > found_[0] || (other_[0] == found_[0] && other_[0] >= 0 && other_[1] < found_[1]))
            std::swap(found_, other_);
    }
}

void PanelFactorization::broadcast(int root) {
    const int count = grid_.rows, me = (grid_.row - root + count) % count;
    const auto rank = [&](int place) { return grid_.rank((place + root) % count, grid_.column); };
    int bit = 1;
    while (bit < count && !(me & bit)) bit *= 2;
    if (me != 0) messages_.receive(rank(me - bit), chosen_);
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < count) messages_.send(rank(me + bit), chosen_);
}

}  // namespace strata::bench::hpcc::linpack
