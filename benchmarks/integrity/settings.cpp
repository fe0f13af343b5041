#include "benchmarks/integrity/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "benchmarks/integrity/kernel.hpp"
#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/json_value.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

std::string names_of_kernels() {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels()) names.emplace_back(kernel.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::uint32_t kernel_by_name(const std::string& name) {
    for (std::uint32_t i = 0; i < kernels().size(); ++i)
        if (name == kernels()[i].name) return i;
    throw Error("there is no such kernel").given(name).allowed(names_of_kernels());
}

std::uint64_t read_seed(const std::string& text) {
    std::string_view digits = text;
    const int base = take(digits, "0x") ? 16 : 10;
    if (const auto seed = parse_number<std::uint64_t>(digits, {.base = base})) return *seed;
    throw Error("a seed is a whole number of 64 bits").given(text).allowed("17, 0x2f00c0ffee");
}

Replay read_replay(const std::string& word) {
    std::istringstream parts(word);
    std::string kernel, seed, pu;
    std::getline(parts, kernel, ':');
    std::getline(parts, seed, ':');
    std::getline(parts, pu);
    Replay replay{kernel_by_name(kernel), read_seed(seed), -1};
    if (!pu.empty()) {
        const std::vector<int> one = parse_cpulist(pu);
        if (one.size() != 1) throw Error("a replay names one CPU").given(word).allowed("KERNEL:SEED:CPU");
        replay.pu = one[0];
    }
    return replay;
}

/// All kernels that can run here, or those that were asked for.
std::vector<std::uint32_t> choose(const std::string& names) {
    std::vector<std::uint32_t> chosen;
    if (names == "all") {
        for (std::uint32_t i = 0; i < kernels().size(); ++i)
            if (kernels()[i].missing().empty()) chosen.push_back(i);
        return chosen;
    }
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
        const std::uint32_t kernel = kernel_by_name(name);
        if (const std::string why = kernels()[kernel].missing(); !why.empty())
            throw Error(fmt::format("{} cannot run here: {}", name, why));
        if (std::find(chosen.begin(), chosen.end(), kernel) == chosen.end()) chosen.push_back(kernel);
    }
    if (chosen.empty()) throw Error("no kernel is chosen").given(names).allowed(names_of_kernels());
    return chosen;
}

/// Half of what nobody uses, also not for cached files.
std::uint64_t default_memory() {
    const std::string text = machine::read_file("/proc/meminfo").value_or("");
    return machine::number_after(text, "MemFree:").value_or(0) * 1024 / 2;
}

Options options() {
    Options list("strata-integrity",
                 "tests processors that nobody uses by kernels whose right answers are known; lines of JSON");
    list.option("--kernels", "NAMES", "all", "which, with commas between; --list says which there are")
        .flag("--list", "what kernels there are, and which cannot run here")
        .option("--cores", "LIST", "", "CPUs such as 0-3,8: one worker on each core of these; else on all")
        .option("--memory", "SIZE", "", "memory under test, of all cores together; else half of what is free")
        .option("--seed", "N", "", "where all data come from; else drawn, and said")
        .option("--time", "T", "", "how long, such as 30m; else until SIGTERM")
        .option("--rounds", "N", "", "how many rounds of each kernel on each core")
        .option("--cgroup", "none|FOLDER", "auto",
                "no group of its own, or one below this folder of the cpu controller")
        .flag("--alone", "runs only while nobody else runs on this machine, whatever else it may")
        .flag("--no-yield",
              "an ordinary program, which gives way to nobody: for nodes that a queue has handed over")
        .flag("--plain",
              "the kernels in a loop on one core, without answers, others and groups: their plain speed")
        .option("--replay", "WHAT", "", "findings again: KERNEL:SEED[:CPU], or a file of findings")
        .option("--progress", "T", "60s", "how often sums are written")
        .flag("--verbose", "a line for each round and for each stop");
    list.example("strata-integrity --time 1m", "all cores that are free, for a minute")
        .example("strata-integrity --cores 3 --kernels avx512,dgemm --rounds 100", "one core")
        .example("strata-integrity --replay avx512:0x2f00c0ffee:3", "a finding again");
    return list;
}

void print_list() {
    for (const Kernel& kernel : kernels()) {
        const std::string why = kernel.missing();
        fmt::print("{:<14} {}{}\n", kernel.name, kernel.what, why.empty() ? "" : " (not here: " + why + ")");
    }
}

}  // namespace

std::string replay_text(std::uint32_t kernel, std::uint64_t seed, int pu) {
    return fmt::format("{}:{:#x}:{}", kernels()[kernel].name, seed, pu);
}

std::vector<Replay> read_replays(const std::string& text) {
    std::vector<Replay> replays;
    std::ifstream file(text);
    if (text.find(':') == std::string::npos || file.good()) {
        if (!file.good())
            throw Error("a finding to replay is not there")
                .given(text)
                .allowed("KERNEL:SEED[:CPU], or a file");
        for (std::string line; std::getline(file, line);) {
            if (line.empty()) continue;
            const JsonValue event = JsonValue::parse(line, text);
            const JsonValue* what = event.find("replay");
            if (what != nullptr && event.member("event").string() == "finding")
                replays.push_back(read_replay(what->string()));
        }
        if (replays.empty()) throw Error("this file has no findings").given(text);
        return replays;
    }
    std::istringstream words(text);
    for (std::string word; words >> word;) replays.push_back(read_replay(word));
    return replays;
}

bool read_settings(int argc, char** argv, Settings& settings) {
    const Parsed given = options().parse(argc, argv);
    if (given.help()) return false;
    if (given.has("--list")) {
        print_list();
        return false;
    }
    constexpr long most = 1'000'000'000'000;
    settings.kernels = choose(given.text("--kernels"));
    settings.pus = parse_cpulist(given.text("--cores"));
    settings.memory_bytes = given.maybe("--memory") ? given.size("--memory") : default_memory();
    settings.seed = given.maybe("--seed")
                        ? read_seed(given.text("--seed"))
                        : (std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}();
    if (given.maybe("--time")) settings.seconds = given.seconds("--time");
    if (given.maybe("--rounds"))
        settings.rounds = static_cast<std::uint64_t>(given.integer("--rounds", 1, most));
    settings.cgroup = given.text("--cgroup");
    settings.progress_s = given.seconds("--progress");
    settings.plain = given.has("--plain");
    settings.verbose = given.has("--verbose");
    settings.yields = !given.has("--no-yield");
    settings.alone = given.has("--alone");
    if (!settings.yields) settings.cgroup = "none";
    if (settings.alone && !settings.yields)
        throw Error("--alone stops for others, and --no-yield does not: one of them")
            .given("--alone --no-yield");
    if (given.maybe("--replay")) settings.replays = read_replays(given.text("--replay"));
    return true;
}

}  // namespace strata::integrity
