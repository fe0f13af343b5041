// Messages between keepers: packets on a node, with descriptors, and a stream between nodes. The first byte
// says which. The other end of the stream knows the secret, so that its messages are taken.
#include "core/team/mpi/lines.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/fuzz/fuzz.hpp"

using namespace strata::team;

namespace {

/// What users of a message rely on.
void check(const Message& message) {
    if (message.kind > Message::Kind::end) std::abort();
    if (memchr(message.name, 0, sizeof message.name) == nullptr) std::abort();
    if (memchr(message.text, 0, sizeof message.text) == nullptr) std::abort();
    const Where& w = message.where;
    if (w.rank < 0 || w.rank >= w.size || w.node < 0 || w.node >= w.nodes || w.local_rank < 0 ||
        w.local_rank >= w.local_size || w.local_size > w.size || w.rank - w.local_rank < 0)
        std::abort();
}

struct Line {
    int ends[2];
    explicit Line(int type) {
        if (socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
    }
    ~Line() { close(ends[0]), close(ends[1]); }
};

/// A packet with as many descriptors as the input says.
void packet(std::string_view text, int descriptors) {
    const Line line(SOCK_SEQPACKET);
    iovec part{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part, header.msg_iovlen = 1;
    if (descriptors > 0) {
        const std::size_t bytes = static_cast<std::size_t>(descriptors) * sizeof(int);
        header.msg_control = control, header.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* const about = CMSG_FIRSTHDR(&header);
        about->cmsg_level = SOL_SOCKET, about->cmsg_type = SCM_RIGHTS, about->cmsg_len = CMSG_LEN(bytes);
        for (int k = 0; k < descriptors; ++k)
            memcpy(CMSG_DATA(about) + static_cast<std::size_t>(k) * sizeof(int), &line.ends[0], sizeof(int));
    }
    const int next = dup(line.ends[0]);  // the least number that is free
    close(next);
    if (sendmsg(line.ends[1], &header, MSG_NOSIGNAL) < 0) return;
    const Received received = receive_message(line.ends[0]);
    if (received.message) check(*received.message);
    if (received.descriptor >= 0) close(received.descriptor);
    const int after = dup(line.ends[0]);
    close(after);
    if (after != next) std::abort();  // a descriptor is left open
}

void stream(std::string_view text) {
    const Line line(SOCK_STREAM);
    strata::Bytes32 secret{};
    Stream here(line.ends[0], secret, false), there(line.ends[1], secret, true);
    while (!there.ready() && !there.receive().closed) {
    }
    for (int k = 0; k < 4 && !text.empty(); ++k) {
        Message message;
        const std::size_t size = std::min(text.size(), sizeof message);
        memcpy(static_cast<void*>(&message), text.data(), size);
        text.remove_prefix(size);
        if (!there.send(message)) return;
    }
    if (!text.empty() && send(line.ends[1], text.data(), std::min<std::size_t>(text.size(), 4096), 0) < 0)
        return;
    shutdown(line.ends[1], SHUT_WR);
    for (Received received; !received.closed;) {
        received = here.receive();
        if (received.message) check(*received.message);
    }
}

/// The doors themselves: who listens is found by what it says of itself.
void doors() {
    const Listening node = listen_on_node(), network = listen_on_network();
    const int lines[] = {call_on_node(node.name), call_on_network(network.name)};
    const int caller = accept4(node.socket, nullptr, nullptr, SOCK_CLOEXEC);
    Message word;
    word.say("a word");
    if (caller < 0 || !send_message(caller, word, node.socket)) std::abort();
    const Received received = await_message(lines[0]);
    if (!received.message || received.descriptor >= 0) std::abort();
    for (const int each : {node.socket, network.socket, lines[0], lines[1], caller})
        if (each >= 0) close(each);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static bool opened = false;
    if (!std::exchange(opened, true)) doors();
    strata::fuzz::reads(data + 1, size - 1, [&](std::string_view text) {
        if (data[0] % 2 == 0)
            packet(text, data[0] / 2 % 5);
        else
            stream(text);
        const std::size_t end = text.find('\n');
        if (end != std::string_view::npos && text.starts_with("127."))
            (void)call_on_network(std::string(text.substr(0, end)));
    });
    return 0;
}
