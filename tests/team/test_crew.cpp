// Crews with threads in the role of members: what they need is memory that all see.
#include <array>
#include <chrono>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "core/team/crew.hpp"
#include "tests/catch.hpp"
#include "tests/team/shared.hpp"

using namespace strata;
using namespace strata::team;
using namespace strata::team::testing;

namespace {

/// A table in memory of its own, bound to nothing.
struct SharedTable {
    explicit SharedTable(const CrewPlaces& places) : memory(CrewTable::bytes(places)) {
        CrewTable::form(memory.get(), places);
    }
    SharedTable(int members, int threads) : SharedTable(CrewPlaces::even(members, threads)) {}
    [[nodiscard]] Crew of(int member, const Patience& patience) const {
        return {memory.get(), member, {}, patience};
    }
    [[nodiscard]] CrewTable table() const { return CrewTable(memory.get()); }
    Zeros memory;
};

/// Looks for 50 us: long enough to be met while it looks, and asleep.
constexpr Patience kBrief{nullptr, 50'000, 0};

/// Tries until it is so, for as long as nobody would wait. (Catch2's assertions are for one thread.)
template <class So>
bool soon(So so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!so())
        if (std::chrono::steady_clock::now() > end) return false;
    return true;
}

int threads_of_next_region(Crew& crew) {
    int seen = 0;
    crew.parallel_region([&](int thread, int threads) {
        if (thread == 0) seen = threads;
    });
    return seen;
}

void each_once(Crew& crew, int rounds) {
    for (int round = 0; round < rounds; ++round)
        for (const int n : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
            const auto all_once = [&](int expected) {
                return std::all_of(times.begin(), times.end(), [&](const auto& t) { return t == expected; });
            };
            crew.parallel_for(0, n, [&](int i) { ++times[static_cast<std::size_t>(i)]; });
            CHECK(all_once(1));
            crew.parallel_for(
                0, n, [&](int i) { ++times[static_cast<std::size_t>(i)]; }, Dynamic{3});
            CHECK(all_once(2));
            crew.parallel_for(
                std::size_t{0}, static_cast<std::size_t>(n), [&](std::size_t i) { ++times[i]; }, Guided{2});
            CHECK(all_once(3));
            crew.parallel_for(-n, 0, [&](int first, int last) {
                for (int i = first; i < last; ++i) ++times[static_cast<std::size_t>(i + n)];
            });
            CHECK(all_once(4));
        }
}

}  // namespace

TEST_CASE("a loop does each iteration once, however it is divided and however many threads there are") {
    for (const int threads : {1, 2, 5}) {
        const SharedTable shared(1, threads);
        for (const Patience& patience : {patient(), kBrief}) {
            Crew crew = shared.of(0, patience);
            CHECK(crew.count() == threads);
            each_once(crew, 10);
            CHECK(threads_of_next_region(crew) == threads);
        }
    }
}

TEST_CASE("what a loop wrote is there when it returns, and each thread always has the same iterations") {
    const SharedTable shared(1, 4);
    Crew crew = shared.of(0, kBrief);
    std::vector<std::thread::id> first(1000), again(1000);
    std::vector<int> value(1000, 0);
    crew.parallel_for(0, 1000,
                      [&](int i) { first[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
    for (int round = 1; round <= 200; ++round) {
        crew.parallel_for(0, 1000, [&](int i) {
            again[static_cast<std::size_t>(i)] = std::this_thread::get_id();
            value[static_cast<std::size_t>(i)] = value[static_cast<std::size_t>(999 - i)] * 0 + round;
        });
        CHECK(again == first);
        CHECK(std::set<std::thread::id>(again.begin(), again.end()).size() == 4);
        CHECK(first.front() == std::this_thread::get_id());
    }
}

TEST_CASE("chunks of a dynamic loop are as long as asked, those of a guided one shrink to the least") {
    const SharedTable shared(1, 1);
    Crew crew = shared.of(0, kBrief);
    std::vector<int> lengths;
    const auto note = [&](int first, int last) { lengths.push_back(last - first); };
    crew.parallel_for(0, 10, note, Dynamic{4});
    CHECK(lengths == std::vector<int>{4, 4, 2});
    lengths.clear();
    crew.parallel_for(0, 32, note, Guided{3});
    CHECK(lengths == std::vector<int>{16, 8, 4, 3, 1});
    lengths.clear();
    crew.parallel_for(0, 2, note, Dynamic{0});
    CHECK(lengths == std::vector<int>{1, 1});
}

TEST_CASE("threads that one member gives up are another's from its next region on") {
    const SharedTable shared(3, 3);
    Crew a = shared.of(0, kBrief);
    CHECK(threads_of_next_region(a) == 3);
    a.move(0, 2, 2);
    CHECK(a.counts() == std::vector<int>{1, 3, 5});
    CHECK(threads_of_next_region(a) == 1);
    as_members(1, [&](int) {
        Crew c = shared.of(2, kBrief);
        // a's threads have left at the latest when they are tired of looking.
        if (!soon([&] { return threads_of_next_region(c) == 5; })) throw std::runtime_error("never had 5");
        each_once(c, 2);
        c.set_count(2, 2);
        if (threads_of_next_region(c) != 2) throw std::runtime_error("kept what nobody has");
        c.set_count(0, 4);
        c.set_counts(std::array{2, 1, 6});
    });
    CHECK(a.counts() == std::vector<int>{2, 1, 6});
    CHECK(soon([&] { return threads_of_next_region(a) == 2; }));
}

TEST_CASE("a member that is to have a place starts without it while the former owner works there") {
    const SharedTable shared(2, 2);
    Crew a = shared.of(0, kBrief);
    std::atomic<int> stage{0};
    std::thread other([&] {
        Crew b = shared.of(1, kBrief);
        while (stage != 1) std::this_thread::yield();
        b.move(0, 1);
        int most = 0;
        for (int i = 0; i < 100; ++i) most = std::max(most, threads_of_next_region(b));
        stage = most == 2 ? 2 : -1;
        if (!soon([&] { return threads_of_next_region(b) == 3; })) stage = -2;
        stage = stage == 2 || stage == 3 ? 4 : stage.load();
    });
    a.parallel_region([&](int thread, int threads) {
        if (thread == 0) stage = 1;
        if (thread == 0 && threads != 2) stage = -3;
        while (stage == 0 || stage == 1) std::this_thread::yield();  // the other asks meanwhile, in vain
    });
    other.join();
    CHECK(stage == 4);
    CHECK(threads_of_next_region(a) == 1);
}

TEST_CASE("counts that cannot be are refused, and nothing changes") {
    const SharedTable shared(2, 2);
    Crew crew = shared.of(0, kBrief);
    const auto refused = [&](auto change, const std::string& said) {
        std::string text;
        try {
            change();
        } catch (const Error& error) {
            text = error.text();
        }
        INFO(text);
        CHECK(text.find(said) != std::string::npos);
        CHECK(crew.counts() == std::vector<int>{2, 2});
    };
    refused([&] { crew.set_count(0, 3); }, "at most 4 together");
    refused([&] { crew.set_count(0, 0); }, "keeps one thread");
    refused([&] { crew.set_count(7, 1); }, "0 to 1");
    refused([&] { crew.move(0, 1, 2); }, "now 2, 2");
    refused([&] { crew.move(0, 1, -1); }, "not negative");
    refused([&] { crew.move(-1, 1); }, "0 to 1");
    refused([&] { crew.set_counts(std::array{1, 1, 1}); }, "3 counts");
    CHECK_THROWS_AS(shared.of(2, kBrief), Error);
}

TEST_CASE("an exception in a body is thrown again after all have ended, and the crew goes on") {
    const SharedTable shared(1, 4);
    Crew crew = shared.of(0, kBrief);
    for (const int culprit : {0, 1, 3, -1}) {
        std::atomic<int> ended{0};
        std::string said;
        try {
            crew.parallel_region([&](int thread, int) {
                if (thread != culprit && culprit >= 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                ++ended;
                if (thread == culprit || culprit < 0)
                    throw std::runtime_error("of " + std::to_string(thread));
            });
        } catch (const std::runtime_error& error) {
            said = error.what();
            CHECK(ended == 4);
        }
        CHECK(said == "of " + std::to_string(std::max(culprit, 0)));
        each_once(crew, 1);
    }
    std::atomic<int> begun{0};
    CHECK_THROWS_AS(crew.parallel_for(
                        0, 1'000'000,
                        [&](int) {
                            ++begun;
                            throw std::logic_error("all");
                        },
                        Dynamic{}),
                    std::logic_error);
    CHECK(begun <= 4);
}

TEST_CASE("a region within a region, or of another thread, has one thread") {
    const SharedTable shared(1, 3);
    Crew crew = shared.of(0, kBrief);
    std::atomic<int> sum{0}, wrong{0};
    crew.parallel_region([&](int, int threads) {
        if (threads != 3) ++wrong;
        crew.parallel_for(0, 10, [&](int i) { sum += i; });
        crew.parallel_region([&](int thread, int inner) {
            if (thread != 0 || inner != 1) ++wrong;
        });
    });
    std::thread([&] { crew.parallel_for(0, 10, [&](int i) { sum += i; }); }).join();
    CHECK(wrong == 0);
    CHECK(sum == 4 * 45);
    CHECK(threads_of_next_region(crew) == 3);
}

TEST_CASE("changed by all members at once, at random, no place has two threads awake and no count is lost") {
    constexpr int members = 4, threads = 3, places = members * threads;
    for (const Patience& patience : {patient(), kBrief}) {
        const SharedTable shared(members, threads);
        std::array<std::atomic<int>, places> awake{};
        std::atomic<int> twice{0}, wrong{0}, at_work{members};
        std::atomic<long> regions_with_more{0};
        as_members(members, [&](int m) {
            std::mt19937 random(static_cast<unsigned>(m) + 17);
            Crew crew = shared.of(m, patience);
            if (m % 2 == 0) crew.prepare();
            for (int round = 0; round < 400; ++round) {
                const int from = static_cast<int>(random() % members),
                          to = static_cast<int>(random() % members);
                try {
                    if (random() % 4 != 0)
                        crew.move(from, to, 1 + static_cast<int>(random() % 2));
                    else
                        crew.set_count(to, 1 + static_cast<int>(random() % 4));
                } catch (const Error&) {
                    // It had too few at that moment.
                }
                std::vector<std::atomic<int>> times(64);
                std::atomic<int> inside{0};
                int seen = 0;
                const bool random_pause = random() % 2 == 0;
                crew.parallel_region([&](int thread, int now) {
                    ++inside;
                    if (thread == 0) seen = now;
                    auto& here = awake[static_cast<std::size_t>(Crew::place())];
                    if (++here != 1 || !shared.table().seen(Crew::place()).of_member(m)) ++twice;
                    if (random_pause) std::this_thread::yield();
                    --here;
                });
                if (inside != seen) ++wrong;
                if (seen > threads) ++regions_with_more;
                crew.parallel_for(
                    0, 64, [&](int i) { ++times[static_cast<std::size_t>(i)]; }, Dynamic{2});
                for (const auto& time : times)
                    if (time != 1) ++wrong;
            }
            --at_work;
            // Others may still count on this one's places being left.
            while (at_work > 0) {
                static_cast<void>(threads_of_next_region(crew));
                std::this_thread::yield();
            }
        });
        CHECK(wrong == 0);
        CHECK(twice == 0);
        CHECK(regions_with_more > 0);
        const CrewTable table = shared.table();
        int sum = 0;
        for (const int count : table.counts()) {
            CHECK(count >= 1);
            sum += count;
        }
        CHECK(sum <= places);
        std::vector<int> listed, all;
        for (int m = 0; m < members; ++m) {
            table.places_of(m, listed);
            CHECK(static_cast<int>(listed.size()) == table.count(m));
            for (const int place : listed) CHECK(table.seen(place).for_member(m));
        }
        // Everybody has left: nobody is awake anywhere but at home.
        for (int place = 0; place < places; ++place)
            if (table.seen(place).state != PlaceWord::home)
                CHECK(table.seen(place).occupant == PlaceWord::kNobody);
    }
}

TEST_CASE("threads that look in vain give their places up, and are called again when there is work") {
    const SharedTable shared(1, 3);
    Crew crew = shared.of(0, kBrief);
    for (int round = 0; round < 5; ++round) {
        each_once(crew, 1);
        CHECK(soon([&] {
            return shared.table().seen(1).state == PlaceWord::free &&
                   shared.table().seen(2).state == PlaceWord::free;
        }));
        CHECK(threads_of_next_region(crew) == 3);
    }
}

TEST_CASE("a change waits for a lock whose holder died no longer than until that is told") {
    const SharedTable shared(2, 2);
    const Zeros memory(sizeof(Failure));
    auto* failure = new (memory.get()) Failure;
    Crew crew = shared.of(0, {failure, 0, 0});
    const CrewTable table = shared.table();
    int named = -1;
    // The holder: it changes counts and never comes back.
    std::thread holder, waiting;
    std::atomic<bool> over{false}, holds{false};
    holder = std::thread([&] {
        table.change(
            [&](std::vector<int>&) {
                holds = true;
                while (!over) std::this_thread::yield();
            },
            patient());
    });
    while (!holds) std::this_thread::yield();
    waiting = std::thread([&] {
        try {
            crew.move(0, 1);
        } catch (const MemberLost& lost) {
            named = lost.member();
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    failure->tell(1, 99, "was killed by SIGKILL");
    waiting.join();
    over = true;
    holder.join();
    CHECK(named == 1);
}
