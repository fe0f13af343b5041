// The doors and lines of a run's keepers, on a node and between nodes: callers come, say anything and go, in
// any order. Some know the secrets of the run; what is said by others is heard by nobody.
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/team/mpi/heads.hpp"
#include "core/team/mpi/node_lines.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/keepers.hpp"

using namespace strata::fuzz;
using namespace strata::team;

namespace {

constexpr int kExpected = 2;  // callers of the run itself, on each door

/// Aborts where a message is heard while nobody has proved to belong to the run.
struct Heard {
    bool allowed = false;
    int messages = 0, vanished = 0;
    void message() {
        if (!allowed) std::abort();
        ++messages;
    }
};

void on_node(Script script) {
    const strata::Bytes32 token = strata::random_bytes();
    const int arena = memfd_create("arena", MFD_CLOEXEC);
    Heard heard;
    std::vector<int> callers;
    {
        NodeLines door({.said =
                            [&](const Received& word, int) {
                                heard.message();
                                if (!word.message) std::abort();
                                if (word.descriptor >= 0) close(word.descriptor);
                            },
                        .vanished = [&](const Message&) { ++heard.vanished; },
                        .watch = [](int) {}});
        const std::string name = door.open(token, arena, kExpected);
        while (!script.text.empty()) {
            const unsigned what = script.byte();
            if (what % 4 == 0) callers.push_back(call_on_node(name));
            const int line = callers.empty() ? -1 : callers[what / 4 % callers.size()];
            if (what % 4 == 1 && line >= 0) {
                const std::string_view raw = script.bytes(sizeof(Message) + 1);
                send(line, raw.data(), raw.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            }
            if (what % 4 == 2 && line >= 0) {
                const bool knows = script.byte() % 2 == 0;
                heard.allowed = heard.allowed || knows;
                (void)send_message(line, any_message(script, knows ? token : strata::Bytes32{}),
                                   what % 8 == 2 ? arena : -1);
            }
            if (what % 4 == 3 && line >= 0) close(std::exchange(callers[what / 4 % callers.size()], -1));
            if (what >= 128) door.listen();
            if (what >= 192) door.tell({.kind = Message::Kind::ready});
        }
        door.listen();
        (void)door.until_turn();
        if (door.gone() > kExpected) std::abort();
    }
    for (const int line : callers)
        if (line >= 0) close(line);
    close(arena);
}

void between_nodes(Script script) {
    const strata::Bytes32 secret = strata::random_bytes();
    Heard heard;
    std::vector<std::optional<Stream>> callers;
    Heads door({.said = [&](int, const Message&) { heard.message(); },
                .vanished = [&](const Message&, const std::string&) { ++heard.vanished; },
                .watch = [](int) {}});
    const std::string name = door.open(hello_of(0, {}), secret);
    const std::string here = "127.0.0.1" + name.substr(name.rfind(':'));
    while (!script.text.empty()) {
        const unsigned what = script.byte();
        if (what % 4 == 0) {
            const bool knows = script.byte() % 2 == 0;
            heard.allowed = heard.allowed || knows;
            const int line = call_on_network(here);
            if (line >= 0) callers.emplace_back(Stream(line, knows ? secret : strata::random_bytes(), true));
        }
        std::optional<Stream>* const line = callers.empty() ? nullptr : &callers[what / 4 % callers.size()];
        if (what % 4 == 1 && line != nullptr && *line) {
            const std::string_view raw = script.bytes(sizeof(Message) + 33);
            send((*line)->socket(), raw.data(), raw.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (what % 4 == 2 && line != nullptr && *line) {
            (void)(*line)->receive();
            (void)(*line)->send(any_message(script, {}));
        }
        if (what % 4 == 3 && line != nullptr && *line) {
            hang_up((*line)->socket());
            line->reset();
        }
        if (what >= 128) door.listen();
        if (what >= 160) door.turn();
        if (what >= 192) door.tell({.kind = Message::Kind::ready}, static_cast<int>(what % 3));
        if (what >= 250) door.expect_no_more();
    }
    door.listen();
    (void)door.until_turn();
    if (door.linked() > static_cast<int>(callers.size()) || door.linked_but({0, 1, 2}) > door.linked())
        std::abort();
    for (const std::optional<Stream>& line : callers)
        if (line) hang_up(line->socket());
    door.listen();
}

/// The run's own ends find each other; silent strangers are turned away after a second.
void its_own() {
    const strata::Bytes32 secret = strata::random_bytes();
    NodeLines::Events quiet{
        .said = [](const Received&, int) {}, .vanished = [](const Message&) {}, .watch = [](int) {}};
    NodeLines head(quiet), member(quiet);
    const std::string name = head.open(secret, STDIN_FILENO, 1);
    const int stranger = call_on_node(name);
    head.listen();
    std::this_thread::sleep_for(kStrangerStays * 1.2);
    head.listen();
    member.call(name, hello_of(1, secret));
    for (int i = 0; i < 4; ++i) head.listen(), member.listen();
    member.tell({.kind = Message::Kind::gone});
    head.tell({.kind = Message::Kind::end});
    head.listen(), member.listen();
    if (head.gone() != 1) std::abort();
    close(stranger);

    Heads::Events silent{.said = [](int, const Message&) {},
                         .vanished = [](const Message&, const std::string&) {},
                         .watch = [](int) {}};
    Heads first(silent), second(silent);
    Message hello = hello_of(0, {});
    hello.where.nodes = 2;
    const std::string addresses = first.open(hello, secret);
    bool joined = false;
    std::thread caller([&] {
        joined = second.call("127.0.0.1" + addresses.substr(addresses.rfind(':')), hello_of(1, {}), secret);
    });
    for (int i = 0; i < 4000 && first.linked() == 0; ++i) {
        first.listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    caller.join();
    if (!joined || first.linked() != 1 || !first.in_use()) std::abort();
    if (second.call("127.0.0.1:1", hello_of(1, {}), secret)) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static bool opened = false;
    if (!std::exchange(opened, true)) its_own();
    const int next = least_free();
    strata::fuzz::reads(data, size, [](std::string_view text) {
        Script script{text.substr(0, 2048)};
        if (script.byte() % 2 == 0)
            on_node(script);
        else
            between_nodes(script);
    });
    if (least_free() != next) std::abort();  // a descriptor is left open
    return 0;
}
