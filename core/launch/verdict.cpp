#include "core/launch/verdict.hpp"

#include <fmt/format.h>

namespace strata::launch {

void take_readback(Record& record, const Readback& readback) {
    record.threads = readback.threads();
    record.pages = readback.pages();
    record.libraries = readback.libraries();
    record.migrations = readback.migrations();
    record.readings = readback.readings();
    record.computing_at_once = readback.computing_at_once();
    const auto threads = readback.disagreement(), pages = record.pages.disagreement;
    record.disagreement = threads && pages ? *threads + "; " + *pages : threads ? threads : pages;
    // What is not known of pages for which a policy promised something is not known of the placement.
    const bool pages_known = record.pages.agrees || record.pages.verdict == kNothingPromised;
    if (readback.saw_anything() && !readback.in_doubt()) record.threads_agree = true;
    if (threads) record.threads_agree = false;
    if (record.disagreement)
        record.agrees = false;
    else if (record.threads_agree && pages_known)
        record.agrees = true;
}

namespace {

std::string in_words(std::optional<bool> agree) {
    if (!agree) return "not known: the run ended before they could be read";
    return *agree ? "as promised" : "not as promised";
}

}  // namespace

void take_nodes(Record& record, std::vector<NodeReading> nodes) {
    record.threads_agree_here = record.threads_agree;
    const bool own = !record.threads.empty();
    if (!own && !nodes.empty()) record.threads_agree = record.agrees = true;
    for (const NodeReading& node : nodes) {
        // What is not known of one node is not known of the run.
        if (!node.threads_agree && record.threads_agree == std::optional(true)) record.threads_agree.reset();
        if (!node.agrees && record.agrees == std::optional(true)) record.agrees.reset();
        if (node.threads_agree == std::optional(false)) record.threads_agree = false;
        if (!node.disagreement) continue;
        record.agrees = false;
        if (!record.disagreement)
            record.disagreement = fmt::format("node {}: {}", node.node, *node.disagreement);
    }
    record.nodes = std::move(nodes);
}

std::string verdict_text(const Record& record) {
    std::string text;
    if (!record.threads.empty() || record.nodes.empty()) {
        text = fmt::format("read:    threads: {}; pages: {}",
                           in_words(record.nodes.empty() ? record.threads_agree : record.threads_agree_here),
                           record.pages.verdict);
        if (record.pages.agrees)
            text += fmt::format(" ({} of {} processes read)", record.pages.processes,
                                record.placement.layout.processes);
    }
    for (const NodeReading& node : record.nodes)
        text += fmt::format("{}read:    node {}: threads: {}; pages: {}", text.empty() ? "" : "\n", node.node,
                            in_words(node.threads_agree), node.pages);
    return text + (record.disagreement ? ": " + *record.disagreement : "");
}

Error placement_not_kept(const Record& record) {
    const bool pages = record.pages.disagreement.has_value();
    Error error("the program did not keep the placement");
    error.given(*record.disagreement);
    if (pages && record.threads_agree != std::optional(false))
        return error.allowed("pages in the memories that --explain shows")
            .remedy(
                "leave the policy to the launcher (the program, its allocator or a numactl inside places "
                "pages itself), a memory with more room (free files' cache counts as taken), or another "
                "--memory");
    return error
        .allowed(pages ? "threads on the PUs, and pages in the memories, that --explain shows"
                       : "threads on the PUs that --explain shows")
        .remedy(
            "leave the binding to the launcher (the program, its MPI or a runtime binds "
            "threads itself), or --bind none");
}

std::string why_not_known(const Record& record, bool by_srun) {
    if (record.threads_agree && !record.pages.agrees) return record.pages.verdict;
    if (by_srun && record.threads.empty())
        return "no rank was found: the run ended first, or Slurm allowed no second step to read it on its "
               "nodes";
    return "the run ended before it could be read, so its placement is not known";
}

}  // namespace strata::launch
