// Placements on machines that this one is not: 512 processors in a hypercube, two packages with eight domains
// and sixteen shared caches, a hybrid laptop. What is right there is said here by arithmetic on numbers, not
// by asking the topology that the code under test reads.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/launch/placement.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
using launch::Bind;
using launch::Layout;
using launch::Placement;
using launch::Wish;
using List = std::vector<int>;

namespace {

List range(int first, int count) {
    List list(static_cast<size_t>(count));
    std::iota(list.begin(), list.end(), first);
    return list;
}

List joined(List a, const List& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    return a;
}

/// What is known of a machine: the PUs of core c and of what lies around it, and its domain.
struct Known {
    const char* fixture;
    int cores;
    List (*core)(int c);
    List (*cache)(int c);
    List (*numa)(int c);
    List (*package)(int c);
    int (*domain)(int c);
};

List hypercube_core(int c) { return {c}; }
List hypercube_node(int c) { return {c / 2 * 2, c / 2 * 2 + 1}; }

List sockets_block(int c, int size) {
    const int first = c / size * size;
    return joined(range(first, size), range(first + 128, size));
}

List laptop_core(int c) { return c < 6 ? List{2 * c, 2 * c + 1} : List{c + 6}; }
List laptop_all(int) { return range(0, 20); }

const std::vector<Known>& machines() {
    static const std::vector<Known> all = {
        {"hypercube-512.xml", 512, hypercube_core, hypercube_core, hypercube_node, hypercube_node,
         [](int c) { return c / 2; }},
        {"two-sockets-128-cores-smt.xml", 128,
         [](int c) {
             return List{c, c + 128};
         },
         [](int c) { return sockets_block(c, 8); }, [](int c) { return sockets_block(c, 16); },
         [](int c) { return sockets_block(c, 64); }, [](int c) { return c / 16; }},
        {"hybrid-6p-8e.xml", 14, laptop_core, laptop_all, laptop_all, laptop_all, [](int) { return 0; }},
    };
    return all;
}

machine::Machine fixture(const std::string& name) {
    return machine::read_machine({.text = STRATA_FIXTURES "/" + name});
}

std::string refusal(const machine::Machine& machine, const Wish& wish) {
    try {
        (void)place(machine, wish);
    } catch (const Error& error) {
        CHECK(error.exit_code() == kBadInput);
        return error.text();
    }
    return "accepted";
}

bool includes(const List& whole, const List& part) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

const std::vector<Layout>& layouts() {
    static const std::vector<Layout> all = {{1, 1},  {1, 14},  {2, 4},  {4, 3},   {3, 5},   {14, 1}, {16, 8},
                                            {36, 4}, {128, 1}, {8, 64}, {512, 1}, {1, 513}, {129, 2}};
    return all;
}

std::string word(const Placement& placement) { return launch::encode(placement); }

Wish wish_of(const char* layout, const std::string& bind) {
    Wish wish;
    wish.layout = launch::parse_layout(layout);
    launch::parse_bind(bind, wish.layout);
    return wish;
}

machine::Device gpu(const std::string& name, int domain) { return {"gpu", name, "synthetic", domain}; }

}  // namespace

TEST_CASE("every width, layout and stride on every machine: each thread on its core's own surroundings") {
    for (const Known& known : machines()) {
        const auto machine = fixture(known.fixture);
        for (const auto& [bind, around] : {std::pair{Bind::core, known.core},
                                           {Bind::cache, known.cache},
                                           {Bind::numa, known.numa},
                                           {Bind::package, known.package}}) {
            for (Layout layout : layouts()) {
                for (const int stride : {1, 2, 3, 8}) {
                    layout.stride = stride;
                    layout.bind = bind;
                    INFO(known.fixture << ": " << launch::to_text(layout) << " stride " << stride << " bind "
                                       << launch::bind_text(layout));
                    const int span = (layout.processes * layout.threads - 1) * stride + 1;
                    if (span > known.cores) {
                        const std::string told = refusal(machine, Wish{.layout = layout});
                        CHECK(told.find("needs " + std::to_string(span) + " cores") != std::string::npos);
                        CHECK(told.find("allowed: " + std::to_string(known.cores) + " cores") !=
                              std::string::npos);
                        continue;
                    }
                    const Placement placement = place(machine, Wish{.layout = layout});
                    REQUIRE(placement.threads.size() == static_cast<size_t>(layout.processes));
                    int c = 0;
                    size_t misplaced = 0;
                    for (const auto& process : placement.threads) {
                        REQUIRE(process.size() == static_cast<size_t>(layout.threads));
                        for (const List& thread : process) {
                            const List expected =
                                bind == Bind::core ? List{known.core(c).front()} : around(c);
                            if (thread != expected) ++misplaced;
                            c += stride;
                        }
                    }
                    CHECK(misplaced == 0);
                }
            }
        }
    }
}

TEST_CASE("no PU is promised twice to threads bound to cores, with SMT siblings and without") {
    for (const Known& known : machines()) {
        const auto machine = fixture(known.fixture);
        for (const Layout& layout : layouts()) {
            for (const int smt : {1, 2}) {
                INFO(known.fixture << ": " << launch::to_text(layout) << " smt " << smt);
                Wish wish{.layout = layout, .smt = smt};
                if (refusal(machine, wish) != "accepted") continue;
                const Placement placement = place(machine, wish);
                std::set<int> seen;
                for (const auto& process : placement.threads)
                    for (const List& thread : process) {
                        REQUIRE(thread.size() == 1);
                        CHECK(seen.insert(thread.front()).second);
                    }
                CHECK(seen.size() ==
                      static_cast<size_t>(layout.processes) * static_cast<size_t>(layout.threads));
            }
        }
    }
}

TEST_CASE("unbound threads may use all that is allowed, however many they are") {
    for (const Known& known : machines()) {
        const auto machine = fixture(known.fixture);
        for (Layout layout : layouts()) {
            layout.bind = Bind::none;
            const Placement placement = place(machine, Wish{.layout = layout});
            CHECK(placement.pus(0) == machine.allowed.pus);
            CHECK(placement.threads.back().back() == machine.allowed.pus);
        }
    }
}

TEST_CASE("inside a smaller set of allowed PUs nothing outside of it is used, however wide the binding") {
    for (const Known& known : machines()) {
        auto machine = fixture(known.fixture);
        List allowed;  // every third PU, which cuts through cores, caches and domains
        for (size_t i = 0; i < machine.allowed.pus.size(); i += 3) allowed.push_back(machine.allowed.pus[i]);
        machine.allowed.pus = allowed;
        for (const char* bind : {"core", "cache", "numa", "package", "none"}) {
            INFO(known.fixture << " bind " << bind);
            const Placement placement = place(machine, wish_of("2x2", bind));
            for (int p = 0; p < 2; ++p) {
                CHECK_FALSE(placement.pus(p).empty());
                CHECK(includes(allowed, placement.pus(p)));
            }
        }
    }
}

TEST_CASE("a process' local memories are those of its threads' domains, and interleaving takes all in use") {
    for (const Known& known : machines()) {
        const auto machine = fixture(known.fixture);
        for (Layout layout : layouts()) {
            for (const int stride : {1, 3}) {
                layout.stride = stride;
                Wish local{.layout = layout, .memory = launch::parse_memory("local")};
                if (refusal(machine, local) != "accepted") continue;
                INFO(known.fixture << ": " << launch::to_text(layout) << " stride " << stride);
                Wish interleave = local, first_touch = local, nothing = local;
                interleave.memory = launch::parse_memory("interleave");
                first_touch.memory = launch::parse_memory("first-touch");
                nothing.memory = {};
                const Placement placed = place(machine, local), spread = place(machine, interleave);
                std::set<int> all;
                for (int p = 0; p < layout.processes; ++p) {
                    std::set<int> own;
                    for (int t = 0; t < layout.threads; ++t)
                        own.insert(known.domain((p * layout.threads + t) * stride));
                    all.insert(own.begin(), own.end());
                    CHECK(placed.memory_of(p).nodes == List(own.begin(), own.end()));
                }
                for (int p = 0; p < layout.processes; ++p)
                    CHECK(spread.memory_of(p).nodes == List(all.begin(), all.end()));
                CHECK(place(machine, first_touch).memory_of(0).nodes.empty());
                CHECK(place(machine, nothing).memory.empty());
                CHECK(launch::decode(word(placed), layout).threads == placed.threads);
                CHECK(launch::decode(word(placed), layout).memory_of(layout.processes - 1).nodes ==
                      placed.memory_of(layout.processes - 1).nodes);
            }
        }
    }
}

TEST_CASE("memory bound to a list is the same for all, and a memory that is not there is refused") {
    const auto machine = fixture("two-sockets-128-cores-smt.xml");
    Wish wish = wish_of("2x4", "core");
    wish.memory = launch::parse_memory("bind:6,1-2");
    const Placement placement = place(machine, wish);
    CHECK(placement.memory_of(0).nodes == List{1, 2, 6});
    CHECK(placement.memory_of(1).nodes == List{1, 2, 6});
    wish.memory = launch::parse_memory("bind:7,8");
    const std::string told = refusal(machine, wish);
    CHECK(told.find("bind:7,8, of which 8") != std::string::npos);
    CHECK(told.find("allowed: 0-7") != std::string::npos);
}

TEST_CASE("placements written out by hand: 2 x 64 cores") {
    const auto machine = fixture("two-sockets-128-cores-smt.xml");
    CHECK(word(place(machine, wish_of("2x4", "core"))) == "0:1:2:3;4:5:6:7");
    CHECK(word(place(machine, wish_of("1x2", "cache"))) == "0-7,128-135:0-7,128-135");
    CHECK(word(place(machine, wish_of("2x1", "package"))) == "0-63,128-191;0-63,128-191");
    Wish apart = wish_of("2x2", "numa");
    apart.layout.stride = 40;  // cores 0, 40, 80, 120 of domains 0, 2, 5, 7
    apart.memory = launch::parse_memory("local");
    CHECK(word(place(machine, apart)) ==
          "0-15,128-143:32-47,160-175@local=0,2;80-95,208-223:112-127,240-255@local=5,7");
    Wish siblings = wish_of("2x3", "core");
    siblings.smt = 2;
    CHECK(word(place(machine, siblings)) == "0:128:1;129:2:130");
    siblings.layout = launch::parse_layout("256x1");
    CHECK(place(machine, siblings).pus().size() == 256);
    siblings.layout = launch::parse_layout("257x1");
    CHECK(refusal(machine, siblings).find("needs 257 PUs") != std::string::npos);
    // Numbers are the system's, where 129 is the second PU of core 1, and 3 the first of core 3.
    CHECK(word(place(machine, wish_of("1x4", "0,128,1,129"))) == "0:128:1:129");
    CHECK(word(place(machine, wish_of("1x4", "0-3"))) == "0:1:2:3");
    CHECK(word(place(machine, wish_of("2x2", "os:5,3,255,0"))) == "5:3;255:0");
    CHECK(refusal(machine, wish_of("1x1", "256")).find("256") != std::string::npos);
    CHECK(refusal(machine, wish_of("1x3", "0,1")).find("needs 3 PUs") != std::string::npos);
}

TEST_CASE("placements written out by hand: the hypercube") {
    const auto machine = fixture("hypercube-512.xml");
    CHECK(word(place(machine, wish_of("3x2", "numa"))) == "0-1:0-1;2-3:2-3;4-5:4-5");
    Wish one_a_node = wish_of("4x1", "core");
    one_a_node.layout.stride = 2;
    one_a_node.memory = launch::parse_memory("interleave");
    CHECK(word(place(machine, one_a_node)) ==
          "0@interleave=0-3;2@interleave=0-3;4@interleave=0-3;6@interleave=0-3");
    const Placement full = place(machine, wish_of("64x8", "core"));
    CHECK(full.pus(63) == range(504, 8));
}

TEST_CASE("placements written out by hand: the hybrid laptop and its kinds of cores") {
    const auto machine = fixture("hybrid-6p-8e.xml");
    CHECK(word(place(machine, wish_of("2x4", "core"))) == "0:2:4:6;8:10:12:13");
    Wish wish = wish_of("1x6", "core");
    wish.core_kind = "performance";
    CHECK(word(place(machine, wish)) == "0:2:4:6:8:10");
    wish.core_kind = "1";
    CHECK(word(place(machine, wish)) == "0:2:4:6:8:10");
    wish.core_kind = "efficiency";
    CHECK(word(place(machine, wish)) == "12:13:14:15:16:17");
    wish.layout = launch::parse_layout("2x6");
    wish.core_kind = "performance";
    CHECK(refusal(machine, wish).find("allowed: 6 cores") != std::string::npos);
    wish.smt = 2;
    CHECK(word(place(machine, wish)) == "0:1:2:3:4:5;6:7:8:9:10:11");
    wish.core_kind = "fast";
    CHECK(refusal(machine, wish).find("allowed: performance, efficiency, 0, 1") != std::string::npos);
    wish.core_kind = "efficiency";
    wish.layout = launch::parse_layout("1x1");
    launch::parse_bind("none", wish.layout);
    CHECK(place(machine, wish).pus() == range(12, 8));
}

TEST_CASE("near a device in the hypercube, threads take nodes in the order of their hops from it") {
    auto machine = fixture("hypercube-512.xml");
    constexpr unsigned home = 0b01100101;
    machine.devices = {gpu("gpu0", home)};
    for (const char* layout : {"1x2", "1x18", "1x74", "4x8", "16x32"}) {
        INFO(layout);
        Wish wish = wish_of(layout, "core");
        wish.near = "gpu";
        const Placement placement = place(machine, wish);
        int last = 0, count = 0;
        // Nodes within h hops: 1, 1+8, 1+8+28, ... (binomial coefficients), two cores each.
        constexpr int within[] = {2, 18, 74, 186, 326, 438, 494, 510, 512};
        for (const auto& process : placement.threads)
            for (const List& thread : process) {
                const int hops = std::popcount(static_cast<unsigned>(thread.front()) / 2 ^ home);
                CHECK(hops >= last);
                CHECK(count < within[hops]);
                CHECK((hops == 0 || count >= within[hops - 1]));
                last = hops;
                ++count;
            }
        CHECK(placement.pus().size() == static_cast<size_t>(count));
    }
    // Neighbours of node 101 (0b1100101), lowest number first: 37 = 0b0100101.
    Wish wish = wish_of("1x4", "core");
    wish.near = "gpu:gpu0";
    CHECK(word(place(machine, wish)) == "202:203:74:75");
}

TEST_CASE("near several devices each process surrounds its own, and none is served twice") {
    auto machine = fixture("hypercube-512.xml");
    const std::vector<unsigned> homes = {0, 255, 15, 240};
    for (size_t d = 0; d < homes.size(); ++d)
        machine.devices.push_back(gpu("gpu" + std::to_string(d), static_cast<int>(homes[d])));
    Wish wish = wish_of("4x18", "core");
    wish.near = "gpu";
    wish.memory = launch::parse_memory("local");
    const Placement placement = place(machine, wish);
    for (size_t p = 0; p < homes.size(); ++p) {
        for (const List& thread : placement.threads[p])
            CHECK(std::popcount(static_cast<unsigned>(thread.front()) / 2 ^ homes[p]) <= 1);
        CHECK(placement.memory_of(static_cast<int>(p)).nodes.size() == 9);
    }
    CHECK(placement.pus().size() == 4 * 18);

    // Two processes for each of two devices: the later one takes what the first left, still on its side.
    auto sockets = fixture("two-sockets-128-cores-smt.xml");
    sockets.devices = {gpu("a", 7), gpu("b", 0)};
    wish = wish_of("4x8", "numa");
    wish.near = "gpu";
    const Placement dealt = place(sockets, wish);
    for (const int p : {0, 2}) CHECK(dealt.pus(p) == sockets_block(112, 16));
    for (const int p : {1, 3}) CHECK(dealt.pus(p) == sockets_block(0, 16));
    wish.near = "nic";
    CHECK(refusal(sockets, wish).find("this machine has no nic") != std::string::npos);
}

TEST_CASE("a placement file names caches, domains and packages of these machines") {
    const TestFolder folder;
    const auto machine = fixture("two-sockets-128-cores-smt.xml");
    std::string text;
    for (int p = 0; p < 16; ++p) {
        const std::string n = std::to_string(15 - p);
        text +=
            "process " + std::to_string(p) + " cache " + n + " memory " + std::to_string((15 - p) / 2) + "\n";
    }
    Wish wish = wish_of("16x8", "core");
    wish.file = folder.file("caches", text);
    const Placement placement = place(machine, wish);
    for (int p = 0; p < 16; ++p) {
        CHECK(placement.pus(p) == sockets_block(8 * (15 - p), 8));
        CHECK(placement.memory_of(p).nodes == List{(15 - p) / 2});
    }
    wish.layout_given = false;
    const auto told = [&](const std::string& line) {
        wish.file = folder.file("one", line);
        return refusal(machine, wish);
    };
    CHECK(told("process 0 cache 16\n").find("allowed: 0 to 15") != std::string::npos);
    CHECK(told("process 0 numa 8\n").find("there is no such domain") != std::string::npos);
    CHECK(told("process 0 package 1 memory 8\n").find("memory") != std::string::npos);

    const auto cube = fixture("hypercube-512.xml");
    wish.file = folder.file("corners",
                            "process 0-1 thread 0 numa 0,255\n"
                            "process * thread 1 core os:2,509\n");
    CHECK(word(place(cube, wish)) == "0-1:2;510-511:509");
}
