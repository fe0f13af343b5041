// BLAS by name.
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/common/blas.hpp"
#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/random.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;

namespace {

std::optional<Blas> first_that_opens() {
    for (const BlasChoice& choice : blas_candidates()) {
        try {
            return std::optional<Blas>(std::in_place, choice);
        } catch (const strata::Error&) {
        }
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("a library that is not there, or is no BLAS, is refused by name") {
    for (const char* path : {"libno-such-blas.so.0", "libm.so.6"}) {
        try {
            const Blas blas({path, ""});
            FAIL("not refused");
        } catch (const strata::Error& error) {
            CHECK(error.given() == path);
        }
    }
}

TEST_CASE("the opened BLAS multiplies row by row, with leading dimensions, alpha and beta") {
    const std::optional<Blas> blas = first_that_opens();
    if (!blas) CANNOT_TRY("there is no BLAS here");
    constexpr std::int64_t m = 5, n = 7, k = 3, lda = 4, ldb = 9, ldc = 8;
    std::vector<double> a(m * lda), b(k * ldb), c(m * ldc), expected;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = random_double(i, 1);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_double(i, 2);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = random_double(i, 3);
    expected = c;
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
                sum += a[static_cast<std::size_t>(i * lda + l)] * b[static_cast<std::size_t>(l * ldb + j)];
            auto& element = expected[static_cast<std::size_t>(i * ldc + j)];
            element = 1.25 * sum + 0.5 * element;
        }
    blas->dgemm(m, n, k, 1.25, a.data(), lda, b.data(), ldb, 0.5, c.data(), ldc);
    for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == Approx(expected[i]).margin(1e-14));
    CHECK_FALSE(blas->used().path.empty());
}

TEST_CASE("the opened BLAS solves with a unit lower triangle, and reads nothing else of the matrix") {
    const std::optional<Blas> blas = first_that_opens();
    if (!blas) CANNOT_TRY("there is no BLAS here");
    constexpr std::int64_t m = 6, n = 5, ldl = 7, ldb = 8;
    std::vector<double> l(m * ldl, std::numeric_limits<double>::quiet_NaN()), b(m * ldb);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < i; ++j)
            l[static_cast<std::size_t>(i * ldl + j)] =
                random_double(static_cast<std::uint64_t>(i * m + j), 1);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_double(i, 2);
    std::vector<double> expected = b;
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t k = 0; k < i; ++k)
            for (std::int64_t j = 0; j < n; ++j)
                expected[static_cast<std::size_t>(i * ldb + j)] -=
                    l[static_cast<std::size_t>(i * ldl + k)] *
                    expected[static_cast<std::size_t>(k * ldb + j)];
    blas->solve_unit_lower(m, n, l.data(), ldl, b.data(), ldb);
    for (std::size_t i = 0; i < b.size(); ++i) CHECK(b[i] == Approx(expected[i]).margin(1e-14));
}

TEST_CASE("a BLAS that is named is the only library that is tried") {
    setenv("STRATA_BLAS", "/nowhere/libopenblas-mine.so", 1);
    for (const BlasChoice& choice : blas_candidates()) CHECK(choice.path == "/nowhere/libopenblas-mine.so");
    unsetenv("STRATA_BLAS");
    CHECK(blas_candidates().size() > 1);
}
