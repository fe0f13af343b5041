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

std::string verdict_text(const Record& record) {
    const std::string threads = !record.threads_agree   ? "not known: the run ended before they could be read"
                                : *record.threads_agree ? "as promised"
                                                        : "not as promised";
    std::string text = fmt::format("read:    threads: {}; pages: {}", threads, record.pages.verdict);
    if (record.pages.agrees)
        text += fmt::format(" ({} of {} processes read)", record.pages.processes,
                            record.placement.layout.processes);
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
        return "no rank was found on this node, where ranks are read back: they were on others, or ended "
               "first";
    return "the run ended before it could be read, so its placement is not known";
}

}  // namespace strata::launch
