#include "core/launch/launcher_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/launch/mpi.hpp"

namespace strata::launch {
namespace {

/// Options of a launcher by the number of words that follow them; an option written --name=value is one word
/// in any case. From `man mpirun` (Open MPI 4.1 and 5.0), `mpiexec.hydra --help` (MPICH 4) and `man srun`
/// (Slurm 24).
struct OptionTable {
    std::string_view none, one, two;
    std::string_view count;  // how many processes
    std::string_view binds;  // decide where processes are held
    std::string_view separator = " : ";
};

constexpr OptionTable kOpenMpi = {
    " -v --verbose -q --quiet -V --version -h --help -d --debug-devel -oversubscribe --oversubscribe "
    "-nooversubscribe --nooversubscribe --allow-run-as-root -allow-run-as-root -report-bindings "
    "--report-bindings -tag-output --tag-output -timestamp-output --timestamp-output -nolocal --nolocal "
    "-display-map --display-map -display-allocation --display-allocation -do-not-launch --do-not-launch "
    "-forward-signals -xterm -novm --novm -use-hwthread-cpus --use-hwthread-cpus -leave-session-attached "
    "--leave-session-attached -bynode --bynode -byslot --byslot -pernode --pernode ",
    " -n --n -np --np -c -H -host --host -hostfile --hostfile -machinefile --machinefile -default-hostfile "
    "--default-hostfile -x -wdir --wdir -wd --wd -path --path -prefix --prefix -map-by --map-by -rank-by "
    "--rank-by -bind-to --bind-to -rf --rankfile -rankfile -cpus-per-proc --cpus-per-proc -cpus-per-rank "
    "--cpus-per-rank -N -npernode --npernode -npersocket --npersocket -timeout --timeout -output-filename "
    "--output-filename -stdin --stdin -tune --tune -am --am -personality --personality -ppr --ppr "
    "-max-restarts --max-restarts -cpu-set --cpu-set -cpu-list --cpu-list -slot-list --slot-list --output "
    "--display --runtime-options --dvm --pset ",
    " -mca --mca -gmca --gmca --prtemca --pmixmca --omca ", " -n --n -np --np -c ",
    " -bind-to --bind-to -rf --rankfile -rankfile -cpu-set --cpu-set -cpu-list --cpu-list -slot-list "
    "--slot-list "};

constexpr OptionTable kMpich = {
    " -v -verbose -info -version -genvall -genvnone -envall -envnone -prepend-rank -l -print-all-exitcodes "
    "-enable-x -disable-x -disable-auto-cleanup -debug -skip-launch-node ",
    " -n -np -f -hosts -host -machinefile -wdir -genvlist -genvexcl -envlist -path -umask -bind-to -map-by "
    "-membind "
    "-ppn -perhost -iface -launcher -launcher-exec -bootstrap -bootstrap-exec -rmk -demux -topolib "
    "-order-nodes "
    "-localhost -usize -nameserver -prepend-pattern -outfile-pattern -errfile-pattern -outfile -errfile "
    "-gpus-per-proc -gpu-subdevs-per-proc -pmi-port -timeout ",
    " -genv -env ", " -n -np ", " -bind-to -membind "};

constexpr OptionTable kSlurm = {
    " -v --verbose -Q --quiet -l --label -u --unbuffered -O --overcommit -s --oversubscribe -E "
    "--preserve-env "
    "-H --hold -k --no-kill -X --disable-status -Z --no-allocate --exact --exclusive --overlap --contiguous "
    "--pty --spread-job --use-min-nodes --test-only --reboot --interactive ",
    " -n --ntasks -N --nodes -c --cpus-per-task -p --partition -A --account -t --time -J --job-name -w "
    "--nodelist "
    "-x --exclude -o --output -e --error -i --input -D --chdir -m --distribution -q --qos -C --constraint "
    "-G --gpus --gpus-per-node --gpus-per-task --gpus-per-socket --gres --mem --mem-per-cpu --mem-per-gpu "
    "--mpi --cpu-bind --mem-bind --hint --ntasks-per-node --ntasks-per-core --ntasks-per-socket "
    "--ntasks-per-gpu -r --relative -T --threads -W --wait -B --extra-node-info -d --dependency -b --begin "
    "--jobid -K --kill-on-bad-exit --export --reservation -L --licenses --threads-per-core "
    "--cores-per-socket --sockets-per-node --signal --open-mode --propagate --network --nice --prolog "
    "--epilog --task-prolog --task-epilog --comment --cluster-constraint -M --clusters --het-group ",
    " ", " -n --ntasks ", " --cpu-bind --mem-bind --hint "};

const OptionTable& table_of(ParallelLauncher launcher) {
    switch (launcher) {
        case ParallelLauncher::open_mpi:
            return kOpenMpi;
        case ParallelLauncher::mpich:
            return kMpich;
        case ParallelLauncher::slurm:
            break;
    }
    return kSlurm;
}

bool holds(std::string_view list, const std::string& word) {
    return list.find(" " + word + " ") != std::string_view::npos;
}

std::optional<ParallelLauncher> launcher_of(const std::string& command, const std::string& path) {
    const std::string name = command.substr(command.rfind('/') + 1);
    if (name == "srun") return ParallelLauncher::slurm;
    const bool mpi = name.rfind("mpirun", 0) == 0 || name.rfind("mpiexec", 0) == 0 || name == "orterun" ||
                     name == "prterun";
    const bool foreign =
        name == "aprun" || name == "jsrun" || name == "ibrun" || name == "lrun" || name == "prun";
    if (!mpi && !foreign) return std::nullopt;
    const Mpi kind = kind_of_mpirun(path);
    if (kind == Mpi::open_mpi) return ParallelLauncher::open_mpi;
    if (kind == Mpi::mpich) return ParallelLauncher::mpich;
    throw Error("this MPI's launcher is not known")
        .given(path)
        .allowed("mpirun of Open MPI, mpiexec of MPICH and its relatives (Hydra), srun of Slurm")
        .remedy(
            fmt::format("{} [its options, its binding off] strata launch --layout PxT -- ./program", name));
}

/// An option in one word ("--bind-to=core") or two; Hydra and Open MPI take one dash or two alike.
struct Option {
    std::string name;
    std::optional<std::string> value;
};

Option split_option(const std::string& word, ParallelLauncher launcher) {
    const size_t equal = word.find('=');
    Option option{word.substr(0, equal), std::nullopt};
    if (equal != std::string::npos) option.value = word.substr(equal + 1);
    // srun's one-letter options may hold their value: -n4.
    if (launcher == ParallelLauncher::slurm && word.size() > 2 && word[0] == '-' && word[1] != '-')
        option = {word.substr(0, 2), word.substr(2)};
    if (launcher == ParallelLauncher::mpich && option.name.rfind("--", 0) == 0) option.name.erase(0, 1);
    return option;
}

/// Of srun's "quiet,none": whether it names no binding, and what follows the word on how much is said.
constexpr std::array kHowMuchIsSaid = {"q", "quiet", "v", "verbose"};
bool is_how_much_is_said(const std::string& word) {
    return std::find(kHowMuchIsSaid.begin(), kHowMuchIsSaid.end(), word) != kHowMuchIsSaid.end();
}
std::string without_how_much(const std::string& value) {
    const size_t comma = value.find(',');
    return is_how_much_is_said(value.substr(0, comma)) && comma != std::string::npos ? value.substr(comma + 1)
                                                                                     : value;
}
bool names_no_binding(ParallelLauncher launcher, const std::string& value) {
    return (launcher == ParallelLauncher::slurm ? without_how_much(value) : value) == "none";
}

/// The options of this launcher in place of one of srun's; empty where there is nothing alike.
std::string in_own_words(const std::string& option, const std::string& given) {
    const std::string value = without_how_much(given);
    if (is_how_much_is_said(value)) return "";
    if (option == "--mem-bind") return value == "local" ? "--memory local" : "--memory bind:LIST";
    if (option != "--cpu-bind") return "";
    if (value == "sockets") return "--bind package";
    if (value == "ldoms" || value == "rank_ldom") return "--bind numa";
    if (value.rfind("map_cpu:", 0) == 0) return "--bind os:" + value.substr(8);
    if (value.rfind("mask_cpu", 0) == 0) return "--bind os:LIST";
    return "--bind core";
}

/// An option that would bind, where it stands in the command.
struct BindingOption {
    size_t at = 0, words = 1;
    std::string name, value;
};

/// The one message for it: what was given, what happens without it, what to type.
Error binds_against(ParallelLauncher launcher, const std::vector<std::string>& command,
                    const BindingOption& option, const std::string& layout) {
    Error error(fmt::format("{} would bind against the layout", to_text(launcher)));
    error.given(fmt::format("{} {}", option.name, option.value));
    if (launcher != ParallelLauncher::slurm)
        return error.allowed(fmt::format("{} none, or nothing: the layout decides", option.name))
            .remedy("leave that option out, and say it with --layout, --stride and --bind");
    const std::string own = in_own_words(option.name, option.value);
    std::string line = fmt::format("strata launch --layout {}{}{} --", layout, own.empty() ? "" : " ", own);
    for (size_t i = 0; i < command.size(); ++i) {
        if (i < option.at || i >= option.at + option.words)
            line += " " + command[i];
        else if (i == option.at && is_how_much_is_said(option.value))
            line += fmt::format(" {}={},none", option.name, option.value);
    }
    return error
        .allowed(option.name == "--hint"
                     ? "no --hint: each rank takes the PUs that the layout gives it"
                     : fmt::format("{}=none, or nothing: strata starts srun with --cpu-bind=none, and each "
                                   "rank takes its place in the layout by itself",
                                   option.name))
        .remedy(line);
}

}  // namespace

std::string to_text(ParallelLauncher launcher) {
    switch (launcher) {
        case ParallelLauncher::open_mpi:
            return "Open MPI's mpirun";
        case ParallelLauncher::mpich:
            return "MPICH's mpiexec";
        case ParallelLauncher::slurm:
            break;
    }
    return "Slurm's srun";
}

std::optional<LauncherCommand> find_launcher_command(const std::vector<std::string>& command,
                                                     const std::string& path, const std::string& layout) {
    const auto launcher = launcher_of(command.front(), path);
    if (!launcher) return std::nullopt;
    const OptionTable& table = table_of(*launcher);
    LauncherCommand found;
    found.kind = *launcher;
    size_t at = 1;
    while (at < command.size() && command[at].size() > 1 && command[at][0] == '-') {
        if (command[at] == "--") {
            ++at;
            break;
        }
        Option option = split_option(command[at], *launcher);
        size_t words = 1;
        if (!option.value && (holds(table.one, option.name) || holds(table.two, option.name))) {
            words = holds(table.one, option.name) ? 2 : 3;
            if (at + 1 < command.size()) option.value = command[at + 1];
        } else if (!option.value && !holds(table.none, option.name)) {
            throw Error(fmt::format("an option of {} that is not known here", to_text(*launcher)))
                .given(command[at])
                .allowed("options whose number of words is known, or --name=value")
                .remedy(fmt::format(
                    "put the launcher behind them: {} ... strata launch --layout PxT -- ./program",
                    command.front()));
        }
        const std::string value = option.value.value_or("");
        if (holds(table.count, option.name))
            if (const auto count = parse_number<int>(value)) found.processes = count;
        // "2", or "2-4": at least two.
        if (*launcher == ParallelLauncher::slurm && (option.name == "-N" || option.name == "--nodes"))
            found.nodes = parse_number<int>(value.substr(0, value.find('-')));
        if (holds(table.binds, option.name)) {
            if (!names_no_binding(*launcher, value))
                throw binds_against(*launcher, command, {at, words, option.name, value}, layout);
            found.binds_nothing |= option.name.find("mem") == std::string::npos;
        }
        at += words;
    }
    if (at >= command.size())
        throw Error(fmt::format("{} is given no program", to_text(*launcher)))
            .given(command.front() + " without a program")
            .allowed("a program after the launcher's options")
            .remedy("strata launch --layout 4x2 -- mpirun -n 4 ./program args");
    if (std::find(command.begin() + static_cast<std::ptrdiff_t>(at), command.end(), ":") != command.end())
        throw Error("several programs in one command cannot share a layout")
            .given("a ':' after " + command[at])
            .allowed("one program")
            .remedy("put strata launch in front of each of the programs");
    found.program_at = at;
    return found;
}

std::vector<std::string> launcher_options(const LauncherCommand& command, int processes) {
    std::vector<std::string> words;
    if (!command.processes) words = {"-n", std::to_string(processes)};
    if (command.binds_nothing) return words;
    switch (command.kind) {
        case ParallelLauncher::open_mpi:
            words.insert(words.end(), {"--bind-to", "none"});
            break;
        case ParallelLauncher::mpich:
            words.insert(words.end(), {"-bind-to", "none"});
            break;
        case ParallelLauncher::slurm:
            words.emplace_back("--cpu-bind=none");
            break;
    }
    return words;
}

}  // namespace strata::launch
