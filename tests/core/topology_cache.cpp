// What hwloc found, kept from one start to the next: the same again, and never believed where it may be
// wrong.
#include "core/machine/topology_cache.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "core/machine/cgroup.hpp"
#include "core/machine/topology.hpp"
#include "core/machine/topology_form.hpp"
#include "tests/catch.hpp"
#include "tests/core/fake_system.hpp"

using namespace strata::machine;
namespace fs = std::filesystem;

namespace {

constexpr const char* kKey = "boot: one\nhost: two\n";

Machine fixture(const std::string& name) { return read_machine({STRATA_FIXTURES "/" + name}); }

std::string document(const Machine& machine) {
    std::ostringstream out;
    machine_json(out, machine);
    return out.str();
}

/// A home of its own for the time of a test.
class Home {
  public:
    Home() : home_("HOME", folder_.root().c_str()), cache_("XDG_CACHE_HOME", nullptr) {}
    [[nodiscard]] const std::string& root() const { return folder_.root(); }
    [[nodiscard]] std::string file(const std::string& name = "topology-0") const {
        return folder_.root() + "/.cache/strata/" + name;
    }

    class Variable {
      public:
        Variable(const char* name, const char* value) : name_(name) {
            if (const char* before = getenv(name)) before_ = before;
            put(value);
        }
        ~Variable() { put(before_ ? before_->c_str() : nullptr); }
        Variable(const Variable&) = delete;
        Variable& operator=(const Variable&) = delete;

      private:
        void put(const char* value) { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }
        const char* name_;
        std::optional<std::string> before_;
    };

  private:
    strata::tests::FakeSystem folder_;
    Variable home_, cache_;
};

std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

size_t files_in(const std::string& folder) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}

/// A machine that only a cache can have told of.
Machine marked(const std::string& mark) {
    Machine machine;
    read_topology({}, machine);
    machine.cpu_model = mark;
    return machine;
}

std::string model_of(const Source& source) { return read_machine(source).cpu_model; }

constexpr Source kCached{"system", false, false, true, false};
constexpr Source kRecached{"system", false, false, false, true};
constexpr Source kPlain{"system", false, false, false, false};

/// What a child process says, at most a pipe's 64 kB.
template <class F>
std::string told_by_child(F&& child) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const std::string text = child();
        const ssize_t wrote = ::write(ends[1], text.data(), text.size());
        _exit(wrote == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    REQUIRE(status == 0);
    return text;
}

std::string topology_here() {
    Machine machine;
    read_topology({}, machine);
    return encode_topology(machine);
}

}  // namespace

TEST_CASE("a topology read back from the cache is the same in every field, on every machine") {
    const Home home;
    std::vector<std::string> sources;
    for (const auto& entry : fs::directory_iterator(STRATA_FIXTURES))
        if (entry.path().extension() == ".xml" && entry.path().stem() != "not-a-topology")
            sources.push_back(entry.path());
    REQUIRE(sources.size() >= 5);
    for (const char* text :
         {"pu:1", "package:2 numa:4 l3:2 core:8 pu:2", "package:8 numa:8 l3:2 core:32 pu:2"})
        sources.push_back(std::string("synthetic:") + text);
    sources.emplace_back("system");
    for (const std::string& source : sources) {
        INFO(source);
        const Machine whole = read_machine({.text = source, .with_limits = false});
        REQUIRE(store_topology_cache(home.file(), kKey, whole));
        Machine back = whole;
        back.cpu_model = "";
        back.packages.clear(), back.domains.clear(), back.memories.clear(), back.caches.clear();
        back.cores.clear(), back.core_kinds.clear(), back.distances.reset();
        REQUIRE(document(back) != document(whole));
        REQUIRE(load_topology_cache(home.file(), kKey, back));
        CHECK(document(back) == document(whole));
    }
}

TEST_CASE("distances of more values than one byte can number are kept exactly") {
    Machine machine = fixture("hbm-and-cxl.xml");
    constexpr size_t size = 20;
    machine.distances->matrix.assign(size, std::vector<double>(size));
    for (size_t i = 0; i < size * size; ++i)
        machine.distances->matrix[i / size][i % size] = 10 + static_cast<double>(i) / 3;
    Machine back;
    REQUIRE(decode_topology(encode_topology(machine), back));
    CHECK(back.distances->matrix == machine.distances->matrix);
}

TEST_CASE("a file damaged at any byte, cut at any length or longer than written is not believed") {
    const Home home;
    REQUIRE(store_topology_cache(home.file(), kKey, fixture("hybrid-6p-8e.xml")));
    const std::string whole = content(home.file());
    const std::string untouched = document(Machine{});
    Machine machine;
    const auto believed = [&](const std::string& text) {
        write(home.file(), text);
        return load_topology_cache(home.file(), kKey, machine);
    };
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const int flip : {0x01, 0x80, 0xFF}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ flip);
            if (believed(damaged)) FAIL("believed with byte " << at << " changed by " << flip);
        }
        if (believed(whole.substr(0, at))) FAIL("believed when cut at " << at);
    }
    CHECK_FALSE(believed(whole + '\0'));
    CHECK_FALSE(believed(whole + whole));
    std::string emptied =
        whole;  // as a crash of the system can leave it: the length is right, the bytes are not
    std::fill(emptied.begin() + 600, emptied.end(), '\0');
    CHECK_FALSE(believed(emptied));
    CHECK(document(machine) == untouched);
    CHECK(believed(whole));
}

TEST_CASE("any bytes can be decoded without harm, also those that no checksum guards") {
    const std::string whole = encode_topology(fixture("gpu-node.xml"));
    Machine machine;
    const auto decode = [&](const std::string& bytes) { (void)decode_topology(bytes, machine); };
    for (size_t at = 0; at < whole.size(); ++at) {
        for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(value);
            decode(damaged);
        }
        CHECK_FALSE(decode_topology(whole.substr(0, at), machine));
    }
    std::mt19937 random(1);
    for (int trial = 0; trial < 20000; ++trial) {
        std::string bytes(random() % 200, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 8);
        decode(bytes);
    }
}

TEST_CASE("every change of one word of a text changes its checksum") {
    const std::string text(100, 'a');
    for (size_t at = 0; at < text.size(); ++at) {
        std::string other = text;
        other[at] = 'b';
        CHECK(checksum(other) != checksum(text));
    }
    CHECK(checksum("") != checksum(std::string(1, '\0')));
    CHECK(checksum(std::string(8, '\0')) != checksum(std::string(16, '\0')));
}

TEST_CASE("the key tells every state of a host from every other") {
    const Home home;
    strata::tests::FakeSystem system;
    const std::vector<std::string> files = {
        "/proc/sys/kernel/random/boot_id",     "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/osrelease",          "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/possible",    "/sys/devices/system/node/online",
        "/sys/devices/system/node/has_memory", "/sys/devices/system/node/has_cpu"};
    for (const std::string& file : files) system.file(file, "0-1");
    const std::string key = topology_key(system.root());
    CHECK(topology_key(system.root()) == key);
    for (const std::string& file : files) {
        INFO(file);
        system.file(file, "0-2");
        CHECK(topology_key(system.root()) != key);
        system.file(file, "0-1");
        CHECK(topology_key(system.root()) == key);
    }
    {
        const Home::Variable steering("HWLOC_COMPONENTS", "-linuxio");
        CHECK(topology_key(system.root()) != key);
    }
    {
        const Home::Variable talk("HWLOC_HIDE_ERRORS", "2");
        CHECK(topology_key(system.root()) == key);
    }
    for (const char* other : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_THISSYSTEM"}) {
        INFO(other);
        const Home::Variable set(other, "1");
        CHECK(topology_key(system.root()).empty());
    }
    fs::remove(system.root() + files[0]);
    CHECK(topology_key(system.root()).empty());
}

TEST_CASE("hosts that share a home have a file each, and one host has one") {
    const Home home;
    strata::tests::FakeSystem one, other;
    one.file("/proc/sys/kernel/hostname", "node1");
    other.file("/proc/sys/kernel/hostname", "node2");
    const std::string file = topology_cache_file(one.root());
    CHECK(file != topology_cache_file(other.root()));
    CHECK(file.rfind(home.root() + "/.cache/strata/topology-", 0) == 0);
    const Machine machine = fixture("hybrid-6p-8e.xml");
    for (const char* boot : {"first", "second", "third"}) {
        REQUIRE(store_topology_cache(file, boot, machine));
        REQUIRE(store_topology_cache(topology_cache_file(other.root()), boot, machine));
    }
    CHECK(files_in(fs::path(file).parent_path()) == 2);
    Machine back;
    CHECK(load_topology_cache(file, "third", back));
    CHECK_FALSE(load_topology_cache(file, "second", back));
}

TEST_CASE("the cache lies where the environment says, and nowhere where it says nothing") {
    const Home home;
    {
        const Home::Variable elsewhere("XDG_CACHE_HOME", "/elsewhere");
        CHECK(topology_cache_file().rfind("/elsewhere/strata/topology-", 0) == 0);
    }
    {
        const Home::Variable relative("XDG_CACHE_HOME", "relative");
        CHECK(topology_cache_file().rfind(home.root() + "/.cache/", 0) == 0);
    }
    const Home::Variable homeless("HOME", nullptr);
    CHECK(topology_cache_file().empty());
    CHECK_FALSE(model_of(kCached).empty());
    CHECK(files_in(home.root()) == 0);
}

TEST_CASE("a start takes the cache only when it is asked to, and a fresh reading replaces it") {
    const Home home;
    const std::string real = model_of(kPlain);
    CHECK(files_in(home.root()) == 0);
    REQUIRE(store_topology_cache(topology_cache_file(), topology_key(), marked("from the cache")));
    CHECK(model_of(kPlain) == real);
    CHECK(model_of(kCached) == "from the cache");
    CHECK(model_of(kRecached) == real);
    CHECK(model_of(kCached) == real);
    // A file for another state of this host is not taken, and not left either.
    REQUIRE(store_topology_cache(topology_cache_file(), "another boot", marked("from the cache")));
    CHECK(model_of(kCached) == real);
    Machine back;
    CHECK(load_topology_cache(topology_cache_file(), topology_key(), back));
    CHECK(back.cpu_model == real);
    // Half a file is replaced as well, in silence.
    fs::resize_file(topology_cache_file(), fs::file_size(topology_cache_file()) / 2);
    CHECK(model_of(kCached) == real);
    CHECK(load_topology_cache(topology_cache_file(), topology_key(), back));
}

TEST_CASE("a machine described by a file or by words is never cached") {
    const Home home;
    CHECK(read_machine({.text = "synthetic:package:2 core:4 pu:1", .cached = true}).cores.size() == 8);
    CHECK(read_machine({.text = STRATA_FIXTURES "/hybrid-6p-8e.xml", .recached = true}).cores.size() == 14);
    CHECK(files_in(home.root()) == 0);
}

TEST_CASE("a topology that hwloc was told of another machine is refused, cache or not") {
    const Home home;
    REQUIRE_FALSE(model_of(kCached).empty());
    const Home::Variable set("HWLOC_XMLFILE", STRATA_FIXTURES "/hybrid-6p-8e.xml");
    CHECK_THROWS(read_machine(kCached));
}

TEST_CASE("a file that others may have written is not believed") {
    const Home home;
    const Machine machine = fixture("hybrid-6p-8e.xml");
    REQUIRE(store_topology_cache(home.file(), kKey, machine));
    Machine back;
    for (const mode_t mode : {0620, 0602, 0666}) {
        REQUIRE(chmod(home.file().c_str(), mode) == 0);
        CHECK_FALSE(load_topology_cache(home.file(), kKey, back));
    }
    REQUIRE(chmod(home.file().c_str(), 0644) == 0);
    CHECK(load_topology_cache(home.file(), kKey, back));
    if (geteuid() == 0) {
        REQUIRE(chown(home.file().c_str(), 65534, 65534) == 0);
        CHECK_FALSE(load_topology_cache(home.file(), kKey, back));
        CHECK(store_topology_cache(home.file(), kKey, machine));
        CHECK(load_topology_cache(home.file(), kKey, back));
    }
    fs::rename(home.file(), home.file("elsewhere"));
    fs::create_symlink(home.file("elsewhere"), home.file());
    CHECK_FALSE(load_topology_cache(home.file(), kKey, back));
    fs::remove(home.file());
    REQUIRE(mkfifo(home.file().c_str(), 0600) == 0);
    CHECK_FALSE(load_topology_cache(home.file(), kKey, back));  // and does not wait for a writer
}

TEST_CASE("where nothing can be written there is no cache, and no error") {
    const Home home;
    const std::string real = model_of(kPlain);
    const auto reads_all_the_same = [&] {
        CHECK(model_of(kCached) == real);
        CHECK(model_of(kRecached) == real);
    };
    for (const char* folder : {"/proc", "/dev/null", "/nonexistent/folder"}) {
        INFO(folder);
        const Home::Variable set("XDG_CACHE_HOME", folder);
        reads_all_the_same();
    }
    // A folder in the file's place.
    fs::create_directories(topology_cache_file() + "/inner");
    reads_all_the_same();
    CHECK(files_in(fs::path(topology_cache_file()).parent_path()) == 1);
    fs::remove_all(home.root() + "/.cache");
    fs::permissions(home.root(), fs::perms::owner_read | fs::perms::owner_exec);
    if (geteuid() == 0) {
        // To root no folder is unwritable; but in another's home it leaves nothing.
        REQUIRE(chown(home.root().c_str(), 65534, 65534) == 0);
    }
    reads_all_the_same();
    CHECK(files_in(home.root()) == 0);
    fs::permissions(home.root(), fs::perms::owner_all);
}

TEST_CASE("a link to a folder is followed where it is this user's own, and no other user's") {
    const Home home;
    const std::string elsewhere = home.root() + "/elsewhere", link = home.root() + "/.cache/strata";
    fs::create_directories(elsewhere);
    fs::create_directories(home.root() + "/.cache");
    fs::create_directory_symlink(elsewhere, link);
    CHECK(store_topology_cache(home.file(), kKey, fixture("hybrid-6p-8e.xml")));
    CHECK(fs::exists(elsewhere + "/topology-0"));
    if (geteuid() != 0) return;
    fs::remove(elsewhere + "/topology-0");
    REQUIRE(lchown(link.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(store_topology_cache(home.file(), kKey, fixture("hybrid-6p-8e.xml")));
    CHECK(fs::is_empty(elsewhere));
}

TEST_CASE("a process whose files may not grow writes none, and lives") {
    const Home home;
    const std::string told = told_by_child([&] {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_FSIZE, &none);
        return model_of(kCached) +
               (fs::exists(home.root() + "/.cache") ? " and wrote" : " and wrote nothing");
    });
    CHECK(told == model_of(kPlain) + " and wrote nothing");
}

TEST_CASE("what a killed writer left is removed, and a live one's file is left alone") {
    const Home home;
    const Machine machine = fixture("hybrid-6p-8e.xml");
    REQUIRE(store_topology_cache(home.file(), kKey, machine));
    const std::string unfinished = home.file() + ".new";
    write(unfinished, "half");
    CHECK_FALSE(store_topology_cache(home.file(), "another", machine));
    CHECK(content(unfinished) == "half");
    fs::last_write_time(unfinished, fs::file_time_type::clock::now() - std::chrono::minutes(1));
    CHECK(store_topology_cache(home.file(), "another", machine));
    CHECK(files_in(fs::path(home.file()).parent_path()) == 1);
}

TEST_CASE("the files of hosts that have gone are forgotten after a while, and nothing else is") {
    const Home home;
    const Machine machine = fixture("hybrid-6p-8e.xml");
    for (const char* name : {"topology-1", "topology-2", "topology-3.new", "notes"}) {
        REQUIRE(store_topology_cache(home.file(), kKey, machine));
        write(home.file(name), "old");
        if (std::string(name) != "topology-1")
            fs::last_write_time(home.file(name),
                                fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
    }
    REQUIRE(store_topology_cache(home.file(), kKey, machine));
    CHECK(fs::exists(home.file("topology-1")));
    CHECK(fs::exists(home.file("notes")));
    CHECK_FALSE(fs::exists(home.file("topology-2")));
    CHECK_FALSE(fs::exists(home.file("topology-3.new")));
}

TEST_CASE("several processes that write at once leave a whole file, and who reads meanwhile sees one") {
    const Home home;
    const Machine small = fixture("hybrid-6p-8e.xml"), large = fixture("epyc-256-cores-8-domains.xml");
    REQUIRE(store_topology_cache(home.file(), kKey, small));
    std::vector<pid_t> writers;
    for (int w = 0; w < 4; ++w) {
        writers.push_back(fork());
        if (writers.back() == 0) {
            for (int i = 0; i < 200; ++i)
                store_topology_cache(home.file(), kKey, (i + w) % 2 == 0 ? small : large);
            _exit(0);
        }
    }
    size_t running = writers.size(), seen_small = 0, seen_large = 0;
    while (running > 0) {
        Machine back;
        REQUIRE(load_topology_cache(home.file(), kKey, back));
        (back.cores.size() == small.cores.size() ? seen_small : seen_large) += 1;
        CHECK((back.cores.size() == small.cores.size() || back.cores.size() == large.cores.size()));
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(status == 0);
            --running;
        }
    }
    CHECK(seen_small + seen_large > 0);
    CHECK(files_in(fs::path(home.file()).parent_path()) == 1);
}

TEST_CASE("the topology is the same seen from a process that may use only a part of it") {
    const std::string whole = topology_here();
    const std::string bound = told_by_child([] {
        cpu_set_t last;
        CPU_ZERO(&last);
        cpu_set_t mine;
        sched_getaffinity(0, sizeof mine, &mine);
        for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
            if (CPU_ISSET(cpu, &mine) == 0) continue;
            CPU_SET(cpu, &last);
            break;
        }
        sched_setaffinity(0, sizeof last, &last);
        return topology_here();
    });
    CHECK(bound == whole);

    const ControllerPath cpuset = find_controller("cpuset");
    const std::string group = cpuset.folder() + "/strata-test-" + std::to_string(getpid());
    if (cpuset.version != 1 || mkdir(group.c_str(), 0755) != 0) return;  // no right to make a CPU set here
    write(group + "/cpuset.cpus", "0");
    write(group + "/cpuset.mems", "0");
    const std::string confined = told_by_child([&] {
        write(group + "/cgroup.procs", std::to_string(getpid()));
        cpu_set_t mine;
        sched_getaffinity(0, sizeof mine, &mine);
        return CPU_COUNT(&mine) == 1 ? topology_here() : std::string("not confined");
    });
    while (rmdir(group.c_str()) != 0 && errno == EBUSY) usleep(1000);
    CHECK(confined == whole);
}
