// Joins a member to its team under mpirun or srun.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/mpi.hpp"
#include "core/machine/machine.hpp"
#include "core/team/crew_table.hpp"
#include "core/team/mpi/keeper.hpp"
#include "core/team/mpi/lines.hpp"
#include "core/team/mpi/mpi_nodes.hpp"
#include "core/team/mpi/seen_binding.hpp"
#include "core/team/seats.hpp"

// As in core/team/team.cpp, type 2: the program can be started by mpirun and srun too.
asm(".pushsection .note.strata.team_mpi, \"a\", %note\n"
    ".balign 4\n"
    ".long 7, 4, 2\n"
    ".asciz \"STRATA\"\n"
    ".balign 4\n"
    ".long 1\n"
    ".popsection\n");

namespace strata::team {
namespace {

/// The communicators of a team: all members by their ranks, those of one machine, those of one node, and one
/// of each node (null in the others).
struct Communicators {
    MPI_Comm members = MPI_COMM_NULL, machine = MPI_COMM_NULL, node = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
    Where where;
    std::vector<int> first_ranks;
};

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

/// An error that all ranks find alike; rank 0 reports it for all.
struct SaidByRankZero {};

/// STRATA_RANKS_PER_NODE=k: every k ranks of a machine count as a node of their own (0: all are one node).
int ranks_per_node(int world_rank) {
    const char* said = std::getenv("STRATA_RANKS_PER_NODE");
    if (said == nullptr || *said == '\0') return 0;
    const int ranks = std::atoi(said);
    if (ranks < 1 && world_rank != 0) throw SaidByRankZero();
    if (ranks < 1)
        throw Error("the ranks of a node are not a positive number")
            .given(fmt::format("STRATA_RANKS_PER_NODE={}", said))
            .remedy("unset it: ranks that can share memory are a node");
    return ranks;
}

Communicators make_communicators() {
    Communicators comms;
    const int world = rank_in(MPI_COMM_WORLD), split = ranks_per_node(world);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &comms.machine);
    const int on_machine = rank_in(comms.machine);
    MPI_Comm_split(comms.machine, split == 0 ? 0 : on_machine / split, world, &comms.node);
    Where& where = comms.where;
    where.size = size_of(MPI_COMM_WORLD);
    where.local_rank = rank_in(comms.node);
    where.local_size = size_of(comms.node);
    MPI_Comm_split(MPI_COMM_WORLD, where.local_rank == 0 ? 0 : MPI_UNDEFINED, world, &comms.leaders);
    if (comms.leaders != MPI_COMM_NULL) {
        where.node = rank_in(comms.leaders);
        where.nodes = size_of(comms.leaders);
    }
    MPI_Bcast(&where.node, 1, MPI_INT, 0, comms.node);
    MPI_Bcast(&where.nodes, 1, MPI_INT, 0, comms.node);
    std::vector<int> sizes(static_cast<std::size_t>(where.nodes));
    if (comms.leaders != MPI_COMM_NULL)
        MPI_Allgather(&where.local_size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comms.leaders);
    MPI_Bcast(sizes.data(), where.nodes, MPI_INT, 0, comms.node);
    comms.first_ranks.push_back(0);
    for (const int size : sizes) comms.first_ranks.push_back(comms.first_ranks.back() + size);
    where.rank = comms.first_ranks[static_cast<std::size_t>(where.node)] + where.local_rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, where.rank, &comms.members);
    // A lost peer must come back as an error, which is then explained; by default MPI would end the process.
    MPI_Comm_set_errhandler(comms.members, MPI_ERRORS_RETURN);
    if (comms.leaders != MPI_COMM_NULL) MPI_Comm_set_errhandler(comms.leaders, MPI_ERRORS_RETURN);
    return comms;
}

/// The arena's descriptor and size. The first member's keeper makes the arena; the others' keepers pass it
/// on.
struct ArenaHandle {
    int descriptor = -1;
    std::uint64_t capacity = 0;
};

ArenaHandle arrange(const Communicators& comms, int line) {
    Message word{.kind = Message::Kind::place};
    word.where = comms.where;
    send_message(line, word);
    Received here;
    Message names{.kind = Message::Kind::join};
    if (comms.where.local_rank == 0) {
        here = await_message(line);
        names = *here.message;
        names.kind = Message::Kind::join;
        // The address of the first node's keeper and the secret of the run, for all nodes.
        Message first = names;
        MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comms.leaders);
        names.network_token = first.network_token;
        std::memcpy(names.text, first.text, sizeof names.text);
    }
    MPI_Bcast(&names, sizeof names, MPI_BYTE, 0, comms.node);
    names.where = comms.where;
    send_message(line, names);
    const Received arena = await_message(line);
    return {comms.where.local_rank == 0 ? here.descriptor : arena.descriptor, names.capacity};
}

/// Maps the arena at one address in all members of the node: the first proposes an address, all try it.
Arena map_together(const Communicators& comms, const ArenaHandle& handle) {
    std::optional<Arena> arena;
    if (comms.where.local_rank == 0) arena = Arena::view(handle.descriptor, handle.capacity);
    while (true) {
        std::uint64_t address = 0;
        if (comms.where.local_rank == 0 && arena->move_on()) address = arena->address();
        MPI_Bcast(&address, 1, MPI_UINT64_T, 0, comms.node);
        if (address == 0)
            throw Error("no address for the arena is free in every member", kFailure)
                .remedy("a smaller capacity");
        if (comms.where.local_rank != 0) {
            arena.reset();
            arena = Arena::join(fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 0), address, handle.capacity);
        }
        int mine = arena ? 1 : 0, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comms.node);
        if (all != 0) break;
    }
    if (comms.where.local_rank != 0) close(handle.descriptor);
    return std::move(*arena);
}

/// The texts of all ranks of a communicator, by rank.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine) {
    int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_of(comm))), begins;
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm);
    int total = 0;
    for (const int each : lengths) {
        begins.push_back(total);
        total += each;
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, comm);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        texts.push_back(
            all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
}

/// Collects all members' bindings. The first member of each node makes a placement of them. The first members
/// exchange these placements, and lay out the shared arrays of their nodes.
void place_all(const Communicators& comms, Arena& arena) {
    const std::string mine = to_text(see_binding());
    std::vector<SeenBinding> machine, node;
    for (const std::string& text : gather_texts(comms.machine, mine)) machine.push_back(parse_binding(text));
    for (const std::string& text : gather_texts(comms.node, mine)) node.push_back(parse_binding(text));
    if (comms.where.local_rank != 0) return;
    const machine::Machine here = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const launch::Placement local = placement_of(node, machine, here);
    const bool crowded = are_crowded(machine, here);
    launch::Placement all = local;
    all.threads.clear();
    all.layout.threads = 1;
    for (const std::string& text : gather_texts(comms.leaders, launch::encode(local))) {
        const launch::Placement part = launch::decode(text, local.layout);
        all.threads.insert(all.threads.end(), part.threads.begin(), part.threads.end());
    }
    for (const auto& member : all.threads)
        all.layout.threads = std::max(all.layout.threads, static_cast<int>(member.size()));
    all.layout.processes = comms.where.size;
    lay_out(arena, all, neighbourhood(here, local), crowded, comms.where.rank, comms.where.nodes);
    const CrewPlaces places = crew_places(here, local);
    CrewTable::form(arena.allocate(kCrewsArray, CrewTable::bytes(places)), places);
}

/// An MPI library with a foreign launcher makes each rank a world of its own, without an error: as many runs
/// would write the same results.
void check_not_alone(const std::optional<launch::Rank>& said) {
    if (!said || said->size == 1 || size_of(MPI_COMM_WORLD) > 1) return;
    if (said->rank != 0) throw SaidByRankZero();
    throw Error("the ranks do not find each other: MPI tells each that it is alone")
        .given(fmt::format("rank {} of {}", said->rank, said->size))
        .allowed("a launcher that this program's MPI knows")
        .remedy(launch::remedy_for_lone_ranks());
}

Joined join_by(const KeeperLink& kept) {
    int level = 0;
    const auto said = launch::rank_from_environment();
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    check_not_alone(said);
    Communicators comms = make_communicators();
    const ArenaHandle handle = arrange(comms, kept.line);
    Arena arena = map_together(comms, handle);
    place_all(comms, arena);
    MPI_Barrier(comms.node);
    auto [placement, crowded] = read_facts(arena);
    auto nodes = std::make_unique<MpiNodes>(comms.members, comms.leaders, comms.where.node, comms.first_ranks,
                                            arena.failure(), crowded, kept.line);
    MPI_Comm_free(&comms.machine);
    MPI_Comm_free(&comms.node);
    return {comms.where, std::move(arena), std::move(placement), crowded, std::move(nodes)};
}

Joined join(const std::string& word, const Options&) {
    const KeeperLink kept = parse_keeper_link(word);
    if (getppid() != kept.keeper) _exit(128 + SIGKILL);
    fcntl(kept.line, F_SETFD, FD_CLOEXEC);
    try {
        return join_by(kept);
    } catch (const SaidByRankZero&) {
        send_message(kept.line, Message{.kind = Message::Kind::failed});
        // MPI's launcher ends the others when rank 0 has ended.
        std::this_thread::sleep_for(std::chrono::seconds(2));
        _exit(kBadInput);
    } catch (const std::exception&) {
        send_message(kept.line, Message{.kind = Message::Kind::failed});
        throw;
    }
}

bool too_late() {
    int yes = 0;
    MPI_Initialized(&yes);
    return yes != 0;
}

constexpr MpiStart kStart = {keep_rank, join, too_late};

}  // namespace
}  // namespace strata::team

const strata::team::MpiStart* strata_team_mpi_start() { return &strata::team::kStart; }
