#include <chrono>
#include <thread>

#include "core/team/collectives.hpp"
#include "core/team/lock.hpp"
#include "tests/catch.hpp"
#include "tests/team/shared.hpp"

using namespace strata;
using namespace strata::team;
using namespace strata::team::testing;

namespace {

template <class T>
struct In {
    Zeros memory{sizeof(T)};
    T* get = new (memory.get()) T;
    T* operator->() const { return get; }
    T& operator*() const { return *get; }
};

}  // namespace

TEST_CASE("a lock lets one member in at a time") {
    const In<Lock> lock;
    long inside = 0, sum = 0;
    for (const std::int64_t spin : {std::int64_t{0}, std::int64_t{20'000}}) {
        sum = 0;
        as_members(6, [&](int) {
            for (int i = 0; i < 500; ++i) {
                const Holding hold(*lock, {nullptr, spin, 0});
                if (++inside != 1) sum -= 1'000'000;
                ++sum;
                --inside;
            }
        });
        CHECK(sum == 3000);
    }
}

TEST_CASE("a lock whose holder died is not waited for") {
    const In<Lock> lock;
    const In<Failure> failure;
    lock->acquire({});
    int named = -1;
    std::thread waiting([&] {
        try {
            lock->acquire(patient(failure.get));
        } catch (const MemberLost& lost) {
            named = lost.member();
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    failure->tell(2, 99, "exited with status 1");
    waiting.join();
    CHECK(named == 2);
}

TEST_CASE("a lock wakes each of more sleepers than its wake-up has bits") {
    // A sleeper that is not woken looks by itself a tenth of a second later: this would then take many
    // minutes.
    constexpr int members = 40, rounds = 200;
    const In<Lock> lock;
    std::vector<int> entered(members, 0);
    as_members(members, [&](int m) {
        for (int round = 0; round < rounds; ++round) {
            const Holding hold(*lock, patient());
            ++entered[static_cast<std::size_t>(m)];
            std::this_thread::yield();
        }
    });
    CHECK(entered == std::vector<int>(members, rounds));
}

TEST_CASE("every number of a counter is taken once") {
    const In<Counter> counter;
    std::vector<int> taken(4000, 0);
    as_members(4, [&](int) {
        for (std::int64_t i = counter->take(); i < 4000; i = counter->take())
            ++taken[static_cast<std::size_t>(i)];
    });
    CHECK(taken == std::vector<int>(4000, 1));
    CHECK(counter->value() >= 4000);
}

TEST_CASE("what was written before a signal is seen by all who waited for it") {
    const In<Signal> signal;
    std::vector<int> data(100, 0);
    std::atomic<int> seen{0};
    as_members(5, [&](int m) {
        for (std::uint32_t round = 1; round <= 100; ++round) {
            if (m == 0) {
                data[round - 1] = static_cast<int>(round);
                signal->raise();
            } else {
                signal->wait_for(round, m % 2 == 0 ? patient() : Patience{});
                if (data[round - 1] == static_cast<int>(round)) ++seen;
            }
        }
    });
    CHECK(seen == 400);
    CHECK(signal->number() == 100);
}

TEST_CASE("broadcasts and reductions give every member the same, piece by piece") {
    for (const int members : {1, 2, 5}) {
        const SharedBarrier shared({members, {}, {}});
        const Zeros places(Collectives::bytes(members));
        std::atomic<int> right{0};
        as_members(members, [&](int m) {
            Barrier barrier = shared.of(m, patient());
            Collectives together(places.get(), m, barrier);
            for (int round = 0; round < 20; ++round) {
                const int root = round % members;
                std::vector<int> data(10'000, m == root ? round : -1);
                together.broadcast(std::span(data), root);
                std::vector<double> terms(1000);
                for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = static_cast<double>(i) + 1000.0 * m;
                together.reduce(std::span(terms), [](double a, double b) { return a > b ? a : b; });
                const long total = together.reduce(static_cast<long>(m + round), std::plus<>());
                if (data == std::vector<int>(10'000, round) && terms[999] == 999 + 1000.0 * (members - 1) &&
                    total == members * (members - 1) / 2 + static_cast<long>(members) * round)
                    ++right;
            }
        });
        CHECK(right == 20 * members);
    }
}
