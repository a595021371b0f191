//! The part of the patch that prevents programs started by this process from inheriting
//! descriptors.
//!
//! The sockets of Cyclone DDS did not have the close-on-exec flag. So a program that a process
//! started kept the ports of the process and the datagrams that arrived there, even after the
//! process had ended, and it looked like a participant of the domain. The two descriptors of the
//! thread that waits for sockets got the flag only a short time after they were created; in that
//! time, another thread could start a program. The patch does not cover the sockets that TCP would
//! accept, because TCP is not built.

use crate::edit::Edit;

const WAITING: &str = "src/core/ddsi/src/ddsi_sockwaitset.c";

pub(crate) const EDITS: &[Edit] = &[
    Edit {
        file: "src/ddsrt/src/sockets/posix/socket.c",
        anchor: "  sock = socket(domain, type, protocol);\n  if (sock != -1) {\n",
        times: 1,
        replacement: "  /* Feros: programs that this process starts do not inherit the socket. */\n\
            #ifdef SOCK_CLOEXEC\n  sock = socket(domain, type | SOCK_CLOEXEC, protocol);\n\
            #else\n  sock = socket(domain, type, protocol);\n\
            \x20 if (sock != -1)\n    (void) fcntl(sock, F_SETFD, FD_CLOEXEC);\n#endif\n\
            \x20 if (sock != -1) {\n",
    },
    Edit {
        file: "src/ddsrt/src/ifaddrs/posix/ifaddrs.c",
        anchor: "  int sock = socket (ifa->addr->sa_family, SOCK_DGRAM, 0);\n",
        times: 1,
        replacement: "#ifdef SOCK_CLOEXEC\n\
            \x20 int sock = socket (ifa->addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);\n\
            #else\n  int sock = socket (ifa->addr->sa_family, SOCK_DGRAM, 0);\n#endif\n",
    },
    Edit {
        file: WAITING,
        anchor: "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n",
        times: 1,
        replacement: "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE /* Feros: for pipe2 */\n#endif\n\
            #include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n",
    },
    Edit {
        file: WAITING,
        anchor: "  if ((ws->epfd = epoll_create (1)) == -1)\n",
        times: 2,
        replacement: "  if ((ws->epfd = epoll_create1 (EPOLL_CLOEXEC)) == -1)\n",
    },
    Edit {
        file: WAITING,
        anchor: "    goto fail_epoll_create;\n  if (pipe (ws->pipe) == -1)\n",
        times: 1,
        replacement: "    goto fail_epoll_create;\n  if (pipe2 (ws->pipe, O_CLOEXEC) == -1)\n",
    },
];
