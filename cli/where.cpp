// strata where: on which CPU each thread runs, and in which memory each page lies.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/program.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/sysfs.hpp"
#include "core/observe/report.hpp"
#include "core/observe/trace.hpp"

namespace strata::cli {
namespace {

using observe::Process;

Options declare() {
    Options options(
        "strata where",
        "Where a running program's threads and pages are: CPU and migrations of each thread, pages by "
        "memory and by what they hold, also the program's and its libraries' text.");
    options.positional("PID", "a process; its children are shown too", false)
        .flag("--no-children", "that process alone")
        .flag("--threads", "a row for each thread, also of many processes")
        .flag("--pages", "pages by kind, also of many processes")
        .flag("--all", "launchers, shells and MPI's helpers too")
        .option("--method", "HOW", "numa_maps", "numa_maps, or move_pages: ask the kernel page by page")
        .option("--after", "SECONDS", "", "with a command: also a reading after this long")
        .option("--every", "SECONDS", "", "with a command: also a reading every so often")
        .flag("--json", "the document strata.where/1")
        .option("--output", "FILE", "",
                "write there; otherwise standard output, with a command standard error")
        .rest("command args", "run it, and say where everything was just before its end")
        .example("strata where 4711", "a process that runs")
        .example("strata where -- ./a.out", "a program of one's own, read at its end")
        .example("strata where -- strata launch --layout 4x2 -- ./mpi_program", "each rank of an MPI run")
        .example("strata where --json --output where.json -- ./a.out", "for scripts");
    return options;
}

observe::Method method_from(const Parsed& parsed) {
    return parsed.choice("--method", {"numa_maps", "move_pages"}) == "numa_maps"
               ? observe::Method::numa_maps
               : observe::Method::move_pages;
}

/// Prints readings in the form and to the place asked for.
class Printer {
  public:
    explicit Printer(const Parsed& parsed, bool beside_program)
        : json_(parsed.has("--json")),
          show_{parsed.has("--all"), parsed.has("--threads"), parsed.has("--pages")},
          file_(parsed.text("--output")),
          to_(beside_program ? stderr : stdout),
          machine_(machine::read_machine({.with_devices = false, .with_limits = false, .cached = true})) {
        if (file_.empty()) return;
        const int file = open_named(file_);
        to_ = file < 0 ? nullptr : fdopen(file, "w");
        if (to_ == nullptr)
            throw system_error("the output cannot be written", errno, kBadInput)
                .given("--output " + file_)
                .allowed("a file in a folder that exists and may be written, or /dev/stdout")
                .remedy("check the path and its permissions");
    }
    ~Printer() {
        if (!file_.empty() && to_ != nullptr) std::fclose(to_);
    }
    Printer(const Printer&) = delete;
    Printer& operator=(const Printer&) = delete;

    void print(const std::vector<Process>& processes) const {
        std::ostringstream text;
        if (json_)
            observe::where_json(text, processes, machine_);
        else
            text << observe::table(processes, machine_, show_);
        if (std::fputs(text.str().c_str(), to_) < 0 || std::fflush(to_) != 0)
            throw system_error("the output cannot be written", errno);
    }
    void say(const std::string& line) const {
        if (!json_) std::fputs(line.c_str(), to_);
    }

  private:
    bool json_;
    observe::TableOptions show_;
    std::string file_;
    std::FILE* to_;
    machine::Machine machine_;
};

[[noreturn]] void no_process(const std::string& given, const char* why) {
    throw Error(why)
        .given(given)
        .allowed("the number of a running process, or -- command args")
        .remedy("pgrep -n NAME prints the newest process of that name");
}

int pid_from(const std::string& text) {
    const int pid = parse_number<int>(text).value_or(0);
    if (pid <= 0) no_process(text, "not a process number");
    const auto status = machine::read_file("/proc/" + text + "/status");
    if (!status) no_process(text, "there is no such process");
    const std::string group(machine::field(*status, "Tgid"));
    if (std::atoi(group.c_str()) != pid)
        throw Error("this is a thread's number, not a process'")
            .given(text)
            .allowed("the number of a process")
            .remedy("strata where " + group);
    return pid;
}

int look_at(const Parsed& parsed) {
    const std::string word = parsed.positionals().front();
    const int pid = pid_from(word);
    std::vector<int> pids = {pid};
    if (!parsed.has("--no-children"))
        for (const int child : machine::descendants_of(pid)) pids.push_back(child);
    std::vector<Process> found;
    for (const int each : pids)
        if (auto process = observe::read_process(each, method_from(parsed)))
            found.push_back(std::move(*process));
    if (found.empty()) no_process(word, "the process has ended");
    if (found.front().pid == pid && !found.front().pages_read && !found.front().why.empty())
        throw Error("the process may not be looked into")
            .given(fmt::format("{} ({}): {}", word, found.front().program, found.front().why))
            .allowed("one's own processes, or any with CAP_SYS_PTRACE")
            .remedy("run it as that process' user, or with sudo");
    const Printer printer(parsed, false);
    printer.print(found);
    return kSuccess;
}

int run_command(const Parsed& parsed) {
    observe::TraceRequest request;
    request.command = parsed.rest();
    request.path = launch::find_command(request.command.front(), launch::environment_value("PATH"));
    request.method = method_from(parsed);
    if (parsed.has("--after")) request.after_s = parsed.number("--after", 0.001, 1e9);
    if (parsed.has("--every")) request.every_s = parsed.number("--every", 0.01, 1e9);
    const Printer printer(parsed, true);
    const observe::TraceResult seen = observe::trace(request, [&](const std::vector<Process>& now) {
        printer.say("\nwhile it runs: ");
        printer.print(now);
    });
    printer.say(seen.traced ? "\njust before the end: " : "\nlast reading (tracing is not permitted here): ");
    printer.print(seen.processes);
    return launch::exit_status(seen.status);
}

}  // namespace

int where_command(int argc, char** argv) {
    const Parsed parsed = declare().parse(argc, argv);
    if (parsed.help()) return kSuccess;
    const bool command = !parsed.rest().empty(), process = !parsed.positionals().empty();
    if (command == process)
        throw Error(command ? "both a process and a command" : "neither a process nor a command")
            .given(command ? parsed.positionals().front() + " -- " + parsed.rest().front() : "nothing")
            .allowed("strata where PID, or strata where -- command args")
            .remedy("strata where --help");
    if (process)
        for (const char* option : {"--after", "--every"})
            if (parsed.has(option))
                throw Error("this option is for a command")
                    .given(std::string(option) + " with process " + parsed.positionals().front())
                    .allowed(std::string(option) + " with -- command args")
                    .remedy(std::string("leave out ") + option + ", or watch -n 10 strata where " +
                            parsed.positionals().front());
    return command ? run_command(parsed) : look_at(parsed);
}

}  // namespace strata::cli
