#include "benchmarks/npb/cg/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "benchmarks/npb/common/random.hpp"

namespace strata::npb::cg {
namespace {

constexpr double kCondition = 0.1;                       // rcond of the specification
constexpr std::int64_t kNarrow = std::int64_t{1} << 16;  // columns that two bytes can number
constexpr std::int64_t kShortest = 32;                   // elements of a strip's row, in the mean

/// Which vectors have an element in a row: entries[first[j]] to entries[first[j + 1] - 1], as places in
/// Vectors::column, by ascending vector.
struct Users {
    std::span<std::int64_t> first;
    std::span<std::int64_t> entries;
};

void find_users(const Problem& problem, const Block& block, const Vectors& vectors, Users& users) {
    std::fill(users.first.begin(), users.first.end(), 0);
    const auto each = [&](auto&& what) {
        for (std::int64_t i = 0; i < problem.n; ++i)
            for (std::int64_t e = i * vectors.room; e < i * vectors.room + vectors.count[i]; ++e) {
                const auto row = static_cast<std::int64_t>(vectors.column[e]);
                if (row >= block.row_begin && row < block.row_end) what(row - block.row_begin, e);
            }
    };
    each([&](std::int64_t row, std::int64_t) { ++users.first[row + 1]; });
    for (std::int64_t row = 0; row < block.rows(); ++row) users.first[row + 1] += users.first[row];
    std::vector<std::int64_t> next(users.first.begin(), users.first.end() - 1);
    each([&](std::int64_t row, std::int64_t e) { users.entries[next[row]++] = e; });
}

/// One worker's way through rows: finds the columns of a row, then the values.
class RowMaker {
  public:
    RowMaker(const Problem& problem, const Block& block, const Vectors& vectors, const Users& users)
        : problem_(problem), block_(block), vectors_(vectors), users_(users) {
        place_.resize(static_cast<std::size_t>(block.columns()));
        seen_.assign(static_cast<std::size_t>(block.columns()), -1);
    }

    /// The distinct columns of a row, in the order in which they are met.
    const std::vector<std::uint32_t>& columns(std::int64_t row) {
        found_.clear();
        each(row, [&](std::int64_t column, std::int64_t, std::int64_t) {
            if (seen_[column] == row) return;
            seen_[column] = row;
            found_.push_back(static_cast<std::uint32_t>(column));
        });
        return found_;
    }

    template <class Column>
    void fill(std::int64_t row, const Sparse& matrix, std::span<Column> column) {
        columns(row);
        std::sort(found_.begin(), found_.end());
        std::int64_t at = matrix.start[row];
        for (const std::uint32_t found : found_) {
            column[at] = static_cast<Column>(found);
            matrix.value[at] = 0;
            place_[found] = at++;
            seen_[found] = -1;
        }
        const std::int64_t diagonal = row + block_.row_begin;
        each(row, [&](std::int64_t found, std::int64_t mine, std::int64_t theirs) {
            const std::int64_t i = mine / vectors_.room;
            double value = vectors_.value[theirs] * (vectors_.weight[i] * vectors_.value[mine]);
            // Vector i has element i: once for each row. The identity keeps the spectrum away from 0.
            if (i == diagonal && found + block_.column_begin == diagonal)
                value += kCondition - problem_.shift;
            matrix.value[place_[found]] += value;
        });
    }

  private:
    /// what(column of the block, this row's element of vector i, the column's element of vector i).
    template <class What>
    void each(std::int64_t row, What&& what) {
        for (std::int64_t u = users_.first[row]; u < users_.first[row + 1]; ++u) {
            const std::int64_t mine = users_.entries[u], i = mine / vectors_.room;
            for (std::int64_t e = i * vectors_.room; e < i * vectors_.room + vectors_.count[i]; ++e) {
                const auto column = static_cast<std::int64_t>(vectors_.column[e]);
                if (column >= block_.column_begin && column < block_.column_end)
                    what(column - block_.column_begin, mine, e);
            }
        }
    }

    const Problem& problem_;
    const Block& block_;
    const Vectors& vectors_;
    const Users& users_;
    std::vector<std::int64_t> place_, seen_;
    std::vector<std::uint32_t> found_;
};

Sparse make_strip(const Problem& problem, const Block& block, const Vectors& vectors, const Users& users,
                  const std::string& name, Group& group) {
    const auto rows = static_cast<std::size_t>(block.rows());
    Sparse matrix;
    matrix.block = block;
    matrix.start = group.array<std::int64_t>("row starts" + name, rows + 1);
    group.each([&](int worker, int workers) {
        const Share part(block.rows(), worker, workers);
        RowMaker maker(problem, block, vectors, users);
        for (std::int64_t row = part.begin; row < part.end; ++row)
            matrix.start[row + 1] = static_cast<std::int64_t>(maker.columns(row).size());
    });
    group.once([&] {
        matrix.start[0] = 0;
        for (std::size_t row = 0; row < rows; ++row) matrix.start[row + 1] += matrix.start[row];
    });
    const auto all = static_cast<std::size_t>(matrix.start[rows]);
    const bool narrow = block.columns() <= kNarrow;
    if (narrow)
        matrix.narrow = group.array<std::uint16_t>("columns" + name, all);
    else
        matrix.wide = group.array<std::uint32_t>("columns" + name, all);
    matrix.value = group.array<double>("values" + name, all);
    // Whoever multiplies a row writes it first: its pages lie near that worker.
    group.each([&](int worker, int workers) {
        const Share part(block.rows(), worker, workers);
        RowMaker maker(problem, block, vectors, users);
        for (std::int64_t row = part.begin; row < part.end; ++row)
            narrow ? maker.fill(row, matrix, matrix.narrow) : maker.fill(row, matrix, matrix.wide);
    });
    return matrix;
}

}  // namespace

void make_vectors(const Problem& problem, Vectors& vectors) {
    Random random(kSeed);
    (void)random.next();  // the first number of the sequence is not used
    const double width = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(problem.n)));
    const double omega = std::pow(kCondition, 1.0 / static_cast<double>(problem.n));
    double weight = 1;
    for (std::int64_t i = 0; i < problem.n; ++i, weight *= omega) {
        std::uint32_t* column = &vectors.column[i * vectors.room];
        double* value = &vectors.value[i * vectors.room];
        int count = 0;
        while (count < problem.nonzer) {
            const double element = random.next();
            const auto place = static_cast<std::int64_t>(width * random.next());
            const auto c = static_cast<std::uint32_t>(place);
            if (place >= problem.n || std::find(column, column + count, c) != column + count) continue;
            column[count] = c;
            value[count++] = element;
        }
        // Element i is 1/2, whether drawn or not.
        std::uint32_t* const own = std::find(column, column + count, static_cast<std::uint32_t>(i));
        if (own == column + count) column[count++] = static_cast<std::uint32_t>(i);
        value[own - column] = 0.5;
        vectors.count[i] = count;
        vectors.weight[i] = weight;
    }
}

std::int64_t strips_of(const Problem& problem, std::int64_t columns) {
    const std::int64_t strips = (columns + kNarrow - 1) / kNarrow;
    const std::int64_t elements = (problem.nonzer + 1) * (problem.nonzer + 1) * columns / problem.n;
    return elements >= kShortest * strips ? strips : 1;
}

std::uint64_t most_elements(const Problem& problem) {
    const auto room = static_cast<std::uint64_t>(problem.nonzer + 1);
    return static_cast<std::uint64_t>(problem.n) * room * room;
}

Matrix make_matrix(const Problem& problem, const Block& block, Group& group) {
    Vectors vectors;
    vectors.room = problem.nonzer + 1;
    const auto n = static_cast<std::size_t>(problem.n), elements = n * static_cast<std::size_t>(vectors.room);
    const auto rows = static_cast<std::size_t>(block.rows());
    vectors.count = group.array<std::int32_t>("vector lengths", n);
    vectors.column = group.array<std::uint32_t>("vector columns", elements);
    vectors.value = group.array<double>("vector values", elements);
    vectors.weight = group.array<double>("vector weights", n);
    Users users{group.array<std::int64_t>("users of rows", rows + 1),
                group.array<std::int64_t>("entries of rows", elements)};
    group.once([&] {
        make_vectors(problem, vectors);
        find_users(problem, block, vectors, users);
    });
    const std::int64_t strips = strips_of(problem, block.columns());
    Matrix matrix;
    for (std::int64_t s = 0; s < strips; ++s) {
        const Share part(block.columns(), static_cast<int>(s), static_cast<int>(strips));
        const Block strip{block.row_begin, block.row_end, block.column_begin + part.begin,
                          block.column_begin + part.end};
        matrix.push_back(make_strip(problem, strip, vectors, users, fmt::format(" {}", s), group));
    }
    return matrix;
}

}  // namespace strata::npb::cg
