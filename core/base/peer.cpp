#include "core/base/peer.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace strata {

bool is_trusted_peer(int socket) noexcept {
    ucred who{};
    socklen_t size = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

int accept_trusted(int listening) noexcept {
    // Some at a time, so that whoever keeps calling does not keep this process.
    for (int turned_away = 0; turned_away < 64; ++turned_away) {
        const int line = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (line < 0 || is_trusted_peer(line)) return line;
        close(line);
    }
    return -1;
}

}  // namespace strata
