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

/* Writes to a stream socket without waiting, and sends `descriptor` along unless it is negative. Returns how many bytes
   were written, or the negative error. */
static inline long handoff_send(int socket, const void *bytes, size_t count, int descriptor) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {(void *)bytes, count};
    struct msghdr message;
    memset(&message, 0, sizeof(message));
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
    }
    long written = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return written < 0 ? -errno : written;
}

/* Reads from a stream socket without waiting. Returns how many bytes were read, 0 at the end, or the negative error;
   -EPROTO if several descriptors came along. `*descriptor` becomes the one that did, which is the caller's to close, or
   -1. */
static inline long handoff_receive(int socket, void *bytes, size_t count, int *descriptor) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {bytes, count};
    struct msghdr message;
    memset(&message, 0, sizeof(message));
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = CMSG_LEN(sizeof(int));
    *descriptor = -1;
    long read = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (read < 0) return -errno;
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS
        && first->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(first), sizeof(int));
    if (!(message.msg_flags & MSG_CTRUNC)) return read;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return -EPROTO;
}
