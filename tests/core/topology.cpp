// Topologies of machines that are not this one, from hwloc's synthetic descriptions and from files.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "core/base/error.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"
#include "tests/core/fake_system.hpp"

using namespace strata::machine;

namespace {

Machine described(const std::string& text) { return read_machine({"synthetic:" + text}); }
Machine fixture(const std::string& name) { return read_machine({STRATA_FIXTURES "/" + name}); }

/// What must hold on any machine.
void check_consistent(const Machine& machine) {
    REQUIRE_FALSE(machine.cores.empty());
    REQUIRE_FALSE(machine.domains.empty());
    std::vector<int> seen(machine.cores.size(), 0);
    for (const Domain& domain : machine.domains) {
        CHECK_FALSE(domain.memories.empty());
        for (const int core : domain.cores) {
            ++seen[static_cast<size_t>(core)];
            CHECK(machine.cores[static_cast<size_t>(core)].domain == domain.index);
        }
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    for (size_t i = 0; i < machine.cores.size(); ++i) CHECK(machine.cores[i].index == static_cast<int>(i));
    for (const Memory& memory : machine.memories)
        CHECK(memory.nearest_domain < static_cast<int>(machine.domains.size()));
}

size_t caches_of_level(const Machine& machine, int level) {
    return static_cast<size_t>(std::count_if(machine.caches.begin(), machine.caches.end(),
                                             [&](const Cache& cache) { return cache.level == level; }));
}

}  // namespace

TEST_CASE("a synthetic description gives packages, domains, shared caches, cores and PUs") {
    const Machine machine = described("package:2 numa:4 l3:2 core:8 pu:2");
    check_consistent(machine);
    CHECK(machine.packages.size() == 2);
    CHECK(machine.domains.size() == 8);
    CHECK(machine.cores.size() == 128);
    CHECK(caches_of_level(machine, 3) == 16);
    CHECK(machine.cores[5].pus == std::vector<int>{10, 11});
    CHECK(machine.allowed.pus.size() == 256);
    CHECK(machine.source == "synthetic:package:2 numa:4 l3:2 core:8 pu:2");
}

TEST_CASE("a machine of 8192 PUs is read") {
    const Machine machine = described("package:8 numa:8 l3:2 core:32 pu:2");
    check_consistent(machine);
    CHECK(machine.allowed.pus.size() == 8192);
    CHECK(machine.cores.back().pus == std::vector<int>{8190, 8191});
}

TEST_CASE("every shape keeps each core in exactly one domain") {
    for (const char* text : {"pu:1", "core:2 pu:1", "numa:1 core:4 pu:2", "package:4 numa:1 core:6 pu:1",
                             "numa:256 core:2 pu:1", "package:2 l3:8 core:4 pu:1"}) {
        INFO(text);
        check_consistent(described(text));
    }
}

TEST_CASE("the 256-core fixture has 8 domains of 32 cores and firmware-like distances") {
    const Machine machine = fixture("epyc-256-cores-8-domains.xml");
    check_consistent(machine);
    CHECK(machine.cores.size() == 256);
    CHECK(machine.domains.size() == 8);
    CHECK(machine.domains[3].cores.size() == 32);
    REQUIRE(machine.distances);
    CHECK(machine.distances->matrix.size() == 8);
    CHECK(machine.distances->matrix[0][0] == 10);
    CHECK(machine.distances->matrix[0][7] > machine.distances->matrix[0][1]);
}

TEST_CASE("512 processors in a hypercube: 256 domains of two, as far apart as their numbers differ in bits") {
    const Machine machine = fixture("hypercube-512.xml");
    check_consistent(machine);
    REQUIRE(machine.domains.size() == 256);
    CHECK(machine.packages.size() == 256);
    CHECK(machine.cores.size() == 512);
    CHECK(caches_of_level(machine, 2) == 512);
    CHECK(caches_of_level(machine, 3) == 0);
    for (const Domain& domain : machine.domains) {
        const int first = 2 * domain.index;
        CHECK(domain.cores == std::vector<int>{first, first + 1});
        CHECK(domain.pus == std::vector<int>{first, first + 1});
        CHECK(domain.memories == std::vector<int>{domain.index});
    }
    REQUIRE(machine.distances);
    REQUIRE(machine.distances->matrix.size() == 256);
    const auto& distance = machine.distances->matrix;
    size_t wrong = 0;
    for (unsigned a = 0; a < 256; ++a)
        for (unsigned b = 0; b < 256; ++b)
            if (distance[a][b] != (a == b ? 10 : 13 + 3 * std::popcount(a ^ b))) ++wrong;
    CHECK(wrong == 0);
    CHECK(distance[0][255] == 37);  // across all eight dimensions
}

TEST_CASE("2 x 64 cores with SMT: siblings are numbered far apart, and half a domain shares a cache") {
    const Machine machine = fixture("two-sockets-128-cores-smt.xml");
    check_consistent(machine);
    CHECK(machine.packages.size() == 2);
    REQUIRE(machine.domains.size() == 8);
    CHECK(machine.domains[7].cores.size() == 16);
    REQUIRE(machine.cores.size() == 128);
    for (const Core& core : machine.cores) CHECK(core.pus == std::vector<int>{core.index, core.index + 128});
    CHECK(machine.cores[63].package == 0);
    CHECK(machine.cores[64].package == 1);
    CHECK(caches_of_level(machine, 2) == 128);
    REQUIRE(caches_of_level(machine, 3) == 16);
    int first = 0;
    for (const Cache& cache : machine.caches) {
        if (cache.level != 3) continue;
        std::vector<int> eight(8);
        std::iota(eight.begin(), eight.end(), first);
        CHECK(cache.cores == eight);
        first += 8;
    }
    REQUIRE(machine.distances);
    CHECK(machine.distances->matrix[0] == std::vector<double>{10, 12, 12, 12, 32, 32, 32, 32});
}

TEST_CASE("a hybrid processor shows its kinds of cores, and only some have two PUs") {
    const Machine machine = fixture("hybrid-6p-8e.xml");
    check_consistent(machine);
    REQUIRE(machine.core_kinds.size() == 2);
    CHECK(machine.cores.size() == 14);
    const auto threads = [&](const Core& core) { return core.pus.size(); };
    CHECK(threads(machine.cores.front()) == 2);
    CHECK(threads(machine.cores.back()) == 1);
    CHECK(machine.cores.front().kind != machine.cores.back().kind);
    CHECK(machine.core_kinds[0].efficiency < machine.core_kinds[1].efficiency);
    CHECK(machine.core_kinds[1].cores == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(machine.core_kinds[0].cores == std::vector<int>{6, 7, 8, 9, 10, 11, 12, 13});
    CHECK(caches_of_level(machine, 2) == 8);  // one for each fast core, one for each four small ones
    CHECK(caches_of_level(machine, 3) == 1);
    const std::string table = machine_table(machine);
    CHECK(table.find("kind 1 (performance): cores 0-5, IntelCore\n") != std::string::npos);
    CHECK(table.find("kind 0 (efficiency): cores 6-13, IntelAtom\n") != std::string::npos);
}

TEST_CASE("memories stand in the order of the system's numbers, in whatever order hwloc has them") {
    // Two packages of two domains, whose memories the system counts in turn over the packages.
    const Machine machine = described("package:2 numa:2(indexes=0,2,1,3 memory=1073741824) core:2 pu:1");
    check_consistent(machine);
    for (int i = 0; i < 4; ++i) {
        const Memory& memory = machine.memories[static_cast<size_t>(i)];
        CHECK(memory.index == i);
        CHECK(memory.os_index == i);
        CHECK(memory.domain == std::vector<int>{0, 2, 1, 3}[static_cast<size_t>(i)]);
        CHECK(machine.domains[static_cast<size_t>(*memory.domain)].memories == std::vector<int>{i});
    }
    CHECK(machine.allowed.memories == std::vector<int>{0, 1, 2, 3});
    CHECK(machine_table(machine).find("memory 1     1 GiB; domain 2: PUs 4-5") != std::string::npos);
}

TEST_CASE("a memory without cores belongs to no domain and is nearest to the one that its distances say") {
    const Machine machine = fixture("hbm-and-cxl.xml");
    check_consistent(machine);
    CHECK(machine.domains.size() == 2);
    REQUIRE(machine.memories.size() == 5);
    const auto kinds = [&](const std::string& kind) {
        return std::count_if(machine.memories.begin(), machine.memories.end(),
                             [&](const Memory& memory) { return memory.kind == kind; });
    };
    CHECK(kinds("HBM") == 2);
    CHECK(kinds("CXL") == 1);
    const auto cxl = std::find_if(machine.memories.begin(), machine.memories.end(),
                                  [](const Memory& memory) { return memory.kind == "CXL"; });
    CHECK_FALSE(cxl->domain);
    CHECK(cxl->nearest_domain == 1);
    CHECK(machine.domains[0].memories.size() == 2);
    CHECK(machine_table(machine).find("no cores of its own, nearest domain 1") != std::string::npos);
}

TEST_CASE("devices of a file have their nearest domain, and a disk of a package with two has none") {
    const Machine machine = fixture("gpu-node.xml");
    check_consistent(machine);
    const auto named = [&](const std::string& name) {
        const auto found = std::find_if(machine.devices.begin(), machine.devices.end(),
                                        [&](const Device& device) { return device.name == name; });
        REQUIRE(found != machine.devices.end());
        return *found;
    };
    CHECK(machine.domains.size() == 4);
    CHECK(named("cuda2").type == "gpu");
    CHECK(named("cuda2").domain == 2);
    CHECK(named("mlx5_1").type == "network");
    CHECK(named("mlx5_1").domain == 2);
    CHECK_FALSE(named("nvme1n1").domain);
    CHECK(machine_table(machine).find("cuda3: synthetic GPU; near domain 3") != std::string::npos);
}

TEST_CASE("cores of a package without memory work from the machine's first domain") {
    const Machine machine = fixture("package-without-memory.xml");
    check_consistent(machine);
    CHECK(machine.packages.size() == 2);
    REQUIRE(machine.domains.size() == 1);
    CHECK(machine.domains[0].cores.size() == 8);
    CHECK(machine.domains[0].pus.size() == 8);
}

TEST_CASE("many memories are summed up in the table instead of filling the screen") {
    const std::string table = machine_table(described("numa:64(memory=1073741824) core:2 pu:1"));
    CHECK(table.find("64 x 1 GiB: 0-63") != std::string::npos);
    CHECK(std::count(table.begin(), table.end(), '\n') < 12);
}

TEST_CASE("what is no topology is refused with one error that says what was given") {
    const auto refusal = [](const std::string& source) -> std::string {
        try {
            (void)read_machine({source});
        } catch (const strata::Error& error) {
            CHECK(error.exit_code() == strata::kBadInput);
            return error.text();
        }
        return "accepted";
    };
    const auto has = [](const std::string& text, const std::string& part) {
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };
    has(refusal("synthetic:package:x"), "given: synthetic:package:x");
    has(refusal("synthetic:"), "not a synthetic topology");
    has(refusal("synthetic:core:100000000 pu:1"), "larger than any machine");
    has(refusal("synthetic:400 400 400"), "up to 65536 PUs");
    has(refusal("/nonexistent.xml"), "No such file or directory\n  at: /nonexistent.xml");
    has(refusal("/"), "Is a directory");
    has(refusal(STRATA_FIXTURES "/not-a-topology.xml"), "not-a-topology.xml\n");

    std::ifstream whole(STRATA_FIXTURES "/hybrid-6p-8e.xml");
    std::ostringstream text;
    text << whole.rdbuf();
    strata::tests::FakeSystem folder;
    folder.file("/empty.xml", " \n");
    has(refusal(folder.root() + "/empty.xml"), "given: an empty file");
    folder.file("/other.xml", "<?xml version=\"1.0\"?>\n<domain type='kvm'/>\n");
    has(refusal(folder.root() + "/other.xml"),
        "given: a file that begins: <?xml version=\"1.0\"?>\n  allowed: ");
    // hwloc 3 writes version 3.0, unless told otherwise; what makes such a file does not help.
    std::string later = text.str();
    later.replace(later.find("version=\"2.0\""), 13, "version=\"3.0\"");
    folder.file("/later.xml", later);
    const std::string told = refusal(folder.root() + "/later.xml");
    has(told, "later.xml\n  given: version 3.0\n  allowed: version 2 or earlier\n");
    has(told, "lstopo --export-xml-flags v2 machine.xml");
    for (const size_t part : {size_t{0}, size_t{100}, text.str().size() / 2}) {
        folder.file("/cut.xml", text.str().substr(0, part));
        has(refusal(folder.root() + "/cut.xml"), "try: lstopo");
    }
    // hwloc 2.9 itself dies of this one; another version may refuse or accept it.
    std::string lacking = text.str();
    const std::string key = " complete_cpuset=", inner = "type=\"L2Cache\"";
    const size_t at = lacking.find(key, lacking.find(inner));
    REQUIRE(at != std::string::npos);
    lacking.replace(at, key.size(), " comp_cpuset=");
    folder.file("/lacking.xml", lacking);
    const std::string outcome = refusal(folder.root() + "/lacking.xml");
    CHECK((outcome == "accepted" || outcome.find("lacking.xml") != std::string::npos));
}

TEST_CASE("this machine's facts are consistent and say what this process may use") {
    const Machine machine = read_machine();
    CHECK(machine.is_system());
    check_consistent(machine);
    CHECK_FALSE(machine.allowed.pus.empty());
    CHECK(machine.allowed.cpus_effective > 0);
    CHECK(machine.allowed.cpus_effective <= static_cast<double>(machine.allowed.pus.size()));
    CHECK_FALSE(machine.kernel.empty());
    // Either both calls worked, or the word is the cautious one and there is a reason.
    if (!machine.placement.mbind || !machine.placement.move_pages) {
        CHECK(std::string(machine.placement.word()) == "placement unverified");
        CHECK_FALSE(machine.placement.why.empty());
    }
}

TEST_CASE("the launcher's short reading has the same cores as the full one") {
    Source source;
    source.with_devices = false;
    source.with_limits = false;
    const Machine quick = read_machine(source), full = read_machine();
    CHECK(quick.cores.size() == full.cores.size());
    CHECK(quick.allowed.pus == full.allowed.pus);
}

TEST_CASE("the JSON document names its schema and closes every bracket") {
    std::ostringstream out;
    machine_json(out, described("package:2 numa:2 core:2 pu:1"));
    const std::string text = out.str();
    CHECK(text.rfind("{\"schema\":\"strata.machine/1\",\"source\":\"synthetic:", 0) == 0);
    CHECK(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
    CHECK(std::count(text.begin(), text.end(), '[') == std::count(text.begin(), text.end(), ']'));
}

TEST_CASE("a PU with a number that none has is one error, and makes no list of that length") {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("strata-topology-" + std::to_string(getpid()) + ".xml"))
            .string();
    const auto written = [&](int words) {  // of 32 bits each, below the PU's
        const std::string set = "0x00000001" + std::string(static_cast<size_t>(words), ',');
        const std::string sets = "cpuset=\"" + set + "\" complete_cpuset=\"" + set + "\"";
        const std::string nodes = " nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"";
        std::ofstream(file) << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM "
                               "\"hwloc2.dtd\">\n<topology version=\"2.0\">\n<object type=\"Machine\" "
                               "os_index=\"0\" "
                            << sets << " allowed_cpuset=\"" << set << "\"" << nodes
                            << " allowed_nodeset=\"0x00000001\" gp_index=\"1\">\n<object type=\"NUMANode\" "
                               "os_index=\"0\" "
                            << sets << nodes
                            << " gp_index=\"2\" local_memory=\"1000000\"/>\n<object type=\"PU\" os_index=\""
                            << 32 * words << "\" " << sets << nodes
                            << " gp_index=\"3\"/>\n</object>\n</topology>\n";
        return file;
    };
    CHECK(read_machine({written(20)}).cores.back().pus == std::vector<int>{640});
    std::string said;
    try {
        (void)read_machine({written(40'000)});
    } catch (const strata::Error& error) {
        said = error.text();
    }
    CHECK(said.find("given: PU 1280000") != std::string::npos);
    std::filesystem::remove(file);
}
