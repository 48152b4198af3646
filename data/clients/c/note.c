/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes. */

#include "handoff.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#define TYPE "org.example.Note.edit"
static char *note;
static HandoffUserActivity *editing;

static void will_save (HandoffUserActivity *activity, GVariantDict *user_info, gpointer data, GError **error) {
  g_variant_dict_insert (user_info, "text", "s", note);
}

static void was_continued (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data) {
  handoff_user_activity_resign_current (activity);
  g_print ("Continued on %s.\n", device->name);
}

static void edit (const char *text) {
  g_free (note);
  note = g_strdup (text);
  handoff_user_activity_set_title (editing, text);
  handoff_user_activity_become_current (editing);
  handoff_user_activity_set_needs_save (editing, TRUE);
}

static gboolean go_on (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data, GError **error) {
  const char *text;
  if (!g_variant_lookup (handoff_user_activity_get_user_info (activity), "text", "&s", &text))
    return g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "This note is of a newer version."), FALSE;
  g_print ("%s\n  from %s\n", text, device->name);
  edit (text); /* From now on it is the note of this device, and can be continued from here. */
  return TRUE;
}

static gboolean typed (int input, GIOCondition condition, gpointer data) {
  char some[4096];
  ssize_t count = read (input, some, sizeof some - 1);
  if (count <= 0)
    return G_SOURCE_REMOVE;
  some[count] = '\0';
  for (char *rest = some, *line; (line = strsep (&rest, "\n")) != NULL;)
    if (*line != '\0')
      edit (line);
  return G_SOURCE_CONTINUE;
}

int main (void) {
  HandoffApplication *application = handoff_application_new ("org.example.Note", (const char *[]) { TYPE, NULL });
  editing = handoff_user_activity_new (application, TYPE, "");
  handoff_user_activity_on_will_save (editing, will_save, NULL, NULL);
  handoff_user_activity_on_was_continued (editing, was_continued, NULL, NULL);
  handoff_application_on_continue (application, go_on, NULL, NULL);
  handoff_application_start (application);
  g_unix_fd_add (0, G_IO_IN | G_IO_HUP, typed, NULL);
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
}
