#include "benchmarks/integrity/dgemm.hpp"

#include <fmt/format.h>

#include <bit>
#include <memory>

#include "benchmarks/common/blas.hpp"
#include "core/base/error.hpp"

namespace strata::integrity {
namespace {

constexpr std::size_t n = kRows;
constexpr int kProducts = 8, kBands = 4;
constexpr std::size_t kBand = n / kBands;

/// The first BLAS of those that benchmarks choose from that can be opened. It is opened once, before the
/// workers are made.
const bench::Blas* blas() {
    static const std::unique_ptr<bench::Blas> opened = []() -> std::unique_ptr<bench::Blas> {
        for (const bench::BlasChoice& choice : bench::blas_candidates()) {
            try {
                return std::make_unique<bench::Blas>(choice);
            } catch (const Error&) {
                continue;
            }
        }
        return nullptr;
    }();
    return opened.get();
}

/// Digests of C by bands of rows, and of columns' sums by bands: a damaged entry is in a row and in a column.
template <class Entry>
void add_bands(std::span<const Entry> c, Trace& trace) {
    for (std::size_t band = 0; band < kBands; ++band) {
        std::uint64_t rows = band;
        for (const Entry value : c.subspan(band * kBand * n, kBand * n))
            rows = std::rotl(
                (rows ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(value))) * 0x9ddfea08eb382d69ULL,
                29);
        trace.add(mixed(rows));
    }
    for (std::size_t band = 0; band < kBands; ++band) {
        std::int64_t columns = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (const Entry value : c.subspan(i * n + band * kBand, kBand))
                columns += static_cast<std::int64_t>(value);
        trace.add(mixed(static_cast<std::uint64_t>(columns) + band));
    }
}

template <class Entry>
void fill(std::uint64_t seed, std::span<Entry> matrix) {
    Random random(seed);
    for (Entry& value : matrix)
        value = static_cast<Entry>(static_cast<std::int64_t>(random.below(1024)) - 512);
}

/// The next A: what C has in its low 10 bits.
template <class Entry>
void next_factor(std::span<const Entry> c, std::span<Entry> a) {
    for (std::size_t i = 0; i < c.size(); ++i)
        a[i] = static_cast<Entry>((static_cast<std::int64_t>(c[i]) & 1023) - 512);
}

}  // namespace

void check_sums(std::span<const double> a, std::span<const double> b, std::span<const double> c,
                std::span<double> room, Trace& trace) {
    const auto row_sums = room.subspan(0, n), column_sums = room.subspan(n, n),
               expected = room.subspan(2 * n, n), obtained = room.subspan(3 * n, n);
    const auto zero = [](std::span<double> sums) { std::fill(sums.begin(), sums.end(), 0.0); };
    const auto compare = [&](int first) {
        for (std::size_t i = 0; i < n; ++i)
            trace.expect(first + static_cast<int>(i), std::bit_cast<std::uint64_t>(expected[i]),
                         std::bit_cast<std::uint64_t>(obtained[i]));
    };
    // Rows: C 1 = A (B 1). Adding 0 makes -0 and 0 one.
    for (std::size_t i = 0; i < n; ++i) {
        row_sums[i] = 0;
        for (std::size_t j = 0; j < n; ++j) row_sums[i] += b[i * n + j];
    }
    zero(expected);
    zero(obtained);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            expected[i] += a[i * n + j] * row_sums[j];
            obtained[i] += c[i * n + j];
        }
    compare(0);
    // Columns: 1 C = (1 A) B.
    zero(column_sums);
    zero(expected);
    zero(obtained);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            column_sums[j] += a[i * n + j];
            obtained[j] += c[i * n + j];
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) expected[j] += column_sums[i] * b[i * n + j];
    compare(static_cast<int>(n));
}

std::string dgemm_missing() {
    return blas() != nullptr ? "" : "no BLAS was found; strata doctor says how to get one";
}

bool dgemm(const Round& round, Trace& trace) {
    const auto all = round.room<double>();
    const auto a = all.subspan(0, n * n), b = all.subspan(n * n, n * n), c = all.subspan(2 * n * n, n * n);
    const auto room = all.subspan(3 * n * n, 4 * n);
    Random random(round.seed);
    fill(random.next(), a);
    for (int product = 0; product < kProducts; ++product) {
        fill(random.next(), b);
        blas()->dgemm(n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n);
        check_sums(a, b, c, room, trace);
        add_bands(std::span<const double>(c), trace);
        if (product + 1 < kProducts) next_factor(std::span<const double>(c), a);
        trace.did(2 * n * n * n);
    }
    return true;
}

bool dgemm_reference(const Round& round, Trace& trace) {
    const auto all = round.room<std::int64_t>();
    const auto a = all.subspan(0, n * n), b = all.subspan(n * n, n * n), c = all.subspan(2 * n * n, n * n);
    Random random(round.seed);
    fill(random.next(), a);
    for (int product = 0; product < kProducts; ++product) {
        fill(random.next(), b);
        std::fill(c.begin(), c.end(), 0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < n; ++k) {
                const std::int64_t factor = a[i * n + k];
                for (std::size_t j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
            }
        add_bands(std::span<const std::int64_t>(c), trace);
        if (product + 1 < kProducts) next_factor(std::span<const std::int64_t>(c), a);
        trace.did(2 * n * n * n);
    }
    return true;
}

std::string dgemm_place(int step) {
    // A sum that is wrong by itself comes as a row or column, a digest as a band of a product.
    return fmt::format("row {0} or column {1}, or {2} {3} to {4} of product {5}", step % static_cast<int>(n),
                       step % static_cast<int>(n), step % (2 * kBands) < kBands ? "rows" : "columns",
                       step % kBands * static_cast<int>(kBand),
                       (step % kBands + 1) * static_cast<int>(kBand) - 1, step / (2 * kBands) + 1);
}

}  // namespace strata::integrity
