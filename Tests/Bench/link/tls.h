// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS as a bridge has it, by GIO and nothing else. What goes wrong is the end of the program.
#ifndef HANDOFF_BENCH_TLS_H
#define HANDOFF_BENCH_TLS_H

#include <gio/gio.h>

// To be called before anything else: TLS 1.3 only, with the ciphers that a bridge prefers.
void choose_ciphers(void);
void check(GError *error, const char *what);
// A certificate and its key, from one file.
GTlsCertificate *certificate(const char *path);
// A socket that listens on 127.0.0.1, and where.
int listen_on_loopback(unsigned short *port);
// The next connection to it.
int accept_next(int listener);
int dial(unsigned short port);
// The same from another address of the loopback network, as if that were another host.
int dial_from(unsigned short port, unsigned from);
// TLS over a connected socket, which it takes over. Who the other side is does not matter, but it shows a certificate.
GIOStream *shake(int descriptor, gboolean is_server, GTlsCertificate *certificate);
// Reads so many bytes and no fewer.
void read_all(GInputStream *stream, void *bytes, gsize size);

#endif
