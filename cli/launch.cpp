// strata launch: a program under a layout.
#include "cli/commands.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "cli/programs.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"
#include "core/launch/broadcast.hpp"
#include "core/launch/launch.hpp"
#include "core/launch/over_nodes.hpp"

namespace strata::cli {
namespace {

/// Where processes, threads and pages go.
void add_placement_options(Options& options) {
    options.option("--layout", "PxT", "1x1", "processes x threads of each")
        .option("--nodes", "N", "",
                "on so many nodes of a Slurm cluster: the layout counts the processes of all of them")
        .flag("--label", "with --nodes: each line of output begins with its rank")
        .optional(
            "--bcast", "FOLDER", "/tmp",
            "with --nodes, in a job: send the program and its libraries to FOLDER on each node first (/tmp "
            "unless said)")
        .option("--stride", "N", "1", "cores from one thread to the next")
        .option("--bind", "WIDTH", "core",
                "hold each thread on its core, or within the cache, numa domain or package around it; none: "
                "leave it to the system; LIST: on these PUs (the system's numbers); "
                "likwid:EXPR: as likwid-pin -c EXPR, parts for several processes joined by _")
        .option("--memory", "POLICY", "",
                "first-touch, interleave[:LIST], local (the domains of its own threads) or bind:LIST (the "
                "system's numbers)")
        .option("--huge-pages", "HOW", "as-is",
                "on: malloc asks for them; off: never, whatever the program asks")
        .option("--smt", "N", "1", "use N PUs of each core rather than one")
        .option("--core-kind", "KIND", "",
                "of a hybrid processor: performance, efficiency or a kind's number")
        .option("--near", "DEVICE", "",
                "gpu or nic (or gpu:NAME): each process on the cores nearest to its device")
        .option("--placement", "FILE", "", "a place for each process and thread, line by line")
        .option(
            "--text", "WHERE", "as-is",
            "bring the program's and its libraries' code to the domain of process 0 (local), or spread it "
            "(interleave)");
}

/// What holds for the run, and what is said of it.
void add_run_options(Options& options) {
    options.option("--memory-limit", "SIZE", "", "of all processes together, enforced by the kernel")
        .flag("--exclusive", "a cpuset of its own: no other cpuset may use its cores")
        .flag("--mpi",
              "a team program that links strata::team_mpi: by its MPI's mpirun, not as a team of one node")
        .flag("--explain", "say on standard error what goes where and why, then do it")
        .flag("--dry-run", "say what would be done, and do nothing")
        .flag("--json", "with --dry-run: the document strata.placement/1")
        .option("--machine", "SOURCE", "",
                "with --dry-run: on another machine, an hwloc XML file or synthetic:DESCRIPTION")
        .flag("--check", "stay, read the placement back, and fail when the program did not keep it")
        .option("--record", "FILE", "", "stay with the run and write down what happened to it, as JSON")
        .option("--timeout", "SECONDS", "", "end the run after this long")
        .flag("--own-share", "a scheduling group of its own, so that it keeps its CPUs beside other load");
}

void add_examples(Options& options) {
    options.example("strata launch --layout 1x4 -- ./omp_program", "one process, four bound threads")
        .example("strata launch --layout 4x2 -- ./mpi_program",
                 "with that MPI's own mpirun, four ranks of two threads")
        .example("strata launch --layout 4x2 --bind numa --memory local -- mpirun -n 4 ./mpi_program",
                 "around one's own mpirun or srun; pages in each rank's own domain")
        .example("strata launch --bind likwid:S0:0-3@S1:0-3 -- ./omp_program",
                 "a string of likwid-pin's: eight threads, four on each socket")
        .example("strata launch --layout 1x8 --memory interleave -- ./omp_program",
                 "pages dealt over the memories of the eight threads")
        .example("strata launch --exclusive --memory-limit 8GiB -- ./a.out",
                 "nobody else on its core, and an error that says so when it needs more")
        .example("strata launch --layout 36x4 --dry-run --machine node.xml -- ./a.out",
                 "where everything would go on a machine that one has only lstopo's file of")
        .example("strata launch --layout 2x1 --record run.json -- ./a.out", "and what really happened")
        .example("strata launch --nodes 4 --layout 64x4 -- ./hybrid",
                 "16 processes of four threads on each of four nodes, by srun")
        .example("strata launch --nodes 400 --layout 25600x1 --bcast -- ./a.out",
                 "from the nodes' own /tmp, rather than all from one file server");
}

Options declare() {
    Options options(
        "strata launch",
        "Runs a serial, OpenMP, forking or MPI program under a layout: so many processes and threads, "
        "each on cores of its own, with its pages where they belong.");
    add_placement_options(options);
    add_run_options(options);
    options.hidden("--as-rank", true)
        .hidden("--read-node", true)
        .rest("command args", "the program and its arguments, or mpirun or srun with theirs");
    add_examples(options);
    return options;
}

/// The parent's end of life, as a pipe that it holds open: its number comes from STRATA_LIFELINE_FD.
std::optional<int> lifeline() {
    const std::string text = launch::environment_value("STRATA_LIFELINE_FD");
    if (text.empty()) return std::nullopt;
    const auto fd = parse_number<int>(text);
    if (!fd || fcntl(*fd, F_GETFD) < 0)
        throw Error("the lifeline is not an open file")
            .given("STRATA_LIFELINE_FD=" + text)
            .allowed("the number of a pipe's end that this process inherited")
            .remedy("unset STRATA_LIFELINE_FD");
    return fd;
}

/// Options that say the same thing in two ways.
void refuse_together(const Parsed& parsed, const char* one, const char* other) {
    if (!parsed.has(one) || !parsed.has(other)) return;
    throw Error("these options exclude each other")
        .given(std::string(one) + " and " + other)
        .allowed("one of the two")
        .remedy(std::string("leave out ") + other + ", or " + one);
}

launch::Wish wish_from(const Parsed& parsed) {
    launch::Wish wish;
    wish.layout = launch::parse_layout(parsed.text("--layout"));
    wish.layout_given = parsed.has("--layout");
    wish.layout.stride = static_cast<int>(parsed.integer("--stride", 1, 1 << 16));
    launch::parse_bind(parsed.text("--bind"), wish.layout);
    if (parsed.has("--memory")) wish.memory = launch::parse_memory(parsed.text("--memory"));
    wish.huge = launch::parse_huge(parsed.text("--huge-pages"));
    wish.smt = static_cast<int>(parsed.integer("--smt", 1, 1 << 10));
    wish.core_kind = parsed.text("--core-kind");
    wish.near = parsed.text("--near");
    wish.file = parsed.text("--placement");
    if (!parsed.has("--as-rank"))
        for (const char* other : {"--stride", "--bind", "--smt", "--core-kind", "--near"})
            refuse_together(parsed, "--placement", other);
    if (wish.layout.bind == launch::Bind::list)
        for (const char* other : {"--smt", "--core-kind", "--near"}) refuse_together(parsed, "--bind", other);
    if (wish.layout.bind == launch::Bind::none && !wish.near.empty())
        throw Error("threads that are not held anywhere are near nothing")
            .given("--near " + wish.near + " with --bind none")
            .allowed("--near with --bind core, cache, numa or package")
            .remedy("--near " + wish.near + " --bind numa, or leave out --near");
    return wish;
}

launch::Request request_from(const Parsed& parsed) {
    launch::Request request;
    request.wish = wish_from(parsed);
    request.command = parsed.rest();
    request.explain = parsed.has("--explain");
    request.dry_run = parsed.has("--dry-run");
    request.mpi = parsed.has("--mpi");
    request.json = parsed.has("--json");
    if (request.json && !request.dry_run)
        throw Error("a plan is for a dry run")
            .given("--json without --dry-run")
            .allowed("--dry-run --json")
            .remedy("add --dry-run; --record FILE writes down what a run did");
    request.text = launch::parse_text(parsed.text("--text"));
    request.limits.exclusive = parsed.has("--exclusive");
    if (parsed.has("--memory-limit")) request.limits.memory_bytes = parsed.size("--memory-limit");
    request.watch.own_share = parsed.has("--own-share");
    request.watch.check = parsed.has("--check");
    request.watch.explain = request.explain;
    request.watch.record = parsed.maybe("--record");
    request.as_rank = parsed.maybe("--as-rank");
    if (!request.as_rank) request.rank_program = find_program("strata-rank");
    if (parsed.has("--timeout")) request.watch.timeout_s = parsed.number("--timeout", 0.001, 1e9);
    if (!request.as_rank) request.watch.lifeline = lifeline();
    if (parsed.has("--machine")) {
        request.machine = parsed.text("--machine");
        if (!request.dry_run)
            throw Error("a described machine runs nothing")
                .given("--machine " + request.machine)
                .allowed("--machine with --dry-run")
                .remedy("add --dry-run, or leave out --machine");
    }
    if (request.command.empty())
        throw Error("no command to launch")
            .given("nothing after --")
            .allowed("strata launch [options] -- command args")
            .remedy("strata launch --layout 1x1 -- ./a.out");
    return request;
}

}  // namespace

int launch_command(int argc, char** argv) {
    const Parsed parsed = declare().parse(argc, argv);
    if (parsed.help()) return kSuccess;
    launch::Request request = request_from(parsed);
    if (const auto mark = parsed.maybe("--read-node")) return launch::read_node(request, *mark);
    if (const auto folder = parsed.maybe("--bcast")) {
        if (!parsed.has("--nodes"))
            throw Error("a program is sent to nodes on which it is started")
                .given("--bcast without --nodes")
                .allowed("--bcast with --nodes N")
                .remedy("add --nodes N, or leave out --bcast");
        launch::need_broadcast(*folder);
        request.broadcast = *folder;
    }
    if (parsed.has("--nodes"))
        request.command =
            launch::over_nodes(request.command, static_cast<int>(parsed.integer("--nodes", 1, 1 << 20)),
                               request.wish.layout, parsed.has("--label"));
    else if (parsed.has("--label"))
        throw Error("output is labelled by Slurm, where it starts the ranks")
            .given("--label without --nodes")
            .allowed("--label with --nodes N")
            .remedy("add --nodes N, or leave out --label");
    return launch::carry_out(launch::make_plan(request), request);
}

int launch_laid_out(const std::string& layout, const Parsed& own, const std::vector<std::string>& command) {
    std::vector<std::string> words = {"launch", "--layout",        layout, "--stride", own.text("--stride"),
                                      "--bind", own.text("--bind")};
    if (own.has("--nodes")) words.insert(words.end(), {"--nodes", own.text("--nodes")});
    if (own.has("--bcast")) words.push_back("--bcast=" + own.text("--bcast"));
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    // A program of ours has said why it ends: what Open MPI 4's launcher says of its status would hide that.
    setenv("OMPI_MCA_orte_execute_quiet", "1", 0);
    return launch_command(static_cast<int>(words.size()), argv.data());
}

}  // namespace strata::cli
