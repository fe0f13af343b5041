// strata launch: a program under a layout.
#include "cli/commands.hpp"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <string>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/launch/launch.hpp"

namespace strata::cli {
namespace {

Options declare() {
    Options options("strata launch",
                    "Runs a serial, OpenMP or MPI program under a layout: so many processes and threads, "
                    "each held on cores of its own.");
    options.option("--layout", "PxT", "1x1", "processes x threads of each")
        .option("--stride", "N", "1", "cores from one thread to the next")
        .option("--bind", "core|none", "core",
                "hold each thread's process on its cores, or leave it to the system")
        .flag("--explain", "say on standard error what is done and why, then do it")
        .flag("--dry-run", "say what would be done, and do nothing")
        .option("--record", "FILE", "", "stay with the run and write down what happened to it, as JSON")
        .option("--timeout", "SECONDS", "", "end the run after this long")
        .flag("--own-share", "a scheduling group of its own, so that it keeps its CPUs beside other load")
        .hidden("--as-rank", true)
        .rest("command args", "the program and its arguments")
        .example("strata launch --layout 1x4 -- ./omp_program", "one process, four bound threads")
        .example("strata launch --layout 4x2 -- ./mpi_program",
                 "with that MPI's own mpirun, four ranks of two threads")
        .example("strata launch --layout 2x1 --stride 2 --dry-run -- ./a.out", "where everything would go")
        .example("strata launch --layout 2x1 --record run.json -- ./a.out", "and what really happened");
    return options;
}

/// The parent's end of life, as a pipe that it holds open: its number comes from STRATA_LIFELINE_FD.
std::optional<int> lifeline() {
    const std::string text = launch::environment_value("STRATA_LIFELINE_FD");
    if (text.empty()) return std::nullopt;
    int fd = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
    if (error != std::errc() || end != text.data() + text.size() || fcntl(fd, F_GETFD) < 0)
        throw Error("the lifeline is not an open file")
            .given("STRATA_LIFELINE_FD=" + text)
            .allowed("the number of a pipe's end that this process inherited")
            .remedy("unset STRATA_LIFELINE_FD");
    return fd;
}

launch::Request request_from(const Parsed& parsed) {
    launch::Request request;
    request.layout = launch::parse_layout(parsed.text("--layout"));
    request.layout.stride = static_cast<int>(parsed.integer("--stride", 1, 1 << 16));
    request.layout.bind = launch::parse_bind(parsed.text("--bind"));
    request.command = parsed.rest();
    request.explain = parsed.has("--explain");
    request.dry_run = parsed.has("--dry-run");
    request.watch.own_share = parsed.has("--own-share");
    request.watch.record = parsed.maybe("--record");
    request.as_rank = parsed.maybe("--as-rank");
    if (parsed.has("--timeout")) request.watch.timeout_s = parsed.number("--timeout", 0.001, 1e9);
    if (!request.as_rank) request.watch.lifeline = lifeline();
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
    const launch::Request request = request_from(parsed);
    return launch::carry_out(launch::make_plan(request), request);
}

}  // namespace strata::cli
