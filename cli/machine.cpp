// strata machine: what is here, and what this process may use of it.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/python.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/topology_xml.hpp"

namespace strata::cli {
namespace {

Options declare() {
    Options options("strata machine",
                    "What this machine has, what this process may use of it, and what to do about it.");
    options.flag("--json", "the facts as JSON (schema strata.machine/1)")
        .option("--svg", "FILE", "", "draw the machine into FILE")
        .option("--xml", "FILE", "",
                "write the topology as hwloc's XML, which lstopo reads; - is standard output")
        .option("--input", "SOURCE", "system", "another machine: an hwloc XML file, or synthetic:DESCRIPTION")
        .flag("--measure", "measure latency, bandwidth, cache lines and noise, and make a report with plots")
        .flag("--full", "with --measure: all sizes and pairs; --measure --help has the campaign's options")
        .flag("--no-findings", "the table alone, without starting Python")
        .example("strata machine", "the table, then findings with consequence and remedy")
        .example("strata machine --json | jq .allowed", "for scripts")
        .example("strata machine --svg machine.svg", "a drawing")
        .example("strata machine --xml node.xml", "for lstopo -i node.xml, or for strata elsewhere")
        .example("strata machine --input node.xml", "a machine that you have only lstopo's file of")
        .example("strata machine --input 'synthetic:package:2 numa:4 l3:2 core:8 pu:2'",
                 "one that you think of buying")
        .example("strata machine --measure", "memory latency and bandwidth, domain by domain, and noise");
    return options;
}

/// Leaves the document in memory that only this process and its successor see: nothing to remove afterwards.
std::string in_memory(const std::string& document) {
    const int fd = memfd_create("strata-machine", 0);
    if (fd < 0) throw system_error("no memory for the facts", errno);
    for (size_t done = 0; done < document.size();) {
        const ssize_t wrote = write(fd, document.data() + done, document.size() - done);
        if (wrote < 0) throw system_error("no memory for the facts", errno);
        done += static_cast<size_t>(wrote);
    }
    return fmt::format("/proc/self/fd/{}", fd);
}

/// The campaign has options of its own (where the results go, what to leave out): they pass through.
[[noreturn]] void measure(const std::vector<std::string>& words) {
    std::vector<std::string> command = {"machine-measure"};
    for (const std::string& word : words) {
        if (word.rfind("--input", 0) == 0) {
            throw Error("a described machine cannot be measured")
                .given(word + " with --measure")
                .allowed("--measure on the machine itself")
                .remedy("leave out --input, or --measure");
        }
        if (word != "--measure") command.push_back(word);
    }
    run_python(command);
}

}  // namespace

int machine_command(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (std::find(words.begin(), words.end(), "--measure") != words.end()) measure(words);
    const Parsed given = declare().parse(words);
    if (given.help()) return kSuccess;
    if (given.has("--xml")) {
        machine::write_text(machine::topology_xml(given.text("--input")), given.text("--xml"));
        return kSuccess;
    }
    const machine::Machine machine = machine::read_machine({.text = given.text("--input"), .recached = true});
    if (given.has("--json")) {
        machine::machine_json(std::cout, machine);
        return kSuccess;
    }
    std::ostringstream document;
    machine::machine_json(document, machine);
    if (given.has("--svg"))
        run_python({"draw", "--machine", in_memory(document.str()), "--svg", given.text("--svg")});

    std::fputs(machine::machine_table(machine).c_str(), stdout);
    if (given.has("--no-findings")) return kSuccess;
    if (!find_python()) {
        std::puts(
            "\nfindings need Strata's Python side, which is not set up: run ./strata from the checkout");
        return kSuccess;
    }
    flush_output();
    run_python({"findings", "--machine", in_memory(document.str())});
}

}  // namespace strata::cli
