// Lanes from memory and back: what is beside the values is neither read nor written.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/lanes/memory.hpp"
#include "core/lanes/transpose.hpp"
#include "tests/catch.hpp"
#include "tests/core/eight.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// A page of doubles between two that nobody may touch.
class Page {
  public:
    Page() {
        const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        count_ = bytes / sizeof(double);
        memory_ = static_cast<char*>(mmap(nullptr, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory_ != MAP_FAILED);
        REQUIRE(mprotect(memory_ + bytes, bytes, PROT_READ | PROT_WRITE) == 0);
    }
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    ~Page() { munmap(memory_, 3 * count_ * sizeof(double)); }
    [[nodiscard]] double* begin() const {
        return reinterpret_cast<double*>(memory_ + count_ * sizeof(double));
    }
    [[nodiscard]] double* end() const { return begin() + count_; }

  private:
    std::size_t count_ = 0;
    char* memory_ = nullptr;
};

bool between(std::size_t l, int from, int to) {
    return static_cast<int>(l) >= from && static_cast<int>(l) < to;
}

}  // namespace

TEST_CASE("the first values of a row are read, and nothing behind them") {
    const Page page;
    const Eight a = values(1);
    for (int n = 0; n <= kLanes; ++n) {
        double* const p = page.end() - n;
        std::copy_n(a.begin(), n, p);
        const auto first = [&](double rest) {
            return [&a, n, rest](std::size_t l) { return between(l, 0, n) ? a[l] : rest; };
        };
        same(load(p, n), first(0));
        same(load_masked(p, n), first(0));
        same(load_apart(p, 1, n), first(0));
        same(load_ahead(p, n), first(0));
        same(load_ahead(p, n, 2.5), first(2.5));
        if (n == kLanes) same(load(p), first(0));
    }
}

TEST_CASE("the first lanes are written, and nothing behind them") {
    const Page page;
    const Eight a = values(2);
    const auto written = [&](int n, auto&& write) {
        double* const p = page.end() - n;
        std::fill(page.begin(), page.end(), -7);
        write(p);
        for (std::size_t l = 0; between(l, 0, n); ++l) CHECK(p[l] == a[l]);
        CHECK((n == kLanes || p[-1] == -7));
        // And where there is memory behind them, it stays.
        double* const q = page.begin();
        write(q);
        for (std::size_t l = 0; l < kLanes; ++l) CHECK(q[l] == (between(l, 0, n) ? a[l] : -7));
    };
    for (int n = 0; n <= kLanes; ++n) {
        written(n, [&](double* p) { store(p, in(a), n); });
        written(n, [&](double* p) { store_masked(p, in(a), n); });
        written(n, [&](double* p) { store_apart(p, 1, in(a), n); });
        written(n, [&](double* p) { store_ahead(p, in(a), n); });
    }
    written(kLanes, [&](double* p) { store(p, in(a)); });
}

TEST_CASE("lanes in the middle are read and written alone") {
    const Page page;
    const Eight a = values(3), rest = values(4);
    for (int from = 0; from <= kLanes; ++from)
        for (int to = from; to <= kLanes; ++to) {
            const SomeLanes some = some_lanes(from, to);
            CHECK(range_of(some) == (from < to ? std::array{from, to} : std::array{0, 0}));
            // What is before the first of them cannot be read, then what is behind the last.
            for (double* const p : {page.begin() - from, page.end() - to}) {
                for (int l = from; l < to; ++l) p[l] = a[static_cast<std::size_t>(l)];
                const auto one = [&](std::size_t l) { return between(l, from, to) ? a[l] : rest[l]; };
                same(load(p, some, in(rest)), one);
                same(load(p, from, to, in(rest)), one);
                store(p, some, in(rest));
                for (int l = from; l < to; ++l) CHECK(p[l] == rest[static_cast<std::size_t>(l)]);
            }
            std::fill_n(page.begin(), kLanes, -7);
            store(page.begin(), some, in(a));
            for (std::size_t l = 0; l < kLanes; ++l)
                CHECK(page.begin()[l] == (between(l, from, to) ? a[l] : -7));
        }
}

TEST_CASE("values that lie apart, forwards and backwards, are read and written alone") {
    const Page page;
    const Eight a = values(5);
    for (const std::ptrdiff_t stride : {1, 3, 32, -1, -5})
        for (int n = 1; n <= kLanes; ++n) {
            std::fill(page.begin(), page.end(), -7);
            double* const p =
                stride > 0 ? page.end() - 1 - (n - 1) * stride : page.begin() - (n - 1) * stride;
            store_apart(p, stride, in(a), n);
            CHECK(std::count(page.begin(), page.end(), -7) == page.end() - page.begin() - n);
            same(load_apart(p, stride, n), [&](std::size_t l) { return between(l, 0, n) ? a[l] : 0.0; });
            for (int l = 0; l < n; ++l) CHECK(p[l * stride] == a[static_cast<std::size_t>(l)]);
        }
}

TEST_CASE("eights of a row: whole ones, then what is left") {
    for (int first : {-3, 0, 5})
        for (int count = 0; count < 3 * kLanes; ++count) {
            std::vector<int> seen;
            over_eights(first, first + count, [&](int i, int n) {
                CHECK((n == kLanes || i + n == first + count));
                for (int l = 0; l < n; ++l) seen.push_back(i + l);
            });
            REQUIRE(static_cast<int>(seen.size()) == count);
            for (int i = 0; i < count; ++i) CHECK(seen[static_cast<std::size_t>(i)] == first + i);
        }
}

TEST_CASE("rows become columns, in registers and from memory, and back") {
    constexpr std::ptrdiff_t kStep = 11;
    std::vector<double> rows(kLanes * kStep, -7), back(kLanes * kStep, -7);
    for (int r = 0; r < kLanes; ++r)
        for (int c = 0; c < kLanes; ++c) rows[static_cast<std::size_t>(r * kStep + c)] = 10 * r + c;
    Lanes a[kLanes], b[kLanes];
    load_columns(rows.data(), kStep, a);
    for (int r = 0; r < kLanes; ++r) b[r] = load(rows.data() + r * kStep);
    transpose(b);
    for (int c = 0; c < kLanes; ++c) {
        same(a[c], [&](std::size_t r) { return 10.0 * static_cast<double>(r) + c; });
        same(b[c], [&](std::size_t r) { return 10.0 * static_cast<double>(r) + c; });
    }
    store_columns(back.data(), kStep, a);
    CHECK(back == rows);
}
