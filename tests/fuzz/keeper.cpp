// A keeper: what its member says, what the keepers of its node and of other nodes say, and when each of them
// ends, in any order. Its member is a process that sleeps. The member's words, and all other keepers, come
// from a thread beside it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/unread.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/scratch.hpp"
#include "core/team/failure.hpp"
#include "core/team/mpi/keeper.hpp"
#include "core/team/mpi/kept_member.hpp"
#include "core/team/seats.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/keepers.hpp"

using namespace strata::fuzz;
using namespace strata::team;
using Kind = Message::Kind;

namespace {

constexpr std::uint64_t kCapacity = 16 << 20;
constexpr auto kMoment = std::chrono::microseconds(200);

/// The member that was started: this end of its line, and of a pipe by which its process is told to end.
struct Member {
    int line = -1, end = -1, pid = 0;
} member;

/// Where the keeper is in its team, and whom this end plays.
enum class Part { nowhere, alone, head_of_a_node, head_of_all, head_of_another, neighbour };

class Others {
  public:
    Others(Script script, const std::atomic<bool>& over) : script_(script), over_(over) {}
    ~Others() {
        for (const int line : node_)
            if (line >= 0) close(line);
        for (const std::optional<Stream>& line : network_)
            if (line) hang_up(line->socket());
        for (const int descriptor : {door_, port_, member.line, member.end})
            if (descriptor >= 0) close(descriptor);
        member = {};
    }
    Others(const Others&) = delete;
    Others& operator=(const Others&) = delete;

    void act() {
        part_ = static_cast<Part>(script_.byte() % 6);
        if (part_ != Part::nowhere) take_part();
        while (!over_ && !script_.text.empty()) {
            step();
            listen();
            std::this_thread::sleep_for(kMoment);
        }
        // A run that is told to end for a second time does so at once.
        for (; !over_; listen(), std::this_thread::sleep_for(kMoment)) kill(getpid(), SIGHUP);
    }

  private:
    [[nodiscard]] bool is_head() const { return part_ != Part::neighbour; }

    void take_part() {
        const bool several = part_ == Part::head_of_all || part_ == Part::head_of_another;
        where_.nodes = several ? 2 : 1;
        if (part_ == Part::head_of_a_node || part_ == Part::head_of_all) where_.local_size = 3;
        if (part_ == Part::head_of_another) where_.node = where_.rank = 1;
        if (part_ == Part::neighbour) where_.local_rank = where_.rank = 1, where_.local_size = 2;
        where_.size = where_.local_size + (several ? 1 : 0);
        Message place{.kind = Kind::place};
        place.where = where_;
        send_message(member.line, place);
        for (int i = 0; is_head() && i < 1000 && !arena_ && !over_; ++i) {
            listen();
            std::this_thread::sleep_for(kMoment);
        }
        Message names = here_;
        names.kind = Kind::join;
        names.where = where_;
        if (part_ == Part::neighbour) {
            const Listening made = listen_on_node();
            door_ = made.socket;
            if (script_.byte() % 8 != 0)
                std::snprintf(names.name, sizeof names.name, "%s", made.name.c_str());
            names.capacity = kCapacity;
            arena_ = Arena::create(kCapacity);
        }
        if (part_ == Part::head_of_another) {
            const Listening made = listen_on_network();
            port_ = made.socket;
            const bool elsewhere = script_.byte() % 8 == 0;
            names.say("127.0.0.1" + (elsewhere ? ":1" : made.name.substr(made.name.rfind(':'))));
            secret_ = names.network_token;
        }
        send_message(member.line, names);
    }

    void step() {
        const unsigned what = script_.byte(), which = what / 8;
        int* const near = node_.empty() ? nullptr : &node_[which % node_.size()];
        std::optional<Stream>* const far = network_.empty() ? nullptr : &network_[which % network_.size()];
        switch (what % 8) {
            case 0:
                send_message(member.line, Message{.kind = which % 4 == 0 ? Kind::failed : Kind::ready});
                break;
            case 1:  // a neighbour calls
                if (is_head() && here_.name[0] != '\0') {
                    node_.push_back(call_on_node(here_.name));
                    if (node_.back() >= 0) send_message(node_.back(), hello_of(0, here_.token));
                }
                break;
            case 2:
                if (near != nullptr && *near >= 0) {
                    const bool brings = !is_head() && script_.byte() % 2 == 0;
                    Message word = brings ? Message{.kind = Kind::arena} : any_message(script_, here_.token);
                    send_message(*near, word, brings ? arena_->descriptor() : -1);
                }
                break;
            case 3:
                if (near != nullptr && *near >= 0) close(std::exchange(*near, -1));
                break;
            case 4:  // another node calls
                if (part_ == Part::head_of_all && here_.text[0] != '\0') {
                    const std::string name = here_.text;
                    const int line = call_on_network("127.0.0.1" + name.substr(name.rfind(':')));
                    if (line >= 0) network_.emplace_back(Stream(line, here_.network_token, true));
                }
                break;
            case 5:
                if (far != nullptr && *far) {
                    (void)(*far)->receive();
                    (void)(*far)->send(which % 2 == 0 ? hello_of(1, {}) : any_message(script_, {}));
                }
                break;
            case 6:
                if (far != nullptr && *far) {
                    hang_up((*far)->socket());
                    far->reset();
                }
                break;
            default:
                end_member(which);
        }
    }

    /// In good order, in another one, by a signal; or the run gets a signal.
    void end_member(unsigned how) {
        const char status = static_cast<char>(how % 4 == 1 ? script_.byte() : 0);
        if (how % 8 == 7) {
            kill(getpid(), how >= 16 ? SIGUSR1 : SIGHUP);
        } else if (how % 4 == 2) {
            kill(member.pid, SIGKILL);
        } else if (member.end >= 0) {
            if (how % 4 == 0 && arena_) leave();
            if (how >= 16 && arena_) note();
            if (write(member.end, &status, 1) == 1) close(std::exchange(member.end, -1));
        }
    }
    void leave() {
        if (arena_->find(kDeparturesArray) != nullptr) return;
        const int many = where_.local_size;
        auto* const made = new (arena_->allocate(kDeparturesArray, Departures::bytes(many))) Departures;
        made->leave(where_.local_rank, 0);
    }
    void note() {
        if (arena_->find(kNotesArray) != nullptr) return;
        const auto notes = arena_->array<Note>(kNotesArray, static_cast<std::size_t>(where_.local_size));
        notes[static_cast<std::size_t>(where_.local_rank)].leave("a word", "and more\n");
    }

    /// All that the keeper says is read, so that it never waits.
    void listen() {
        for (Received word; (word = receive_message(member.line)).message;) {
            if (word.message->kind == Kind::here) {
                here_ = *word.message;
                arena_ = Arena::view(std::exchange(word.descriptor, -1), here_.capacity);
            }
            if (word.descriptor >= 0) close(word.descriptor);
        }
        for (int line = -1; door_ >= 0 && (line = accept4(door_, nullptr, nullptr, kFlags)) >= 0;)
            node_.push_back(line);
        for (const int line : node_)
            for (Received word; line >= 0 && (word = receive_message(line)).message;)
                if (word.descriptor >= 0) close(word.descriptor);
        for (int line = -1; port_ >= 0 && (line = accept4(port_, nullptr, nullptr, kFlags)) >= 0;)
            network_.emplace_back(Stream(line, secret_, false));
        for (std::optional<Stream>& line : network_)
            while (line) {
                const Received word = line->receive();
                if (word.message && word.message->kind == Kind::hello && port_ >= 0)
                    (void)line->send(hello_of(0, {}));
                if (!word.message) break;
            }
    }

    static constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    Script script_;
    const std::atomic<bool>& over_;
    Part part_ = Part::nowhere;
    Where where_;
    Message here_;
    strata::Bytes32 secret_{};
    std::optional<Arena> arena_;
    int door_ = -1, port_ = -1;
    std::vector<int> node_;
    std::vector<std::optional<Stream>> network_;
};

Script to_do;

/// From the member's start to the keeper's end.
struct Beside {
    std::atomic<bool> over = false;
    std::thread thread;
    ~Beside() {
        over = true;
        if (thread.joinable()) thread.join();
    }
};
Beside* beside = nullptr;

}  // namespace

namespace strata {

// Nobody reads here what keepers print.
void wait_until_read(int, std::chrono::milliseconds) {}

namespace launch {

// Not those of other runs on this machine.
void remove_stray_segments(double, const std::string&) {}
std::optional<Rank> rank_from_environment() { return Rank{}; }
std::string remedy_for_lone_ranks() { return "a remedy"; }
std::string remedy_for_early_end() { return ""; }

}  // namespace launch

namespace team {

KeptMember::~KeptMember() {
    if (line_ >= 0) close(line_);
}

void KeptMember::start(const std::vector<std::string>&, const launch::SignalEvents& signals) {
    int ends[2], told[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(told, O_CLOEXEC) != 0)
        std::abort();
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        dup2(told[0], STDIN_FILENO);
        syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
        signals.restore();
        unsigned char status = 0;
        while (read(STDIN_FILENO, &status, 1) < 0) {
        }
        _exit(status);
    }
    close(told[0]);
    line_ = ends[0], alive_ = true;
    member = {.line = ends[1], .end = told[1], .pid = pid_};
    beside->thread = std::thread([] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        Others(to_do, beside->over).act();
    });
}

void KeptMember::signal(int number) const {
    if (alive_) kill(pid_, number);
}

std::optional<Message> KeptMember::next_word() {
    if (line_ < 0) return {};
    const Received received = receive_message(line_);
    if (!received.message && received.closed) close(std::exchange(line_, -1));
    return received.message;
}

}  // namespace team
}  // namespace strata

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Neither ignored, which a keeper leaves so, nor libFuzzer's own end.
    for (const int number : {SIGHUP, SIGUSR1}) std::signal(number, [](int) {});
    if (parse_keeper_link("3 4711").keeper != 4711) std::abort();
    const int next = least_free();
    reads(data, size, [](std::string_view text) {
        to_do = Script{text.substr(0, 1024)};
        Beside thread;
        beside = &thread;
        (void)keep_rank({}, {.capacity = kCapacity});
    });
    if (least_free() != next) std::abort();  // a descriptor is left open
    return 0;
}
