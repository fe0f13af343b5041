// A run that somebody stays with: recorded, ended whole, and cleaned up after.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/launch/limits.hpp"

namespace strata::launch {

/// One process to start. Arguments include the name (argv[0]).
struct Process {
    std::string path;
    std::vector<std::string> arguments, environment;
    std::vector<int> pus;
    bool reads_input = true;  // standard input goes to the first process alone
    Memories memory = {};
};

struct Job {
    std::vector<Process> processes;  // all are started; the first failure ends the rest
    Placement placement;
    std::vector<std::string> command;  // as the user typed it, for the record
    std::string launcher;              // this executable: a rank that has not yet become the program
    Limits limits;
    bool several_nodes = false;  // what it starts may run on other nodes, which have no folder of this run
    std::vector<std::string> node_reader;  // over several nodes of Slurm: what reads ranks back on each
    std::string broadcast;    // over several nodes: the program's file is sent to this folder on each first
    std::string sent;         // that file
    size_t program_word = 0;  // among the arguments, which its copy replaces
    bool by_srun = false;  // srun is to be asked to end: killed, it may leave its step running on the nodes
};

struct Watch {
    std::optional<std::string> record;
    double timeout_s = 0;  // 0: none
    bool own_share = false;
    bool check = false;           // read the placement back, and fail when it is not what was promised
    bool explain = false;         // say what was read back
    std::optional<int> lifeline;  // a pipe that ends when the parent dies
};

/// Runs the job to its end and returns the exit status: that of the first process to fail, 128 + signal when
/// it was killed. When it returns no process of the run lives and nothing that it made for the run is left.
int supervise(const Job& job, const Watch& watch);

}  // namespace strata::launch
