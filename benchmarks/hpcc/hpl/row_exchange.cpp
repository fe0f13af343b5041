#include "benchmarks/hpcc/hpl/row_exchange.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace strata::bench::hpcc::linpack {
namespace {

/// [process] -> how many of the rows are those of processes before it; one more: all.
template <class Rows, class Row>
std::vector<long> first_of_each(const Rows& list, const Cyclic& rows, Row row) {
    std::vector<long> first(static_cast<std::size_t>(rows.parts) + 1);
    for (const auto& entry : list) ++first[static_cast<std::size_t>(rows.owner(row(entry))) + 1];
    for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
    return first;
}

}  // namespace

RowExchange::RowExchange(const Shape& shape, Messages& messages)
    : shape_(shape),
      messages_(messages),
      in_(messages.memory(words(shape))),
      out_(messages.memory(words(shape))),
      come_(messages.memory(words(shape))),
      u_(words(shape)) {
    std::fill(u_.span().begin(), u_.span().end(), 0.0);  // its pages come now
}

void RowExchange::run(Equations& equations, const Panel& panel, long begin) {
    begin_ = begin;
    width_ = shape_.own_columns() - begin;
    if (width_ == 0) return;
    const RowMoves moves = row_moves(panel.first(), panel.pivots());
    first_in_ = first_of_each(moves.in, shape_.rows(), [](long row) { return row; });
    first_out_ = first_of_each(moves.out, shape_.rows(), [](const RowMoves::Out& out) { return out.to; });
    pack(equations, moves, panel);
    move_out(equations, moves, panel);
    spread(moves);
}

/// All that leaves its place, before anything is overwritten.
void RowExchange::pack(Equations& equations, const RowMoves& moves, const Panel& panel) {
    const Cyclic rows = shape_.rows();
    const auto here = [&](long row) { return equations.row(rows.local(row)) + begin_; };
    copies_.clear();
    long at = first_in_[static_cast<std::size_t>(rows.mine)];
    for (const long row : moves.in)
        if (rows.owner(row) == rows.mine) copies_.push_back({here(row), of(in_, at++, 1).data()});
    std::vector<long> next = first_out_;
    for (const RowMoves::Out& out : moves.out)
        if (panel.has_diagonal())
            copies_.push_back(
                {here(out.from), of(out_, next[static_cast<std::size_t>(rows.owner(out.to))]++, 1).data()});
    copy_rows();
}

void RowExchange::copy_rows() const {
    const long count = static_cast<long>(copies_.size());
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; ++i) {
        const Copy& copy = copies_[static_cast<std::size_t>(i)];
        std::copy_n(copy.from, width_, copy.to);
    }
}

void RowExchange::move_out(Equations& equations, const RowMoves& moves, const Panel& panel) {
    const Cyclic rows = shape_.rows();
    const int root = rows.owner(panel.first());
    const auto count = [&](int p) {
        return first_out_[static_cast<std::size_t>(p) + 1] - first_out_[static_cast<std::size_t>(p)];
    };
    const long mine = first_out_[static_cast<std::size_t>(rows.mine)];
    std::span<double> from = out_;
    std::vector<Message> going;
    if (panel.has_diagonal()) {
        for (int p = 0; p < rows.parts; ++p)
            if (p != rows.mine && count(p) > 0)
                going.push_back(
                    messages_.begin_send(shape_.grid.rank(p, shape_.grid.column),
                                         of(out_, first_out_[static_cast<std::size_t>(p)], count(p))));
    } else if (count(rows.mine) > 0) {
        from = come_;
        messages_.receive(shape_.grid.rank(root, shape_.grid.column), of(come_, mine, count(rows.mine)));
    }
    copies_.clear();
    long at = mine;
    for (const RowMoves::Out& out : moves.out)
        if (rows.owner(out.to) == rows.mine)
            copies_.push_back({of(from, at++, 1).data(), equations.row(rows.local(out.to)) + begin_});
    copy_rows();
    for (const Message& message : going) messages_.finish(message);
}

/// Round the ring of the column: each process passes on what it got last.
void RowExchange::spread(const RowMoves& moves) {
    const Cyclic rows = shape_.rows();
    const int count = rows.parts;
    const auto part = [&](int p) {
        const long first = first_in_[static_cast<std::size_t>(p)];
        return of(in_, first, first_in_[static_cast<std::size_t>(p) + 1] - first);
    };
    const int next = shape_.grid.rank((rows.mine + 1) % count, shape_.grid.column);
    const int before = shape_.grid.rank((rows.mine + count - 1) % count, shape_.grid.column);
    for (int step = 0; step + 1 < count; ++step) {
        const auto goes = part((rows.mine - step + count) % count);
        const auto comes = part((rows.mine - step - 1 + count) % count);
        std::optional<Message> going, coming;
        if (!comes.empty()) coming = messages_.begin_receive(before, comes);
        if (!goes.empty()) going = messages_.begin_send(next, goes);
        if (coming) messages_.finish(*coming);
        if (going) messages_.finish(*going);
    }
    copies_.clear();
    std::vector<long> at = first_in_;
    for (std::size_t j = 0; j < moves.in.size(); ++j)
        copies_.push_back({of(in_, at[static_cast<std::size_t>(rows.owner(moves.in[j]))]++, 1).data(),
                           u(static_cast<long>(j))});
    copy_rows();
}

}  // namespace strata::bench::hpcc::linpack
