// How much others use of each CPU, on systems that are described.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "benchmarks/integrity/others.hpp"
#include "tests/catch.hpp"

using namespace strata::integrity;

namespace {

/// A system of two CPUs, whose counters go on as a test says.
class System {
  public:
    System() : root_(std::filesystem::temp_directory_path() / fmt::format("strata-others-{}", getpid())) {
        std::filesystem::create_directories(root_ / "proc");
    }
    ~System() { std::filesystem::remove_all(root_); }
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    [[nodiscard]] std::string root() const { return root_.string(); }
    /// Adds seconds of being idle and stolen to both CPUs.
    void pass(double idle0, double idle1, double stolen0 = 0, int running = 1) {
        idle_[0] += idle0;
        idle_[1] += idle1;
        stolen_ += stolen0;
        const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
        std::ofstream file(root_ / "proc" / "stat");
        file << "cpu  0 0 0 0 0 0 0 0 0 0\n";
        for (int pu : {0, 1})
            file << fmt::format("cpu{} 5 0 7 {:.0f} 0 0 0 {:.0f} 0 0\n", pu, ticks * idle_[pu],
                                ticks * (pu == 0 ? stolen_ : 0));
        file << fmt::format("intr 1 2 3\nctxt 5\nprocs_running {}\nprocs_blocked 0\n", running);
    }

  private:
    std::filesystem::path root_;
    double idle_[2] = {100, 100}, stolen_ = 0;
};

}  // namespace

TEST_CASE("a CPU that is busy with others is in use, an idle one is not") {
    System system;
    Others others(system.root());
    system.pass(0, 0);
    others.look(10, {});
    CHECK(others.share(0) == 0);  // nothing is known yet
    for (int tick = 1; tick <= 3; ++tick) {
        system.pass(0, 0.02, 0, 4);
        others.look(10 + 0.02 * tick, {});
    }
    CHECK(others.share(0) == Approx(1));
    CHECK(others.share(1) == Approx(0).margin(1e-9));
    CHECK(others.all() == Approx(1));
    CHECK(others.running() == 4);
}

TEST_CASE("what a worker has is not others' use, what it wants and does not get is") {
    System system;
    Others others(system.root());
    system.pass(0, 0);
    others.look(10, {{0, {1.0, true}}, {1, {1.0, true}}});
    system.pass(0, 0.1);  // CPU 1 was idle by the ticks, which see only whole hundredths of a second
    others.look(10.1, {{0, {1.1, true}}, {1, {1.02, true}}});
    CHECK(others.share(0) == Approx(0).margin(1e-9));
    CHECK(others.share(1) == Approx(0.8));
}

TEST_CASE("what the hypervisor takes is nobody's use here") {
    System system;
    Others others(system.root());
    system.pass(0, 0);
    others.look(10, {{0, {1.0, true}}});
    system.pass(0, 0.1, 0.06);
    others.look(10.1, {{0, {1.04, true}}});
    CHECK(others.share(0) == Approx(0).margin(1e-9));
}

TEST_CASE("a CPU is free again three looks after others have gone") {
    System system;
    Others others(system.root());
    system.pass(0, 0);
    others.look(10, {});
    system.pass(0, 0.1);
    others.look(10.1, {});
    CHECK(others.share(0) == Approx(1));
    for (int tick = 2; tick <= 4; ++tick) {
        system.pass(0.1, 0.1);
        others.look(10 + 0.1 * tick, {});
    }
    CHECK(others.share(0) == Approx(0).margin(1e-9));
}
