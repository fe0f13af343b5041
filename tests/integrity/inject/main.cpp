// integrity_inject: flips bits in a running worker, and says whether it noticed.
//
//   integrity_inject twins --count 200 [--stuck] -- strata-integrity --kernels fma --cores 0 ...
//   integrity_inject twins --pair -- strata-integrity --kernels pingpong --cores 0,1 ...
//   integrity_inject once PID [--after SECONDS]        one bit in the memory of a process that goes on
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "campaign.hpp"
#include "once.hpp"

using namespace inject;

namespace {

// Its first children that go on using their cores.
std::vector<pid_t> workers_of(pid_t program, std::size_t count) {
    for (int tries = 0; tries < 200; ++tries) {
        usleep(50'000);
        std::ifstream file("/proc/" + std::to_string(program) + "/task/" + std::to_string(program) +
                           "/children");
        std::vector<pid_t> found;
        for (pid_t child = 0; found.size() < count && file >> child;)
            if (cpu_time(child) > 20'000'000) found.push_back(child);
        if (found.size() == count) return found;
    }
    fail(count == 1 ? "the program has no worker that works" : "the program has not two workers that work");
}

std::vector<Kind> kinds(const std::string& text) {
    std::vector<Kind> found;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) {
        const std::size_t before = found.size();
        for (const Kind each : {Kind::kInteger, Kind::kVector, Kind::kMemory})
            if (word == name(each)) found.push_back(each);
        if (found.size() == before) fail("--places: " + word + "; integer, vector and memory are allowed");
    }
    return found;
}

int twins(std::vector<std::string> words) {
    Asked asked;
    std::size_t i = 0;
    for (; i < words.size() && words[i] != "--"; ++i) {
        const auto value = [&] {
            return ++i < words.size() ? words[i] : (fail(words[i - 1] + ": a value is missing"), "");
        };
        if (words[i] == "--count")
            asked.count = std::stoi(value());
        else if (words[i] == "--used")
            asked.used = std::stoi(value());
        else if (words[i] == "--seed")
            asked.seed = std::stoull(value());
        else if (words[i] == "--places")
            asked.kinds = kinds(value());
        else if (words[i] == "--stuck")
            asked.stuck = true;
        else if (words[i] == "--pair")
            asked.pair = true;
        else if (words[i] == "--steps")
            asked.steps = std::stoi(value());
        else if (words[i] == "--rounds")
            asked.rounds = std::stoi(value());
        else if (words[i] == "--seconds")
            asked.seconds = std::stod(value());
        else
            fail("unknown option " + words[i]);
    }
    if (i + 1 >= words.size()) fail("give the program after --");
    if (asked.pair && asked.stuck) fail("--stuck: a side that goes on by single steps has no partner");
    const pid_t program = fork();
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);  // also where this process fails
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, 1);
        std::vector<char*> arguments;
        for (std::size_t j = i + 1; j < words.size(); ++j) arguments.push_back(words[j].data());
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    campaign(workers_of(program, asked.pair ? 2 : 1), asked);
    kill(program, SIGTERM);
    int status = 0;
    waitpid(program, &status, 0);
    return 0;
}

int one(const std::vector<std::string>& words) {
    if (words.empty()) fail("once PID");
    double after = 0, watch = 30;
    std::uint64_t seed = 1;
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
        if (words[i] == "--after")
            after = std::stod(words[i + 1]);
        else if (words[i] == "--watch")
            watch = std::stod(words[i + 1]);
        else if (words[i] == "--seed")
            seed = std::stoull(words[i + 1]);
        else
            fail("unknown option " + words[i]);
    }
    return once(std::stoi(words[0]), after, watch, seed);
}

}  // namespace

int main(int count, char** given) {
    std::vector<std::string> words(given + 1, given + count);
    const std::string verb = words.empty() ? "" : words[0];
    if (verb == "twins") return twins({words.begin() + 1, words.end()});
    if (verb == "once") return one({words.begin() + 1, words.end()});
    fail("twins or once");
}
