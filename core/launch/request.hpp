// The request of a launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/placement.hpp"
#include "core/launch/supervise.hpp"
#include "core/launch/text_pages.hpp"

namespace strata::launch {

struct Request {
    Wish wish;
    std::vector<std::string> command;
    Watch watch;
    Limits limits;  // what is asked; the plan adds the PUs and memories
    Text text = Text::as_is;
    std::string machine = "system";      // another one, described, for a dry run
    std::optional<std::string> as_rank;  // the placement that the outer launcher chose, see encode()
    std::string broadcast;               // a folder on the nodes that the program is sent to; empty: none
    std::optional<std::string> rank_program;  // strata-rank, where it is installed
    bool explain = false, dry_run = false;
    bool mpi = false;   // a program that can be both: by its MPI's mpirun, not as a team of one node
    bool json = false;  // of a dry run
};

}  // namespace strata::launch
