/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <dbus/dbus.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The macros of cmsg(3), which Swift does not see. */

#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0x40000000
#endif

/* How many descriptors travel at a time at most (unix(7)). */
#define HANDOFF_DESCRIPTORS 253

/* Room for them, as the kernel wants it to be aligned. */
union handoff_control {
    struct cmsghdr header;
    char room[CMSG_SPACE(HANDOFF_DESCRIPTORS * sizeof(int))];
};

/* What has such room on its stack is protected against writing past it, as what is inlined into Swift is not. */
#define HANDOFF_PROTECTED static __attribute__((noinline))

/* Writes to a stream socket without waiting, and sends the descriptors along with the first byte. Returns how many bytes
   were written, or the negative error. */
HANDOFF_PROTECTED long handoff_send(int socket, const void *bytes, size_t count, const int *descriptors, int number) {
    union handoff_control control;
    struct iovec part = {(void *)bytes, count};
    struct msghdr message;
    memset(&message, 0, sizeof(message));
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (number > HANDOFF_DESCRIPTORS) return -EINVAL;
    if (number > 0) {
        memset(&control, 0, CMSG_SPACE(number * sizeof(int)));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(number * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(number * sizeof(int));
        memcpy(CMSG_DATA(&control.header), descriptors, number * sizeof(int));
    }
    long written = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return written < 0 ? -errno : written;
}

/* Reads from a stream socket without waiting. Returns how many bytes were read, 0 at the end, or the negative error.
   `descriptors`, which has room for HANDOFF_DESCRIPTORS, holds those that came along, which are the caller's to close, and
   `*number` says how many; -1 if they are lost, because this process may not have so many. */
HANDOFF_PROTECTED long handoff_receive(int socket, void *bytes, size_t count, int *descriptors, int *number) {
    union handoff_control control;
    struct iovec part = {bytes, count};
    struct msghdr message;
    memset(&message, 0, sizeof(message));
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    *number = 0;
    long read = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (read < 0) return -errno;
    for (struct cmsghdr *next = CMSG_FIRSTHDR(&message); next; next = CMSG_NXTHDR(&message, next)) {
        if (next->cmsg_level != SOL_SOCKET || next->cmsg_type != SCM_RIGHTS) continue;
        int here = (int)((next->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (here > HANDOFF_DESCRIPTORS - *number) here = HANDOFF_DESCRIPTORS - *number;
        memcpy(descriptors + *number, CMSG_DATA(next), here * sizeof(int));
        *number += here;
    }
    if (!(message.msg_flags & MSG_CTRUNC)) return read;
    while (*number > 0) close(descriptors[--*number]);
    *number = -1;
    return read;
}
