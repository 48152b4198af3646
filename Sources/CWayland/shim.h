/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <stdint.h>

/* What is used of libwayland-client. Nothing is linked to it, and its headers need not be there: it is looked for when there is
   a Wayland display, so that no other session has it in memory. "meson-helpers/test" compares this with those headers. */

struct wl_array;
struct wl_display;
struct wl_object;
struct wl_proxy;

/* Where that check has the true ones, it compares the functions alone. */
#ifndef WAYLAND_UTIL_H
struct wl_interface;

struct wl_message {
    const char *name;
    const char *signature;
    const struct wl_interface **types;
};

struct wl_interface {
    const char *name;
    int version;
    int method_count;
    const struct wl_message *methods;
    int event_count;
    const struct wl_message *events;
};

union wl_argument {
    int32_t i;
    uint32_t u;
    int32_t f;
    const char *s;
    struct wl_object *o;
    uint32_t n;
    struct wl_array *a;
    int32_t h;
};
#endif

/* Called for each event of a proxy. */
typedef int (*handoff_wl_dispatcher)(const void *implementation, void *target, uint32_t opcode,
    const struct wl_message *message, union wl_argument *arguments);

/* The functions, by their names with "handoff_" before. */
typedef struct wl_display *(*handoff_wl_display_connect)(const char *name);
typedef void (*handoff_wl_display_disconnect)(struct wl_display *display);
typedef int (*handoff_wl_display_get_fd)(struct wl_display *display);
typedef int (*handoff_wl_display_prepare_read)(struct wl_display *display);
typedef int (*handoff_wl_display_read_events)(struct wl_display *display);
typedef int (*handoff_wl_display_dispatch_pending)(struct wl_display *display);
typedef int (*handoff_wl_display_flush)(struct wl_display *display);
typedef int (*handoff_wl_display_get_error)(struct wl_display *display);
typedef struct wl_proxy *(*handoff_wl_proxy_marshal_array_flags)(struct wl_proxy *proxy, uint32_t opcode,
    const struct wl_interface *interface, uint32_t version, uint32_t flags, union wl_argument *arguments);
typedef int (*handoff_wl_proxy_add_dispatcher)(struct wl_proxy *proxy, handoff_wl_dispatcher dispatcher,
    const void *implementation, void *data);
typedef void (*handoff_wl_proxy_destroy)(struct wl_proxy *proxy);
typedef uint32_t (*handoff_wl_proxy_get_version)(struct wl_proxy *proxy);

/* WL_MARSHAL_FLAG_DESTROY */
#define HANDOFF_WAYLAND_DESTROY (1u << 0)
