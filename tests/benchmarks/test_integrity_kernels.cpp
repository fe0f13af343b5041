// Kernels with known answers: each against its reference, and against what is published.
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmarks/integrity/bigint.hpp"
#include "benchmarks/integrity/compress.hpp"
#include "benchmarks/integrity/dgemm.hpp"
#include "benchmarks/integrity/fft.hpp"
#include "benchmarks/integrity/ground.hpp"
#include "benchmarks/integrity/hash.hpp"
#include "benchmarks/integrity/kernel.hpp"
#include "benchmarks/integrity/lucas_lehmer.hpp"
#include "benchmarks/integrity/miller_rabin.hpp"
#include "benchmarks/integrity/scalar.hpp"
#include "tests/catch.hpp"

using namespace strata::integrity;

namespace {

struct alignas(4096) Page {
    std::byte bytes[4096];
};

struct Room {
    std::vector<Page> scratch, block;
    explicit Room(const Kernel& kernel) : scratch(kernel.scratch_bytes / 4096 + 1), block(32) {}
    [[nodiscard]] Round round(std::uint64_t seed) {
        Round round;
        round.seed = seed;
        round.scratch = {scratch.front().bytes, 4096 * scratch.size()};
        round.block = {block.front().bytes, 4096 * block.size()};
        return round;
    }
};

Trace traced(const Kernel& kernel, bool (*function)(const Round&, Trace&), std::uint64_t seed) {
    Room room(kernel);
    Trace trace;
    CHECK(function(room.round(seed), trace));
    return trace;
}

std::uint64_t last_residue(unsigned p, bool reference, std::uint64_t start = 4) {
    const std::size_t n = mersenne_limbs(p);
    std::vector<std::uint64_t> s(n), product(2 * n);
    std::vector<std::uint32_t> short_s(2 * n), short_product(4 * n);
    s[0] = start;
    std::memcpy(short_s.data(), &start, sizeof start);
    for (unsigned i = 0; i < p - 2; ++i) {
        if (reference)
            lucas_lehmer_step_reference(p, short_s, short_product);
        else
            lucas_lehmer_step(p, s, product);
    }
    std::uint64_t any = 0;
    for (const std::uint32_t word : short_s) any |= reference ? word : 0;
    for (const std::uint64_t word : s) any |= reference ? 0 : word;
    return any;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("every kernel finds what its reference finds, from any seed") {
    for (const Kernel& kernel : kernels()) {
        if (!kernel.missing().empty() || kernel.use == Use::pair) continue;
        INFO(kernel.name);
        std::set<std::uint64_t> hashes;
        for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
            const Trace known = traced(kernel, kernel.reference, seed),
                        found = traced(kernel, kernel.run, seed);
            CHECK(found.wrong() == 0);
            CHECK(found.steps() > 1);
            CHECK(found.steps() <= Trace::kSteps);
            CHECK(found.work() > 0);
            const Mismatch mismatch = difference(known, found);
            INFO(kernel.step(std::max(0, mismatch.step)));
            CHECK(found.hash() == known.hash());
            hashes.insert(found.hash());
        }
        CHECK(hashes.size() > 1);
    }
}

TEST_CASE("both sides of every pair kernel find what the reference finds") {
    for (const Kernel& kernel : kernels()) {
        if (kernel.use != Use::pair) continue;
        INFO(kernel.name);
        auto ground = std::make_unique<Ground>();
        Trace found[2], known[2];
        const auto side = [&](int which) {
            Round round;
            round.seed = 5;
            round.ground = ground.get();
            round.side = which;
            kernel.run(round, found[which]);
        };
        std::thread other(side, 1);
        side(0);
        other.join();
        for (const int which : {0, 1}) {
            Round round;
            round.seed = 5;
            round.side = which;
            kernel.reference(round, known[which]);
            CHECK(found[which].wrong() == 0);
            CHECK(found[which].hash() == known[which].hash());
        }
    }
}

TEST_CASE("a side whose partner does not come is told to go") {
    std::atomic<std::uint32_t> abandon{1};
    for (const Kernel& kernel : kernels()) {
        if (kernel.use != Use::pair) continue;
        auto ground = std::make_unique<Ground>();
        Round round;
        round.ground = ground.get();
        round.side = 1;
        round.abandon = &abandon;
        Trace trace;
        CHECK_FALSE(kernel.run(round, trace));
    }
}

TEST_CASE("the residues of M(11) are those of the textbook") {
    // Ribenboim, The Little Book of Bigger Primes: 2^11 - 1 = 23 * 89.
    std::vector<std::uint64_t> s = {4}, product(2);
    std::vector<std::uint32_t> short_s = {4, 0}, short_product(4);
    for (const std::uint64_t residue : {14, 194, 788, 701, 119, 1877, 240, 282, 1736}) {
        lucas_lehmer_step(11, s, product);
        lucas_lehmer_step_reference(11, short_s, short_product);
        CHECK(s[0] == residue);
        CHECK(short_s[0] == residue);
    }
}

TEST_CASE("Mersenne primes end in 0, composite Mersenne numbers do not") {
    for (const bool reference : {false, true}) {
        // OEIS A000043.
        for (const unsigned p : {5U, 7U, 13U, 17U, 19U, 31U, 61U, 89U, 107U, 127U, 521U, 607U})
            CHECK(last_residue(p, reference) == 0);
        for (const unsigned p : {11U, 23U, 29U, 37U, 67U, 101U, 257U, 523U})
            CHECK(last_residue(p, reference) != 0);
    }
    CHECK(last_residue(1279, false) == 0);
    CHECK(last_residue(2203, false) == 0);
}

TEST_CASE("other first values lead to the same end") {
    CHECK(lucas_lehmer_start(3) == 10084);
    CHECK(lucas_lehmer_start(kStartsOfFour + 2) == 95050);
    for (unsigned which = 0; which < kLucasLehmerStarts; ++which)
        for (const bool reference : {false, true}) {
            CHECK(last_residue(107, reference, lucas_lehmer_start(which)) == 0);
            CHECK(last_residue(101, reference, lucas_lehmer_start(which)) != 0);
        }
}

TEST_CASE("primes and strong pseudoprimes are told apart") {
    std::uint64_t residues = 0;
    for (const auto test : {is_prime, is_prime_reference}) {
        // Strong pseudoprimes to the first 4, 6, 7, 8 and 9 primes (OEIS A014233).
        for (const std::uint64_t n :
             {3215031751ULL, 3474749660383ULL, 341550071728321ULL, 3825123056546413051ULL})
            CHECK_FALSE(test(n, residues));
        // 10^18 + 3, 10^18 + 9, M(61), the largest below 2^63.
        for (const std::uint64_t n :
             {1000000000000000003ULL, 1000000000000000009ULL, 2305843009213693951ULL, 9223372036854775783ULL})
            CHECK(test(n, residues));
        int primes = 0;
        for (std::uint64_t n = 41; n < 10'000; n += 2) primes += test(n, residues) ? 1 : 0;
        CHECK(primes == 1229 - 12);  // pi(10^4), less those up to 37
    }
}

TEST_CASE("instructions on single registers have their answers also at the ends of their ranges") {
    const std::uint64_t ends[] = {
        0, 1, 2, 3, 63, 64, 0x7fffffffffffffffULL, 0x8000000000000000ULL, ~0ULL, ~0ULL - 1, 1ULL << 32U};
    for (const std::uint64_t a : ends)
        for (const std::uint64_t b : ends)
            if (b != 0) CHECK(answers(a, b) == answers_reference(a, b));
}

TEST_CASE("Karatsuba's product of the largest numbers is right") {
    for (const std::size_t n : {32U, 64U, 256U}) {
        // (2^k - 1)^2 = 2^2k - 2^(k+1) + 1
        std::vector<std::uint64_t> a(n, ~0ULL), product(2 * n), room(4 * n);
        karatsuba(a, a, product, room);
        CHECK(product[0] == 1);
        for (std::size_t i = 1; i < n; ++i) CHECK(product[i] == 0);
        CHECK(product[n] == ~0ULL - 1);
        for (std::size_t i = n + 1; i < 2 * n; ++i) CHECK(product[i] == ~0ULL);
    }
}

TEST_CASE("products by transforms are those of school, and roundings stay far from a half") {
    std::vector<double> memory(kFftBytes / sizeof(double));
    FftRoom room = fft_room(std::as_writable_bytes(std::span(memory)));
    fft_angles(room);
    fft_digits(9, room);
    fft_spectrum(room);
    CHECK(fft_product(room) < 0.01);
    const std::vector<std::uint16_t> found(room.product.begin(), room.product.end());
    fft_product_reference(room);
    CHECK(std::equal(found.begin(), found.end(), room.product.begin()));
}

TEST_CASE("SHA-256 by the processor's instructions has the digests of FIPS 180-4's examples") {
    const auto digest = [](std::string_view message) {
        strata::Sha256 sum(sha256_blocks_fast);
        sum.add(bytes_of(message));
        std::string text;
        for (const auto byte : sum.digest()) text += fmt::format("{:02x}", byte);
        return text;
    };
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("what was compressed comes out again, and damaged code writes nowhere else") {
    std::vector<std::byte> text(5001), code(3 * text.size()), again(text.size() + 8, std::byte{0x7f});
    std::vector<std::uint32_t> table(kTable);
    make_text(3, text);
    const std::size_t length = compress(text, code, table);
    CHECK(length < text.size());
    const auto packed = std::span(code).first(length);
    const auto place = std::span(again).first(text.size());
    CHECK(expand(packed, place) == text.size());
    CHECK(std::equal(text.begin(), text.end(), again.begin()));
    Random random(4);
    for (int i = 0; i < 2000; ++i) {
        auto damaged = std::vector<std::byte>(packed.begin(), packed.end());
        damaged[random.below(length)] ^= static_cast<std::byte>(1U << random.below(8));
        CHECK(expand(damaged, place) <= text.size());
        CHECK(again.back() == std::byte{0x7f});
    }
}

TEST_CASE("sums of rows and columns show every single wrong entry of a product, and where it is") {
    constexpr std::size_t n = kRows;
    std::vector<double> a(n * n), b(n * n), c(n * n, 0.0), room(4 * n);
    Random random(8);
    for (double& x : a) x = static_cast<double>(random.below(1024)) - 512;
    for (double& x : b) x = static_cast<double>(random.below(1024)) - 512;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    Trace right;
    check_sums(a, b, c, room, right);
    CHECK(right.wrong() == 0);
    for (int time = 0; time < 10; ++time) {
        const std::size_t row = random.below(n), column = random.below(n);
        auto damaged = c;
        damaged[row * n + column] += 1;
        Trace trace;
        check_sums(a, b, damaged, room, trace);
        CHECK(trace.wrong() == 2);
        CHECK(trace.mismatch().step == static_cast<int>(row));
    }
}
