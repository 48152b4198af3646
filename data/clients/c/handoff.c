/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* This file is long because it is to be copied as one file. */

/* The name under which the warnings of this file are printed. */
#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Handoff"

#include "handoff.h"

#include <gio/gunixfdlist.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BROKER "org.example.Handoff"
#define ROOT "/org/example/Handoff"
#define CLIENT ROOT "/client"
#define ERROR BROKER ".Error."
#define DBUS_ERROR "org.freedesktop.DBus.Error."
#define BROKER_ENDED "The broker of Handoff has ended. Continue the activity again."
#define NO_STREAM "What has come is no stream socket. Send one end of socketpair(AF_UNIX, SOCK_STREAM)."
/* What a state may be: its bytes as the body of a message, its containers, and the levels of the bus beneath a value. */
#define MAXIMUM_SIZE 131072
#define MAXIMUM_DEPTH 32
#define MAXIMUM_WIRE_DEPTH 58
#define TOO_DEEP "nests more than 32 containers. Flatten it."
/* Waits have no limit of time: they end with the broker. */
#define NO_LIMIT G_MAXINT

static const char interfaces[] =
  "<node><interface name='" BROKER ".Application'>"
  "<method name='WillContinueActivity'><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/>"
  "<arg type='b' direction='out'/></method>"
  "<method name='ContinueActivity'><arg type='a{sv}' direction='in'/><arg type='a{sv}' direction='in'/>"
  "<arg type='b' direction='out'/></method>"
  "<method name='DidFailToContinueActivity'><arg type='s' direction='in'/><arg type='s' direction='in'/>"
  "<arg type='s' direction='in'/></method></interface>"
  "<interface name='" BROKER ".ActivityDelegate'>"
  "<method name='WillSave'><arg type='o' direction='in'/><arg type='a{sv}' direction='out'/></method>"
  "<method name='WasContinued'><arg type='o' direction='in'/><arg type='a{sv}' direction='in'/></method>"
  "<method name='DidReceiveStream'><arg type='o' direction='in'/><arg type='h' direction='in'/></method>"
  "</interface></node>";

/* A function of the application, with what belongs to it. */
typedef struct {
  GCallback function;
  gpointer data;
  GDestroyNotify destroy;
} Callback;

struct _HandoffApplication {
  GObject parent;
  char *id;
  char **types;
  GHashTable *options;
  Callback on_continue, on_will_continue, on_failure;
  gboolean has_started, registered;
  char *registration_error;
  guint flush;
  GDBusConnection *connection;
  guint objects[2], signals[2], watch;
  /* The broker's unique name, and what ends with it. */
  char *owner;
  GCancellable *cancellable;
  GPtrArray *activities;
  /* The one that is current or is to be, and the one of which the broker has yet to hear that. */
  HandoffUserActivity *current, *becoming;
  /* From continuation to type: what was announced and has not come. */
  GHashTable *announced;
};

struct _HandoffUserActivity {
  GObject parent;
  HandoffApplication *application;
  char *type, *activation_token, *continuation, *path;
  gboolean is_current, is_valid, is_creating, is_updating, is_refused;
  /* Whether it is open while it is not current; with the next broker too. */
  gboolean is_open;
  /* How many calls that end its being current wait for their answers. */
  int ending;
  Callback on_will_save, on_was_continued, on_stream, on_failure;
  /* What is wanted, what the broker has, which of it is to be sent, and what it has refused and is to be sent alone. */
  GHashTable *properties, *confirmed, *changed;
  GPtrArray *alone;
};

G_DEFINE_FINAL_TYPE (HandoffApplication, handoff_application, G_TYPE_OBJECT)
G_DEFINE_FINAL_TYPE (HandoffUserActivity, handoff_user_activity, G_TYPE_OBJECT)

/* An answer of the broker: without an error if `name` is NULL. `sent` is what the call was about. */
typedef void (*Then) (HandoffApplication *self, HandoffUserActivity *activity, GVariant *sent, GVariant *reply,
                      const char *name, const char *message);

static void application_flush (HandoffApplication *self);
static void application_create (HandoffApplication *self, HandoffUserActivity *activity);
static void application_say_current (HandoffApplication *self, HandoffUserActivity *activity);
static void application_say_open (HandoffApplication *self, HandoffUserActivity *activity);

static void
callback_set (Callback *callback, GCallback function, gpointer data, GDestroyNotify destroy)
{
  if (callback->destroy != NULL)
    callback->destroy (callback->data);
  *callback = (Callback) { function, data, destroy };
}

static GHashTable *
new_properties (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
}

static const char *
text_of (GVariant *dictionary, const char *key)
{
  const char *text = "";
  if (!g_variant_lookup (dictionary, key, "&s", &text))
    (void) g_variant_lookup (dictionary, key, "&o", &text);
  return text;
}

static HandoffDevice
device_of (GVariant *context)
{
  return (HandoffDevice) { text_of (context, "DeviceId"), text_of (context, "DeviceName") };
}

/* The D-Bus name of an error, whose message is stripped to what the broker has said. */
static char *
take_name (GError *error)
{
  /* A broker that ends takes its answers along: whoever waits for them is cancelled. */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED))
    {
      g_free (error->message);
      error->message = g_strdup (BROKER_ENDED);
      return g_strdup (ERROR "ConnectionUnavailable");
    }
  char *name = g_dbus_error_get_remote_error (error);
  g_dbus_error_strip_remote_error (error);
  return name != NULL ? name : g_strdup (DBUS_ERROR "Failed");
}

/* The stream socket among what has come with a message, -1 if there is none. All else is closed. */
static int
take_stream (GUnixFDList *list, int index)
{
  int count = 0, stream = -1, type = 0;
  socklen_t size = sizeof type;
  /* To take them is the only way to have them closed: what g_unix_fd_list_get() returns is a duplicate. */
  g_autofree int *taken = list != NULL ? g_unix_fd_list_steal_fds (list, &count) : NULL;
  for (int place = 0; place < count; place++)
    {
      if (place == index && getsockopt (taken[place], SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM)
        stream = taken[place];
      else
        close (taken[place]);
    }
  return stream;
}

/* What a state may hold. The broker has the same rules, but a bus ends the connection of whoever nests too deeply. */

/* Why no value of this type may stand anywhere, not even in an empty array; NULL if it may. */
static char *
type_refusal (const char *type)
{
  int arrays = 0;
  for (const char *code = type; *code != '\0'; code++)
    {
      arrays += *code == 'a';
      if (strchr ("oghm", *code) != NULL)
        return g_strdup_printf ("holds values of type %s, which mean nothing on another device. Use strings.", type);
      if (*code == '(' && !g_str_has_prefix (code, "(sv)"))
        return g_strdup_printf ("holds a structure of type %s. Use a dictionary; only (sv) with a known tag is allowed.", type);
      if (*code == '{' && code[1] != 's')
        return g_strdup_printf ("holds a dictionary of type %s, whose keys are not strings. Use string keys.", type);
    }
  return arrays > MAXIMUM_DEPTH ? g_strdup (TOO_DEEP) : NULL;
}

static char *value_refusal (GVariant *value, int depth, int levels, gboolean is_type_checked);

/* The same of a structure, whose fields lie at this depth. */
static char *
structure_refusal (GVariant *structure, int depth, int levels)
{
  g_autoptr(GVariant) content = NULL;
  const char *tag, *type = g_variant_get_type_string (structure);
  if (!g_str_equal (type, "(sv)"))
    return type_refusal (type);
  if (depth >= MAXIMUM_DEPTH || levels >= MAXIMUM_WIRE_DEPTH)
    return g_strdup (TOO_DEEP);
  g_variant_get (structure, "(&sv)", &tag, &content);
  type = g_variant_get_type_string (content);
  if (g_str_equal (tag, "set") && g_str_equal (type, "av"))
    return value_refusal (content, depth + 1, levels + 1, TRUE);
  if ((g_str_equal (tag, "date") && *type == 'x') || (g_str_equal (tag, "url") && *type == 's') ||
      (g_str_equal (tag, "null") && *type == 'b' && !g_variant_get_boolean (content)))
    return NULL;
  static const char *const tags[] = { "date", "url", "set", "null", NULL };
  if (!g_strv_contains (tags, tag))
    return g_strdup_printf ("has the unknown tag \"%s\". Allowed are date, url, set and null.", tag);
  return g_strdup_printf ("tags a value of type %s as \"%s\". Allowed are (\"date\", x), (\"url\", s), (\"set\", av) and "
                          "(\"null\", false).", type, tag);
}

/* Why a value is refused; NULL if it is not. It lies in so many containers, and in so many levels as a bus counts them. */
static char *
value_refusal (GVariant *value, int depth, int levels, gboolean is_type_checked)
{
  const char *type = g_variant_get_type_string (value);
  char *reason = NULL;
  if (*type == '{')
    {
      g_autoptr(GVariant) content = g_variant_get_child_value (value, 1);
      return value_refusal (content, depth, levels, TRUE);
    }
  if (!g_variant_is_container (value))
    return strchr ("ogh", *type) == NULL ? NULL : g_strdup_printf (
      "holds a value of type %s, which means nothing on another device. Use a string.", type);
  depth++;
  /* A bus counts the entries of dictionaries too. */
  levels += g_str_has_prefix (type, "a{") ? 2 : 1;
  if (depth > MAXIMUM_DEPTH || levels > MAXIMUM_WIRE_DEPTH)
    return g_strdup (TOO_DEEP);
  if (*type == '(')
    return structure_refusal (value, depth, levels);
  if (!is_type_checked)
    reason = type_refusal (type);
  /* What is left to be looked at is what holds something. */
  gsize count = strpbrk (type, "v{") != NULL || type[1] == 'a' ? g_variant_n_children (value) : 0;
  for (gsize place = 0; reason == NULL && place < count; place++)
    {
      g_autoptr(GVariant) child = g_variant_get_child_value (value, place);
      reason = value_refusal (child, depth, levels, *type != 'v');
    }
  return reason;
}

/* What a state takes as the body of a message. */
static guint32
user_info_size (GVariant *user_info)
{
  gsize size;
  g_autoptr(GDBusMessage) message = g_dbus_message_new_signal ("/", BROKER, "State");
  g_dbus_message_set_body (message, g_variant_new ("(@a{sv})", user_info));
  g_autofree guchar *bytes = g_dbus_message_to_blob (message, &size, G_DBUS_CAPABILITY_FLAGS_NONE, NULL);
  /* The second number of a message is the size of its body. */
  return bytes != NULL ? ((guint32 *) (gpointer) bytes)[1] : 0;
}

/* Why a state is refused, as the broker says it; NULL if it is not. */
static GError *
user_info_refusal (GVariant *user_info)
{
  GVariantIter iterator;
  const char *key;
  GVariant *value;
  g_autofree char *reason = NULL;
  g_variant_iter_init (&iterator, user_info);
  while (reason == NULL && g_variant_iter_next (&iterator, "{&sv}", &key, &value))
    {
      /* The state is one container, and the variant that holds the value another. */
      reason = value_refusal (value, 2, 0, FALSE);
      g_variant_unref (value);
    }
  if (reason != NULL)
    {
      g_autofree char *message = g_strdup_printf ("UserInfo key \"%s\" %s", key, reason);
      return g_dbus_error_new_for_dbus_error (DBUS_ERROR "InvalidArgs", message);
    }
  guint32 size = user_info_size (user_info);
  if (size <= MAXIMUM_SIZE)
    return NULL;
  g_autofree char *message = g_strdup_printf ("UserInfo takes %u bytes, more than the %d allowed. Send less, or the bulk of it "
                                              "through a stream.", size, MAXIMUM_SIZE);
  return g_dbus_error_new_for_dbus_error (ERROR "UserInfoTooLarge", message);
}

/* Names, each with the type of its value. */
typedef const char *const Types[][2];

/* What is wrong with the value of this name; NULL if nothing is. A broker would take a name that it does not know, and leave it
   out. */
static char *
type_problem (Types types, const char *name, GVariant *value)
{
  while ((*types)[0] != NULL && !g_str_equal ((*types)[0], name))
    types++;
  if ((*types)[0] == NULL)
    return g_strdup_printf ("There is no \"%s\". Names are written as in handoff.h.", name);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE ((*types)[1])))
    return g_strdup_printf ("%s must have the type %s, not %s.", name, (*types)[1], g_variant_get_type_string (value));
  return NULL;
}

/* Why a property is refused; NULL if it is not. */
static GError *
property_refusal (const char *name, GVariant *value)
{
  static Types types = {
    { "Title", "s" }, { "UserInfo", "a{sv}" }, { "NeedsSave", "b" }, { "WebpageURL", "s" }, { "DocumentURL", "s" },
    { "ReferrerURL", "s" }, { "TargetContentIdentifier", "s" }, { "PersistentIdentifier", "s" }, { "Keywords", "as" },
    { "RequiredUserInfoKeys", "as" }, { "ExpirationDate", "x" }, { "EligibleForHandoff", "b" },
    { "EligibleForSearch", "b" }, { "SupportsContinuationStreams", "b" }, { NULL, NULL },
  };
  g_autofree char *problem = type_problem (types, name, value);
  if (problem != NULL)
    return g_dbus_error_new_for_dbus_error (DBUS_ERROR "InvalidArgs", problem);
  return g_str_equal (name, "UserInfo") ? user_info_refusal (value) : NULL;
}

/* Calls to the broker */

typedef struct {
  HandoffApplication *application;
  HandoffUserActivity *activity;
  GCancellable *cancellable;
  GVariant *sent;
  Then then;
} Call;

static void
call_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);
  g_autofree char *name = error != NULL ? take_name (error) : NULL;
  if (call->then != NULL && !g_cancellable_is_cancelled (call->cancellable))
    call->then (call->application, call->activity, call->sent, reply, name, error != NULL ? error->message : NULL);
  g_object_unref (call->application);
  g_clear_object (&call->activity);
  g_object_unref (call->cancellable);
  g_clear_pointer (&call->sent, g_variant_unref);
  g_free (call);
}

/* Calls the broker of the moment. If that ends before it answers, `then` is not called. */
static void
application_call (HandoffApplication *self, HandoffUserActivity *activity, const char *path, const char *interface,
                  const char *method, GVariant *arguments, GVariant *sent, Then then)
{
  g_autoptr(GVariant) taken = arguments != NULL ? g_variant_ref_sink (arguments) : NULL;
  if (self->connection == NULL || self->owner == NULL)
    {
      g_clear_pointer (&sent, g_variant_unref);
      return;
    }
  Call *call = g_new0 (Call, 1);
  *call = (Call) { g_object_ref (self), activity != NULL ? g_object_ref (activity) : NULL, g_object_ref (self->cancellable),
                   sent, then };
  g_dbus_connection_call (self->connection, self->owner, path, interface, method, taken, NULL,
                          G_DBUS_CALL_FLAGS_NO_AUTO_START, NO_LIMIT, self->cancellable, call_answered, call);
}

/* Activities: what is wanted, and what of it is sent */

static void
activity_tell (HandoffUserActivity *self, const char *name, const char *message)
{
  if (self->on_failure.function != NULL)
    ((HandoffFailureFunc) self->on_failure.function) (self, name, message, self->on_failure.data);
  else
    g_warning ("%s: %s", self->type, message);
}

/* The broker has refused something. Once the activity has ended, that matters to nobody. */
static void
activity_fail (HandoffUserActivity *self, const char *name, const char *message)
{
  if (self->is_valid)
    activity_tell (self, name, message);
}

static gboolean
activity_check (HandoffUserActivity *self)
{
  if (self->is_valid)
    return TRUE;
  /* Whoever is told may let go of it. */
  activity_tell (self, DBUS_ERROR "UnknownObject", "This activity has ended. Make a new one.");
  return FALSE;
}

static void
activity_forget_broker (HandoffUserActivity *self)
{
  g_clear_pointer (&self->path, g_free);
  self->is_current = self->is_creating = self->is_updating = self->is_refused = FALSE;
  self->ending = 0;
  g_hash_table_remove_all (self->confirmed);
  g_hash_table_remove_all (self->changed);
  g_ptr_array_set_size (self->alone, 0);
}

/* The properties of these names as an a{sv}; NULL stands for all. */
static GVariant *
activity_dictionary (HandoffUserActivity *self, GHashTable *names)
{
  GVariantBuilder builder;
  GHashTableIter iterator;
  gpointer name, value;
  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_hash_table_iter_init (&iterator, self->properties);
  while (g_hash_table_iter_next (&iterator, &name, &value))
    if (names == NULL || g_hash_table_contains (names, name))
      g_variant_builder_add (&builder, "{sv}", name, value);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

/* These are what the broker has. */
static void
activity_confirm (HandoffUserActivity *self, GVariant *sent)
{
  GVariantIter iterator;
  char *name;
  GVariant *value;
  g_variant_iter_init (&iterator, sent);
  while (g_variant_iter_next (&iterator, "{sv}", &name, &value))
    g_hash_table_replace (self->confirmed, name, value);
}

/* A refused property has the value again that the broker has. */
static void
activity_restore (HandoffUserActivity *self, const char *name)
{
  GVariant *value = g_hash_table_lookup (self->confirmed, name);
  if (value != NULL)
    g_hash_table_replace (self->properties, g_strdup (name), g_variant_ref (value));
  else
    g_hash_table_remove (self->properties, name);
}

static void activity_flush (HandoffUserActivity *self);

static void
activity_updated (HandoffApplication *application, HandoffUserActivity *self, GVariant *sent, GVariant *reply,
                  const char *error_name, const char *message)
{
  gboolean is_one = g_variant_n_children (sent) == 1;
  (void) application;
  (void) reply;
  self->is_updating = FALSE;
  if (error_name == NULL)
    activity_confirm (self, sent);
  for (gsize place = 0; error_name != NULL && place < g_variant_n_children (sent); place++)
    {
      g_autofree char *name = NULL;
      g_variant_get_child (sent, place, "{sv}", &name, NULL);
      if (g_hash_table_contains (self->changed, name))
        continue;
      if (is_one)
        activity_restore (self, name);
      else
        /* All or none was taken: one bad property must not cost the others. */
        g_ptr_array_add (self->alone, g_steal_pointer (&name));
    }
  if (error_name != NULL && is_one)
    activity_fail (self, error_name, message);
  activity_flush (self);
}

/* Sends what has changed: one message at a time, and after a refusal one property at a time. */
static void
activity_flush (HandoffUserActivity *self)
{
  GVariant *sent;
  if (!self->is_valid)
    return;
  if (self->path == NULL)
    {
      application_create (self->application, self);
      return;
    }
  if (self->is_updating || (self->alone->len == 0 && g_hash_table_size (self->changed) == 0))
    return;
  if (self->alone->len > 0)
    {
      g_autoptr(GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_hash_table_add (names, g_ptr_array_steal_index (self->alone, 0));
      sent = activity_dictionary (self, names);
    }
  else
    {
      sent = activity_dictionary (self, self->changed);
      g_hash_table_remove_all (self->changed);
    }
  self->is_updating = TRUE;
  application_call (self->application, self, self->path, BROKER ".Activity", "Update", g_variant_new ("(@a{sv})", sent),
                    sent, activity_updated);
}

static gboolean
application_flush_now (gpointer data)
{
  HandoffApplication *self = data;
  self->flush = 0;
  application_flush (self);
  return G_SOURCE_REMOVE;
}

/* A refusal that has yet to be told. */
typedef struct {
  HandoffUserActivity *activity;
  GError *error;
} Refusal;

static gboolean
refusal_told (gpointer data)
{
  Refusal *refusal = data;
  g_autofree char *name = take_name (refusal->error);
  activity_fail (refusal->activity, name, refusal->error->message);
  return G_SOURCE_REMOVE;
}

static void
refusal_free (gpointer data)
{
  Refusal *refusal = data;
  g_object_unref (refusal->activity);
  g_error_free (refusal->error);
  g_free (refusal);
}

/* Tells it when the function that has set the property has returned, as if the broker had refused it. */
static void
activity_refuse (HandoffUserActivity *self, GError *error)
{
  Refusal *refusal = g_new (Refusal, 1);
  *refusal = (Refusal) { g_object_ref (self), error };
  g_idle_add_full (G_PRIORITY_DEFAULT, refusal_told, refusal, refusal_free);
}

void
handoff_user_activity_set (HandoffUserActivity *self, const char *name, GVariant *value)
{
  g_autoptr(GVariant) taken = g_variant_ref_sink (value);
  GVariant *former = g_hash_table_lookup (self->properties, name);
  guint place;
  if (former != NULL && g_variant_equal (former, taken))
    return;
  GError *error = property_refusal (name, taken);
  if (error != NULL)
    {
      activity_refuse (self, error);
      return;
    }
  g_hash_table_replace (self->properties, g_strdup (name), g_steal_pointer (&taken));
  g_hash_table_add (self->changed, g_strdup (name));
  if (g_ptr_array_find_with_equal_func (self->alone, name, g_str_equal, &place))
    g_ptr_array_remove_index (self->alone, place);
  if (self->application->flush == 0)
    self->application->flush = g_idle_add (application_flush_now, self->application);
}

GVariant *
handoff_user_activity_get (HandoffUserActivity *self, const char *name)
{
  return g_hash_table_lookup (self->properties, name);
}

void
handoff_user_activity_set_title (HandoffUserActivity *self, const char *title)
{
  handoff_user_activity_set (self, "Title", g_variant_new_string (title));
}

const char *
handoff_user_activity_get_title (HandoffUserActivity *self)
{
  GVariant *title = handoff_user_activity_get (self, "Title");
  return title != NULL && g_variant_is_of_type (title, G_VARIANT_TYPE_STRING) ? g_variant_get_string (title, NULL) : "";
}

void
handoff_user_activity_set_user_info (HandoffUserActivity *self, GVariant *user_info)
{
  handoff_user_activity_set (self, "UserInfo", user_info);
}

GVariant *
handoff_user_activity_get_user_info (HandoffUserActivity *self)
{
  GVariant *state = handoff_user_activity_get (self, "UserInfo");
  if (state == NULL || !g_variant_is_of_type (state, G_VARIANT_TYPE_VARDICT))
    {
      state = g_variant_ref_sink (g_variant_new ("a{sv}", NULL));
      g_hash_table_replace (self->properties, g_strdup ("UserInfo"), state);
    }
  return state;
}

void
handoff_user_activity_add_user_info_entries (HandoffUserActivity *self, GVariant *entries)
{
  g_autoptr(GVariant) taken = g_variant_ref_sink (entries);
  if (!g_variant_is_of_type (taken, G_VARIANT_TYPE_VARDICT))
    {
      /* Which is refused. */
      handoff_user_activity_set_user_info (self, taken);
      return;
    }
  g_auto(GVariantDict) merged = G_VARIANT_DICT_INIT (handoff_user_activity_get_user_info (self));
  GVariantIter iterator;
  char *key;
  GVariant *value;
  g_variant_iter_init (&iterator, taken);
  while (g_variant_iter_loop (&iterator, "{sv}", &key, &value))
    g_variant_dict_insert_value (&merged, key, value);
  handoff_user_activity_set_user_info (self, g_variant_dict_end (&merged));
}

void
handoff_user_activity_set_needs_save (HandoffUserActivity *self, gboolean needs_save)
{
  handoff_user_activity_set (self, "NeedsSave", g_variant_new_boolean (needs_save));
}

gboolean
handoff_user_activity_get_needs_save (HandoffUserActivity *self)
{
  GVariant *value = handoff_user_activity_get (self, "NeedsSave");
  return value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN) && g_variant_get_boolean (value);
}

static gboolean
application_is_wanted (HandoffApplication *self, HandoffUserActivity *activity)
{
  return g_ptr_array_find (self->activities, activity, NULL);
}

static void
application_forget_current (HandoffApplication *self, HandoffUserActivity *activity)
{
  if (self->current == activity)
    self->current = NULL;
  if (self->becoming == activity)
    self->becoming = NULL;
}

static void
activity_keep_open (HandoffUserActivity *self)
{
  HandoffApplication *application = self->application;
  /* The last one is the one that was used last, for the next broker too. */
  g_object_ref (self);
  g_ptr_array_remove (application->activities, self);
  g_ptr_array_add (application->activities, self);
  self->is_refused = FALSE;
  self->is_open = TRUE;
  if (application->registered)
    activity_flush (self);
}

void
handoff_user_activity_become_current (HandoffUserActivity *self)
{
  HandoffApplication *application = self->application;
  if (!activity_check (self))
    return;
  application->current = application->becoming = self;
  activity_keep_open (self);
  application_say_current (application, self);
}

void
handoff_user_activity_become_open (HandoffUserActivity *self)
{
  if (!activity_check (self))
    return;
  activity_keep_open (self);
  application_say_open (self->application, self);
}

static void
ended_current (HandoffApplication *application, HandoffUserActivity *self, GVariant *sent, GVariant *reply, const char *name,
               const char *message)
{
  (void) application;
  (void) sent;
  (void) reply;
  self->ending--;
  if (name != NULL)
    activity_fail (self, name, message);
}

static void
activity_end_current (HandoffUserActivity *self, const char *method)
{
  application_forget_current (self->application, self);
  if (self->path == NULL)
    return;
  self->ending++;
  activity_flush (self);
  application_call (self->application, self, self->path, BROKER ".Activity", method, NULL, NULL, ended_current);
}

void
handoff_user_activity_leave_current (HandoffUserActivity *self)
{
  if (activity_check (self))
    activity_end_current (self, "LeaveCurrent");
}

void
handoff_user_activity_resign_current (HandoffUserActivity *self)
{
  if (!activity_check (self))
    return;
  self->is_open = FALSE;
  activity_end_current (self, "ResignCurrent");
}

void
handoff_user_activity_invalidate (HandoffUserActivity *self)
{
  g_autoptr(HandoffUserActivity) kept = g_object_ref (self);
  HandoffApplication *application = self->application;
  if (!self->is_valid)
    return;
  self->is_valid = self->is_current = FALSE;
  application_forget_current (application, self);
  if (self->path != NULL)
    application_call (application, NULL, self->path, BROKER ".Activity", "Invalidate", NULL, NULL, NULL);
  if (self->continuation != NULL)
    application_call (application, NULL, self->continuation, BROKER ".Continuation", "Release", NULL, NULL, NULL);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->continuation, g_free);
  g_ptr_array_remove (application->activities, self);
}

gboolean
handoff_user_activity_is_current (HandoffUserActivity *self)
{
  return self->is_current;
}

gboolean
handoff_user_activity_is_valid (HandoffUserActivity *self)
{
  return self->is_valid;
}

const char *
handoff_user_activity_get_activity_type (HandoffUserActivity *self)
{
  return self->type;
}

const char *
handoff_user_activity_get_activation_token (HandoffUserActivity *self)
{
  return self->activation_token != NULL ? self->activation_token : "";
}

typedef struct {
  HandoffUserActivity *activity;
  Callback callback;
} Opening;

static void
opening_done (Opening *opening, int stream, const char *name, const char *message)
{
  ((HandoffOpenedFunc) opening->callback.function) (opening->activity, stream, name, message, opening->callback.data);
  callback_set (&opening->callback, NULL, NULL, NULL);
  g_object_unref (opening->activity);
  g_free (opening);
}

static void
opening_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GUnixFDList) list = NULL;
  g_autoptr(GVariant) reply =
    g_dbus_connection_call_with_unix_fd_list_finish (G_DBUS_CONNECTION (source), &list, result, &error);
  g_autofree char *name = error != NULL ? take_name (error) : NULL;
  int index = -1;
  if (reply != NULL)
    g_variant_get (reply, "(h)", &index);
  int stream = reply != NULL ? take_stream (list, index) : -1;
  if (name == NULL && stream < 0)
    opening_done (data, -1, ERROR "ConnectionUnavailable", NO_STREAM);
  else
    opening_done (data, stream, name, error != NULL ? error->message : NULL);
}

static gboolean
opening_refused (gpointer data)
{
  opening_done (data, -1, ERROR "StreamsNotSupported",
                "Streams are opened by who has continued an activity that supports them, as long as its broker lives.");
  return G_SOURCE_REMOVE;
}

void
handoff_user_activity_continuation_stream (HandoffUserActivity *self, HandoffOpenedFunc function, gpointer data,
                                           GDestroyNotify destroy)
{
  HandoffApplication *application = self->application;
  Opening *opening = g_new0 (Opening, 1);
  *opening = (Opening) { g_object_ref (self), { G_CALLBACK (function), data, destroy } };
  if (self->continuation == NULL || application->connection == NULL)
    g_idle_add (opening_refused, opening);
  else
    g_dbus_connection_call_with_unix_fd_list (
      application->connection, application->owner != NULL ? application->owner : BROKER, self->continuation,
      BROKER ".Continuation", "OpenStream", NULL, G_VARIANT_TYPE ("(h)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, NO_LIMIT, NULL,
      application->cancellable, opening_answered, opening);
}

/* The application: its activities at the broker of the moment */

static void
application_flush (HandoffApplication *self)
{
  /* What is called here may end activities. */
  g_autoptr(GPtrArray) activities = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint place = 0; place < self->activities->len; place++)
    g_ptr_array_add (activities, g_object_ref (g_ptr_array_index (self->activities, place)));
  for (guint place = 0; self->registered && place < activities->len; place++)
    if (application_is_wanted (self, g_ptr_array_index (activities, place)))
      activity_flush (g_ptr_array_index (activities, place));
}

static void
became_current (HandoffApplication *self, HandoffUserActivity *activity, GVariant *sent, GVariant *reply, const char *name,
                const char *message)
{
  (void) sent;
  (void) reply;
  if (self->becoming == activity)
    self->becoming = NULL;
  if (name == NULL)
    return;
  if (self->current == activity)
    self->current = NULL;
  activity->is_open = FALSE;
  activity_fail (activity, name, message);
}

static void
application_say_current (HandoffApplication *self, HandoffUserActivity *activity)
{
  if (activity->path == NULL)
    return;
  self->becoming = activity;
  application_call (self, activity, activity->path, BROKER ".Activity", "BecomeCurrent", NULL, NULL, became_current);
}

static void
became_open (HandoffApplication *self, HandoffUserActivity *activity, GVariant *sent, GVariant *reply, const char *name,
             const char *message)
{
  (void) self;
  (void) sent;
  (void) reply;
  if (name == NULL)
    return;
  activity->is_open = FALSE;
  activity_fail (activity, name, message);
}

static void
application_say_open (HandoffApplication *self, HandoffUserActivity *activity)
{
  if (activity->path != NULL)
    application_call (self, activity, activity->path, BROKER ".Activity", "BecomeOpen", NULL, NULL, became_open);
}

static void
created (HandoffApplication *self, HandoffUserActivity *activity, GVariant *sent, GVariant *reply, const char *name,
         const char *message)
{
  activity->is_creating = FALSE;
  if (name != NULL)
    {
      activity->is_refused = TRUE;
      if (self->becoming == activity)
        self->becoming = NULL;
      activity_fail (activity, name, message);
      application_flush (self);
      return;
    }
  g_autofree char *path = NULL;
  if (g_variant_is_of_type (reply, G_VARIANT_TYPE ("(o)")))
    g_variant_get (reply, "(o)", &path);
  if (path != NULL && !activity->is_valid)
    application_call (self, NULL, path, BROKER ".Activity", "Invalidate", NULL, NULL, NULL);
  if (path == NULL || !activity->is_valid)
    return;
  activity->path = g_steal_pointer (&path);
  activity_confirm (activity, sent);
  activity_flush (activity);
  /* Only what was current, or was to be: another application may have what is now. */
  if (self->current == activity)
    application_say_current (self, activity);
  else if (activity->is_open)
    application_say_open (self, activity);
}

static void
application_create (HandoffApplication *self, HandoffUserActivity *activity)
{
  if (!activity->is_valid || activity->is_creating ||
      (activity->is_refused && g_hash_table_size (activity->changed) == 0))
    return;
  activity->is_creating = TRUE;
  activity->is_refused = FALSE;
  g_hash_table_remove_all (activity->changed);
  GVariant *sent = activity_dictionary (activity, NULL);
  application_call (self, activity, ROOT, BROKER ".Manager", "CreateActivity",
                    g_variant_new ("(s@a{sv})", activity->type, sent), sent, created);
}

static HandoffUserActivity *
application_find (HandoffApplication *self, const char *path)
{
  for (guint place = 0; place < self->activities->len; place++)
    {
      HandoffUserActivity *activity = g_ptr_array_index (self->activities, place);
      if (g_strcmp0 (activity->path, path) == 0)
        return activity;
    }
  return NULL;
}

static void
properties_changed (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
                    const char *signal, GVariant *arguments, gpointer data)
{
  HandoffApplication *self = data;
  HandoffUserActivity *activity = application_find (self, path);
  gboolean value;
  (void) connection;
  (void) interface;
  (void) signal;
  if (g_strcmp0 (sender, self->owner) != 0 || activity == NULL ||
      !g_variant_is_of_type (arguments, G_VARIANT_TYPE ("(sa{sv}as)")))
    return;
  g_autoptr(GVariant) changed = g_variant_get_child_value (arguments, 1);
  if (g_variant_lookup (changed, "Current", "b", &value))
    {
      activity->is_current = value;
      /* What the broker said before it heard of the latest wish is older than that. */
      if (self->becoming == NULL && activity->ending == 0)
        self->current = value ? activity : self->current == activity ? NULL : self->current;
    }
  if (g_variant_lookup (changed, "NeedsSave", "b", &value) && !activity->is_updating &&
      !g_hash_table_contains (activity->changed, "NeedsSave"))
    g_hash_table_replace (activity->properties, g_strdup ("NeedsSave"), g_variant_ref_sink (g_variant_new_boolean (value)));
}

/* Brokers */

static void
application_fail (HandoffApplication *self, const char *type, const char *name, const char *message)
{
  if (self->on_failure.function != NULL)
    ((HandoffApplicationFailureFunc) self->on_failure.function) (type, name, message, self->on_failure.data);
  else
    g_warning ("%s: %s", type, message);
}

/* What the broker had of this application is worth nothing from now on. Returns what was announced, and does not come. */
static GHashTable *
application_leave_broker (HandoffApplication *self)
{
  g_cancellable_cancel (self->cancellable);
  self->registered = FALSE;
  self->becoming = NULL;
  for (guint place = 0; place < self->activities->len; place++)
    activity_forget_broker (g_ptr_array_index (self->activities, place));
  GHashTable *announced = g_steal_pointer (&self->announced);
  self->announced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return announced;
}

/* Comes last: the application may stop, or start, when it is told. */
static void
application_tell_of_end (HandoffApplication *self, GHashTable *announced)
{
  GHashTableIter iterator;
  gpointer type;
  g_hash_table_iter_init (&iterator, announced);
  while (g_hash_table_iter_next (&iterator, NULL, &type))
    application_fail (self, type, ERROR "ConnectionUnavailable", BROKER_ENDED);
}

static void
registered (HandoffApplication *self, HandoffUserActivity *activity, GVariant *sent, GVariant *reply, const char *name,
            const char *message)
{
  (void) activity;
  (void) sent;
  (void) reply;
  g_free (self->registration_error);
  self->registration_error = g_strdup (message);
  self->registered = name == NULL;
  if (name != NULL)
    g_warning ("%s: %s", self->id, message);
  application_flush (self);
}

static void
appeared (GDBusConnection *connection, const char *name, const char *owner, gpointer data)
{
  HandoffApplication *self = data;
  GVariantBuilder options;
  GHashTableIter iterator;
  gpointer option, value;
  (void) connection;
  (void) name;
  if (owner != self->owner)
    {
      g_free (self->owner);
      self->owner = g_strdup (owner);
    }
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_hash_table_iter_init (&iterator, self->options);
  while (g_hash_table_iter_next (&iterator, &option, &value))
    g_variant_builder_add (&options, "{sv}", option, value);
  application_call (self, NULL, ROOT, BROKER ".Manager", "RegisterApplication",
                    g_variant_new ("(s^asoa{sv})", self->id, self->types, CLIENT, &options), NULL, registered);
}

static void
vanished (GDBusConnection *connection, const char *name, gpointer data)
{
  g_autoptr(HandoffApplication) self = g_object_ref (data);
  (void) connection;
  (void) name;
  g_autoptr(GHashTable) announced = application_leave_broker (self);
  g_clear_pointer (&self->owner, g_free);
  application_tell_of_end (self, announced);
}

static void
registration_ended (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
                    const char *signal, GVariant *arguments, gpointer data)
{
  g_autoptr(HandoffApplication) self = g_object_ref (data);
  (void) path;
  (void) interface;
  (void) signal;
  (void) arguments;
  if (g_strcmp0 (sender, self->owner) != 0 || !self->registered)
    return;
  g_autoptr(GHashTable) announced = application_leave_broker (self);
  appeared (connection, BROKER, self->owner, self);
  application_tell_of_end (self, announced);
}

/* Calls of the broker */

static void
will_continue (HandoffApplication *self, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  g_autoptr(GVariant) context = g_variant_get_child_value (arguments, 1);
  HandoffDevice device = device_of (context);
  gboolean shows = FALSE;
  const char *type;
  g_variant_get_child (arguments, 0, "&s", &type);
  g_hash_table_replace (self->announced, g_strdup (text_of (context, "Continuation")), g_strdup (type));
  if (self->on_will_continue.function != NULL)
    shows = ((HandoffWillContinueFunc) self->on_will_continue.function) (type, &device, self->on_will_continue.data);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(b)", shows));
}

/* An activity that another device has sent. */
static HandoffUserActivity *
application_receive (HandoffApplication *self, GVariant *properties, GVariant *context)
{
  HandoffUserActivity *activity = handoff_user_activity_new (self, text_of (properties, "ActivityType"), "");
  gboolean streams = FALSE;
  activity_confirm (activity, properties);
  g_hash_table_remove (activity->confirmed, "ActivityType");
  g_hash_table_remove (activity->confirmed, "ApplicationId");
  g_hash_table_unref (activity->properties);
  activity->properties = g_steal_pointer (&activity->confirmed);
  activity->confirmed = new_properties ();
  activity->activation_token = g_strdup (text_of (context, "ActivationToken"));
  if (g_variant_lookup (properties, "SupportsContinuationStreams", "b", &streams) && streams)
    activity->continuation = g_strdup (text_of (context, "Continuation"));
  return activity;
}

static void
continue_activity (HandoffApplication *self, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  g_autoptr(GVariant) properties = g_variant_get_child_value (arguments, 0);
  g_autoptr(GVariant) context = g_variant_get_child_value (arguments, 1);
  HandoffDevice device = device_of (context);
  g_autoptr(GError) error = NULL;
  g_hash_table_remove (self->announced, text_of (context, "Continuation"));
  if (self->on_continue.function == NULL)
    {
      g_dbus_method_invocation_return_dbus_error (invocation, DBUS_ERROR "UnknownMethod",
                                                  "This application continues nothing.");
      return;
    }
  g_autoptr(HandoffUserActivity) activity = application_receive (self, properties, context);
  gboolean handled =
    ((HandoffContinueFunc) self->on_continue.function) (activity, &device, self->on_continue.data, &error);
  if (error != NULL)
    {
      g_warning ("%s: on_continue has failed: %s", activity->type, error->message);
      g_dbus_method_invocation_return_dbus_error (invocation, ERROR "ApplicationFailed", error->message);
    }
  else
    g_dbus_method_invocation_return_value (invocation, g_variant_new ("(b)", handled));
}

static void
did_fail (HandoffApplication *self, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  const char *type, *name, *message;
  GHashTableIter iterator;
  gpointer one;
  g_variant_get (arguments, "(&s&s&s)", &type, &name, &message);
  g_hash_table_iter_init (&iterator, self->announced);
  while (g_hash_table_iter_next (&iterator, NULL, &one))
    if (g_str_equal (one, type))
      {
        g_hash_table_iter_remove (&iterator);
        break;
      }
  application_fail (self, type, name, message);
  g_dbus_method_invocation_return_value (invocation, NULL);
}

/* The function that was asked for the state has failed: that is always printed, here if it is not when it is told. */
static GError *
activity_save_failed (HandoffUserActivity *self, const char *why)
{
  g_autofree char *message = g_strdup_printf ("on_will_save has failed: %s", why);
  if (self->on_failure.function != NULL || !self->is_valid)
    g_warning ("%s: %s", self->type, message);
  return g_dbus_error_new_for_dbus_error (ERROR "ApplicationFailed", message);
}

/* Takes the new state of an activity; returns what has changed, which is NULL if the application has failed. */
static GVariant *
activity_save (HandoffUserActivity *self, GError **error)
{
  g_auto(GVariantDict) state = G_VARIANT_DICT_INIT (NULL);
  g_autoptr(GError) failure = NULL;
  handoff_user_activity_set_needs_save (self, FALSE);
  g_hash_table_remove (self->changed, "NeedsSave");
  if (self->on_will_save.function != NULL)
    ((HandoffWillSaveFunc) self->on_will_save.function) (self, &state, self->on_will_save.data, &failure);
  g_autoptr(GVariant) user_info = g_variant_ref_sink (g_variant_dict_end (&state));
  *error = failure != NULL ? activity_save_failed (self, failure->message) : user_info_refusal (user_info);
  if (*error != NULL)
    return NULL;
  if (g_variant_n_children (user_info) > 0)
    handoff_user_activity_set_user_info (self, user_info);
  GVariant *changes = activity_dictionary (self, self->changed);
  g_hash_table_remove_all (self->changed);
  activity_confirm (self, changes);
  return changes;
}

static void
will_save (HandoffUserActivity *activity, GDBusMethodInvocation *invocation)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) changes = activity_save (activity, &error);
  if (changes != NULL)
    {
      g_dbus_method_invocation_return_value (invocation, g_variant_new ("(@a{sv})", changes));
      return;
    }
  g_autofree char *name = take_name (error);
  g_dbus_method_invocation_return_dbus_error (invocation, name, error->message);
  activity_fail (activity, name, error->message);
}

static void
was_continued (HandoffUserActivity *activity, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  g_autoptr(GVariant) about = g_variant_get_child_value (arguments, 1);
  HandoffDevice device = device_of (about);
  if (activity->on_was_continued.function != NULL)
    ((HandoffWasContinuedFunc) activity->on_was_continued.function) (activity, &device, activity->on_was_continued.data);
  g_dbus_method_invocation_return_value (invocation, NULL);
}

static void
did_receive_stream (HandoffUserActivity *activity, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  GUnixFDList *list = g_dbus_message_get_unix_fd_list (g_dbus_method_invocation_get_message (invocation));
  int index;
  if (activity->on_stream.function == NULL)
    {
      g_dbus_method_invocation_return_dbus_error (invocation, DBUS_ERROR "UnknownMethod",
                                                  "This activity takes no streams.");
      return;
    }
  g_variant_get_child (arguments, 1, "h", &index);
  int stream = take_stream (list, index);
  if (stream < 0)
    {
      g_dbus_method_invocation_return_dbus_error (invocation, DBUS_ERROR "InvalidArgs", NO_STREAM);
      return;
    }
  ((HandoffStreamFunc) activity->on_stream.function) (activity, stream, activity->on_stream.data);
  g_dbus_method_invocation_return_value (invocation, NULL);
}

static void
delegate_called (HandoffApplication *self, const char *method, GVariant *arguments, GDBusMethodInvocation *invocation)
{
  const char *path;
  g_variant_get_child (arguments, 0, "&o", &path);
  HandoffUserActivity *found = application_find (self, path);
  g_autoptr(HandoffUserActivity) activity = found != NULL ? g_object_ref (found) : NULL;
  if (activity == NULL)
    g_dbus_method_invocation_return_dbus_error (invocation, DBUS_ERROR "UnknownObject",
                                                "This is not an activity of the application, or no longer.");
  else if (g_str_equal (method, "WillSave"))
    will_save (activity, invocation);
  else if (g_str_equal (method, "WasContinued"))
    was_continued (activity, arguments, invocation);
  else
    did_receive_stream (activity, arguments, invocation);
}

static void
called (GDBusConnection *connection, const char *sender, const char *path, const char *interface, const char *method,
        GVariant *arguments, GDBusMethodInvocation *invocation, gpointer data)
{
  g_autoptr(HandoffApplication) self = g_object_ref (data);
  (void) connection;
  (void) path;
  if (g_strcmp0 (sender, self->owner) != 0)
    g_dbus_method_invocation_return_dbus_error (invocation, DBUS_ERROR "AccessDenied",
                                                "Only the owner of " BROKER " may call this.");
  else if (g_str_has_suffix (interface, ".ActivityDelegate"))
    delegate_called (self, method, arguments, invocation);
  else if (g_str_equal (method, "WillContinueActivity"))
    will_continue (self, arguments, invocation);
  else if (g_str_equal (method, "ContinueActivity"))
    continue_activity (self, arguments, invocation);
  else
    did_fail (self, arguments, invocation);
}

/* Begin and end */

/* The applications of this process that have started, by id. */
static GHashTable *started;
/* The one of them that is on the connection which all of the process shares. A broker knows one application a connection. */
static HandoffApplication *sharing;

static void
application_connect (HandoffApplication *self, GDBusConnection *connection)
{
  static const GDBusInterfaceVTable served = { .method_call = called };
  /* No session bus, so no Handoff, which is no error. */
  if (connection == NULL || !self->has_started || self->connection != NULL)
    return;
  self->connection = g_object_ref (connection);
  /* A bus that ends does not end the application, which runs on as it does without Handoff. */
  g_dbus_connection_set_exit_on_close (connection, FALSE);
  g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (interfaces, NULL);
  for (int place = 0; place < 2; place++)
    self->objects[place] = g_dbus_connection_register_object (self->connection, CLIENT, node->interfaces[place], &served,
                                                              self, NULL, NULL);
  self->signals[0] = g_dbus_connection_signal_subscribe (self->connection, NULL, "org.freedesktop.DBus.Properties",
                                                         "PropertiesChanged", NULL, BROKER ".Activity",
                                                         G_DBUS_SIGNAL_FLAGS_NONE, properties_changed, self, NULL);
  self->signals[1] = g_dbus_connection_signal_subscribe (self->connection, NULL, BROKER ".Manager", "RegistrationEnded",
                                                         NULL, NULL, G_DBUS_SIGNAL_FLAGS_NONE, registration_ended, self,
                                                         NULL);
  self->watch = g_bus_watch_name_on_connection (self->connection, BROKER, G_BUS_NAME_WATCHER_FLAGS_AUTO_START, appeared,
                                                vanished, self, NULL);
}

static void
shared_connected (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr(HandoffApplication) self = data;
  g_autoptr(GDBusConnection) connection = g_bus_get_finish (result, NULL);
  (void) source;
  if (sharing == self)
    application_connect (self, connection);
}

static void
own_connected (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr(HandoffApplication) self = data;
  g_autoptr(GDBusConnection) connection = g_dbus_connection_new_for_address_finish (result, NULL);
  (void) source;
  if (sharing != self)
    application_connect (self, connection);
}

void
handoff_application_start (HandoffApplication *self)
{
  if (self->has_started)
    return;
  if (started == NULL)
    started = g_hash_table_new (g_str_hash, g_str_equal);
  g_clear_pointer (&self->registration_error, g_free);
  if (g_hash_table_contains (started, self->id))
    {
      self->registration_error =
        g_strdup ("Another HandoffApplication of this process has this id. Use that one, or stop it first.");
      g_warning ("%s: %s", self->id, self->registration_error);
      return;
    }
  self->has_started = TRUE;
  g_hash_table_insert (started, self->id, self);
  if (sharing == NULL)
    {
      sharing = self;
      g_bus_get (G_BUS_TYPE_SESSION, NULL, shared_connected, g_object_ref (self));
      return;
    }
  g_autofree char *address = g_dbus_address_get_for_bus_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  if (address != NULL)
    g_dbus_connection_new_for_address (
      address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL,
      own_connected, g_object_ref (self));
}

static void
unregistered (GObject *source, GAsyncResult *result, gpointer connection)
{
  g_autoptr(GVariant) reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);
  g_object_unref (connection);
}

void
handoff_application_stop (HandoffApplication *self)
{
  if (self->connection != NULL && self->owner != NULL)
    /* Also if the registration was not answered yet: calls of one connection take effect in their order. The connection is
       kept until this is answered: it may be nobody else's. */
    g_dbus_connection_call (self->connection, self->owner, ROOT, BROKER ".Manager", "UnregisterApplication", NULL, NULL,
                            G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, unregistered, g_object_ref (self->connection));
  if (self->has_started)
    g_hash_table_remove (started, self->id);
  if (sharing == self)
    sharing = NULL;
  self->has_started = FALSE;
  for (int place = 0; self->connection != NULL && place < 2; place++)
    {
      g_dbus_connection_signal_unsubscribe (self->connection, self->signals[place]);
      g_dbus_connection_unregister_object (self->connection, self->objects[place]);
    }
  if (self->watch != 0)
    g_bus_unwatch_name (self->watch);
  self->watch = 0;
  g_clear_object (&self->connection);
  g_autoptr(GHashTable) announced = application_leave_broker (self);
  g_clear_pointer (&self->owner, g_free);
  self->current = self->becoming = NULL;
  g_ptr_array_set_size (self->activities, 0);
  application_tell_of_end (self, announced);
}

gboolean
handoff_application_is_available (HandoffApplication *self)
{
  return self->registered;
}

const char *
handoff_application_get_registration_error (HandoffApplication *self)
{
  return self->registration_error;
}

void
handoff_application_declare (HandoffApplication *self, const char *option, GVariant *value)
{
  static Types types = { { "Team", "s" }, { "DocumentTypes", "a{ss}" }, { "Domains", "as" }, { "Receives", "b" },
                         { "Adapter", "b" }, { NULL, NULL } };
  g_autoptr(GVariant) taken = g_variant_ref_sink (value);
  g_autofree char *problem = type_problem (types, option, taken);
  if (problem != NULL)
    g_warning ("%s: %s", self->id, problem);
  else
    g_hash_table_replace (self->options, g_strdup (option), g_steal_pointer (&taken));
}

#define SETTER(object, Object, name, Function)                                                                            \
  void handoff_##object##_on_##name (Object *self, Function function, gpointer data, GDestroyNotify destroy)              \
  {                                                                                                                       \
    callback_set (&self->on_##name, G_CALLBACK (function), data, destroy);                                                \
  }
SETTER (application, HandoffApplication, continue, HandoffContinueFunc)
SETTER (application, HandoffApplication, will_continue, HandoffWillContinueFunc)
SETTER (application, HandoffApplication, failure, HandoffApplicationFailureFunc)
SETTER (user_activity, HandoffUserActivity, will_save, HandoffWillSaveFunc)
SETTER (user_activity, HandoffUserActivity, was_continued, HandoffWasContinuedFunc)
SETTER (user_activity, HandoffUserActivity, stream, HandoffStreamFunc)
SETTER (user_activity, HandoffUserActivity, failure, HandoffFailureFunc)

static void
handoff_application_finalize (GObject *object)
{
  HandoffApplication *self = HANDOFF_APPLICATION (object);
  handoff_application_stop (self);
  if (self->flush != 0)
    g_source_remove (self->flush);
  callback_set (&self->on_continue, NULL, NULL, NULL);
  callback_set (&self->on_will_continue, NULL, NULL, NULL);
  callback_set (&self->on_failure, NULL, NULL, NULL);
  g_free (self->id);
  g_strfreev (self->types);
  g_free (self->registration_error);
  g_hash_table_unref (self->options);
  g_hash_table_unref (self->announced);
  g_ptr_array_unref (self->activities);
  g_object_unref (self->cancellable);
  G_OBJECT_CLASS (handoff_application_parent_class)->finalize (object);
}

static void
handoff_application_class_init (HandoffApplicationClass *class)
{
  G_OBJECT_CLASS (class)->finalize = handoff_application_finalize;
}

static void
handoff_application_init (HandoffApplication *self)
{
  self->options = new_properties ();
  self->announced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->activities = g_ptr_array_new_with_free_func (g_object_unref);
  self->cancellable = g_cancellable_new ();
}

HandoffApplication *
handoff_application_new (const char *id, const char *const *activity_types)
{
  HandoffApplication *self = g_object_new (HANDOFF_TYPE_APPLICATION, NULL);
  self->id = g_strdup (id);
  self->types = activity_types != NULL ? g_strdupv ((char **) activity_types) : g_new0 (char *, 1);
  return self;
}

static void
handoff_user_activity_finalize (GObject *object)
{
  HandoffUserActivity *self = HANDOFF_USER_ACTIVITY (object);
  callback_set (&self->on_will_save, NULL, NULL, NULL);
  callback_set (&self->on_was_continued, NULL, NULL, NULL);
  callback_set (&self->on_stream, NULL, NULL, NULL);
  callback_set (&self->on_failure, NULL, NULL, NULL);
  g_free (self->type);
  g_free (self->activation_token);
  g_free (self->continuation);
  g_free (self->path);
  g_hash_table_unref (self->properties);
  g_hash_table_unref (self->confirmed);
  g_hash_table_unref (self->changed);
  g_ptr_array_unref (self->alone);
  g_object_unref (self->application);
  G_OBJECT_CLASS (handoff_user_activity_parent_class)->finalize (object);
}

static void
handoff_user_activity_class_init (HandoffUserActivityClass *class)
{
  G_OBJECT_CLASS (class)->finalize = handoff_user_activity_finalize;
}

static void
handoff_user_activity_init (HandoffUserActivity *self)
{
  self->is_valid = TRUE;
  self->properties = new_properties ();
  self->confirmed = new_properties ();
  self->changed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->alone = g_ptr_array_new_with_free_func (g_free);
}

HandoffUserActivity *
handoff_user_activity_new (HandoffApplication *application, const char *activity_type, const char *title)
{
  HandoffUserActivity *self = g_object_new (HANDOFF_TYPE_USER_ACTIVITY, NULL);
  self->application = g_object_ref (application);
  self->type = g_strdup (activity_type);
  if (title != NULL && *title != '\0')
    handoff_user_activity_set_title (self, title);
  return self;
}
