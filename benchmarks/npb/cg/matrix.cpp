#include "benchmarks/npb/cg/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/npb/common/random.hpp"

namespace strata::npb::cg {
namespace {

constexpr double kCondition = 0.1;                       // rcond of the specification
constexpr std::int64_t kNarrow = std::int64_t{1} << 16;  // columns that two bytes can number
constexpr std::int64_t kInCache = 4096;                  // columns whose vector the first-level cache holds
constexpr std::size_t kWindow = 256;                     // rows sorted together: results stay in a cache
constexpr std::int64_t kShortest = 16;                   // elements of a strip's row, in the mean

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
        : problem_(problem),
          block_(block),
          vectors_(vectors),
          users_(users),
          shift_(std::countr_zero(static_cast<std::uint64_t>(strip_columns(problem, block.columns())))) {
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

    /// Writes a row's elements to its lane of each strip: its first of strip s at first[s], the others
    /// behind.
    void fill(std::int64_t row, Matrix& matrix, std::vector<std::int64_t> first) {
        columns(row);
        std::sort(found_.begin(), found_.end());
        for (const std::uint32_t found : found_) {
            const std::size_t s = found >> shift_;
            Strip& strip = matrix.strips[s];
            const std::int64_t at = std::exchange(first[s], first[s] + kTogether);
            const std::int64_t column = found - strip.column_begin;
            if (strip.wide.empty())
                strip.narrow[at] = static_cast<std::uint16_t>(column);
            else
                strip.wide[at] = static_cast<std::uint32_t>(column);
            place_[found] = &strip.value[at];
            seen_[found] = -1;
        }
        const std::int64_t diagonal = row + block_.row_begin;
        each(row, [&](std::int64_t found, std::int64_t mine, std::int64_t theirs) {
            const std::int64_t i = mine / vectors_.room;
            double value = vectors_.value[theirs] * (vectors_.weight[i] * vectors_.value[mine]);
            // Vector i has element i: once for each row. The identity keeps the spectrum away from 0.
            if (i == diagonal && found + block_.column_begin == diagonal)
                value += kCondition - problem_.shift;
            *place_[found] += value;
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
    int shift_;  // column / 2^shift is its strip
    std::vector<double*> place_;
    std::vector<std::int64_t> seen_;
    std::vector<std::uint32_t> found_;
};

/// Elements that rows have in each strip, row by row.
std::vector<std::uint32_t> lengths(RowMaker& maker, const Share& part, std::size_t strips, int shift) {
    std::vector<std::uint32_t> length(static_cast<std::size_t>(part.end - part.begin) * strips, 0);
    for (std::int64_t row = part.begin; row < part.end; ++row)
        for (const std::uint32_t column : maker.columns(row))
            ++length[static_cast<std::size_t>(row - part.begin) * strips + (column >> shift)];
    return length;
}

/// A worker's rows into chunks of each strip: the longest first, and how many elements each chunk has.
void make_chunks(RowMaker& maker, const Share& part, std::int64_t first_chunk, int shift, Matrix& matrix) {
    const std::size_t strips = matrix.strips.size(), rows = static_cast<std::size_t>(part.end - part.begin);
    const std::vector<std::uint32_t> length = lengths(maker, part, strips, shift);
    std::vector<std::uint32_t> order(rows);
    for (std::size_t s = 0; s < strips; ++s) {
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t i = 0; i < rows; i += kWindow)
            std::stable_sort(order.begin() + i, order.begin() + std::min(i + kWindow, rows),
                             [&](std::uint32_t a, std::uint32_t b) {
                                 return length[a * strips + s] > length[b * strips + s];
                             });
        Strip& strip = matrix.strips[s];
        for (std::size_t i = 0; i < rows; ++i) {
            strip.row[first_chunk * kTogether + i] = static_cast<std::uint32_t>(part.begin) + order[i];
            if (i % kTogether == 0)
                strip.start[first_chunk + i / kTogether + 1] = kTogether * length[order[i] * strips + s];
        }
    }
}

/// Where each of a worker's rows has its first element, row by row in each strip.
std::vector<std::vector<std::int64_t>> first_elements(const Matrix& matrix, const Share& part,
                                                      std::int64_t first_chunk) {
    const auto rows = static_cast<std::size_t>(part.end - part.begin);
    std::vector<std::vector<std::int64_t>> first(rows, std::vector<std::int64_t>(matrix.strips.size()));
    for (std::size_t s = 0; s < matrix.strips.size(); ++s)
        for (std::size_t i = 0; i < rows; ++i) {
            const Strip& strip = matrix.strips[s];
            const std::uint32_t row = strip.row[first_chunk * kTogether + i];
            first[row - part.begin][s] = strip.start[first_chunk + i / kTogether] + i % kTogether;
        }
    return first;
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

std::int64_t strip_columns(const Problem& problem, std::int64_t columns) {
    const std::int64_t elements = (problem.nonzer + 1) * (problem.nonzer + 1) * columns / problem.n;
    std::int64_t width = kInCache;
    while (width < columns && elements * width < kShortest * columns) width *= 2;
    return width;
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
    const std::int64_t width = strip_columns(problem, block.columns());
    const int shift = std::countr_zero(static_cast<std::uint64_t>(width));
    Matrix matrix{block, {0}, {}};
    for (int w = 0; w < group.workers(); ++w) {
        const Share part(block.rows(), w, group.workers());
        matrix.chunks.push_back(matrix.chunks.back() + (part.end - part.begin + kTogether - 1) / kTogether);
    }
    const auto chunks = static_cast<std::size_t>(matrix.chunks.back());
    for (std::int64_t begin = 0; begin < block.columns(); begin += width) {
        Strip strip{begin, std::min(width, block.columns() - begin), {}, {}, {}, {}, {}};
        const std::string name = fmt::format(" {}", matrix.strips.size());
        strip.start = group.array<std::int64_t>("chunk starts" + name, chunks + 1);
        strip.row = group.array<std::uint32_t>("rows of chunks" + name, chunks * kTogether);
        matrix.strips.push_back(strip);
    }
    group.each([&](int worker, int workers) {
        RowMaker maker(problem, block, vectors, users);
        make_chunks(maker, Share(block.rows(), worker, workers), matrix.chunks[worker], shift, matrix);
    });
    group.once([&] {
        for (const Strip& strip : matrix.strips)
            for (std::size_t c = 0; c < chunks; ++c) strip.start[c + 1] += strip.start[c];
    });
    for (std::size_t s = 0; s < matrix.strips.size(); ++s) {
        Strip& strip = matrix.strips[s];
        const std::string name = fmt::format(" {}", s);
        const auto elements = static_cast<std::size_t>(strip.start[chunks]);
        if (width <= kNarrow)
            strip.narrow = group.array<std::uint16_t>("columns" + name, elements);
        else
            strip.wide = group.array<std::uint32_t>("columns" + name, elements);
        strip.value = group.array<double>("values" + name, elements);
    }
    // Whoever multiplies a row writes it first: its pages lie near that worker. What fills up is 0 already.
    group.each([&](int worker, int workers) {
        const Share part(block.rows(), worker, workers);
        RowMaker maker(problem, block, vectors, users);
        const auto first = first_elements(matrix, part, matrix.chunks[worker]);
        for (std::int64_t row = part.begin; row < part.end; ++row)
            maker.fill(row, matrix, first[row - part.begin]);
    });
    return matrix;
}

}  // namespace strata::npb::cg
