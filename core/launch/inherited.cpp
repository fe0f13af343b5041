#include "core/launch/inherited.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/peer.hpp"
#include "core/launch/program.hpp"

namespace strata::launch {
namespace {

constexpr std::chrono::milliseconds kOthersCome(500);

/// Whether this is the first of the ranks that one daemon has started on this node to say something: they
/// find the same at the same time. A name in the kernel's own (abstract) space, gone with the process that
/// holds it, and held until the others have come. Another user who holds it silences nobody.
bool first_to_say() {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const std::string name = fmt::format("strata-said-{}-{}", getuid(), getppid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const auto* name_of_it = reinterpret_cast<const sockaddr*>(&address);
    if (fd < 0) return true;
    if (bind(fd, name_of_it, length) == 0) {
        listen(fd, SOMAXCONN);  // nobody is answered: that somebody listens says enough
        return true;
    }
    if (errno != EADDRINUSE) return true;
    // Whoever has the name listens a moment later, and the kernel says who that is.
    int called = connect(fd, name_of_it, length);
    for (int tries = 0; called != 0 && tries < 20; ++tries) {
        std::this_thread::sleep_for(kOthersCome / 50);
        called = connect(fd, name_of_it, length);
    }
    return called != 0 || !is_trusted_peer(fd);
}

}  // namespace

void refuse_contradicting_policy(const MemoryWish& wish, const std::string& machine) {
    const std::string inherited = wish.policy == Policy::inherit ? "" : inherited_policy();
    if (inherited.empty() || machine != "system") return;
    throw Error("the memory policy inherited contradicts the one asked")
        .given(fmt::format("--memory {} inside numactl {}", to_text(wish), inherited))
        .allowed("one of the two")
        .remedy("leave out numactl around the launcher, or --memory");
}

void refuse_contradicting_binding(const Placement& placement, int index, const Rank& rank,
                                  const std::vector<int>& inherited,
                                  const std::vector<std::string>& command) {
    const std::vector<int> wanted = placement.pus(index);
    if (std::includes(inherited.begin(), inherited.end(), wanted.begin(), wanted.end())) return;
    if (!first_to_say()) {
        // The first of them to end has the others ended (Open MPI 5), so the one that speaks ends first.
        std::this_thread::sleep_for(3 * kOthersCome);
        std::exit(kBadInput);
    }
    std::this_thread::sleep_for(kOthersCome);
    const std::string by_srun = environment_value("SLURM_CPU_BIND");
    const Layout& layout = placement.layout;
    const std::string places = fmt::format("process {} on PU {}; layout {} puts it on PU {}", rank.rank,
                                           print_cpulist(inherited), to_text(layout), print_cpulist(wanted));
    if (by_srun.empty() || environment_value("SLURM_STEP_ID").empty())
        throw Error("the binding inherited from the launcher around this one contradicts the layout")
            .given("held is " + places)
            .allowed("a launcher around this one that binds nothing, or just so")
            .remedy(
                "mpirun --bind-to none (Open MPI), mpiexec -bind-to none (MPICH); or strata launch -- mpirun "
                "..., which sees to it");
    std::string line = fmt::format("strata launch --layout {}", to_text(layout));
    if (layout.stride != 1) line += fmt::format(" --stride {}", layout.stride);
    if (layout.bind != Bind::core) line += " --bind " + bind_text(layout);
    for (size_t i = 0; i < command.size(); ++i) line += (i == 0 ? " -- " : " ") + command[i];
    throw Error("srun's binding contradicts the layout")
        .given(fmt::format("srun --cpu-bind={} holds {}", by_srun, places))
        .allowed("srun --cpu-bind=none: each rank then takes its place in the layout by itself")
        .remedy(fmt::format("srun --cpu-bind=none -n {} {}", rank.size, line));
}

}  // namespace strata::launch
