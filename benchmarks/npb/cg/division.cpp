#include "benchmarks/npb/cg/division.hpp"

#include <algorithm>

namespace strata::npb::cg {

Division::Division(std::int64_t n, int rank, int processes) : n_(n) {
    power_of_two(processes);
    while (4 * rows_ * rows_ <= processes) rows_ *= 2;
    columns_ = processes / rows_;
    i_ = rank / columns_;
    j_ = rank % columns_;
    block_ = {share_begin(n, i_, rows_), share_begin(n, i_ + 1, rows_), column_begin(j_),
              column_begin(j_ + 1)};
}

std::int64_t Division::column_begin(int j) const {
    // With twice as many columns of processes, each has half of a part of the rows.
    const int halves = columns_ / rows_;
    const std::int64_t begin = share_begin(n_, j / halves, rows_);
    if (j % halves == 0) return begin;
    return begin + share_begin(share_begin(n_, j / halves + 1, rows_) - begin, j % halves, halves);
}

Share Division::own() const { return {block_.columns(), i_, rows_}; }

void Division::transpose(std::span<double> partial, std::span<double> result, Group& group) {
    if (rows_ * columns_ == 1) return;
    // The sum along a row of processes, each time with the one at twice the distance: all add in the same
    // order, so all have the same bits.
    incoming_.resize(partial.size());
    for (int distance = 1; distance < columns_; distance *= 2) {
        const int peer = i_ * columns_ + (j_ ^ distance);
        const Shift shift{peer, peer, std::as_bytes(partial), std::as_writable_bytes(std::span(incoming_))};
        group.exchange(std::span(&shift, 1));
        for (std::size_t k = 0; k < partial.size(); ++k) partial[k] += incoming_[k];
    }
    // Part j of the columns lies in part j / halves of the rows. (i, j) takes it from (j / halves,
    // halves i + j mod halves), which in turn takes its own from (i, j).
    const int halves = columns_ / rows_;
    const int peer = j_ / halves * columns_ + halves * i_ + j_ % halves;
    const int theirs = peer % columns_;
    const auto begin = static_cast<std::size_t>(column_begin(theirs) - block_.row_begin);
    const auto length = static_cast<std::size_t>(column_begin(theirs + 1) - column_begin(theirs));
    const Shift shift{peer, peer, std::as_bytes(partial.subspan(begin, length)),
                      std::as_writable_bytes(result)};
    group.exchange(std::span(&shift, 1));
}

}  // namespace strata::npb::cg
