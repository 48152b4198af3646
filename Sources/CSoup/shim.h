/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <signal.h>
#include <sys/prctl.h>

/* What is used of libsoup 3. Its own headers are reached only by way of its file for pkg-config, because of which SwiftPM
   would warn about -pthread on every build. "meson-helpers/test" compares this with those headers. */

typedef struct _SoupMessage SoupMessage;
typedef struct _SoupSession SoupSession;

SoupSession *soup_session_new(void);
void soup_session_set_proxy_resolver(SoupSession *session, GProxyResolver *resolver);
void soup_session_set_timeout(SoupSession *session, guint seconds);
void soup_session_set_user_agent(SoupSession *session, const char *agent);
void soup_session_remove_feature_by_type(SoupSession *session, GType type);
GInputStream *soup_session_send(
    SoupSession *session, SoupMessage *message, GCancellable *cancellable, GError **error);
GType soup_auth_manager_get_type(void);
GType soup_content_decoder_get_type(void);

SoupMessage *soup_message_new(const char *method, const char *uri);
guint soup_message_get_status(SoupMessage *message);
void soup_message_add_flags(SoupMessage *message, guint flags);

/* SOUP_MESSAGE_NO_REDIRECT */
#define HANDOFF_SOUP_NO_REDIRECT (1u << 1)

/* Swift cannot call the variadic prctl(2). */

/* From now on, nothing that this process starts can have more rights than it has. */
static inline void handoff_gain_no_privileges(void)
{
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul);
}

/* From now on, this process is killed when the thread that has started it ends. */
static inline void handoff_end_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL);
}
