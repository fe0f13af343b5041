#include "core/base/in_a_child.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace strata;

TEST_CASE("what a process of its own gives comes back whole, and nothing of one that died or gave too much") {
    const std::string long_one(300000, 'x');
    CHECK(in_a_child([&] { return long_one; }) == long_one);
    CHECK(in_a_child([] { return ""; }) == "");
    CHECK_FALSE(in_a_child([]() -> std::string { throw std::runtime_error("no"); }));
    CHECK_FALSE(in_a_child([]() -> std::string { _exit(0 + raise(SIGSEGV)); }));
    CHECK_FALSE(in_a_child([]() -> std::string { _exit(3); }));
    CHECK_FALSE(in_a_child([] { return std::string((std::size_t{64} << 20) + 1, 'x'); }));
    CHECK_FALSE(in_a_child([] {
        claim_at_most(std::size_t{8} << 20);
        return std::to_string(std::vector<char>(std::size_t{256} << 20, 'x').size());
    }));
}

TEST_CASE("a process of its own has little time, leaves no core file and hears the signals that end it") {
    const auto said = in_a_child([] {
        rlimit core{1, 1}, cpu{};
        getrlimit(RLIMIT_CORE, &core), getrlimit(RLIMIT_CPU, &cpu);
        sigset_t blocked;
        sigprocmask(SIG_BLOCK, nullptr, &blocked);
        return std::to_string(core.rlim_max) + " " + std::to_string(cpu.rlim_max) + " " +
               std::to_string(alarm(0) > 0) + std::to_string(sigismember(&blocked, SIGALRM));
    });
    CHECK(said == "0 30 10");
}

TEST_CASE("a child that dies is known to have died also where the kernel collects children") {
    const auto before = signal(SIGCHLD, SIG_IGN);
    CHECK(in_a_child([] { return "said"; }) == "said");
    CHECK_FALSE(in_a_child([]() -> std::string { _exit(0 + raise(SIGSEGV)); }));
    signal(SIGCHLD, before);
}
