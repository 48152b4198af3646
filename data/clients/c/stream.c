/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* More than a state can hold: with FILE it offers a file, and without it prints what is continued from elsewhere. */

#include "handoff.h"
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path;

static gpointer send_file (gpointer stream) {
  int file = open (path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file >= 0 && fstat (file, &status) == 0) {
    /* The length comes first: if this program dies in between, its end is no other than that of a whole file. */
    guint64 size = GUINT64_TO_BE (status.st_size);
    off_t place = 0;
    if (write (GPOINTER_TO_INT (stream), &size, sizeof size) == sizeof size)
      while (place < status.st_size
             && sendfile (GPOINTER_TO_INT (stream), file, &place, MIN (1 << 20, status.st_size - place)) > 0);
  }
  close (file);
  close (GPOINTER_TO_INT (stream));
  return NULL;
}

static void took (HandoffUserActivity *activity, int stream, gpointer data) {
  g_thread_unref (g_thread_new ("send", send_file, GINT_TO_POINTER (stream)));
}

static gpointer receive (gpointer stream) {
  char some[65536];
  guint64 size = 0;
  ssize_t count;
  shutdown (GPOINTER_TO_INT (stream), SHUT_WR);
  gboolean is_whole = recv (GPOINTER_TO_INT (stream), &size, sizeof size, MSG_WAITALL) == sizeof size;
  size = GUINT64_FROM_BE (size);
  while (is_whole && size > 0) {
    count = read (GPOINTER_TO_INT (stream), some, MIN (size, sizeof some));
    is_whole = count > 0 && write (1, some, count) == count;
    size -= is_whole ? count : 0;
  }
  if (!is_whole)
    g_printerr ("It broke off.\n");
  close (GPOINTER_TO_INT (stream));
  return NULL;
}

static void opened (HandoffUserActivity *activity, int stream, const char *name, const char *message, gpointer data) {
  if (stream < 0)
    g_printerr ("There is no stream: %s\n", message);
  else
    g_thread_unref (g_thread_new ("receive", receive, GINT_TO_POINTER (stream)));
}

static gboolean go_on (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data, GError **error) {
  handoff_user_activity_continuation_stream (activity, opened, NULL, NULL);
  return TRUE;
}

int main (int count, char **arguments) {
  const char *types[] = { "org.example.Stream.read", NULL };
  HandoffApplication *application = handoff_application_new ("org.example.Stream", types);
  handoff_application_on_continue (application, go_on, NULL, NULL);
  handoff_application_start (application);
  HandoffUserActivity *activity = handoff_user_activity_new (application, types[0], path = arguments[1]);
  handoff_user_activity_set (activity, "SupportsContinuationStreams", g_variant_new_boolean (TRUE));
  handoff_user_activity_on_stream (activity, took, NULL, NULL);
  if (path != NULL)
    handoff_user_activity_become_current (activity);
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
}
