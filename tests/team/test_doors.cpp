// The doors of a run over which its keepers find each other: strangers learn nothing, change nothing and end
// nothing. Strangers are other users, and other runs of this user, which do not know its secrets.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "core/team/mpi/heads.hpp"
#include "core/team/mpi/node_lines.hpp"
#include "tests/catch.hpp"
#include "tests/team/nodes_run.hpp"

using namespace strata;
using namespace strata::team;
using namespace strata::team::testing;
using Kind = Message::Kind;

namespace {

constexpr int kNobody = 65534;

Message hello_of(int rank, const Bytes32& token = {}) {
    Message hello{.kind = Kind::hello};
    hello.where = {.rank = rank, .size = 2, .node = rank, .nodes = 2, .local_rank = rank, .local_size = 2};
    hello.member = rank;
    hello.token = token;
    return hello;
}

/// A message that is told from others by a number.
Message numbered(int number) {
    Message hello = hello_of(1);
    hello.member = number;
    return hello;
}

/// One end of lines on a node, and what it was told.
struct End {
    std::vector<Kind> said;
    int vanished = 0;
    NodeLines lines{{.said = [this](const Received& word, int) { said.push_back(word.message->kind); },
                     .vanished = [this](const Message&) { ++vanished; },
                     .watch = [](int) {}}};
};

/// A node's first member, whose door is open for one more.
struct Head : End {
    Bytes32 token = random_bytes();
    int arena = memfd_create("arena", MFD_CLOEXEC);
    std::string name = lines.open(token, arena, 1);
    ~Head() { close(arena); }
};

/// What a caller hears until the line closes: messages and descriptors; -1 where it does not for half a
/// minute. The door is looked after meanwhile.
int heard_until_closed(NodeLines& door, int line) {
    int heard = 0;
    for (int looks = 0; looks < 6000; ++looks) {
        door.listen();
        const Received received = receive_message(line);
        heard += received.message ? 1 : 0;
        heard += received.descriptor >= 0 ? 1 : 0;
        if (received.closed) return heard;
        pollfd wait{line, POLLIN, 0};
        poll(&wait, 1, 5);
    }
    return -1;
}

bool joins(Head& head, End& member) {
    member.lines.call(head.name, hello_of(1, head.token));
    for (int i = 0; i < 400 && member.said.empty(); ++i) {
        head.lines.listen();
        member.lines.listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return member.said == std::vector{Kind::arena};
}

/// Two streams that are joined, and whether they know the same secret.
struct TwoEnds {
    int ends[2] = {-1, -1};
    std::optional<Stream> caller, called;
    explicit TwoEnds(bool same) {
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
        const Bytes32 secret = random_bytes();
        caller.emplace(ends[0], secret, true);
        called.emplace(ends[1], same ? secret : random_bytes(), false);
        for (Stream* each : {&*caller, &*called}) CHECK_FALSE(each->receive().closed);
        CHECK(caller->ready());
        CHECK(called->ready());
    }
    ~TwoEnds() {
        for (const int end : ends) close(end);
    }
};

std::vector<char> taken(int end) {
    std::vector<char> bytes(4096);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, recv(end, bytes.data(), bytes.size(), 0))));
    return bytes;
}

void put(int end, const std::vector<char>& bytes) {
    REQUIRE(send(end, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

int call_port(const std::string& addresses) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(addresses.substr(addresses.rfind(':') + 1))));
    const int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(line, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return line;
    close(line);
    return -1;
}

}  // namespace

TEST_CASE("a line between nodes passes messages both ways, and none that somebody else made") {
    TwoEnds pair(true);
    for (int i = 0; i < 3; ++i) {
        CHECK(pair.caller->send(numbered(i)));
        const Received there = pair.called->receive();
        REQUIRE(there.message);
        CHECK(there.message->member == i);
        CHECK(pair.called->send(numbered(i + 7)));
        const Received back = pair.caller->receive();
        REQUIRE(back.message);
        CHECK(back.message->member == i + 7);
    }
    SECTION("with one bit changed") {
        for (const std::size_t at : {std::size_t{0}, sizeof(Message) - 1, sizeof(Message)}) {
            TwoEnds other(true);
            other.caller->send(hello_of(1));
            auto bytes = taken(other.ends[1]);
            bytes.at(at) ^= 4;
            put(other.ends[0], bytes);
            const Received received = other.called->receive();
            CHECK_FALSE(received.message);
            CHECK(received.closed);
        }
    }
    SECTION("said again") {
        pair.caller->send(hello_of(1));
        const auto bytes = taken(pair.ends[1]);
        put(pair.ends[0], bytes);
        CHECK(pair.called->receive().message);
        put(pair.ends[0], bytes);
        CHECK(pair.called->receive().closed);
    }
    SECTION("sent back to who said it") {
        pair.caller->send(hello_of(1));
        put(pair.ends[1], taken(pair.ends[1]));
        CHECK(pair.caller->receive().closed);
    }
    SECTION("heard on another line of the same run") {
        TwoEnds other(true);
        pair.caller->send(hello_of(1));
        put(other.ends[0], taken(pair.ends[1]));
        CHECK(other.called->receive().closed);
    }
    SECTION("by one that does not know the secret") {
        TwoEnds stranger(false);
        stranger.caller->send(hello_of(1));
        const Received received = stranger.called->receive();
        CHECK_FALSE(received.message);
        CHECK(received.closed);
    }
}

TEST_CASE("a process of this user that is not of the run is turned away, and its going ends nothing") {
    Head head;
    Message wrong = hello_of(1, random_bytes());
    SECTION("with a wrong token") {
        const int line = call_on_node(head.name);
        REQUIRE(send_message(line, wrong));
        CHECK(heard_until_closed(head.lines, line) == 0);
        close(line);
    }
    SECTION("with another message first") {
        const int line = call_on_node(head.name);
        wrong = hello_of(1, head.token);
        wrong.kind = Kind::lost;
        REQUIRE(send_message(line, wrong));
        CHECK(heard_until_closed(head.lines, line) == 0);
        close(line);
    }
    SECTION("silent") {
        const int line = call_on_node(head.name);
        CHECK(heard_until_closed(head.lines, line) == 0);
        close(line);
    }
    SECTION("hanging up") {
        const int line = call_on_node(head.name);
        send_message(line, wrong);
        close(line);
        head.lines.listen();
    }
    SECTION("as more than are kept at a time") {
        std::vector<int> lines;
        for (std::size_t i = 0; i < 3 * kStrangers; ++i) lines.push_back(call_on_node(head.name));
        head.lines.listen();
        for (const int line : lines) close(line);
    }
    std::vector<int> silent;
    SECTION("as many more that say nothing") {
        for (int i = 0; i < 300; ++i) silent.push_back(call_on_node(head.name));
    }
    End member;
    CHECK(joins(head, member));
    for (const int line : silent) close(line);
    CHECK(head.said.empty());
    CHECK(head.vanished == 0);
    CHECK(head.lines.gone() == 0);
    // All are there: nobody can call any more.
    CHECK(call_on_node(head.name) == -1);
}

TEST_CASE("the end of a member is known") {
    Head head;
    {
        End member;
        REQUIRE(joins(head, member));
    }
    head.lines.listen();
    CHECK(head.vanished == 1);
    CHECK(head.lines.gone() == 1);
}

TEST_CASE("another user is heard by no door on a node, whatever it knows") {
    if (geteuid() != 0) CANNOT_TRY("only root can act as another user");
    Head head;
    const Message hello = hello_of(1, head.token);
    const pid_t other = fork();
    if (other == 0) {
        if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
        const int line = call_on_node(head.name);
        if (line < 0) _exit(3);
        send_message(line, hello);
        pollfd wait{line, POLLIN, 0};
        poll(&wait, 1, -1);
        const Received received = receive_message(line);
        _exit(received.message || received.descriptor >= 0 ? 1 : 0);
    }
    int status = -1;
    while (waitpid(other, &status, WNOHANG) == 0) {
        head.lines.listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(status == 0);
    End member;
    CHECK(joins(head, member));
}

TEST_CASE("a keeper does not speak to a door of another user") {
    if (geteuid() != 0) CANNOT_TRY("only root can act as another user");
    int said[2];
    REQUIRE(pipe(said) == 0);
    const pid_t other = fork();
    if (other == 0) {
        if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
        const Listening door = listen_on_node();
        char name[64] = {};
        std::snprintf(name, sizeof name, "%s", door.name.c_str());
        if (write(said[1], name, sizeof name) < 0) _exit(3);
        pause();
    }
    char name[64] = {};
    REQUIRE(read(said[0], name, sizeof name) == sizeof name);
    // Root trusts nobody but root here.
    CHECK(call_on_node(name) == -1);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    for (const int end : said) close(end);
}

TEST_CASE("whoever calls the port of a run hears nothing, and the run's nodes find each other") {
    const Bytes32 secret = random_bytes();
    int linked = 0, vanished = 0;
    Heads first({.said = [](int, const Message&) {},
                 .vanished = [&](const Message&, const std::string&) { ++vanished; },
                 .watch = [](int) {}});
    const std::string addresses = first.open(hello_of(0), secret);
    std::vector<int> strangers;
    for (std::size_t i = 0; i < 3 * kStrangers; ++i) strangers.push_back(call_port(addresses));
    // One says something, the others nothing.
    const std::vector<char> nonsense(4096, 'x');
    put(strangers.front(), nonsense);
    Heads second({.said = [](int, const Message&) {},
                  .vanished = [](const Message&, const std::string&) {},
                  .watch = [](int) {}});
    std::thread other([&] {
        const std::string here = "127.0.0.1" + addresses.substr(addresses.rfind(':'));
        linked = second.call(here, hello_of(1), secret) ? second.linked() : 0;
    });
    for (int i = 0; i < 1000 && first.linked() == 0; ++i) {
        first.listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    other.join();
    CHECK(first.linked() == 1);
    CHECK(linked == 1);
    for (const int line : strangers) {
        // Random bytes, without which nobody could prove anything; then the end.
        std::size_t bytes = 0;
        char piece[4096];
        for (ssize_t n = 0; (n = recv(line, piece, sizeof piece, 0)) > 0;)
            bytes += static_cast<std::size_t>(n);
        CHECK(bytes <= sizeof(Bytes32));
        close(line);
    }
    CHECK(call_port(addresses) == -1);
    CHECK(vanished == 0);
}

TEST_CASE("of callers between nodes that say nothing only some are kept, and no more are let in at a time") {
    Heads first({.said = [](int, const Message&) {},
                 .vanished = [](const Message&, const std::string&) {},
                 .watch = [](int) {}});
    const std::string addresses = first.open(hello_of(0), random_bytes());
    const int kept = static_cast<int>(kStrangers) + 1;  // and the other node, which is expected
    std::vector<int> lines;
    for (int i = 0; i < kCallsAtOnce + 10; ++i) lines.push_back(call_port(addresses));
    first.listen();
    int gone = 0, unheard = 0;
    for (const int line : lines) {
        char bytes[sizeof(Bytes32)];
        const ssize_t said = recv(line, bytes, sizeof bytes, MSG_DONTWAIT);
        unheard += said < 0 && errno == EAGAIN ? 1 : 0;
        gone += said > 0 && recv(line, bytes, 1, MSG_DONTWAIT) == 0 ? 1 : 0;
        close(line);
    }
    CHECK(gone >= kCallsAtOnce - kept);
    CHECK(unheard == 10);  // still at the door
}

TEST_CASE("all nodes of a large run may call at once, and answer when they can") {
    constexpr int nodes = 3 * static_cast<int>(kStrangers);
    const Bytes32 secret = random_bytes();
    Message hello = hello_of(0);
    hello.where.nodes = nodes;
    Heads first({.said = [](int, const Message&) {},
                 .vanished = [](const Message&, const std::string&) {},
                 .watch = [](int) {}});
    const std::string addresses = first.open(hello, secret);
    std::vector<Stream> others;
    for (int node = 1; node < nodes; ++node) others.emplace_back(call_port(addresses), secret, true);
    first.listen();
    for (int node = 1; node < nodes; ++node) {
        Stream& other = others[static_cast<std::size_t>(node - 1)];
        for (int i = 0; i < 1000 && !other.ready(); ++i) {
            static_cast<void>(other.receive());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        hello.where.node = node;
        CHECK(other.send(hello));
    }
    for (int i = 0; i < 1000 && first.linked() < nodes - 1; ++i) {
        first.listen();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(first.linked() == nodes - 1);
    for (const Stream& other : others) close(other.socket());
}

TEST_CASE("in a job the port is open on the interface of the job alone") {
    REQUIRE(setenv("SLURMD_NODENAME", "localhost", 1) == 0);
    const Listening door = listen_on_network();
    REQUIRE(unsetenv("SLURMD_NODENAME") == 0);
    CHECK(door.name.starts_with("127.0.0.1:"));
    const Listening open = listen_on_network();
    CHECK(has(open.name, "127.0.0.1:"));
    for (const Listening& each : {door, open}) {
        sockaddr_in bound{};
        socklen_t size = sizeof bound;
        REQUIRE(getsockname(each.socket, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
        CHECK((bound.sin_addr.s_addr == htonl(INADDR_ANY)) == (each.socket == open.socket));
        close(each.socket);
    }
}

TEST_CASE("a run that computes has no name on the machine and no port that somebody could call") {
    for (const std::string& program : nodes_programs()) {
        Run run({"wait"}, nodes_of(2), under_mpirun(4, program));
        REQUIRE(run.read_until([](const Done& so_far) { return count(so_far.out, "waits") == 4; }));
        const auto keeper = [&] {
            const std::string& out = run.so_far().out;
            return std::stoi(out.substr(out.find("keeper ") + 7));
        }();
        const auto sockets = [](int pid) {
            std::set<std::string> numbers;
            for (const auto& file : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
                std::error_code gone;
                const std::string target = std::filesystem::read_symlink(file.path(), gone);
                if (has(target, "socket:[")) numbers.insert(" " + target.substr(8, target.size() - 9) + " ");
            }
            return numbers;
        };
        // A keeper has others of mpirun's.
        const auto inherited = sockets(run.pid());
        std::string listening;
        for (const std::string& number : sockets(keeper))
            for (const auto& [table, mark] :
                 {std::pair{"/proc/net/unix", " 00010000 "}, std::pair{"/proc/net/tcp", " 0A "}}) {
                std::ifstream listed(table);
                for (std::string line; std::getline(listed, line);)
                    if (!inherited.contains(number) && has(line, number) && has(line, mark))
                        listening += line + "\n";
            }
        INFO(program);
        CHECK(listening == "");
        kill(run.pid(), SIGTERM);
        run.wait();
        CHECK(run.nobody_left());
    }
}

namespace {

/// What one end hears of a packet that the other sent, with so many descriptors.
Received heard(const Message& message, int descriptors = 0, std::size_t bytes = sizeof(Message)) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    iovec part{const_cast<Message*>(&message), bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part, header.msg_iovlen = 1;
    if (descriptors > 0) {
        header.msg_control = control, header.msg_controllen = sizeof control;
        cmsghdr* const about = CMSG_FIRSTHDR(&header);
        about->cmsg_level = SOL_SOCKET, about->cmsg_type = SCM_RIGHTS;
        about->cmsg_len = CMSG_LEN(static_cast<std::size_t>(descriptors) * sizeof(int));
        std::memcpy(CMSG_DATA(about), ends, static_cast<std::size_t>(descriptors) * sizeof(int));
    }
    REQUIRE(sendmsg(ends[1], &header, 0) == static_cast<ssize_t>(bytes));
    const Received received = receive_message(ends[0]);
    for (const int end : ends) close(end);
    return received;
}

}  // namespace

TEST_CASE("a message that cannot be closes the line: its kind, texts without end, a place of no team") {
    CHECK(heard(hello_of(1)).message);
    Message wrong[8];
    for (Message& each : wrong) each = hello_of(1);
    wrong[0].kind = static_cast<Kind>(99);
    std::memset(wrong[1].text, 'a', sizeof wrong[1].text);
    std::memset(wrong[2].name, 'a', sizeof wrong[2].name);
    wrong[3].where.local_size = std::numeric_limits<int>::max();
    wrong[4].where.rank = -1;
    wrong[5].where.node = 2;
    wrong[6].where.local_rank = 2;
    wrong[7].where.local_rank = 0;  // the last of its node would be beyond the team's last
    for (const Message& each : wrong) {
        INFO(&each - wrong);
        CHECK_FALSE(heard(each).message);
        CHECK(heard(each).closed);
        Bytes32 secret{};
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        Stream here(ends[0], secret, false), there(ends[1], secret, true);
        CHECK_FALSE(there.receive().closed);
        REQUIRE(there.send(each));
        const Received received = here.receive();
        CHECK_FALSE(received.message);
        CHECK(received.closed);
        for (const int end : ends) close(end);
    }
}

TEST_CASE("descriptors that nobody asked for are closed") {
    const auto open_now = [] {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    const auto before = open_now();
    CHECK(heard(hello_of(1), 1).descriptor == -1);  // with a message that brings none
    CHECK(heard(hello_of(1), 2).descriptor == -1);
    CHECK(heard(Message{.kind = Kind::arena}, 2, 100).descriptor == -1);  // with half a message
    const int one = heard(Message{.kind = Kind::arena}, 2).descriptor;    // a second one
    CHECK(one >= 0);
    close(one);
    CHECK(open_now() == before);
}
