// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS as a bridge has it, by GIO and nothing else.
#include "tls.h"

#include "../bench.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

void choose_ciphers(void) {
    setenv("G_TLS_GNUTLS_PRIORITY",
           "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%NO_TICKETS", 1);
}

void check(GError *error, const char *what) {
    if (error) fail(what, &(DBusError){.message = error->message});
}

GTlsCertificate *certificate(const char *path) {
    GError *error = NULL;
    GTlsCertificate *certificate = g_tls_certificate_new_from_file(path, &error);
    check(error, path);
    return certificate;
}

static gboolean accept_any(GTlsConnection *connection, GTlsCertificate *certificate, GTlsCertificateFlags errors,
                           gpointer data) {
    (void)connection, (void)certificate, (void)errors, (void)data;
    return TRUE;
}

// Without a database, which GIO would read for each connection.
GIOStream *shake(int descriptor, gboolean is_server, GTlsCertificate *certificate) {
    GError *error = NULL;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    GSocket *socket = g_socket_new_from_fd(descriptor, &error);
    check(error, "a socket");
    GSocketConnection *base = g_socket_connection_factory_create_connection(socket);
    GTlsBackend *backend = g_tls_backend_get_default();
    const GType type = is_server ? g_tls_backend_get_server_connection_type(backend)
                                 : g_tls_backend_get_client_connection_type(backend);
    GIOStream *stream = g_initable_new(type, NULL, &error, "base-io-stream", base, "database", NULL, "certificate",
                                       certificate, NULL);
    check(error, "TLS");
    if (is_server) g_object_set(stream, "authentication-mode", G_TLS_AUTHENTICATION_REQUIRED, NULL);
    g_signal_connect(stream, "accept-certificate", G_CALLBACK(accept_any), NULL);
    g_object_unref(base);
    g_object_unref(socket);
    g_tls_connection_handshake(G_TLS_CONNECTION(stream), NULL, &error);
    check(error, "the handshake");
    return stream;
}

static struct sockaddr_in address_of(unsigned host, unsigned short port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
}

static int loopback(unsigned short port, struct sockaddr_in *address) {
    *address = address_of(INADDR_LOOPBACK, port);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int listen_on_loopback(unsigned short *port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    const int listener = loopback(0, &address);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 16) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        fail("listening", NULL);
    *port = ntohs(address.sin_port);
    return listener;
}

int accept_next(int listener) {
    const int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (descriptor < 0) fail("accepting", NULL);
    return descriptor;
}

int dial(unsigned short port) { return dial_from(port, INADDR_LOOPBACK); }

int dial_from(unsigned short port, unsigned from) {
    struct sockaddr_in address;
    const struct sockaddr_in own = address_of(from, 0);
    const int descriptor = loopback(port, &address);
    if (bind(descriptor, (struct sockaddr *)&own, sizeof own)) fail("an address of the loopback network", NULL);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("connecting", NULL);
    return descriptor;
}

void read_all(GInputStream *stream, void *bytes, gsize size) {
    GError *error = NULL;
    gsize count = 0;
    g_input_stream_read_all(stream, bytes, size, &count, NULL, &error);
    check(error, "reading");
    if (count < size) fail("the other side has closed the connection", NULL);
}
