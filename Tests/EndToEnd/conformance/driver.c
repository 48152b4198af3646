/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An application that does what it is told, a line each, and tells what happens to it; see README.md. This file is long because
   it is one program, which the tests compile as an author would. */

#include "handoff.h"

#include <errno.h>
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static HandoffApplication *application;
static GHashTable *activities;
static char *answer, *reason;
static gboolean shows, silent, stops;

/* One line, its words parted by tabs; written at once. */
static void tell (const char *first, ...) G_GNUC_NULL_TERMINATED;

static void
tell (const char *first, ...)
{
  g_autoptr(GString) line = g_string_new (first);
  va_list words;
  va_start (words, first);
  for (const char *word = va_arg (words, const char *); word != NULL; word = va_arg (words, const char *))
    g_string_append_printf (line, "\t%s", word);
  va_end (words);
  g_string_append_c (line, '\n');
  if (write (1, line->str, line->len) < 0)
    g_warning ("Nobody listens: %s", g_strerror (errno));
}

static HandoffUserActivity *
find (const char *number)
{
  return g_hash_table_lookup (activities, number);
}

static void
failed (HandoffUserActivity *activity, const char *name, const char *message, gpointer number)
{
  (void) activity;
  tell ("refused", number, name, message, NULL);
}

static void
was_continued (HandoffUserActivity *activity, const HandoffDevice *device, gpointer number)
{
  (void) activity;
  tell ("wasContinued", number, device->name, NULL);
}

static void
keep (const char *number, HandoffUserActivity *activity)
{
  g_hash_table_replace (activities, g_strdup (number), g_object_ref (activity));
  if (!silent)
    handoff_user_activity_on_failure (activity, failed, g_strdup (number), g_free);
  handoff_user_activity_on_was_continued (activity, was_continued, g_strdup (number), g_free);
}

static gboolean
will_continue (const char *type, const HandoffDevice *device, gpointer data)
{
  (void) data;
  tell ("willContinue", type, device->name, NULL);
  return shows;
}

static gboolean
continues (HandoffUserActivity *activity, const HandoffDevice *device, gpointer data, GError **error)
{
  g_autofree char *number = g_strdup_printf ("c%u", g_hash_table_size (activities));
  (void) data;
  keep (number, activity);
  tell ("continue", number, handoff_user_activity_get_activity_type (activity), handoff_user_activity_get_title (activity),
        device->name, NULL);
  if (g_str_equal (answer, "fail"))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, reason);
  return g_str_equal (answer, "yes");
}

static void
does_not_come (const char *type, const char *name, const char *message, gpointer data)
{
  (void) data;
  tell ("failed", type, name, message, NULL);
  if (stops)
    handoff_application_stop (application);
}

/* So many lists, each in the one before. */
static GVariant *
nested (int levels)
{
  GVariant *list = g_variant_new ("av", NULL);
  for (int level = 1; level < levels; level++)
    list = g_variant_new_array (G_VARIANT_TYPE_VARIANT, (GVariant *[]) { g_variant_new_variant (list) }, 1);
  return list;
}

/* What is put into the state when it is asked for: number, what, and value. */
static void
will_save (HandoffUserActivity *activity, GVariantDict *user_info, gpointer data, GError **error)
{
  char **words = data;
  (void) activity;
  tell ("saving", words[1], "0", NULL);
  if (g_str_equal (words[2], "text"))
    g_variant_dict_insert (user_info, "text", "s", words[3]);
  else if (g_str_equal (words[2], "fail"))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "the disk is full");
  else if (g_str_equal (words[2], "raise"))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "nokey");
  else if (g_str_equal (words[2], "deep"))
    g_variant_dict_insert_value (user_info, "a", nested (atoi (words[3])));
}

typedef struct {
  char *number;
  int stream;
  gboolean asks;
} Talk;

static gpointer
talk (gpointer data)
{
  Talk *talk = data;
  char text[4096];
  ssize_t size = 0, count;
  if (talk->asks && write (talk->stream, "ping", 4) == 4)
    shutdown (talk->stream, SHUT_WR);
  while ((count = read (talk->stream, text + size, sizeof text - 1 - size)) > 0)
    size += count;
  text[size] = '\0';
  if (!talk->asks && write (talk->stream, "pong", 4) != 4)
    g_warning ("Nobody reads: %s", g_strerror (errno));
  close (talk->stream);
  tell (talk->asks ? "opened" : "stream", talk->number, text, NULL);
  g_free (talk->number);
  g_free (talk);
  return NULL;
}

static void
begin (const char *number, int stream, gboolean asks)
{
  Talk *new = g_new (Talk, 1);
  *new = (Talk) { g_strdup (number), stream, asks };
  g_thread_unref (g_thread_new ("stream", talk, new));
}

static void
took (HandoffUserActivity *activity, int stream, gpointer number)
{
  (void) activity;
  begin (number, stream, FALSE);
}

static void
opened (HandoffUserActivity *activity, int stream, const char *name, const char *message, gpointer number)
{
  (void) activity;
  if (stream < 0)
    tell ("notOpened", number, name, message, NULL);
  else
    begin (number, stream, TRUE);
}

static GVariant *
entry (const char *key, GVariant *value)
{
  g_auto(GVariantDict) state = G_VARIANT_DICT_INIT (NULL);
  g_variant_dict_insert_value (&state, key, value);
  return g_variant_dict_end (&state);
}

static GVariant *
text (int bytes)
{
  return g_variant_new_take_string (g_strnfill (bytes, 'a'));
}

/* Another application beside the first. */
static void
begin_second (const char *id)
{
  static GPtrArray *others;
  const char *types[] = { NULL };
  if (others == NULL)
    others = g_ptr_array_new_with_free_func (g_object_unref);
  HandoffApplication *other = handoff_application_new (id, types);
  g_ptr_array_add (others, other);
  handoff_application_start (other);
  const char *message = handoff_application_get_registration_error (other);
  tell ("second", message != NULL ? message : "ok", NULL);
}

static int
compare (gconstpointer one, gconstpointer other)
{
  return strcmp (*(char *const *) one, *(char *const *) other);
}

static void
get (const char *number)
{
  HandoffUserActivity *activity = find (number);
  GVariant *page = handoff_user_activity_get (activity, "WebpageURL"), *value;
  g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func (g_free);
  GVariantIter iterator;
  char *key;
  g_variant_iter_init (&iterator, handoff_user_activity_get_user_info (activity));
  while (g_variant_iter_loop (&iterator, "{sv}", &key, &value))
    if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
      g_ptr_array_add (entries, g_strdup_printf ("%s=%s", key, g_variant_get_string (value, NULL)));
  g_ptr_array_sort (entries, compare);
  g_ptr_array_add (entries, NULL);
  g_autofree char *state = g_strjoinv (",", (char **) entries->pdata);
  tell ("got", number, handoff_user_activity_is_current (activity) ? "1" : "0",
        handoff_user_activity_is_valid (activity) ? "1" : "0", handoff_user_activity_get_needs_save (activity) ? "1" : "0",
        handoff_user_activity_get_title (activity), page != NULL ? g_variant_get_string (page, NULL) : "", state, NULL);
}

static void
set (HandoffUserActivity *activity, const char *name, const char *value)
{
  if (g_str_equal (name, "title"))
    handoff_user_activity_set_title (activity, value);
  else if (g_str_equal (name, "webpageURL"))
    handoff_user_activity_set (activity, "WebpageURL", g_variant_new_string (value));
  else if (g_str_equal (name, "needsSave"))
    handoff_user_activity_set_needs_save (activity, g_str_equal (value, "yes"));
  else
    handoff_user_activity_set (activity, "SupportsContinuationStreams", g_variant_new_boolean (g_str_equal (value, "yes")));
}

static void
told (char **words)
{
  const char *command = words[0], *number = words[1];
  HandoffUserActivity *activity = number != NULL ? find (number) : NULL;
  if (g_str_equal (command, "start"))
    handoff_application_start (application);
  else if (g_str_equal (command, "stop"))
    handoff_application_stop (application);
  else if (g_str_equal (command, "available"))
    tell ("available", handoff_application_is_available (application) ? "1" : "0", NULL);
  else if (g_str_equal (command, "shows"))
    shows = g_str_equal (number, "yes");
  else if (g_str_equal (command, "answer"))
    {
      g_free (answer);
      answer = g_strdup (number);
      g_free (reason);
      reason = g_strdup (words[2]);
    }
  else if (g_str_equal (command, "make"))
    {
      g_autoptr(HandoffUserActivity) made = handoff_user_activity_new (application, words[2], words[3]);
      keep (number, made);
    }
  else if (g_str_equal (command, "set"))
    set (activity, words[2], words[3]);
  else if (g_str_equal (command, "userInfo"))
    handoff_user_activity_set_user_info (activity, entry (words[2], g_variant_new_string (words[3])));
  else if (g_str_equal (command, "add"))
    handoff_user_activity_add_user_info_entries (activity, entry (words[2], g_variant_new_string (words[3])));
  else if (g_str_equal (command, "deep"))
    handoff_user_activity_set_user_info (activity, entry ("a", nested (atoi (words[2]))));
  else if (g_str_equal (command, "large"))
    handoff_user_activity_set_user_info (activity, entry ("a", text (atoi (words[2]))));
  else if (g_str_equal (command, "odd"))
    handoff_user_activity_set_user_info (activity, entry ("a", g_variant_new_object_path ("/")));
  else if (g_str_equal (command, "stopsAtFailure"))
    stops = TRUE;
  else if (g_str_equal (command, "silent"))
    {
      silent = TRUE;
      handoff_application_on_failure (application, NULL, NULL, NULL);
    }
  else if (g_str_equal (command, "second"))
    begin_second (number);
  else if (g_str_equal (command, "becomeCurrent"))
    handoff_user_activity_become_current (activity);
  else if (g_str_equal (command, "becomeOpen"))
    handoff_user_activity_become_open (activity);
  else if (g_str_equal (command, "leaveCurrent"))
    handoff_user_activity_leave_current (activity);
  else if (g_str_equal (command, "resignCurrent"))
    handoff_user_activity_resign_current (activity);
  else if (g_str_equal (command, "invalidate"))
    handoff_user_activity_invalidate (activity);
  else if (g_str_equal (command, "willSave"))
    handoff_user_activity_on_will_save (activity, will_save, g_strdupv (words), (GDestroyNotify) g_strfreev);
  else if (g_str_equal (command, "takeStreams"))
    handoff_user_activity_on_stream (activity, took, g_strdup (number), g_free);
  else if (g_str_equal (command, "openStream"))
    handoff_user_activity_continuation_stream (activity, opened, g_strdup (number), g_free);
  else if (g_str_equal (command, "get"))
    get (number);
}

static gboolean
readable (int input, GIOCondition condition, gpointer loop)
{
  static GString *rest;
  char some[65536];
  (void) condition;
  ssize_t count = read (input, some, sizeof some);
  if (count <= 0)
    {
      g_main_loop_quit (loop);
      return G_SOURCE_REMOVE;
    }
  if (rest == NULL)
    rest = g_string_new (NULL);
  g_string_append_len (rest, some, count);
  for (char *end; (end = strchr (rest->str, '\n')) != NULL;)
    {
      g_autofree char *line = g_strndup (rest->str, end - rest->str);
      g_auto(GStrv) words = g_strsplit (line, "\t", -1);
      g_string_erase (rest, 0, end - rest->str + 1);
      told (words);
    }
  return G_SOURCE_CONTINUE;
}

int
main (int count, char **arguments)
{
  const char *types[] = { count > 2 ? arguments[2] : "", NULL };
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  answer = g_strdup ("yes");
  activities = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  application = handoff_application_new (count > 1 ? arguments[1] : "", types);
  handoff_application_declare (application, "Team", g_variant_new_string ("org.example.team"));
  handoff_application_on_will_continue (application, will_continue, NULL, NULL);
  handoff_application_on_continue (application, continues, NULL, NULL);
  handoff_application_on_failure (application, does_not_come, NULL, NULL);
  g_unix_fd_add (0, G_IO_IN | G_IO_HUP, readable, loop);
  g_main_loop_run (loop);
  handoff_application_stop (application);
  g_object_unref (application);
  g_hash_table_unref (activities);
  g_free (answer);
  g_free (reason);
  return 0;
}
